#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
//! The commands that `help/advice.txt` adds to what libraries advise: rewording a hint must not drop its
//! command in silence.

use std::path::{Path, PathBuf};

/// The text of all sources below a folder but ours, with strings that go on in the next line joined.
fn sources(folder: &Path) -> String {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| match path.is_dir() {
        true if path.ends_with("cli") => String::new(),
        true => sources(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => {
            let text = fs_err::read_to_string(path).unwrap();
            text.split("\\\n").map(str::trim_start).collect()
        }
        false => String::new(),
    };
    entries.map(text).collect()
}

#[test]
fn every_advice_with_a_command_ends_a_hint_of_a_library() {
    let rows =
        include_str!("../../help/advice.txt").lines().filter_map(|line| line.split_once(" => "));
    let advices: Vec<&str> = rows.map(|(advice, _)| advice).collect();
    assert!(advices.len() > 12, "{advices:?}");
    let all = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for advice in advices {
        let found = all.contains(&format!("{advice}\"")) || all.contains(&format!("{advice}`"));
        assert!(found, "no library advises \"{advice}\" any more");
    }
}
