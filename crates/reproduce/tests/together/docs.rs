//! The generated part of docs/reproduce.md is current.
#![allow(clippy::expect_used, clippy::disallowed_methods, missing_docs)] // a test reads its switch

use flyball_reproduce::{Options, functions, markdown, reproduce};

const BEGIN: &str = "<!-- generated: begin -->\n";
const END: &str = "<!-- generated: end -->";

fn generated() -> String {
    let all = reproduce(&Options::default(), &|_, _| {});
    let mut text = markdown(&all.expect("a sound catalogue"));
    text.push_str("\n### Functions of the formulas\n\n| function | gives |\n|---|---|\n");
    for (name, doc) in functions() {
        text.push_str(&format!("| `{name}` | {doc} |\n"));
    }
    text
}

#[test]
fn the_committed_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduce.md");
    let text = fs_err::read_to_string(path).expect("the document");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the generated part");
    let (committed, after) = rest.split_once(END).expect("the end of the generated part");
    let current = generated();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs_err::write(path, format!("{before}{BEGIN}{current}{END}{after}")).expect("to write");
        return;
    }
    assert!(
        committed == current,
        "stale: UPDATE_DOCS=1 cargo test -p flyball-reproduce --test together docs"
    );
}
