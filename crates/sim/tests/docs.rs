//! The document of the keys is what the reader knows.
#![allow(clippy::disallowed_methods, reason = "tests read and write the documents")]

use flyball_sim::scenario::{Source, read, reference, template};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md");
const MARK: &str =
    "<!-- The rest is generated: UPDATE_DOCS=1 cargo test -p flyball-sim --test docs -->\n";

#[test]
fn the_keys_are_documented() {
    let text = std::fs::read_to_string(PATH).unwrap();
    let (head, rest) = text.split_once(MARK).expect("the mark before the generated part");
    let wanted = format!("\n{}", reference().trim_end());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, format!("{head}{MARK}{wanted}\n")).unwrap();
    } else {
        assert!(
            rest == format!("{wanted}\n"),
            "stale: run UPDATE_DOCS=1 cargo test -p flyball-sim"
        );
    }
}

#[test]
fn the_examples_in_the_documents_read() {
    for name in ["scenarios.md", "simulating.md"] {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let blocks = text.split("```toml\n").skip(1);
        let blocks: Vec<&str> = blocks.filter_map(|b| b.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{name} has no example");
        for block in blocks {
            let scenario = read(block, Source::text_only(name, "example"));
            scenario.unwrap_or_else(|error| panic!("{error}\n{block}"));
        }
    }
    assert!(template().contains("docs/scenarios.md"));
}
