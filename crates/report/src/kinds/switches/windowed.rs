//! The windowed method's arithmetic: the score reached while two levels alternate every W, against
//! the mean of their scores alone.
//!
//! ```text
//! L = W (1 - reached / expected)                          the i.MX8 measurement's five lines, reduced
//! ```
//! What that is, with f the higher and g the lower level, w a write, s a stall, d the time from the
//! write's return until the new frequency holds, less the stall:
//!
//! ```text
//! L = [ f (w_up + s_up) + g (w_down + s_down) + (f - g) (d_up - d_down) ] / (f + g)
//! ```
//! One number per pair: up cannot be split from down. It sees time without work only; how long the new
//! frequency takes to hold cancels as far as it is the same both ways.

use crate::kinds::switches::baseline::Baseline;
use flyball_stats::{Estimate, mean, median, median_of, percentile_bootstrap};
use serde::{Deserialize, Serialize};

/// Above this share of the window a latency is refused: the next switch begins before this one is
/// over, and the method cannot tell by how much.
pub const CLOSE: f64 = 0.8;

/// Latencies from windows of two lengths may differ by this share.
const SCALES: f64 = 0.1;

const REPLICATES: u32 = 4000;

/// The latency of one run, in the unit of `window`.
pub fn latency(window: f64, reached: f64, expected: f64) -> f64 {
    window * (1.0 - reached / expected)
}

/// What a pair of levels and a window give.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Windowed {
    /// Set-up, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Clock domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The first level.
    pub from_khz: u64,
    /// The second.
    pub to_khz: u64,
    /// The window in microseconds.
    pub window_us: f64,
    /// Runs.
    pub runs: usize,
    /// As the source has it: mean over the runs, against the mean scores of the levels alone.
    pub mean_us: Estimate,
    /// Medians instead of means, of the runs and of the levels: outliers change it little.
    pub median_us: Estimate,
    /// The same less the way to the driver, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_us: Option<Estimate>,
    /// Why the figure must not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The scores of a pair of levels.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// While they alternate.
    pub reached: &'a [f64],
    /// The first alone.
    pub first: &'a [f64],
    /// The second alone.
    pub second: &'a [f64],
}

impl Windowed {
    /// The latencies of all runs in microseconds, against medians of the levels.
    pub fn latencies(window_us: f64, scores: Scores<'_>) -> Vec<f64> {
        let middle = |scores: &[f64]| median_of(scores.iter().copied()).unwrap_or(f64::NAN);
        let expected = (middle(scores.first) + middle(scores.second)) / 2.0;
        scores.reached.iter().map(|&reached| latency(window_us, reached, expected)).collect()
    }

    /// From scores; the description's fields besides the figures are taken from `named`.
    pub fn of(named: Windowed, scores: Scores<'_>, seed: u64) -> Windowed {
        let samples = [scores.reached, scores.first, scores.second];
        let window = named.window_us;
        let by = |middle: fn(&[f64]) -> f64, seed: u64| {
            percentile_bootstrap(&samples, REPLICATES, seed, |drawn| match drawn {
                [reached, first, second] => {
                    latency(window, middle(reached), (middle(first) + middle(second)) / 2.0)
                }
                _ => f64::NAN,
            })
        };
        let (mean_us, median_us) = (by(mean, seed), by(median, seed.wrapping_add(1)));
        let level = |scores: &[f64], khz| Baseline::of(None, khz, scores);
        let apart = level(scores.first, named.from_khz)
            .zip(level(scores.second, named.to_khz))
            .is_some_and(|(first, second)| first.is_apart_from(&second));
        let refused = if !apart {
            Some("the scores of the two levels cannot be told apart".to_owned())
        } else if median_us.value > CLOSE * window {
            Some(format!(
                "it comes close to the window, {window:.0} us: the next switch begins before this \
                 one is over; use a longer window"
            ))
        } else if median_us.low.is_none() {
            Some("too few runs for an interval: at least 5 are needed".to_owned())
        } else if median_us.low.is_some_and(|low| low <= 0.0) {
            Some("it cannot be told from 0: no time without work was seen".to_owned())
        } else {
            None
        };
        let runs = scores.reached.len();
        Windowed { runs, mean_us, median_us, refused, ..named }
    }
}

