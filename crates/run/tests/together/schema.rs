//! The committed schema document is the one that the code generates.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes, damages and mounts its own files, and fails by panicking"
)]

use flyball_run::schema;

#[test]
fn the_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/run-directory.md");
    let generated = schema::markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/reference/run-directory.md is out of date; run: UPDATE_DOCS=1 cargo test -p flyball-run --test together schema"
    );
}

#[test]
fn json_lists_every_column_with_its_meaning() {
    let json = schema::json();
    for table in flyball_run::registry() {
        let listed =
            json["tables"].as_array().unwrap().iter().find(|t| t["name"] == table.name).unwrap();
        assert_eq!(listed["columns"].as_array().unwrap().len(), table.columns.len());
    }
    assert!(json["manifest"]["properties"]["conditions"].is_object());
}
