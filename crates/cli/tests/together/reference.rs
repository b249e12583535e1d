//! The reference of the command line, `docs/reference/cli.md`, from the program's own help.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run};
use std::fmt::Write;

/// What the program prints, without blanks at the ends of lines.
fn printed(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(folder().path(), arguments);
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    stdout.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Every command as it is typed; there is a man page for each.
fn commands() -> Vec<String> {
    let pages = printed(&["install", "--dry-run", "--man", "man"]);
    let pages = pages.lines().filter_map(|line| line.strip_prefix("man/flyball-"));
    pages.map(|page| page.trim_end_matches(".1").replace('-', " ")).collect()
}

#[test]
fn the_committed_reference_is_current() {
    let mut text = format!(
        "# Command line\n\nGenerated from the program's own help; `UPDATE_DOCS=1 cargo test -p flyball` \
         rewrites it.\n\n```text\n{}```\n",
        printed(&["--help"])
    );
    for name in commands() {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let _ = write!(text, "\n## flyball {name}\n\n```text\n{}```\n", printed(&words));
    }
    let _ = write!(text, "\n## Exit codes\n\n```text\n{}```\n", printed(&["help", "exit-codes"]));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    let host = flyball_host::RealHost::new();
    if flyball_host::Host::env(&host, "UPDATE_DOCS").is_some() {
        fs_err::write(path, &text).unwrap();
    }
    let committed = fs_err::read_to_string(path).unwrap();
    assert!(committed == text, "stale: run UPDATE_DOCS=1 cargo test -p flyball");
}

#[test]
fn the_first_screen_fits() {
    let help = printed(&["--help"]);
    assert!(help.lines().count() <= 25, "{help}");
}
