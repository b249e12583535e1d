//! Trials on the real machine: how they end, and what reaches the run directory. No test here
//! depends on how fast the machine is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use flyball_host::{Host, ProcessSpec, RealHost};
use flyball_lab::protocol::windows::telemetry::{Recorder, Telemetry, TelemetryOptions};
use flyball_lab::protocol::windows::trial::{
    CommandWork, Ended, NoWork, ProbeMode, StopFlag, TrialError, TrialLabels, TrialOutcome,
    TrialPlan, WindowRecord, Work, WorkInfo, run,
};
use flyball_run::{Manifest, Note, RunWriter};
use flyball_units::{CpuId, CpuSet, Diagnostic, Nanos};
use std::path::Path;
use std::sync::Arc;

const PERIOD: Nanos = Nanos::from_millis(1);

fn plan(windows: u64) -> TrialPlan {
    let labels = TrialLabels {
        trial: 3,
        workload: "noop".to_owned(),
        condition: "idle".to_owned(),
        repeat: 2,
        block: 1,
    };
    let mut plan = TrialPlan::new(labels, PERIOD, windows);
    plan.probe = ProbeMode::Off;
    plan.allow_degraded = true;
    plan
}

fn read(path: &Path) -> String {
    RealHost::new().read(path).unwrap()
}

fn run_plan(plan: &TrialPlan, work: &mut dyn Work) -> (TrialOutcome, Vec<WindowRecord>) {
    let (mut recorder, mut take) = Recorder::unconnected(1 << 10);
    let stop = StopFlag::default();
    let outcome = run(&RealHost::new(), plan, work, None, &mut recorder, &stop).unwrap();
    (outcome, std::iter::from_fn(&mut take).collect())
}

#[test]
fn a_setting_that_cannot_be_applied_refuses_the_trial() {
    let mut refused = plan(5);
    // The highest CPU number that Linux could have: no machine that runs this test has it.
    refused.cpus = Some(CpuSet::from(CpuId(CpuSet::LIMIT - 1)));
    refused.allow_degraded = false;
    let (outcome, records) = run_plan(&refused, &mut NoWork);
    assert_eq!((outcome.ended, outcome.counts.recorded), (Ended::Refused, 0));
    assert!(records.is_empty());
    assert!(outcome.applied.degraded[0].setting.contains("8191"), "{:?}", outcome.applied);

    let degraded = TrialPlan { allow_degraded: true, ..refused };
    let (outcome, _) = run_plan(&degraded, &mut NoWork);
    assert_eq!((outcome.ended, outcome.applied.degraded.len()), (Ended::Complete, 1));
    assert!(!outcome.applied.cpus.is_empty(), "what it has is read back all the same");
}

#[test]
fn a_raised_flag_stops_before_the_next_window() {
    struct StopAfter(u32, StopFlag);
    impl Work for StopAfter {
        fn prepare(&mut self) {}
        fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
            self.0 -= 1;
            if self.0 == 0 {
                self.1.raise();
            }
            Ok(WorkInfo::default())
        }
    }
    let (mut recorder, _take) = Recorder::unconnected(8);
    let stop = StopFlag::default();
    let mut work = StopAfter(3, stop.clone());
    let outcome =
        run(&RealHost::new(), &plan(1_000), &mut work, None, &mut recorder, &stop).unwrap();
    assert_eq!((outcome.ended, outcome.counts.recorded), (Ended::Stopped, 3));
}

#[test]
fn an_overrun_skips_releases_and_says_so() {
    /// Overruns two whole periods once, by the clock that the loop uses.
    struct Overrun(bool);
    impl Work for Overrun {
        fn prepare(&mut self) {}
        fn run(&mut self) -> Result<WorkInfo, Box<TrialError>> {
            if std::mem::take(&mut self.0) {
                let host = RealHost::new();
                let end = host.now() + Nanos(PERIOD.0 * 5 / 2);
                while host.now() < end {}
            }
            Ok(WorkInfo::default())
        }
    }
    let (outcome, records) = run_plan(&plan(20), &mut Overrun(true));
    assert_eq!(outcome.ended, Ended::Complete);
    assert!(outcome.counts.skipped >= 1);
    assert_eq!(outcome.counts.recorded + outcome.counts.skipped, 20);
    let mut expected = 0;
    for record in &records {
        expected += record.skipped_before;
        assert_eq!(record.index, expected, "skipped releases leave a gap in the index");
        assert_eq!(record.release.since(records[0].release).0, expected * PERIOD.0, "the grid");
        expected += 1;
    }
}

