//! The whole measurement on the machine that runs the test: rows, findings, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use flyball_control::Settings;
use flyball_host::{Host, RealHost};
use flyball_lab::protocol::rampup::RampupError;
use flyball_lab::protocol::rampup::live::{prepare, run};
use flyball_lab::protocol::rampup::plan::{Condition, Plan};
use flyball_lab::session::{Destination, Origin, Silent};
use flyball_report::kinds::rampup::{analyse, terminal};
use flyball_run::{Run, RunState};
use flyball_units::Nanos;
use std::sync::Arc;

fn plan(settings: Settings) -> Plan {
    let gaps = vec![Nanos::from_millis(1), Nanos::from_millis(4)];
    let condition = Condition { name: "as it is".into(), settings, sleeps: 2, gaps, cpus: None };
    Plan { conditions: vec![condition], repeats: 5, spin: Nanos::from_millis(20), seed: 1 }
}

#[test]
fn rows_say_what_was_done_and_the_report_comes_from_them() {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let folder = tempfile::tempdir().unwrap();
    let destination = Destination::Dir(folder.path().join("run"));
    let prepared = prepare(&host, plan(Settings::default()), &Origin::default()).unwrap();
    let left = run(&host, prepared, &destination, &mut Silent, None).unwrap();
    assert_eq!(left.state, RunState::Complete);
    let run = Run::open(&left.dir).unwrap();
    let rows = &run.tables.rampups;
    assert_eq!(rows.len(), 10);
    for row in (0..rows.len()).filter_map(|row| rows.row(row)) {
        assert!(row.idle_ns.unwrap() >= row.gap_ns && row.lateness_ns.unwrap() >= 0);
        assert!(row.end_ns - row.begin_ns >= 20_000_000);
    }
    assert!(run.tables.rampup_samples.len() > 10 * 50);
    assert!(run.manifest.overheads.iter().any(|overhead| overhead.name == "probe"));
    let found = analyse(&run);
    assert_eq!(found.cells.len(), 2);
    assert!(found.cells.iter().all(|cell| cell.repetitions == 5));
    let text = terminal::render(&[found], 120);
    assert!(text.contains("2 x 1 ms") && text.contains("ramp"), "{text}");
}

#[test]
fn a_governor_that_is_not_there_is_refused_before_anything_is_written() {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let governor = Some("no-such-governor".to_owned());
    let error =
        prepare(&host, plan(Settings { governor, ..Settings::default() }), &Origin::default());
    let Err(RampupError::Control { condition, .. }) = error else { panic!("{error:?}") };
    assert_eq!(condition, "as it is");
}
