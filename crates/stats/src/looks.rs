//! Looking while an experiment runs, with an error rate that holds under looking.
//!
//! A group-sequential design (Jennison and Turnbull, *Group Sequential Methods*, 2000): the numbers of
//! blocks at which one looks are fixed beforehand, and every look is made at the same, stricter level
//! (Pocock's), so that over all of them together an experiment without an effect shows one as rarely as
//! promised. Stopping early is then honest, whatever the data look like.

use crate::quantile::{quantile, sort};
use crate::rng::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// Blocks at the first look: fewer have next to no power.
const FIRST: usize = 6;
/// From look to look the blocks grow by this factor: later looks are worth less.
const GROWTH: f64 = 1.3;
/// Simulated experiments; the level's error is then below 3 % of itself.
const PATHS: u64 = 20_000;

/// The numbers of blocks at which to look, ascending; the last is `most`.
pub fn look_times(most: usize) -> Vec<usize> {
    let mut times = Vec::new();
    let mut next = FIRST;
    while next < most {
        times.push(next);
        next = (next + 1).max((next as f64 * GROWTH).round() as usize);
    }
    times.push(most);
    times
}

/// The level of each look's intervals with which all looks together have the level `level`: from
/// simulated random walks without drift, whose values at the looks are as correlated as those of a
/// mean that is looked at again and again.
pub fn look_level(times: &[usize], level: f64) -> f64 {
    let Ok(normal) = Normal::new(0.0, 1.0) else { return level };
    let path = |number: u64| {
        let mut rng = Rng::new(0x100C, number);
        let (mut walk, mut seen, mut largest) = (0.0, 0_usize, 0.0_f64);
        for &time in times {
            let step = (time.saturating_sub(seen)) as f64;
            walk += step.sqrt() * normal.inverse_cdf(rng.uniform());
            seen = seen.max(time);
            largest = largest.max((walk / (seen.max(1) as f64).sqrt()).abs());
        }
        largest
    };
    let mut largest: Vec<f64> = (0..PATHS).map(path).collect();
    sort(&mut largest);
    let critical = quantile(&largest, level);
    // Never laxer than a single look.
    (2.0 * normal.cdf(critical) - 1.0).max(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_and_end_at_the_last_block() {
        assert_eq!(look_times(20), [6, 8, 10, 13, 17, 20]);
        assert_eq!((look_times(4), look_times(6)), (vec![4], vec![6]));
    }

    /// Jennison and Turnbull, table 2.1: Pocock's constants for K equally spaced looks at 5 %.
    #[test]
    fn levels_are_pococks() {
        for (looks, critical) in [(1, 1.960), (2, 2.178), (5, 2.413), (10, 2.555)] {
            let times: Vec<usize> = (1..=looks).map(|look| 10 * look).collect();
            let normal = Normal::new(0.0, 1.0).unwrap();
            let found = normal.inverse_cdf(0.5 + look_level(&times, 0.95) / 2.0);
            assert!((found - critical).abs() < 0.035, "{looks}: {found} for {critical}");
        }
    }
}
