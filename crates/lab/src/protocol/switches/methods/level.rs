//! What a loop takes at each level: how the new speed is recognised.

use super::Bench;
use crate::protocol::switches::TransitionError;
use flyball_stats::{mean, median_in_place, quantile, sort};
use flyball_units::{KiloHertz, Nanos};

/// Loops that a level is learnt from.
const LEARNT: usize = 400;
/// Quantiles of those between which a loop is one of the level. Above, the loops that an interrupt
/// or another program lengthened; an interquartile range would lose half of the good ones.
const FROM: f64 = 0.01;
const TO: f64 = 0.975;
/// ... and at most so many robust standard deviations (1.4826 times the median absolute deviation)
/// above the median: on a busy machine more than a few loops are lengthened.
const ABOVE: f64 = 4.0 * 1.4826;
/// The interval is at least as wide as this share of the mean to each side: clocks drift.
const LEAST_WIDTH: f64 = 0.01;
/// Loops that validate a level.
pub(super) const VALIDATING: usize = 100;
/// Normal quantile of a 99 % interval.
const Z99: f64 = 2.576;
/// Share of the loops at each end that a mean leaves out.
const TRIMMED: f64 = 0.1;
/// A mean may be off by this share at least: as far as a speed is told apart at all.
const LEAST_SHIFT: f64 = 0.005;

/// The unit that is timed: a number of the device's units of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loop {
    pub units: u64,
}

impl Loop {
    /// As short as means something at the present level.
    pub fn fitting(bench: &mut Bench<'_>) -> Loop {
        /// Enough of the fastest units for the longest loop.
        const MOST: u64 = 1 << 40;
        let shortest = bench.device.shortest_loop();
        let mut units = 32;
        while units < MOST {
            // The shortest of several: an interrupt only adds.
            let times = (0..8).map(|_| Loop { units }.time(bench));
            let least = times.min().unwrap_or_default();
            if least >= shortest {
                break;
            }
            let factor = shortest.0.div_ceil(least.0.max(1)).clamp(2, 16);
            units *= if least.0 * 16 < shortest.0 { factor } else { 2 };
        }
        Loop { units }
    }

    /// How long one takes now.
    pub fn time(self, bench: &mut Bench<'_>) -> Nanos {
        let start = bench.device.now();
        bench.device.work(self.units);
        bench.device.now().since(start)
    }
}

/// What a loop takes at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Level {
    pub khz: KiloHertz,
    /// Mean, without the ends, in nanoseconds.
    pub mean: f64,
    /// Standard deviation of what is left.
    spread: f64,
    /// A loop of this level takes from here ...
    low: f64,
    /// ... to here.
    high: f64,
}

impl Level {
    /// Goes to a level, lets it settle, and learns it.
    pub fn learn(
        bench: &mut Bench<'_>,
        khz: KiloHertz,
        one: Loop,
    ) -> Result<Level, TransitionError> {
        bench.set(khz)?;
        let settle = bench.plan.settle;
        bench.device.busy_for(settle);
        let times: Vec<f64> = (0..LEARNT).map(|_| one.time(bench).0 as f64).collect();
        Ok(Level::of(khz, times, bench.device.loop_scatter()))
    }

    fn of(khz: KiloHertz, mut times: Vec<f64>, scatter: f64) -> Level {
        sort(&mut times);
        let at = |p| quantile(&times, p);
        let (mean, spread) = trimmed(&times);
        let middle = at(0.5);
        let mut deviations: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
        let deviation = median_in_place(&mut deviations);
        let (low, high) = (at(FROM), at(TO).min(middle + ABOVE * deviation));
        let margin = (0.25 * (high - low)).max(LEAST_WIDTH.max(scatter) * middle);
        Level { khz, mean, spread, low: low - margin, high: high + margin }
    }

    /// Whether a loop of this time may be one of this level.
    pub fn admits(&self, time: Nanos) -> bool {
        (self.low..=self.high).contains(&(time.0 as f64))
    }

    /// Whether no loop can be one of both levels.
    pub fn is_apart_from(&self, other: &Level) -> bool {
        self.high < other.low || other.high < self.low
    }

    /// Half the width of the interval: what a loop at this level is uncertain by.
    pub fn uncertainty(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether loops are at this level together: their mean without the ends, against its 99 %
    /// interval about the level's own.
    pub fn is_mean_of(&self, times: &mut [f64]) -> bool {
        sort(times);
        let (found, spread) = trimmed(times);
        let error =
            self.spread.max(spread) * (1.0 / times.len() as f64 + 1.0 / LEARNT as f64).sqrt();
        (found - self.mean).abs() <= Z99 * error + LEAST_SHIFT * self.mean
    }
}

/// Mean and standard deviation of an ascending sample without its ends.
fn trimmed(times: &[f64]) -> (f64, f64) {
    let cut = (times.len() as f64 * TRIMMED) as usize;
    let middle = &times[cut.min(times.len() / 2)..times.len() - cut.min(times.len() / 2)];
    let average = mean(middle);
    let squares: f64 = middle.iter().map(|time| (time - average).powi(2)).sum();
    (average, (squares / (middle.len().max(2) - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_stats::random::Random;

    fn loops(middle: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let one = |random: &mut Random| match random.below(100) {
            0 => middle * 3.0,
            _ => middle * (1.0 + 0.01 * (random.uniform() - 0.5)),
        };
        (0..LEARNT).map(|_| one(&mut random)).collect()
    }

    #[test]
    fn a_level_admits_its_own_loops_and_no_others() {
        let level = Level::of(KiloHertz(1), loops(3000.0, 1), 0.0);
        let own = loops(3000.0, 2);
        let admitted = own.iter().filter(|time| level.admits(Nanos(**time as u64))).count();
        assert!(admitted as f64 > 0.97 * own.len() as f64, "{admitted}");
        assert!(!level.admits(Nanos(3090)) && !level.admits(Nanos(2910)));
        let near = Level::of(KiloHertz(2), loops(3040.0, 3), 0.0);
        let far = Level::of(KiloHertz(3), loops(3300.0, 3), 0.0);
        assert!(!level.is_apart_from(&near) && level.is_apart_from(&far));
    }

    #[test]
    fn a_hundred_loops_validate_or_do_not() {
        let level = Level::of(KiloHertz(1), loops(3000.0, 1), 0.0);
        assert!(level.is_mean_of(&mut loops(3000.0, 5)[..VALIDATING]));
        assert!(!level.is_mean_of(&mut loops(3040.0, 6)[..VALIDATING]));
    }
}
