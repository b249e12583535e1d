//! The generated documents are those that the code gives.
//!
//! `UPDATE_DOCS=1 cargo test -p flyball-check --test docs` rewrites them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads and writes documents"
)]

use flyball_check::{CATALOGUE, schema, table};
use std::collections::BTreeSet;

fn check(file: &str, current: impl Fn(&str) -> String) {
    let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
    let committed = fs_err::read_to_string(&path).unwrap_or_default();
    let current = current(&committed);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs_err::write(&path, &current).unwrap();
        return;
    }
    assert!(
        committed == current,
        "docs/{file} is out of date; run: UPDATE_DOCS=1 cargo test -p flyball-check --test docs"
    );
}

#[test]
fn every_finding_is_documented() {
    check("checking.md", |committed| {
        let (head, rest) = committed.split_once("<!-- generated: findings -->\n").unwrap();
        let (_, tail) = rest.split_once("<!-- end: findings -->").unwrap();
        format!("{head}<!-- generated: findings -->\n{}<!-- end: findings -->{tail}", table())
    });
}

#[test]
fn the_schema_is_current() {
    check("reference/check.schema.json", |_| schema().unwrap());
}

#[test]
fn names_are_unique_and_serialise_as_themselves() {
    let names: BTreeSet<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    for entry in CATALOGUE {
        assert_eq!(serde_json::to_value(entry.id).unwrap(), entry.name);
        assert_eq!(entry.id.name(), entry.name);
        assert!(entry.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", entry.name);
        assert!(!entry.means.contains('|') && !entry.looks_at.contains('|'), "breaks the table");
    }
}
