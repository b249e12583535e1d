//! Runs of every format that was ever written still read (docs/stability.md). The directories in golden/runs are
//! named for their format and the day of the writer: the first one's columns, written out by hand, and runs kept as
//! they were written. They are added to, never changed.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use flyball_run::manifest::FORMAT;
use flyball_run::{Manifest, Run, RunState, registry};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

fn read(name: &str) -> Run {
    let run = Run::open(golden("runs").join(name)).unwrap();
    assert!(run.warnings.is_empty(), "{name}: {:?}", run.warnings);
    assert!(run.unfinished.is_none() && run.manifest.state == RunState::Complete, "{name}");
    run
}

#[test]
fn every_format_has_a_run_that_was_written_in_it() {
    let mut formats = BTreeMap::<u32, usize>::new();
    for entry in fs_err::read_dir(golden("runs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let format = name.split('-').next().unwrap().parse().unwrap();
        assert_eq!(read(&name).manifest.format, format, "{name}");
        *formats.entry(format).or_default() += 1;
    }
    let expected: Vec<u32> = (1..=FORMAT).collect();
    assert_eq!(formats.into_keys().collect::<Vec<_>>(), expected, "keep a run of the new format");
}

#[test]
fn a_newer_format_is_refused_with_what_to_do() {
    let text = format!("format = {}\n", FORMAT + 1);
    let error = Manifest::from_toml(&text, "run.toml").unwrap_err();
    assert!(error.to_string().contains(&format!("format {}", FORMAT + 1)), "{error}");
}

#[test]
fn the_first_writer_s_run_has_its_rows() {
    let run = read("1-2026-11-20-bench");
    let windows = &run.tables.windows;
    assert_eq!(windows.exec_ns, [14_000, 14_001, 14_002, 14_003]);
    assert_eq!(windows.warmup, [true, false, false, false]);
    assert_eq!(
        (windows.delivered_khz.get(0), windows.delivered_khz.get(1)),
        (None, Some(2_064_000))
    );
    assert_eq!(windows.wake_delay_ns.get(0), None, "nobody wrote it then");
    assert_eq!(run.tables.load.achieved_percent, [49.5]);
    assert_eq!(run.tables.frequency.domain.get(0), Some("policy0"));
    assert_eq!(run.tables.notes.len(), 1);
    assert_eq!(run.manifest.seed, Some(7));
}

#[test]
fn a_simulation_of_2026_has_its_rows() {
    let run = read("1-2026-11-24-sim");
    let tables = &run.tables;
    let slices: u64 = tables
        .slices
        .to_ns
        .iter()
        .zip(tables.slices.from_ns.iter())
        .map(|(to, from)| to - from)
        .sum();
    assert_eq!(
        (tables.items.len(), tables.slices.len(), slices),
        GOLDEN_SIM,
        "items, slices, ns on a CPU"
    );
    assert_eq!((tables.wakeups.len(), tables.markers.len()), (6, 0));
}

/// Worked out with the writer of that day.
const GOLDEN_SIM: (usize, usize, u64) = (6, 6, 22_720_506);

/// A column of a released format stays, with its kind; what comes to its table later may be absent, or the runs that
/// were written before would not read.
#[test]
fn columns_are_only_added_and_may_be_absent() {
    let listed = fs_err::read_to_string(golden("runs-columns.txt")).unwrap();
    let mut found = BTreeMap::new();
    for table in registry() {
        for column in table.columns {
            let absent = if column.nullable { " or absent" } else { "" };
            found.insert(
                format!("{}.{}", table.name, column.name),
                format!("{:?}{absent}", column.kind),
            );
        }
    }
    let mut tables = std::collections::BTreeSet::new();
    for line in listed.lines() {
        let (name, kind) = line.split_once(": ").unwrap();
        assert_eq!(found.remove(name).as_deref(), Some(kind), "{name}");
        tables.insert(name.split('.').next().unwrap());
    }
    let needed: Vec<&String> = found
        .iter()
        .filter(|(name, kind)| {
            tables.contains(name.split('.').next().unwrap()) && !kind.ends_with(" or absent")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(needed.is_empty(), "columns of older tables that runs before them lack: {needed:?}");
}
