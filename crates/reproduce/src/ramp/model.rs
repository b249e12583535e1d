//! Ramp-ups on the whole model: governor, rate limit, transitions and migration included.

use super::{Core, Ramp, Ramps, Stretch};
use crate::quantity::Undecided;
use crate::simulation::{Log, Spin, run, setup, task};
use flyball_platform::Platform;
use flyball_sim::setup::Setup;
use flyball_units::Nanos;
use rayon::prelude::*;

/// One scenario of the response-time series, or of a board.
#[derive(Clone, Copy)]
pub(super) struct Scenario {
    pub platform: &'static str,
    pub kernel: &'static str,
    /// Ramp-up multiplier of the task, for kernels with the series.
    pub multiplier: Option<u32>,
    /// util_avg at the start of the spin, where a recording shows one that is not 0.
    pub start_util: Option<u32>,
}

/// Phases of the tick.
const TICK_PHASES: u64 = 25;
/// Starts within a period of load tracking.
const STARTS: u64 = 8;
/// Length of a period in ns.
const PERIOD_NS: u64 = 1024 * 1024;
/// Idle time before the spin.
const BEFORE: Nanos = Nanos::from_millis(20);
/// Observation after the start of the spin.
const AFTER: Nanos = Nanos::from_millis(400);

/// The scenario of a name.
pub(super) fn scenario(name: &str) -> Option<Scenario> {
    let of = |platform, kernel, multiplier| {
        Some(Scenario { platform, kernel, multiplier, start_util: None })
    };
    let board = |platform, kernel, start_util| {
        Some(Scenario { platform, kernel, multiplier: None, start_util: Some(start_util) })
    };
    match name {
        "default" => of("m1", "linux-6.8", None),
        "70us" => of("m1", "linux-6.8-70us", None),
        "x1" => of("m1", "linux-6.10-series", Some(1)),
        "x2" => of("m1", "linux-6.10-series", Some(2)),
        "phone" => of("phone", "linux-6.12", None),
        "board-aarch64" => board("board-aarch64", "debian-7.2", 8),
        "board-x86" => board("board-x86", "debian-6.12", 30),
        _ => None,
    }
}

/// The ramp-ups of a scenario over the grid.
pub(super) fn ramps(scenario: Scenario) -> Result<Ramps, Undecided> {
    let points: Vec<(u64, u64)> =
        (0..TICK_PHASES).flat_map(|tick| (0..STARTS).map(move |start| (tick, start))).collect();
    let all: Result<Vec<Ramp>, Undecided> =
        points.par_iter().map(|point| ramp(scenario, *point)).collect();
    let ramps = Ramps::new(all?, "the tick's phase and the start in the period of load tracking");
    Ok(Ramps { read: scenario.start_util.map(words), ..ramps })
}

/// What of a recording went in.
fn words(start_util: u32) -> String {
    format!("read from the recording: util_avg {start_util} at the start of the spin")
}

fn ramp(scenario: Scenario, (tick, start): (u64, u64)) -> Result<Ramp, Undecided> {
    let begin = BEFORE.0 + start * PERIOD_NS / STARTS;
    let mut setup = prepared(scenario, Nanos(begin + AFTER.0))?;
    let length = 1_000_000_000 / u64::from(setup.kernel.hz);
    // The first tick of the spin comes after (tick + 1/2) of the grid's steps.
    setup.tick_phase = Nanos((begin + (2 * tick + 1) * length / (2 * TICK_PHASES)) % length);
    let mut spin = task("rampup", Nanos(begin), Spin);
    let start_util = scenario.start_util.unwrap_or(0);
    spin.initial_util = Some(start_util);
    spin.rampup_multiplier = scenario.multiplier;
    setup.tasks.push(spin);
    let platform = setup.platform.clone();
    let (log, _) = run(setup)?;
    let mut ramp = from_log(&log, &platform, begin, begin + AFTER.0);
    if let Some(first) = ramp.util.first_mut() {
        first.1 = start_util;
    }
    Ok(ramp)
}

fn prepared(scenario: Scenario, duration: Nanos) -> Result<Setup, Undecided> {
    setup(scenario.platform, scenario.kernel, "schedutil", &[], duration)
}

/// A ramp from what the observer saw.
fn from_log(log: &Log, platform: &Platform, begin: u64, end: u64) -> Ramp {
    let ms = |at: u64| (at.max(begin) - begin) as f64 / 1e6;
    let mut ramp = Ramp { util: vec![(0.0, 0)], end_ms: ms(end), ..Ramp::default() };
    for (at, util) in log.util.iter().filter(|(at, _)| *at >= begin) {
        if ramp.util.last().is_some_and(|(_, last)| last != util) {
            ramp.util.push((ms(*at), *util));
        }
    }
    let largest = platform.cpus.iter().map(|cpu| cpu.capacity).max();
    let ends = log.placed.iter().skip(1).map(|(at, _)| *at).chain([end]);
    for ((from, cpu), to) in log.placed.iter().zip(ends) {
        let Some(cpu) = cpu.and_then(|cpu| platform.cpus.get(cpu as usize)) else { continue };
        let core = if Some(cpu.capacity) == largest { Core::Big } else { Core::Little };
        for (mhz, from, to) in frequencies(log, platform, cpu.domain, *from, to) {
            push(&mut ramp, Stretch { core, mhz, from_ms: ms(from), to_ms: ms(to) });
        }
    }
    ramp
}

/// Joins stretches that nothing separates: a preemption that resumes, a repeated write.
fn push(ramp: &mut Ramp, next: Stretch) {
    match ramp.running.last_mut() {
        Some(last)
            if last.core == next.core
                && last.mhz == next.mhz
                && next.from_ms - last.to_ms < 1e-6 =>
        {
            last.to_ms = next.to_ms;
        }
        _ => ramp.running.push(next),
    }
}

/// The frequencies of a domain between two times, as (MHz, from, to).
fn frequencies(
    log: &Log,
    platform: &Platform,
    domain: usize,
    from: u64,
    to: u64,
) -> Vec<(u64, u64, u64)> {
    let changes = log.frequency.iter().filter(|change| change.1 == domain);
    let before = changes.clone().rfind(|change| change.0 <= from).map(|change| change.2);
    let lowest = platform.domains.get(domain).map_or(0, |domain| domain.opps.min().0);
    let mut parts = vec![(before.unwrap_or(lowest) / 1000, from, to)];
    for (at, _, khz) in changes.filter(|change| change.0 > from && change.0 < to) {
        if let Some(last) = parts.last_mut() {
            last.2 = *at;
        }
        parts.push((khz / 1000, *at, to));
    }
    parts
}
