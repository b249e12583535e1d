//! Runs of events against one another: known differences are found, equal ones are equal, what
//! confounds is said, rules see it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use flyball_report::analysis::{AnalysisOptions, RunData, analyse};
use flyball_report::gate::{Gate, Status};
use flyball_report::model::{Report, TraceComparison, TraceFigure, VerdictWord};
use flyball_report::terminal::{TerminalOptions, render};
use flyball_run::{CapacitySample, FrequencySample, Item, Run, RunState, Slice, Wakeup};

/// What differs between runs of the same task: every 5 ms it wakes up and works.
#[derive(Clone, Copy)]
struct Side {
    /// Of 10 periods so many run at 2 GHz, the others at 1 GHz.
    fast: u64,
    /// Of 10 periods so many run on the big core.
    big: u64,
    /// Wake-up latency, us.
    latency: u64,
    /// Length of the recording, ms.
    length: u64,
    /// Name of the task.
    task: &'static str,
    seed: u64,
}

const SIDE: Side = Side { fast: 5, big: 5, latency: 100, length: 2400, task: "work", seed: 1 };

/// Adds one recording, as trial where it has a number.
fn record(run: &mut Run, side: Side, trial: Option<u32>) {
    let mut state = side.seed * 0x9e37_79b9 + 1;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let tables = &mut run.tables;
    for (cpu, kind, capacity) in [(0, "little", 400), (1, "big", 1024)] {
        let row = CapacitySample {
            cpu,
            capacity,
            core_type: Some(kind.into()),
            trial,
            ..Default::default()
        };
        tables.capacity.push(row);
    }
    for period in 0..side.length / 5 {
        let t = 1_000_000 + period * 5_000_000;
        let khz = if below(10) < side.fast { 2_000_000 } else { 1_000_000 };
        let cpu = u32::from(below(10) < side.big);
        let ran = t + (side.latency + below(10)) * 1000;
        let ended = ran + 2_000_000_000_000 / khz + below(10_000);
        let task = side.task.to_owned();
        let frequency = FrequencySample {
            t_ns: t,
            domain: "policy0".into(),
            claimed_khz: Some(khz),
            source: "cpu_frequency".into(),
            trial,
            ..Default::default()
        };
        tables.frequency.push(frequency);
        let woken = Wakeup {
            woken_ns: t,
            ran_ns: Some(ran),
            latency_ns: Some(ran - t),
            cpu,
            tid: 7,
            task: task.clone(),
            trial,
            ..Default::default()
        };
        tables.wakeups.push(woken);
        let slice = Slice {
            cpu,
            tid: 7,
            task: task.clone(),
            from_ns: ran,
            to_ns: ended,
            trial,
            ..Default::default()
        };
        tables.slices.push(slice);
        let item = Item {
            tid: 7,
            task,
            item: period,
            released_ns: t,
            ended_ns: Some(ended),
            latency_ns: Some(ended - t),
            trial,
            ..Default::default()
        };
        tables.items.push(item);
    }
}

fn run(name: &str, side: Side) -> RunData {
    let mut run = Run::default();
    run.manifest.kind = "capture".to_owned();
    run.manifest.state = RunState::Complete;
    record(&mut run, side, None);
    RunData::new(name, name, run)
}

fn repeated(name: &str, side: Side, repetitions: u32) -> RunData {
    let mut run = Run::default();
    run.manifest.kind = "capture".to_owned();
    run.manifest.state = RunState::Complete;
    for trial in 0..repetitions {
        let seed = side.seed * 100 + u64::from(trial);
        record(&mut run, Side { seed, ..side }, Some(trial));
    }
    RunData::new(name, name, run)
}

fn report(runs: &[RunData]) -> Report {
    analyse(runs, &AnalysisOptions::default())
}

fn compared(old: Side, new: Side) -> TraceComparison {
    report(&[run("old", old), run("new", new)]).traces.remove(0)
}

fn figure<'a>(comparison: &'a TraceComparison, name: &str) -> &'a TraceFigure {
    let names: Vec<&str> = comparison.figures.iter().map(|f| f.name.as_str()).collect();
    let found = comparison.figures.iter().find(|f| f.name == name);
    found.unwrap_or_else(|| panic!("{name} among {names:?}"))
}

#[test]
fn known_differences_are_found_with_their_size() {
    let new = Side { fast: 9, big: 8, latency: 150, seed: 2, ..SIDE };
    let found = compared(SIDE, new);
    assert_eq!(found.verdict, VerdictWord::Effect, "{found:#?}");
    assert_eq!(found.title, "new against old");
    assert_eq!(found.units, "24 blocks of time on each side");
    let mean = figure(&found, "mean frequency of policy0");
    assert!((mean.change.value - 1.9 / 1.5).abs() < 0.06, "{mean:?}");
    assert!((mean.baseline - 1500.0).abs() < 60.0 && mean.unit == "MHz", "{mean:?}");
    let share = figure(&found, "policy0 at 2000 MHz");
    assert!((share.change.value - 0.4).abs() < 0.08, "{share:?}");
    let core = figure(&found, "all tasks on big");
    assert!(core.change.value > 0.15 && core.verdict == VerdictWord::Effect, "{core:?}");
    let woken = figure(&found, "wake-up latency of all tasks median");
    assert!((woken.change.value - 154.5 / 104.5).abs() < 0.03, "{woken:?}");
    let items = figure(&found, "item latency of work p99");
    assert!(items.baseline > 2000.0 && items.unit == "us", "{items:?}");
    let moves = figure(&found, "migrations");
    assert!((moves.baseline - 100.0).abs() < 20.0 && moves.unit == "/s", "{moves:?}");
    for figure in &found.figures {
        let (low, high) = (figure.change.low.unwrap(), figure.change.high.unwrap());
        assert!(low <= figure.change.value && figure.change.value <= high, "{figure:?}");
    }
}

