//! Windowed (the i.MX8 measurement): two levels in turn, one per window, while the same work runs as fast as it
//! can; and each level alone, in the same loop. Runs at the levels alone stand between those that
//! alternate, so that what drifts drifts for both.

use super::{Bench, Loop, Method, named};
use crate::protocol::switches::TransitionError;
use flyball_run::SwitchTrial;
use flyball_units::{KiloHertz, Nanos};
use std::collections::BTreeSet;

/// The other length of window, in windows: a cost per switch must not depend on it.
const LONGER: u64 = 2;

pub(super) fn run(bench: &mut Bench<'_>) -> Result<(), TransitionError> {
    let Some(highest) = bench.levels.last().copied() else { return Ok(()) };
    bench.set(highest)?;
    let settle = bench.plan.settle;
    bench.device.busy_for(settle);
    let one = Loop::fitting(bench);
    let shortest = Nanos(bench.plan.window.0 / 20);
    let lowest = bench.levels.first().copied().unwrap_or(highest);
    bench.set(lowest)?;
    bench.device.busy_for(settle);
    let coarsest = one.time(bench);
    if coarsest > shortest {
        let why = format!(
            "a loop takes {:.1} us at {} MHz, which is too long for windows of {:.0} us: at least 20 \
             loops are needed",
            coarsest.0 as f64 / 1e3,
            lowest.0 as f64 / 1e3,
            bench.plan.window.0 as f64 / 1e3
        );
        return bench.sink.refused("windowed", &why);
    }
    let pairs = bench.pairs();
    let all = pairs.len() * bench.plan.runs as usize;
    for number in 0..bench.plan.runs as usize {
        let mut alone = BTreeSet::new();
        for (position, (low, high)) in pairs.iter().copied().enumerate() {
            let done = number * pairs.len() + position;
            bench.sink.progress(done, all, &format!("windowed: {}", named(low, high)));
            for window in [bench.plan.window, Nanos(LONGER * bench.plan.window.0)] {
                one_run(bench, one, low, high, window)?;
            }
            for level in [low, high] {
                if alone.insert(level) {
                    let window = bench.plan.window;
                    one_run(bench, one, level, level, window)?;
                }
            }
        }
    }
    Ok(())
}

/// One score: units of work per second.
fn one_run(
    bench: &mut Bench<'_>,
    one: Loop,
    first: KiloHertz,
    second: KiloHertz,
    window: Nanos,
) -> Result<(), TransitionError> {
    bench.set(first)?;
    let settle = bench.plan.settle;
    bench.device.busy_for(settle);
    bench.wait();
    let alternating = first != second;
    // An even number of windows: both levels get the same time.
    let windows = (bench.plan.run_time.0 / window.0.max(1)).max(2) & !1;
    // The first switch of the run costs as much as the others.
    if alternating {
        bench.set(second)?;
        bench.device.busy_for(window);
    }
    let start = bench.device.now();
    let mut loops = 0_u64;
    for number in 0..windows {
        let until = Nanos(start.0 + (number + 1) * window.0);
        if alternating {
            bench.set(if number % 2 == 0 { first } else { second })?;
        } else if bench.device.interrupted() {
            return Err(TransitionError::Interrupted);
        }
        while bench.device.now() < until {
            bench.device.work(one.units);
            loops += 1;
        }
    }
    let took = bench.device.now().since(start);
    let trial = SwitchTrial {
        method: if alternating { String::new() } else { "fixed".to_owned() },
        from_khz: first.0,
        to_khz: second.0,
        attempt: 1,
        t_ns: Some(start.0),
        window_ns: Some(window.0),
        score: Some((loops * one.units) as f64 / took.as_secs_f64().max(1e-9)),
        ..SwitchTrial::default()
    };
    bench.keep(Method::Windowed, trial)
}
