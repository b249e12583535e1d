//! Writes what a recorder sees of one busy CPU at HZ=1000, tick by tick, and prints time and peak
//! memory: `hour TARGET [SECONDS]`, an hour where no seconds are given.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a stopwatch, not a part of the tool"
)]

use std::error::Error;
use std::time::Instant;

use flyball_run::{
    FrequencySample, GovernorStep, IdleStay, Item, Manifest, RunState, RunWriter, Slice,
    UtilizationSample, Wakeup,
};

/// One tick in nanoseconds.
const TICK_NS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().ok_or("usage: hour TARGET [SECONDS]")?;
    let seconds: u64 = arguments.next().map_or(Ok(3600), |text| text.parse())?;
    let manifest = Manifest { kind: "sim".to_owned(), ..Manifest::default() };
    let start = Instant::now();
    let mut writer = RunWriter::create(target, &manifest)?;
    for tick in 0..seconds * 1000 {
        write_tick(&mut writer, tick)?;
    }
    report("append", start);
    writer.finish(&Manifest { state: RunState::Complete, ..manifest })?;
    report("finish", start);
    Ok(())
}

/// Each tick brings task and queue signals, a governor's look, a wake-up and a slice; every tenth
/// a change of frequency, a stay in an idle state and a work item.
fn write_tick(writer: &mut RunWriter, tick: u64) -> Result<(), Box<dyn Error>> {
    let t_ns = tick * TICK_NS + tick % 977;
    let util = (tick * 7 % 1024) as u32;
    let task = || "busy".to_owned();
    let signals = UtilizationSample {
        t_ns,
        kind: "task".to_owned(),
        cpu: Some(0),
        tid: Some(1),
        task: Some(task()),
        util_avg: Some(util),
        runnable_avg: Some(util),
        util_est: Some(util / 2),
        period_contrib: None,
        updater_cpu: None,
        trial: None,
    };
    let queue =
        UtilizationSample { kind: "cpu".to_owned(), tid: None, task: None, ..signals.clone() };
    writer.append(&signals)?;
    writer.append(&queue)?;
    writer.append(&GovernorStep {
        t_ns,
        domain: "policy0".to_owned(),
        event: "util".to_owned(),
        cpu: Some(0),
        util: Some(util),
        max: Some(1024),
        why: Some("rate limit".to_owned()),
        ..GovernorStep::default()
    })?;
    let (woken_ns, ran_ns, latency_ns) = (t_ns, Some(t_ns + 40), Some(40));
    let (tid, ran_cpu) = (1, Some(0));
    let woken =
        Wakeup { woken_ns, ran_ns, latency_ns, ran_cpu, tid, task: task(), ..Wakeup::default() };
    writer.append(&woken)?;
    let (from_ns, to_ns, why) = (t_ns + 40, t_ns + TICK_NS - 90, Some("slept".to_owned()));
    writer.append(&Slice { tid, task: task(), from_ns, to_ns, why, ..Slice::default() })?;
    if tick.is_multiple_of(10) {
        let (domain, source) = ("policy0".to_owned(), "model".to_owned());
        let delivered_khz = Some(600_000 + u64::from(util) * 1000);
        let sample =
            FrequencySample { t_ns, domain, source, delivered_khz, ..FrequencySample::default() };
        writer.append(&sample)?;
        writer.append(&IdleStay {
            from_ns: t_ns,
            to_ns: t_ns + 30,
            state: 1,
            ..IdleStay::default()
        })?;
        let (released_ns, ended_ns) = (t_ns, Some(t_ns + 900));
        writer.append(&Item {
            tid,
            task: task(),
            item: tick,
            released_ns,
            ended_ns,
            ..Item::default()
        })?;
    }
    Ok(())
}

fn report(what: &str, start: Instant) {
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    println!("{what:8} {:.1} s, {peak}", start.elapsed().as_secs_f64());
}
