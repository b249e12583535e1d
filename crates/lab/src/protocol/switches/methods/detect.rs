//! Detection: after the write, short loops run until one has the new speed (FTaLaT's idea: Mazouz,
//! Laurent, Pradelle, Jalby, "Evaluation of CPU Frequency Transition Latency", 2014).
//!
//! The wait before each write is random, so that no grid of the hardware hides. A switch counts when
//! three loops in a row lie in the interval of the new level, and the mean of the next hundred does,
//! too. What is reported is the start of the first of those loops, not its end: the switch was over by
//! then, and at most one loop before.

use super::level::VALIDATING;
use super::{Bench, Level, Loop, Method, Written, named};
use crate::protocol::switches::TransitionError;
use flyball_run::SwitchTrial;
use flyball_units::{KiloHertz, Nanos};

/// Loops in a row that must have the new speed: a stall inside a fast loop looks like a slow one.
const IN_A_ROW: usize = 3;

/// Why a measurement does not count.
const NEVER: &str = "the new speed was not seen in time";
const NOT_KEPT: &str = "the loops after it did not keep the new speed";

/// How long a source level may take to come back, in patiences.
const RETURNS: u64 = 3;

pub(super) fn run(bench: &mut Bench<'_>) -> Result<(), TransitionError> {
    let Some(highest) = bench.levels.last().copied() else { return Ok(()) };
    bench.set(highest)?;
    let settle = bench.plan.settle;
    bench.device.busy_for(settle);
    let one = Loop::fitting(bench);
    let mut learnt = Vec::new();
    for khz in bench.levels.clone() {
        learnt.push(Level::learn(bench, khz, one)?);
    }
    let pairs = bench.pairs();
    for (number, (low, high)) in pairs.iter().copied().enumerate() {
        bench.sink.progress(number, pairs.len(), &format!("detect: {}", named(low, high)));
        let find = |khz: KiloHertz| learnt.iter().find(|level| level.khz == khz).copied();
        let (Some(low), Some(high)) = (find(low), find(high)) else { continue };
        if !low.is_apart_from(&high) {
            let why = format!(
                "loops of {:.1} and {:.1} us cannot be told apart: their speeds are too alike, or the \
                 level was never reached",
                low.mean / 1e3,
                high.mean / 1e3
            );
            bench.sink.refused(&format!("detect: {}", named(low.khz, high.khz)), &why)?;
            continue;
        }
        pair(bench, one, low, high)?;
    }
    Ok(())
}

/// Switches to and fro.
fn pair(bench: &mut Bench<'_>, one: Loop, low: Level, high: Level) -> Result<(), TransitionError> {
    for _ in 0..bench.plan.trials {
        for (from, to) in [(&low, &high), (&high, &low)] {
            for attempt in 1..=bench.plan.attempts.max(1) {
                if !at_source(bench, one, from)? {
                    let why = "the level to start from was not reached";
                    bench.sink.refused(&format!("detect: {}", named(from.khz, to.khz)), why)?;
                    return Ok(());
                }
                let trial = attempt_once(bench, one, from, to, attempt)?;
                let counts = trial.rejected.is_none();
                bench.keep(Method::Detect, trial)?;
                if counts {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Makes sure that work runs at the source's speed.
fn at_source(bench: &mut Bench<'_>, one: Loop, from: &Level) -> Result<bool, TransitionError> {
    bench.set(from.khz)?;
    let start = bench.device.now();
    let mut row = 0;
    while bench.device.now().since(start).0 < RETURNS * bench.plan.patience.0 {
        row = if from.admits(one.time(bench)) { row + 1 } else { 0 };
        if row >= IN_A_ROW {
            return Ok(true);
        }
    }
    Ok(false)
}

fn attempt_once(
    bench: &mut Bench<'_>,
    one: Loop,
    from: &Level,
    to: &Level,
    attempt: u32,
) -> Result<SwitchTrial, TransitionError> {
    let waited = bench.wait();
    let written = bench.write(to.khz)?;
    let seen = watch(bench, one, &written, from, to);
    let mut trial = SwitchTrial {
        from_khz: from.khz.0,
        to_khz: to.khz.0,
        attempt,
        t_ns: Some(written.start.0),
        waited_ns: Some(waited.0),
        since_last_ns: written.since_last.map(|time| time.0),
        write_ns: Some(written.end.since(written.start).0),
        ..SwitchTrial::default()
    };
    match seen {
        None => trial.rejected = Some(NEVER.to_owned()),
        Some(seen) => {
            trial.transition_ns = Some(seen.at.since(written.start).0);
            trial.stall_ns = seen.stall.map(|stall| stall.0);
            trial.loop_ns = Some(to.mean.round() as u64);
            let mut times: Vec<f64> = (0..VALIDATING).map(|_| one.time(bench).0 as f64).collect();
            if !to.is_mean_of(&mut times) {
                trial.rejected = Some(NOT_KEPT.to_owned());
            }
        }
    }
    Ok(trial)
}

/// When the new speed was seen.
struct Seen {
    /// Start of the first loop at it.
    at: Nanos,
    /// Longest loop before it, beyond what a loop takes.
    stall: Option<Nanos>,
}

fn watch(
    bench: &mut Bench<'_>,
    one: Loop,
    written: &Written,
    from: &Level,
    to: &Level,
) -> Option<Seen> {
    // A loop that a stall lengthened; the uncertainty of the slower level is no stall.
    let slower = if from.mean > to.mean { from } else { to };
    let usual = slower.mean + slower.uncertainty();
    let (mut row, mut first, mut longest) = (0, written.end, 0.0);
    let mut start = written.end;
    while start.since(written.end) < bench.plan.patience {
        bench.device.work(one.units);
        let end = bench.device.now();
        let time = end.since(start);
        if to.admits(time) {
            if row == 0 {
                first = start;
            }
            row += 1;
            if row >= IN_A_ROW {
                let stall = (longest > usual).then_some(Nanos((longest - from.mean) as u64));
                return Some(Seen { at: first, stall });
            }
        } else {
            row = 0;
            longest = f64::max(longest, time.0 as f64);
        }
        start = end;
    }
    None
}