#[test]
fn a_plan_without_a_period_is_refused() {
    let mut recorder = Recorder::unconnected(1).0;
    let zero = TrialPlan { period: Nanos::ZERO, ..plan(1) };
    let stop = StopFlag::default();
    let error = run(&RealHost::new(), &zero, &mut NoWork, None, &mut recorder, &stop).unwrap_err();
    assert!(error.to_string().contains("period"), "{error}");
    assert!(error.hint().unwrap().contains("period"));
}

#[test]
fn a_command_reports_its_exit_status() {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let mut fails = CommandWork::new(Arc::clone(&host), ProcessSpec::new("sh", ["-c", "exit 3"]));
    let (_, records) = run_plan(&plan(1), &mut fails);
    assert_eq!(records[0].exit_status, Some(3));
    assert!(records[0].cpu_time.is_some());

    let mut absent = CommandWork::new(host, ProcessSpec::new("no-such-program-here", [""; 0]));
    let mut recorder = Recorder::unconnected(1).0;
    let stop = StopFlag::default();
    let error =
        run(&RealHost::new(), &plan(1), &mut absent, None, &mut recorder, &stop).unwrap_err();
    assert!(error.to_string().contains("no-such-program-here"), "{error}");
}

#[test]
fn windows_reach_the_run_directory() {
    let folder = tempfile::tempdir().unwrap();
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let writer = RunWriter::create(folder.path().join("run"), &Manifest::default()).unwrap();
    let stop = StopFlag::default();
    let (telemetry, mut recorder) =
        Telemetry::start(Arc::clone(&host), writer, TelemetryOptions::default(), stop.clone())
            .unwrap();
    let plan = plan(25);
    telemetry.rows().begin(plan.labels.clone());
    telemetry.rows().note(Note { message: "hello".to_owned(), ..Note::default() });
    let outcome = run(host.as_ref(), &plan, &mut NoWork, None, &mut recorder, &stop).unwrap();
    let finished = telemetry.finish(recorder).unwrap();
    assert!(finished.error.is_none() && finished.dropped == 0);
    assert_eq!(finished.windows, outcome.counts.recorded);

    let text = read(&finished.writer.dir().join("windows.ndjson"));
    assert_eq!(text.lines().count() as u64, finished.windows);
    let first = text.lines().next().unwrap();
    for part in ["\"workload\":\"noop\"", "\"condition\":\"idle\"", "\"trial\":3", "\"block\":1"] {
        assert!(first.contains(part), "{part} in {first}");
    }
    let notes = read(&finished.writer.dir().join("notes.ndjson"));
    assert!(notes.contains("hello"));
}

#[test]
fn a_disk_that_fails_stops_the_trial_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let writer = RunWriter::create(folder.path().join("run"), &Manifest::default()).unwrap();
    // The first line of a table makes its file, which fails without the directory.
    folder.close().unwrap();
    let stop = StopFlag::default();
    let options = TelemetryOptions::default();
    let (telemetry, mut recorder) =
        Telemetry::start(Arc::clone(&host), writer, options, stop.clone()).unwrap();
    let endless = plan(u64::MAX);
    telemetry.rows().begin(endless.labels.clone());
    let outcome = run(host.as_ref(), &endless, &mut NoWork, None, &mut recorder, &stop).unwrap();
    assert_eq!(outcome.ended, Ended::Stopped);
    let finished = telemetry.finish(recorder).unwrap();
    assert!(finished.error.is_some());
}
