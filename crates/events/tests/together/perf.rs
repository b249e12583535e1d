//! Text that perf script printed (tests/golden/perf/README.md).
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::PathBuf;

use flyball_events::Reader;
use flyball_events::import::{Options, import};
use flyball_events::stream::{Counts, Item};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/perf")).join(name)
}

/// Every event in words, its time in whole us.
fn told(name: &str) -> (Vec<String>, Counts) {
    let mut reader = Reader::open(golden(name)).unwrap();
    let mut items = Vec::new();
    reader
        .for_each(|item| -> std::io::Result<()> {
            if let Item::Record(record) = item {
                let (us, cpu, tid) = (record.t_ns / 1000, record.cpu, record.tid);
                items.push(format!("{us} {cpu} {tid} {:?}", record.event));
            }
            Ok(())
        })
        .unwrap();
    (items, reader.counts().clone())
}

#[test]
fn the_columns_do_not_matter() {
    let (short, counts) = told("script.txt");
    let (long, more) = told("script-ns.txt");
    assert_eq!((counts.records, counts.torn, counts.unknown.len()), (200, 0, 0), "{counts:?}");
    assert_eq!((more.records, more.torn), (200, 0), "{more:?}");
    assert_eq!(short, long);
    assert!(short[0].starts_with("401375142 3 0 Idle { cpu: 3, state: None }"), "{}", short[0]);
}

/// Counted with grep in the file.
#[test]
fn rows_of_perf_record() {
    let run = import(golden("script-ns.txt"), &Options::default()).unwrap();
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let tables = &run.tables;
    let domains = &run.manifest.machine.as_ref().unwrap().domains;
    assert_eq!((domains.len(), domains[0].cpus.as_slice()), (1, [0, 1, 2, 3].as_slice()));
    // 89 events of four CPUs each; the last change is cut.
    assert_eq!(tables.frequency.len(), 23);
    assert!(tables.slices.len() > 10 && tables.idle.len() > 20 && tables.wakeups.len() > 10);
}

#[test]
fn rows_of_perf_sched_record() {
    let (_, counts) = told("sched.txt");
    assert_eq!(counts.torn, 0);
    assert_eq!(counts.records + counts.unknown["sched_stat_runtime"], 201);
    let run = import(golden("sched.txt"), &Options::default()).unwrap();
    assert!(run.tables.slices.len() > 20, "{}", run.tables.slices.len());
}
