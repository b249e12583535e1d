//! `flyball help TOPIC` and `flyball help NAME`.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run};

fn help(name: &str) -> String {
    let (code, stdout, stderr) = run(folder().path(), &["help", name]);
    assert_eq!(code, 0, "{name}: {stderr}");
    stdout
}

#[test]
fn every_entry_has_a_line_and_a_text() {
    for topic in ["platforms", "kernels", "governors", "scenarios", "experiments"] {
        let list = help(topic);
        assert!(list.lines().count() <= 45, "{list}");
        let entries: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert!(entries.len() > 3, "{list}");
        for entry in entries {
            let (name, about) = entry.split_once(' ').unwrap();
            assert!(!about.trim().is_empty(), "{entry}");
            let text = help(name);
            assert!(text.lines().count() > 4, "{name}: {text}");
        }
    }
    let both = help("board-x86");
    assert!(both.contains("a platform") && both.contains("a scenario"), "{both}");
}
