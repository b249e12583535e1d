//! Two ramps of real kernels, imported, against their published figures; joined with the log of
//! frequency writes that was seen from outside.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and says why it skips"
)]

use std::path::PathBuf;

use flyball_events::Recording;
use flyball_events::event::Event;
use flyball_events::ftrace::Reader;
use flyball_events::import::{Options, import, import_to, join, pstates};
use flyball_events::questions::{Outcome, Rise, Stages, Target, TimeTo};
use flyball_events::stream::Item;
use flyball_run::Run;

fn data(file: &str) -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/board-rampup");
    let path = PathBuf::from(root).join(file);
    if !path.exists() {
        println!("skipped: {} is not here", path.display());
        return None;
    }
    Some(path)
}

/// Milliseconds to the printed digit.
fn ms(ns: u64) -> f64 {
    (ns as f64 / 1e5).round() / 10.0
}

struct Ramp {
    run: Run,
    start_ns: u64,
}

impl Ramp {
    fn of(file: &str) -> Option<Ramp> {
        let options = Options { clock: Some("mono".into()), ..Options::default() };
        let run = import(data(file)?, &options).unwrap();
        let start_ns = Recording::of(&run).marker("rampup start").unwrap().t_ns;
        Some(Ramp { run, start_ns })
    }

    fn recording(&self) -> Recording<'_> {
        Recording::of(&self.run).between(self.start_ns, u64::MAX)
    }

    /// When a domain first reaches a frequency.
    fn reaches(&self, domain: &str, mhz: u64) -> f64 {
        let steps = self.recording().frequency(domain);
        let reached = steps.points().find(|(t, khz)| *t > self.start_ns && *khz == mhz * 1000);
        ms(reached.unwrap().0 - self.start_ns)
    }

    fn rises(&self, levels: &[u32]) -> Vec<f64> {
        let recording = self.recording();
        let tid = recording.find("rampup").unwrap().tid;
        let targets: Vec<Target> = levels.iter().map(|level| Target::Value(*level)).collect();
        let rise = Rise::of(&recording, tid, &targets).unwrap();
        let after = |time: &TimeTo| match time.outcome {
            Outcome::Reached { after_ns, lost: false, .. } => ms(after_ns),
            other => panic!("{other:?}"),
        };
        rise.times.iter().map(after).collect()
    }
}

/// Times of every event of a frequency after the start, in ms to the printed digit: a change is one
/// event per CPU of its domain, and the published figures took one of them.
fn events(file: &str, start_ns: u64, cpus: [u32; 2], mhz: u64) -> Vec<f64> {
    let file = std::io::Cursor::new(fs_err::read(data(file).unwrap()).unwrap());
    let mut found = Vec::new();
    Reader::new(file)
        .for_each(|item| -> std::io::Result<()> {
            if let Item::Record(record) = item
                && let Event::Frequency { cpu, khz } = record.event
                && record.t_ns > start_ns
                && khz == mhz * 1000
                && (cpus[0]..=cpus[1]).contains(&cpu)
            {
                found.push(ms(record.t_ns - start_ns));
            }
            Ok(())
        })
        .unwrap();
    found
}

#[test]
fn aarch64_reads_as_published() {
    let Some(ramp) = Ramp::of("rampup-arm64.trace") else { return };
    // 38.046 ms by the first event of the change and 38.051 by the last: published is the last.
    assert_eq!(events("rampup-arm64.trace", ramp.start_ns, [0, 1], 1000)[..2], [38.0, 38.1]);
    assert_eq!([1000, 1400, 1800].map(|mhz| ramp.reaches("policy0", mhz)), [38.0, 54.0, 70.1]);
    assert_eq!([1800, 2400, 3000].map(|mhz| ramp.reaches("policy2", mhz)), [90.1, 106.0, 126.0]);
    assert_eq!(ramp.rises(&[450, 1000]), [105.9, 266.0]);
    let recording = ramp.recording();
    let tid = recording.find("rampup").unwrap().tid;
    let stages = Stages::of(&recording, tid).unwrap();
    assert_eq!(ms(stages.stages[0].left_ns.unwrap() - ramp.start_ns), 82.9);
    assert_eq!((stages.stages[0].capacity, stages.stages[1].capacity), (Some(409), Some(1024)));
    assert!(ramp.run.warnings.is_empty(), "{:?}", ramp.run.warnings);
    let last = recording.signals().take_while(|signals| signals.t_ns < ramp.start_ns + 82_900_000);
    let of_task = last.filter(|s| s.subject == flyball_events::recording::Subject::Task(tid));
    assert_eq!(of_task.last().unwrap().util_avg, Some(328), "80 % of 409 before the move");
}

