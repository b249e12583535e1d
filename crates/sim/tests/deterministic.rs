//! The same scenario and seed give the same run directory, byte for byte.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests read what they wrote")]

use flyball_run::{Run, RunWriter};
use flyball_sim::record::manifest;
use flyball_sim::scenario::{EXAMPLES, Example, Scenario, Source, from_tree, parse_text, set};
use flyball_sim::sweep::run;
use std::collections::BTreeMap;
use std::path::Path;

/// The example, shortened, with every event of its second phase.
fn scenario(example: &Example) -> Scenario {
    let mut root = parse_text(example.text, example.name).unwrap();
    for (path, value) in
        [("duration", "\"1100ms\""), ("phases", "2"), ("record", "full"), ("record_phase", "1")]
    {
        set(&mut root, path, value).unwrap();
    }
    from_tree(&root, Source::text_only(example.name, example.name)).unwrap()
}

fn write(scenario: &Scenario, dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let writer = RunWriter::create(dir, &manifest("sim", scenario)).unwrap();
    run(scenario, Some(writer), &|| false, &|_| {}).unwrap();
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files
        .map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, std::fs::read(file.path()).unwrap())
        })
        .collect()
}

#[test]
fn every_scenario_twice() {
    let mut rows = 0;
    for example in EXAMPLES {
        let scenario = scenario(example);
        let dir = tempfile::tempdir().unwrap();
        let first = write(&scenario, &dir.path().join("a"));
        let second = write(&scenario, &dir.path().join("another-name"));
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            second.keys().collect::<Vec<_>>(),
            "{}",
            example.name
        );
        for (name, bytes) in &first {
            assert!(second.get(name) == Some(bytes), "{}: {name} differs", example.name);
        }
        let run = Run::open(dir.path().join("a")).unwrap();
        assert!(run.warnings.is_empty(), "{}: {:?}", example.name, run.warnings);
        assert!(!run.tables.sweep.is_empty() && !run.tables.energy.is_empty(), "{}", example.name);
        rows += run.tables.slices.len();
    }
    assert!(rows > 1000, "the recorder saw only {rows} slices");
}

#[test]
fn another_seed_is_another_run() {
    let example = EXAMPLES.iter().find(|e| e.name == "requests-laptop").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let one = scenario(example);
    let mut two = one.clone();
    two.seed += 1;
    let first = write(&one, &dir.path().join("a"));
    let second = write(&two, &dir.path().join("b"));
    assert_ne!(first.get("items.parquet"), second.get("items.parquet"));
}
