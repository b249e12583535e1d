//! The rate of the free-running counter against CLOCK_MONOTONIC.

use crate::sys::clock;
use crate::{Call, CounterRate, HostError, arch};
use flyball_units::Nanos;

/// How long the counter is watched. Reading both clocks together is good to some 50 ns, so 20 ms
/// give a few parts per million.
const SPAN: Nanos = Nanos::from_millis(20);

/// Readings of both clocks at each end, of which the tightest counts.
const READINGS: usize = 32;

/// A reading of the counter between two of the clock.
#[derive(Clone, Copy)]
struct Reading {
    before: Nanos,
    ticks: u64,
    after: Nanos,
}

impl Reading {
    fn take() -> Reading {
        let before = clock::now();
        let ticks = arch::counter();
        Reading { before, ticks, after: clock::now() }
    }

    /// The tightest of several: the least disturbed one.
    fn best() -> Reading {
        let mut best = Reading::take();
        for _ in 1..READINGS {
            let next = Reading::take();
            if next.width() < best.width() {
                best = next;
            }
        }
        best
    }

    fn width(self) -> Nanos {
        self.after.since(self.before)
    }
}

/// Measures the counter's rate. The uncertainty is a bound, not a deviation: the true instants of
/// the two readings lie inside the clock's readings around them, and a tick is the counter's
/// resolution.
pub(crate) fn counter_rate() -> Result<CounterRate, HostError> {
    let start = Reading::best();
    // A sleep, not a spin: on a busy machine this costs nobody anything. An interrupt only makes
    // the span shorter, and the uncertainty says so.
    clock::sleep_until(start.after + SPAN)?;
    rate(start, Reading::best())
}

/// The rate between two readings.
fn rate(start: Reading, end: Reading) -> Result<CounterRate, HostError> {
    let ticks = end.ticks.wrapping_sub(start.ticks);
    let shortest = end.before.since(start.after).0 as f64;
    let longest = end.after.since(start.before).0 as f64;
    if ticks == 0 || ticks > i64::MAX as u64 || shortest <= 0.0 {
        return Err(HostError::unsupported(
            Call::CounterHz,
            "the processor's counter",
            format!("it moved by {} in {longest:.0} ns", ticks as i64),
        ));
    }
    let middle = (shortest + longest) / 2.0;
    Ok(CounterRate {
        hz: ticks as f64 * 1e9 / middle,
        relative_uncertainty: (longest - shortest) / 2.0 / middle + 1.0 / ticks as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(before: u64, ticks: u64, after: u64) -> Reading {
        Reading { before: Nanos(before), ticks, after: Nanos(after) }
    }

    #[test]
    fn the_bound_holds_the_truth() {
        // 3 GHz, read in the middle of 100 ns at the start and at the very end of 100 ns later.
        let rate = rate(reading(0, 150, 100), reading(20_000_000, 60_000_300, 20_000_100)).unwrap();
        assert!((rate.hz / 3e9 - 1.0).abs() <= rate.relative_uncertainty, "{rate:?}");
        assert!(rate.relative_uncertainty < 1e-5, "{rate:?}");
    }

    #[test]
    fn a_counter_that_stands_or_runs_backwards_is_refused() {
        let start = reading(0, 1000, 1);
        for end in [reading(100, 1000, 101), reading(100, 10, 101), reading(0, 2000, 1)] {
            assert!(rate(start, end).is_err());
        }
    }
}