#[test]
fn x86_reads_as_published() {
    let Some(ramp) = Ramp::of("rampup-x86.trace") else { return };
    assert_eq!(ramp.rises(&[450, 1000]), [28.2, 180.1]);
    assert_eq!((ramp.reaches("policy0", 800), ramp.reaches("policy0", 3200)), (48.6, 68.1));
    let recording = ramp.recording();
    let tid = recording.find("rampup").unwrap().tid;
    let util = recording.utilization(flyball_events::recording::Subject::Task(tid));
    assert_eq!(util.at(ramp.start_ns + 48_600_000), Some(660), "at the first step");
    let machine = ramp.run.manifest.machine.as_ref().unwrap();
    assert_eq!(machine.domains.len(), 1);
    assert_eq!(machine.domains[0].cpus, [0, 1, 2, 3]);
}

#[test]
fn the_log_from_outside_meets_the_trace() {
    let Some(log) = data("rampup-arm64.plog") else { return };
    let Some(ramp) = Ramp::of("rampup-arm64.trace") else { return };
    let writes = pstates::read(log).unwrap();
    let span = Recording::of(&ramp.run).span();
    let span = Some((span.from_ns, span.to_ns));
    let machine = ramp.run.manifest.machine.as_ref();
    let join = join(&ramp.run.tables.frequency, machine, &writes, span).unwrap();
    join.sentences().iter().for_each(|sentence| println!("{sentence}"));
    let [little, big] = join.domains.as_slice() else { panic!("{join:?}") };
    // 66 writes against 15 changes: the log began 6.2 s before the trace and ended 1 s after it.
    assert_eq!((little.changes, little.writes), (15, 66));
    assert_eq!((little.before, little.after), (44, 6));
    assert_eq!((little.prompt, little.late, little.unseen), (14, 1, 0));
    assert_eq!((little.repeats, little.unexplained), (1, 0), "the 16th write is the state before");
    assert_eq!((big.changes, big.prompt, big.late, big.unseen), (8, 8, 0, 0));
    assert_eq!((big.repeats, big.unexplained), (0, 0));
    assert!((1_637_000_000..1_637_500_000).contains(&join.offset_ns), "{join:?}");
    assert!(join.uncertainty_ns < 500_000, "{join:?}");
}

#[test]
fn on_disk_it_is_the_same_run() {
    let (Some(trace), Some(log)) = (data("rampup-x86.trace"), data("rampup-x86.plog")) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let options = Options { clock: Some("mono".into()), pstates: Some(log), ..Options::default() };
    let imported = import_to(&trace, dir.path().join("run"), &options).unwrap();
    let written = Run::open(&imported.dir).unwrap();
    let memory = import(&trace, &options).unwrap();
    assert_eq!(written.tables, memory.tables);
    assert_eq!(written.manifest, memory.manifest);
    assert_eq!(imported.events, 4259);
    let clock = written.manifest.clocks.iter().find(|clock| clock.table == "frequency").unwrap();
    assert_eq!(clock.clock, "monotonic");
    assert!(clock.offset_ns.is_some() && clock.uncertainty_ns.is_some(), "{clock:?}");
    let join = imported.join.unwrap();
    join.sentences().iter().for_each(|sentence| println!("{sentence}"));
    assert_eq!((join.domains[0].changes, join.domains[0].unseen), (21, 0), "{join:?}");
}