#[test]
fn the_same_twice_is_equivalent_where_the_data_suffice() {
    let long = Side { length: 60_000, ..SIDE };
    let found = compared(long, Side { seed: 2, ..long });
    let woken = figure(&found, "wake-up latency of all tasks median");
    assert_eq!(woken.verdict, VerdictWord::Equivalent, "{woken:?}");
    let mean = figure(&found, "mean frequency of policy0");
    assert_eq!(mean.verdict, VerdictWord::Equivalent, "{mean:?}");
    let effects = found.figures.iter().filter(|f| f.verdict == VerdictWord::Effect).count();
    assert!(effects <= 1, "one in twenty by chance: {:#?}", found.figures);
}

#[test]
fn other_tasks_and_other_lengths_confound() {
    let found = compared(SIDE, Side { task: "other", ..SIDE });
    assert_eq!(found.verdict, VerdictWord::Confounded);
    assert!(found.reasons[0].text.contains("work ran under old alone, 100"), "{:?}", found.reasons);
    assert!(found.figures.iter().all(|f| f.verdict == VerdictWord::Confounded));
    let found = compared(SIDE, Side { length: 1200, ..SIDE });
    assert_eq!(found.verdict, VerdictWord::Confounded);
    assert!(found.reasons[0].text.contains("differ in length"), "{:?}", found.reasons);
}

#[test]
fn repetitions_are_the_units_where_there_are_some() {
    let runs =
        [repeated("old", SIDE, 6), repeated("new", Side { latency: 130, seed: 2, ..SIDE }, 6)];
    let found = report(&runs).traces.remove(0);
    assert_eq!(found.units, "6 repetitions on each side");
    assert!(found.reasons.is_empty(), "{:?}", found.reasons);
    let woken = figure(&found, "wake-up latency of all tasks median");
    assert_eq!((woken.verdict, woken.resampled), (VerdictWord::Effect, [6, 6]));
}

#[test]
fn several_recordings_on_a_side_are_the_units() {
    // What differs from recording to recording is as large as the difference looked for.
    let side = |name: &'static str, latencies: [u64; 4], against: bool| {
        (0..).zip(latencies).map(move |(seed, latency)| RunData {
            against,
            ..run(&format!("{name}{seed}"), Side { latency, seed: 10 + seed, ..SIDE })
        })
    };
    let compare = |new: [u64; 4]| {
        let old = side("old", [100, 130, 105, 125], true);
        let found = report(&old.chain(side("new", new, false)).collect::<Vec<_>>()).traces;
        let [found] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(found.title, "new0 and 3 more against old0 and 3 more");
        assert_eq!(found.units, "4 recordings on each side");
        assert!(found.reasons.is_empty(), "{:?}", found.reasons);
        figure(found, "wake-up latency of all tasks median").clone()
    };
    let same = compare([130, 104, 128, 101]);
    assert_eq!((same.verdict, same.resampled), (VerdictWord::Undecided, [4, 4]), "{same:?}");
    let alone = compared(Side { latency: 100, ..SIDE }, Side { latency: 130, seed: 2, ..SIDE });
    let alone = figure(&alone, "wake-up latency of all tasks median");
    assert_eq!(alone.verdict, VerdictWord::Effect, "within one recording each it looks like one");
    let slower = compare([230, 204, 228, 201]);
    assert_eq!(slower.verdict, VerdictWord::Effect, "{slower:?}");
}

#[test]
fn fewer_than_three_recordings_decide_nothing() {
    for count in [1, 2] {
        let old =
            (0..count).map(|n| RunData { against: true, ..run("old", Side { seed: n, ..SIDE }) });
        let new = (2..5).map(|seed| run("new", Side { seed, latency: 300, ..SIDE }));
        let found = report(&old.chain(new).collect::<Vec<_>>()).traces.remove(0);
        let woken = figure(&found, "wake-up latency of all tasks median");
        assert_eq!(woken.verdict, VerdictWord::Undecided, "{woken:?}");
        assert_eq!(woken.resampled, [3, count]);
    }
}

#[test]
fn rules_and_text_see_the_comparison() {
    let report = report(&[run("old", SIDE), run("new", Side { latency: 150, seed: 2, ..SIDE })]);
    let status = |rule: &str| -> Vec<Status> {
        Gate::parse(rule).unwrap().evaluate(&report).into_iter().map(|o| o.status).collect()
    };
    let woken = "figure=wake-up latency of all tasks median";
    assert_eq!(status("verdict == effect"), [Status::Fail]);
    assert_eq!(status(&format!("ratio > 1.2 [{woken}]")), [Status::Fail]);
    assert_eq!(status(&format!("ratio > 2 [{woken}]")), [Status::Pass]);
    assert_eq!(status(&format!("verdict != effect [{woken}]")), [Status::Pass]);
    assert_eq!(status("ratio > 1.2 [figure=nothing]"), [Status::CannotDecide]);
    let text = render(&report, &TerminalOptions { verbose: true, ..TerminalOptions::default() });
    assert!(text.contains("new against old: EFFECT"), "{text}");
    assert!(text.contains("wake-up latency of all tasks"), "{text}");
    let html = flyball_report::html::render(&report, &Default::default());
    assert!(html.contains("new against old: EFFECT"));
}

#[test]
fn one_run_is_compared_with_nothing() {
    assert!(report(&[run("only", SIDE)]).traces.is_empty());
}
