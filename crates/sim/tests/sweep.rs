//! A sweep that was interrupted goes on, and ends as if it never had been.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

use flyball_sim::scenario::{EXAMPLES, Node, Source, parse_text, set};
use flyball_sim::sweep::{Axis, Sweep, points, simulate_point};
use std::sync::atomic::{AtomicBool, Ordering};

fn root() -> Node {
    let example = EXAMPLES.iter().find(|example| example.name == "requests-laptop").unwrap();
    let mut root = parse_text(example.text, example.name).unwrap();
    for (path, value) in [("duration", "300ms"), ("phases", "2")] {
        set(&mut root, path, value).unwrap();
    }
    root
}

#[test]
fn resumed_is_the_same() {
    let root = root();
    let axes = vec![
        Axis::parse("task.server.mean=2ms..6ms..1ms").unwrap(),
        Axis::parse("hz=100,1000").unwrap(),
    ];
    let all = points(&axes).unwrap();
    let source = Source::text_only("x", "requests");
    let sweep = Sweep::new(&root, source, axes, all).unwrap();
    let dir = tempfile::tempdir().unwrap();

    let header = || sweep.header(None, Vec::new());
    let whole = sweep.run(&dir.path().join("whole"), header(), &|| false, &|_| {}).unwrap();
    assert!(whole.complete && whole.finished.len() == 10);
    let point = |stop: &(dyn Fn() -> bool + Sync)| {
        simulate_point(&root, source, 7, &sweep.points()[7], stop).unwrap()
    };
    assert_eq!(point(&|| false).as_ref(), whole.finished.get(&7));
    assert_eq!(point(&|| true), None);

    let journal = dir.path().join("cut");
    let enough = AtomicBool::new(false);
    let stop = || enough.load(Ordering::Relaxed);
    let count = |done| enough.store(done >= 3, Ordering::Relaxed);
    let cut = sweep.run(&journal, header(), &stop, &count).unwrap();
    assert!(!cut.complete && cut.finished.len() >= 3, "{}", cut.finished.len());
    let resumed = sweep.run(&journal, header(), &|| false, &|_| {}).unwrap();
    assert!(resumed.complete);
    assert_eq!(resumed.finished, whole.finished);
    assert_eq!(resumed.to_run().tables, whole.to_run().tables);
}

#[test]
fn a_point_that_is_no_scenario_fails_before_the_first_is_simulated() {
    let root = root();
    let axes = vec![Axis::parse("hz=100,5").unwrap()];
    let all = points(&axes).unwrap();
    let error = Sweep::new(&root, Source::text_only("x", "x"), axes, all).map(drop).unwrap_err();
    assert!(error.to_string().contains("command line: hz: expected"), "{error}");
}
