//! Scores at a fixed frequency: what the windowed method compares with. A few low ones (another
//! program ran, the core was throttled) pull a mean down and make every latency too short or, in
//! the sum of two levels, too long; so outliers are found, counted and told, and the estimates rest
//! on medians.

use flyball_stats::{mean, median_in_place};
use serde::{Deserialize, Serialize};

/// Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993): a modified z-score above this.
const MODIFIED_Z: f64 = 3.5;

/// Makes the median absolute deviation a standard deviation under the normal distribution.
const NORMAL: f64 = 1.4826;

/// The scores at one level.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// Set-up or clock domain, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The level.
    pub khz: u64,
    /// Runs.
    pub n: usize,
    /// Mean of the scores.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Robust standard deviation: 1.4826 times the median absolute deviation.
    pub spread: f64,
    /// Runs (from 0) whose score is an outlier.
    pub outliers: Vec<usize>,
    /// Their share of the runs.
    pub contamination: f64,
    /// What they do to the mean, relative to the median: negative where they pull it down.
    pub mean_shift: f64,
}

impl Baseline {
    /// Of the scores in order; none of no score.
    pub fn of(setup: Option<String>, khz: u64, scores: &[f64]) -> Option<Baseline> {
        if scores.is_empty() {
            return None;
        }
        let outliers = outliers(scores);
        let (mean, middle, spread) =
            (mean(scores), median_in_place(&mut scores.to_vec()), spread(scores));
        Some(Baseline {
            setup,
            khz,
            n: scores.len(),
            mean,
            median: middle,
            spread,
            contamination: outliers.len() as f64 / scores.len() as f64,
            outliers,
            mean_shift: mean / middle - 1.0,
        })
    }

    /// Whether the two levels' scores can be told apart: the medians differ by more than both
    /// spreads together, times the z-score of an outlier.
    pub fn is_apart_from(&self, other: &Baseline) -> bool {
        (self.median - other.median).abs() > MODIFIED_Z * self.spread.hypot(other.spread)
    }
}

/// Positions of the values that lie too far from the median.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let middle = median_in_place(&mut values.to_vec());
    let spread = spread(values);
    let far = |value: f64| (value - middle).abs() > MODIFIED_Z * spread;
    (0..values.len()).filter(|&at| values.get(at).is_some_and(|value| far(*value))).collect()
}

/// Robust standard deviation. Where more than half of the values are equal, it rests on the mean
/// absolute deviation instead, which is 0.7979 standard deviations under the normal distribution.
fn spread(values: &[f64]) -> f64 {
    let middle = median_in_place(&mut values.to_vec());
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    match median_in_place(&mut deviations) {
        0.0 => mean(&deviations) / 0.797_884_6,
        mad => NORMAL * mad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_scores_are_found_and_their_pull_told() {
        let mut scores: Vec<f64> = (0..45).map(|i| 1000.0 + f64::from(i % 5)).collect();
        scores.extend([700.0; 5]);
        let baseline = Baseline::of(None, 600_000, &scores).unwrap();
        assert_eq!(baseline.outliers, [45, 46, 47, 48, 49]);
        assert_eq!(baseline.contamination, 0.1);
        assert!((baseline.mean_shift + 0.03).abs() < 0.001, "{baseline:?}");
    }

    #[test]
    fn equal_scores_have_no_outlier_and_one_that_differs_is_one() {
        assert!(outliers(&[5.0; 9]).is_empty());
        let mut scores = vec![5.0; 19];
        scores.push(9.0);
        assert_eq!(outliers(&scores), [19]);
        assert_eq!(Baseline::of(None, 1, &[]), None);
    }

    #[test]
    fn levels_are_apart_or_not() {
        let level = |base: f64| {
            let scores: Vec<f64> = (0..20).map(|i| base + f64::from(i % 7)).collect();
            Baseline::of(None, 1, &scores).unwrap()
        };
        assert!(level(100.0).is_apart_from(&level(150.0)));
        assert!(!level(100.0).is_apart_from(&level(103.0)));
    }
}
