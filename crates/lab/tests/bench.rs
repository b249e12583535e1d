//! A whole bench on this machine, and on machines that refuse.
#![allow(missing_docs)]

use flyball_host::{FaultyHost, Host, RealHost};
use flyball_lab::experiment;
use flyball_lab::protocol::windows::{self, BenchError, Context};
use flyball_lab::session::{Destination, Outcome, Silent};
use flyball_run::{Run, RunState};
use flyball_units::Diagnostic;
use std::sync::Arc;

const SMALL: &str = r#"
name = "small"
repeats = 2
period = "5ms"
duration = "50ms"
warmup = "10ms"
degrade = true
[input]
channels = 4
length = "5s"
dropouts_per_minute = 60
[[workload]]
kernel = "car"
[[workload]]
name = "program"
command = ["true"]
[[condition]]
load = "idle"
[[condition]]
load = "1x20%"
"#;

fn real() -> Arc<dyn Host> {
    Arc::new(RealHost::new())
}

fn run_in(dir: &std::path::Path, host: &Arc<dyn Host>, text: &str) -> Result<Outcome, BenchError> {
    let experiment = experiment::read(text, "small")?;
    let prepared = windows::prepare(host, experiment, &Context::default())?;
    windows::run(host, prepared, &Destination::Dir(dir.join("run")), &mut Silent, None)
}

#[test]
fn a_small_bench_leaves_a_whole_run() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = run_in(dir.path(), &real(), SMALL).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.state, RunState::Complete);
    let run = Run::open(&outcome.dir).unwrap();
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    // 2 repeats x 2 workloads x 2 conditions x (10 + 2) windows; an overrun may skip some.
    let windows = &run.tables.windows;
    let rows: Vec<_> = (0..windows.len()).filter_map(|index| windows.row(index)).collect();
    assert!((48..=96).contains(&rows.len()), "{}", rows.len());
    assert_eq!(run.manifest.order.len(), 8);
    for row in &rows {
        assert_eq!(row.response_ns, row.lateness_ns + row.exec_ns as i64);
        assert_eq!(row.deadline_ns, row.release_ns + 5_000_000);
        assert!(row.cpu_before.is_some() && row.probe_after_ticks.is_some());
    }
    assert!(rows.iter().any(|row| row.nan_replaced.is_some_and(|count| count > 0)));
    assert!(
        rows.iter().filter(|row| row.workload == "program").all(|row| row.exit_status == Some(0))
    );
    let loaded = run.manifest.condition("1x20%").and_then(|c| c.load.clone()).unwrap();
    assert!(loaded.proven.is_some() && loaded.achieved_percent.is_some(), "{loaded:?}");
    assert!(!run.tables.load.is_empty());
    assert!(run.manifest.machine.is_some_and(|machine| !machine.cpus.is_empty()));
    assert!(experiment::read(run.manifest.experiment.as_deref().unwrap(), "run.toml").is_ok());
}

#[test]
fn a_refused_setting_ends_the_run_unless_it_may_degrade() {
    let host: Arc<dyn Host> = Arc::new(FaultyHost::parse(real(), "scheduling_set=EPERM").unwrap());
    let strict = SMALL
        .replace("degrade = true", "")
        .replace("load = \"idle\"", "load = \"idle\"\nscheduling = \"fifo:80\"");
    let dir = tempfile::tempdir().unwrap();
    let error = run_in(dir.path(), &host, &strict).unwrap_err();
    assert!(error.to_string().contains("fifo:80"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("setcap")), "{:?}", error.hint());
    assert!(!dir.path().join("run").exists(), "refused before the first trial");

    let dir = tempfile::tempdir().unwrap();
    let lenient = strict.replace("repeats = 2", "repeats = 2\ndegrade = true");
    let outcome = run_in(dir.path(), &host, &lenient).unwrap_or_else(|e| panic!("{e}"));
    let run = Run::open(&outcome.dir).unwrap();
    let condition = run.manifest.conditions.iter().find(|c| c.name.contains("fifo")).unwrap();
    assert!(condition.degraded.iter().any(|text| text.contains("fifo:80")), "{condition:?}");
    assert_eq!(condition.scheduling_applied.as_deref(), Some("other:0"));
}

#[test]
fn a_load_that_cannot_start_fails_its_condition() {
    let host: Arc<dyn Host> = Arc::new(FaultyHost::parse(real(), "spawn=ENOENT").unwrap());
    let text = SMALL
        .replace("1x20%", "1x20%,stress-ng")
        .replace("command = [\"true\"]", "kernel = \"noop\"");
    let dir = tempfile::tempdir().unwrap();
    let outcome = run_in(dir.path(), &host, &text).unwrap_or_else(|e| panic!("{e}"));
    let run = Run::open(&outcome.dir).unwrap();
    let record = run
        .manifest
        .conditions
        .iter()
        .find_map(|c| c.load.clone().filter(|load| load.profile.contains("stress-ng")));
    assert_eq!(record.and_then(|load| load.proven), Some(false));

    let dir = tempfile::tempdir().unwrap();
    let strict = text.replace("degrade = true", "");
    assert!(matches!(run_in(dir.path(), &host, &strict), Err(BenchError::Load { .. })));
}
