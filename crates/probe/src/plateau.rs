//! Steps of frequency in a series of probe samples: stretches of time at one speed.

use flyball_stats::nearest_rank;

/// Consecutive samples at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Number of the first sample in the series.
    pub first: usize,
    /// Samples, outliers included.
    pub count: usize,
    /// Median ticks.
    pub median: f64,
    /// 5th percentile of the ticks.
    pub p5: f64,
    /// 95th percentile of the ticks.
    pub p95: f64,
}

impl Plateau {
    /// Distance of the 5th and 95th percentile, relative to the median.
    pub fn spread(&self) -> f64 {
        if self.median > 0.0 { (self.p95 - self.p5) / self.median } else { 0.0 }
    }
}

/// A sample this far from its plateau, relatively, may belong to another step. Turbo steps are
/// 25 MHz (AMD) or 100 MHz (Intel): 0.7 % and more of 3.6 GHz.
const STEP: f64 = 0.004;

/// So many samples in a row on the same side make a new plateau; fewer are outliers and stay, so
/// that they count in its spread.
const RUN: usize = 4;

/// Splits a series of ticks, in order of time, into plateaus. The split looks only at lasting
/// shifts, never at the spread inside, so the spread inside is not made small by it.
pub fn plateaus(ticks: &[u32]) -> Vec<Plateau> {
    let mut plateaus = Vec::new();
    let mut first = 0;
    while first < ticks.len() {
        let end = end_of_plateau(ticks, first);
        plateaus.push(describe(first, &ticks[first..end]));
        first = end;
    }
    plateaus
}

/// The first sample behind the plateau that starts at `first`.
fn end_of_plateau(ticks: &[u32], first: usize) -> usize {
    let mut run: (usize, bool) = (0, false);
    let mut level = Level::start(&ticks[first..(first + RUN).min(ticks.len())]);
    for (index, &value) in ticks.iter().enumerate().skip(first + 1) {
        let deviation = f64::from(value) / level.value - 1.0;
        let up = deviation > 0.0;
        if deviation.abs() <= STEP {
            run = (0, false);
            level.follow(value);
        } else {
            run = if run.0 > 0 && run.1 == up { (run.0 + 1, up) } else { (1, up) };
            if run.0 == RUN {
                return index + 1 - RUN;
            }
        }
    }
    ticks.len()
}

/// The plateau's level: the mean of the samples near it, so that noise does not move it.
struct Level {
    value: f64,
    weight: f64,
}

impl Level {
    fn start(ticks: &[u32]) -> Level {
        let mut sorted = ticks.to_vec();
        sorted.sort_unstable();
        let middle = nearest_rank(&sorted, 0.5).unwrap_or(1);
        Level { value: f64::from(middle.max(1)), weight: 1.0 }
    }

    fn follow(&mut self, ticks: u32) {
        // Bounded memory, so that a slow drift is followed and not counted as a step.
        self.weight = (self.weight + 1.0).min(64.0);
        self.value += (f64::from(ticks) - self.value) / self.weight;
    }
}

fn describe(first: usize, ticks: &[u32]) -> Plateau {
    let mut sorted = ticks.to_vec();
    sorted.sort_unstable();
    let rank = |share| nearest_rank(&sorted, share).map_or(0.0, f64::from);
    Plateau { first, count: ticks.len(), median: rank(0.5), p5: rank(0.05), p95: rank(0.95) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_are_two_plateaus() {
        let series: Vec<u32> =
            (0..50).map(|i| 8_000 + i % 3).chain((0..70).map(|i| 7_800 + i % 3)).collect();
        let found = plateaus(&series);
        assert_eq!(
            found.iter().map(|p| (p.first, p.count)).collect::<Vec<_>>(),
            [(0, 50), (50, 70)]
        );
        assert!(found.iter().all(|plateau| plateau.spread() < 0.001));
    }

    #[test]
    fn outliers_stay_and_widen_the_spread() {
        let mut series = vec![8_000; 100];
        for index in (5..100).step_by(10) {
            series[index] = 9_000;
        }
        let found = plateaus(&series);
        assert_eq!(found.len(), 1);
        assert!(found[0].spread() > 0.1, "10 % of outliers reach the 95th percentile");
    }

    #[test]
    fn short_series_do_not_panic() {
        assert!(plateaus(&[]).is_empty());
        assert_eq!(plateaus(&[0, 0]).len(), 1);
        assert_eq!(plateaus(&[7]).first().map(|plateau| plateau.count), Some(1));
    }
}
