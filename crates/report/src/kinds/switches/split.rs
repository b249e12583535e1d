//! A latency on a grid: the wait for the hardware's next point, and a fixed part.
//!
//! ```text
//! L = F + U,  U uniform on 0 to P        P the grid's period, F fixed
//! ```
//! It holds where the waits before the writes are random. F is where a window of length P holds the
//! most latencies: without scatter all of them, and F lies anywhere from the longest less P to the
//! shortest, which is exact to about P over their number. Outliers lie outside and move nothing.

use flyball_stats::{Estimate, LEVEL, mean_half_width, sort};
use serde::{Deserialize, Serialize};

/// Fewer latencies are not split.
pub const LEAST: usize = 20;

/// From so many on scatter, not number, limits what is known of F; then the interval is that of the
/// mean over batches. What is measured in turn goes to different ones.
const MANY: usize = 1000;
const BATCHES: usize = 10;

/// A distance from uniform above this does not fit.
const FITS: f64 = 0.1;

/// The two parts, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    /// The wait lies uniformly between 0 and this: the grid's period.
    pub wait_us: f64,
    /// What every switch takes.
    pub fixed_us: Estimate,
    /// Largest distance between the latencies' distribution and that of fixed + uniform, from 0 to
    /// 1 (Kolmogorov and Smirnov's).
    pub misfit: f64,
    /// Whether that is small enough for the split to mean something.
    pub fits: bool,
}

/// Splits latencies, in microseconds, by a grid's period; none of too few.
pub fn split(latencies_us: &[f64], period_us: f64) -> Option<Split> {
    if latencies_us.len() < LEAST || period_us <= 0.0 {
        return None;
    }
    let sorted = |mut values: Vec<f64>| {
        sort(&mut values);
        values
    };
    let whole = sorted(latencies_us.to_vec());
    let (value, room) = fixed(&whole, period_us);
    let batches = BATCHES.min(latencies_us.len() / 2);
    let each: Vec<f64> = (0..batches)
        .map(|batch| latencies_us.iter().skip(batch).step_by(batches).copied().collect())
        .map(|batch| fixed(&sorted(batch), period_us).0)
        .collect();
    // Every place in the room is as likely as any other: the middle 95 % of it.
    let of_room = LEVEL * room / 2.0;
    let half = match latencies_us.len() {
        MANY.. => mean_half_width(&each).map(|half| half.max(of_room)),
        _ => Some(of_room),
    };
    let misfit = misfit(&whole, value, period_us);
    let fixed_us = Estimate::around(value, half);
    Some(Split { wait_us: period_us, fixed_us, misfit, fits: misfit <= FITS })
}

/// The start of the window of length `period` with the most values, and how far it can be moved
/// without losing one.
fn fixed(sorted: &[f64], period: f64) -> (f64, f64) {
    let mut best = (0, 0.0, 0.0);
    for (start, first) in sorted.iter().enumerate() {
        let end = sorted.partition_point(|value| *value < first + period);
        if end - start <= best.0 {
            continue;
        }
        let last = sorted.get(end - 1).copied().unwrap_or(*first);
        let before = start.checked_sub(1).and_then(|at| sorted.get(at)).copied();
        let after = sorted.get(end).copied();
        let low = before.map_or(last - period, |before| before.max(last - period));
        let high = after.map_or(*first, |after| first.min(after - period));
        best = (end - start, (low + high) / 2.0, (high - low).max(0.0));
    }
    (best.1, best.2)
}

fn misfit(sorted: &[f64], fixed: f64, period: f64) -> f64 {
    let n = sorted.len() as f64;
    let distance = |(below, latency): (usize, &f64)| {
        let expected = ((latency - fixed) / period).clamp(0.0, 1.0);
        let (before, after) = (below as f64 / n, (below + 1) as f64 / n);
        (expected - before).abs().max((after - expected).abs())
    };
    sorted.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_stats::random::Random;

    #[test]
    fn the_fixed_part_comes_out_with_an_interval_that_holds_it() {
        let mut held = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let latencies: Vec<f64> = (0..300).map(|_| 365.0 + 1000.0 * random.uniform()).collect();
            let split = split(&latencies, 1000.0).unwrap();
            assert!((split.fixed_us.value - 365.0).abs() < 20.0 && split.fits);
            held += usize::from(split.fixed_us.covers(365.0));
        }
        assert!((176..=200).contains(&held), "{held} of 200");
    }

    #[test]
    fn what_is_not_uniform_does_not_fit() {
        let latencies: Vec<f64> = (0..100).map(|i| 300.0 + f64::from(i % 3)).collect();
        assert!(!split(&latencies, 1000.0).unwrap().fits);
        assert_eq!(split(&[1.0; 5], 1000.0), None);
        assert_eq!(split(&[1.0; 50], 0.0), None);
    }
}
