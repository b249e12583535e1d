//! Every governor has a page in `docs/governors/`, and the table of tunables there is the code's.
//! `UPDATE_DOCS=1` writes the tables.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that reads and, on request, writes the documentation"
)]

use flyball_governors::{GovernorInfo, catalogue};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- tunables -->\n";
const END: &str = "<!-- end of tunables -->\n";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/governors")
}

/// The table of a governor's tunables, before it meets a domain.
fn tunables(entry: &GovernorInfo) -> String {
    let tunables = entry.create().tunables();
    if tunables.is_empty() {
        return "It has no tunables.\n".to_owned();
    }
    let mut table = "| tunable | default | range | |\n|---|---|---|---|\n".to_owned();
    for tunable in tunables {
        let (name, default, doc) = (tunable.name, tunable.default, tunable.doc);
        let (min, max) = (tunable.min, tunable.max);
        writeln!(table, "| `{name}` | {default} | {min} to {max} | {doc} |").unwrap();
    }
    table
}

/// What it needs, as the page has to name it.
fn needs(entry: &GovernorInfo) -> Vec<&'static str> {
    let needs = entry.needs();
    let mut words = Vec::new();
    words.extend(needs.poll.then_some("polls:"));
    words.extend(needs.tick_hz.map(|_| "ticks"));
    words.extend(needs.utilization.then_some("utilisation"));
    words
}

fn between<'a>(page: &'a str, path: &Path) -> (&'a str, &'a str, &'a str) {
    let (head, rest) = page.split_once(BEGIN).unwrap_or_else(|| panic!("no {BEGIN} in {path:?}"));
    let (table, tail) = rest.split_once(END).unwrap_or_else(|| panic!("no {END} in {path:?}"));
    (head, table, tail)
}

#[test]
fn every_governor_has_a_page_with_its_tunables() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for entry in catalogue() {
        let path = directory().join(format!("{}.md", entry.name));
        let page =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(page.starts_with(&format!("# {}\n", entry.name)), "{path:?}: title");
        for heading in ["## Rule", "## Source", "## Tunables", "## When to use it"] {
            assert!(page.contains(heading), "{path:?}: no section `{heading}`");
        }
        for word in needs(entry) {
            assert!(
                page.to_lowercase().contains(word),
                "{path:?} does not say that it needs {word}"
            );
        }
        let (head, table, tail) = between(&page, &path);
        if update {
            let page = format!("{head}{BEGIN}{}{END}{tail}", tunables(entry));
            std::fs::write(&path, page).unwrap();
        } else {
            assert_eq!(table, tunables(entry), "{path:?} is stale: UPDATE_DOCS=1 rewrites it");
        }
    }
}

/// Most bytes of a picture: a page has to load quickly.
const PICTURE: usize = 60_000;

#[test]
fn every_page_shows_its_picture_and_every_picture_has_a_page() {
    let pictures = directory().join("images");
    for entry in catalogue() {
        let path = directory().join(format!("{}.md", entry.name));
        let page = std::fs::read_to_string(&path).unwrap();
        let shown = page.lines().any(|line| {
            line.starts_with("![") && line.ends_with(&format!("](images/{}.svg)", entry.name))
        });
        assert!(shown, "{path:?} does not show images/{}.svg", entry.name);
        let path = pictures.join(format!("{}.svg", entry.name));
        let picture = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{path:?}: {error}: scripts/governor-plots draws it"));
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{path:?}");
        assert!(picture.contains("GHz</text>"), "{path:?} shows no frequency");
        assert!(picture.len() < PICTURE, "{path:?} has {} bytes", picture.len());
    }
    for file in std::fs::read_dir(&pictures).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(catalogue().iter().any(|entry| entry.name == stem), "{path:?} is on no page");
    }
}

#[test]
fn the_index_lists_all_pages_and_no_other_exists() {
    let index = std::fs::read_to_string(directory().join("README.md")).unwrap();
    for entry in catalogue() {
        let row = format!("| [{0}]({0}.md) | {1} |", entry.name, entry.summary);
        assert!(index.contains(&row), "docs/governors/README.md lacks: {row}");
    }
    for file in std::fs::read_dir(directory()).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let page = path.extension().is_some_and(|extension| extension == "md");
        let known = stem == "README" || catalogue().iter().any(|entry| entry.name == stem);
        assert!(!page || known, "{path:?} is no governor's page");
    }
}
