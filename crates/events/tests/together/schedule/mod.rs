//! Small runs of windows with events beside them, in microseconds.
#![allow(dead_code, reason = "each test takes what it needs")]

use flyball_run::manifest::{ClockRecord, CpuRecord, DomainRecord, Machine, TrialRecord};
use flyball_run::{FrequencySample, IdleStay, Run, Slice, Wakeup, Window};

/// Number of the measuring task.
pub const MEASURED: u32 = 40;

/// Microseconds in nanoseconds.
pub fn us(us: u64) -> u64 {
    us * 1_000
}

/// Two CPUs, one clock domain of 2 GHz, one trial, one clock, nothing in the tables.
pub fn run() -> Run {
    let mut run = Run::default();
    let cpu = |cpu| CpuRecord {
        cpu,
        max_khz: Some(2_000_000),
        domain: Some("policy0".to_owned()),
        ..CpuRecord::default()
    };
    let domain =
        DomainRecord { name: "policy0".to_owned(), cpus: vec![0, 1], ..Default::default() };
    run.manifest.machine =
        Some(Machine { cpus: vec![cpu(0), cpu(1)], domains: vec![domain], ..Machine::default() });
    run.manifest.order = vec![TrialRecord { tid: Some(MEASURED), ..TrialRecord::default() }];
    let clock = |table: &str| ClockRecord {
        table: table.to_owned(),
        clock: "monotonic".to_owned(),
        ..ClockRecord::default()
    };
    run.manifest.clocks = ["windows", "slices", "frequency"].map(clock).to_vec();
    run
}

/// A task ran.
pub fn slice(run: &mut Run, cpu: u32, tid: u32, task: &str, (from, to): (u64, u64), why: &str) {
    run.tables.slices.push(Slice {
        cpu,
        tid,
        task: task.to_owned(),
        from_ns: us(from),
        to_ns: us(to),
        why: Some(why.to_owned()),
        ..Slice::default()
    });
}

/// A CPU was idle.
pub fn idle(run: &mut Run, cpu: u32, state: u32, name: &str, (from, to): (u64, u64)) {
    run.tables.idle.push(IdleStay {
        cpu,
        state,
        name: Some(name.to_owned()),
        from_ns: us(from),
        to_ns: us(to),
        ..IdleStay::default()
    });
}

/// A task was woken and ran.
pub fn wakeup(run: &mut Run, tid: u32, cpu: u32, (woken, ran): (u64, u64)) {
    run.tables.wakeups.push(Wakeup {
        woken_ns: us(woken),
        ran_ns: Some(us(ran)),
        cpu,
        tid,
        task: "trial-0".to_owned(),
        ..Wakeup::default()
    });
}

/// A clock domain's frequency changed.
pub fn frequency(run: &mut Run, domain: &str, t: u64, khz: u64) {
    run.tables.frequency.push(FrequencySample {
        t_ns: us(t),
        domain: domain.to_owned(),
        claimed_khz: Some(khz),
        source: "cpu_frequency".to_owned(),
        ..FrequencySample::default()
    });
}

/// A window: release, dispatch, end.
pub fn window(run: &mut Run, seq: u64, times: (u64, u64, u64)) {
    window_with(run, seq, times, |_| {});
}

/// A window with more than its times.
pub fn window_with(
    run: &mut Run,
    seq: u64,
    (release, dispatch, end): (u64, u64, u64),
    edit: impl FnOnce(&mut Window),
) {
    let mut window = Window {
        seq,
        index: seq,
        workload: "car".to_owned(),
        condition: "idle".to_owned(),
        release_ns: us(release),
        dispatch_ns: us(dispatch),
        end_ns: us(end),
        response_ns: us(end - release) as i64,
        cpu_before: Some(0),
        ..Window::default()
    };
    edit(&mut window);
    run.tables.windows.push(window);
}

/// Moves all events.
pub fn shift_events(run: &mut Run, by: u64) {
    let tables = &mut run.tables;
    let (slices, idle) = (&mut tables.slices, &mut tables.idle);
    let columns = [&mut slices.from_ns, &mut slices.to_ns, &mut idle.from_ns, &mut idle.to_ns];
    for times in columns.into_iter().chain([&mut tables.wakeups.woken_ns]) {
        *times = times.iter().map(|t| t + by).collect();
    }
    tables.frequency.t_ns.iter_mut().for_each(|t| *t += by);
}