/// Refuses figures that differ between windows of two lengths: then what was lost is not a constant
/// time per switch.
pub fn check_scaling(all: &mut [Windowed]) {
    let other = |one: &Windowed, all: &[Windowed]| {
        let same = |two: &&Windowed| {
            (&two.setup, &two.domain, two.from_khz, two.to_khz)
                == (&one.setup, &one.domain, one.from_khz, one.to_khz)
                && two.window_us != one.window_us
        };
        all.iter().find(same).cloned()
    };
    let differs: Vec<Option<String>> = all
        .iter()
        .map(|one| {
            let two = other(one, all)?;
            let (a, b) = (one.median_us, two.median_us);
            let apart = (a.value - b.value).abs() > SCALES * a.value.max(b.value);
            (apart && a.is_apart_from(&b)).then(|| {
                format!(
                    "windows of {:.0} us give {:.1} us: what is lost is not a constant time per switch",
                    two.window_us, b.value
                )
            })
        })
        .collect();
    for (one, why) in all.iter_mut().zip(differs) {
        one.refused = one.refused.take().or(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_stats::random::Random;

    fn named(window_us: f64) -> Windowed {
        Windowed {
            setup: None,
            domain: None,
            from_khz: 600_000,
            to_khz: 1_200_000,
            window_us,
            runs: 0,
            mean_us: Estimate::bare(0.0),
            median_us: Estimate::bare(0.0),
            corrected_us: None,
            refused: None,
        }
    }

    fn scores(middle: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..40).map(|_| middle * (1.0 + 0.004 * (random.uniform() - 0.5))).collect()
    }

    fn of(loss: f64, window_us: f64) -> Windowed {
        let (first, second) = (scores(100.0, 1), scores(200.0, 2));
        let reached = scores(150.0 * (1.0 - loss / window_us), 3);
        let scores = Scores { reached: &reached, first: &first, second: &second };
        Windowed::of(named(window_us), scores, 1)
    }

    #[test]
    fn a_known_loss_comes_out() {
        let found = of(150.0, 1000.0);
        assert!((found.median_us.value - 150.0).abs() < 1.0, "{found:?}");
        assert!(found.median_us.covers(150.0) && found.refused.is_none());
    }

    #[test]
    fn what_it_cannot_tell_is_refused() {
        assert!(of(900.0, 1000.0).refused.unwrap().contains("close to the window"));
        assert!(of(0.0, 1000.0).refused.unwrap().contains("told from 0"));
        let mut pair = [of(150.0, 1000.0), of(300.0, 2000.0)];
        check_scaling(&mut pair);
        assert!(pair[0].refused.as_deref().unwrap().contains("not a constant time"));
        let mut pair = [of(150.0, 1000.0), of(150.0, 2000.0)];
        check_scaling(&mut pair);
        assert_eq!((&pair[0].refused, &pair[1].refused), (&None, &None));
        let (few, first, second) = (scores(120.0, 3), scores(100.0, 1), scores(200.0, 2));
        let three = Scores { reached: &few[..3], first: &first, second: &second };
        assert!(Windowed::of(named(1e3), three, 1).refused.unwrap().contains("too few runs"));
        let level = scores(100.0, 4);
        let alike = Scores { reached: &level, first: &level, second: &level };
        assert!(Windowed::of(named(1e3), alike, 1).refused.unwrap().contains("told apart"));
    }

    #[test]
    fn an_outlier_moves_the_mean_and_not_the_median() {
        let (mut first, second) = (scores(100.0, 1), scores(200.0, 2));
        first[0] = 20.0;
        first[1] = 20.0;
        let reached = scores(150.0 * 0.85, 3);
        let found = Windowed::of(
            named(1000.0),
            Scores { reached: &reached, first: &first, second: &second },
            1,
        );
        assert!((found.median_us.value - 150.0).abs() < 1.0, "{found:?}");
        assert!(found.mean_us.value < 145.0, "{found:?}");
    }
}
