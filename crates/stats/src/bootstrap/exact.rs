//! Quantiles of one series with the intervals that the bootstrap would give, without replicates.

use super::percentile::LEAST;
use crate::quantile::{QuantileType, quantile, quantile_of_type, sort};
use crate::summary::mean;
use crate::{Cell, Estimate, LEVEL, effective_size};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};

/// A series in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SampleDistribution"))]
pub struct Distribution {
    /// Number of values.
    pub n: usize,
    /// Independent values that they are worth; the intervals go by these.
    pub effective: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// 1st percentile.
    pub p01: Estimate,
    /// Median.
    pub median: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
}

impl Distribution {
    /// Of values in order of measurement; none of an empty sample.
    pub fn of(values: &[f64]) -> Option<Distribution> {
        if values.is_empty() {
            return None;
        }
        let mut sorted = values.to_vec();
        sort(&mut sorted);
        let effective = effective(values);
        let at = |p| quantile_estimate(&sorted, p, effective);
        Some(Distribution {
            n: values.len(),
            effective,
            mean: mean(values),
            p01: at(0.01),
            median: at(0.5),
            p99: at(0.99),
        })
    }
}

/// Independent values that a series is worth: serial correlation widens the intervals.
fn effective(values: &[f64]) -> f64 {
    // What has no logarithm is taken as independent: times are above zero.
    Cell::new(vec![values.to_vec()])
        .map_or(values.len() as f64, |cell| effective_size(&cell).effective)
}

/// A quantile of an ascending sample that is worth `effective` independent values, with its
/// interval of 95 %; no interval where they are fewer than 5.
///
/// The interval is the percentile interval of the bootstrap, without its replicates: the k-th
/// smallest of n draws from a sample lies at the fraction u of it, where u has the distribution
/// Beta(k, n - k + 1) (Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", 1982,
/// section 10.4, where n is the number of draws).
pub fn quantile_estimate(sorted: &[f64], p: f64, effective: f64) -> Estimate {
    let value = quantile(sorted, p);
    if sorted.len() < LEAST || effective < LEAST as f64 {
        return Estimate::bare(value);
    }
    let k = p * (effective - 1.0) + 1.0;
    let Ok(place) = Beta::new(k, effective - k + 1.0) else { return Estimate::bare(value) };
    let at = |tail: f64| quantile_of_type(sorted, place.inverse_cdf(tail), QuantileType::Type1);
    let tail = (1.0 - LEVEL) / 2.0;
    Estimate::between(value, at(tail).min(value), at(1.0 - tail).max(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile_bootstrap;
    use crate::quantile::median;
    use crate::rng::Rng;

    fn uniform(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Rng::of_seed(seed);
        (0..n).map(|_| 100.0 + 900.0 * rng.uniform()).collect()
    }

    fn width(of: &Estimate) -> f64 {
        of.interval().map(|(low, high)| high - low).unwrap()
    }

    #[test]
    fn intervals_of_the_median_hold_it_as_often_as_they_say() {
        let covered = (0..400)
            .filter(|&seed| Distribution::of(&uniform(60, seed)).unwrap().median.covers(550.0))
            .count();
        assert!((360..=396).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn the_quantiles_interval_is_the_bootstraps() {
        let values = uniform(200, 3);
        let mut sorted = values.clone();
        sort(&mut sorted);
        let exact = quantile_estimate(&sorted, 0.5, 200.0);
        let drawn = percentile_bootstrap(&[&values], 4000, 1, |samples| median(&samples[0]));
        for (a, b) in [(exact.low, drawn.low), (exact.high, drawn.high)] {
            assert!((a.unwrap() - b.unwrap()).abs() < 0.15 * width(&exact), "{exact:?} {drawn:?}");
        }
    }

    #[test]
    fn correlation_widens_and_few_values_have_no_interval() {
        let independent = uniform(400, 9);
        let runs: Vec<f64> = independent.iter().flat_map(|v| [*v; 5]).take(400).collect();
        let median = |values: &[f64]| Distribution::of(values).unwrap().median;
        assert!(width(&median(&runs)) > 1.5 * width(&median(&independent)));
        assert_eq!(median(&[1.0, 2.0]), Estimate::bare(1.5));
        assert_eq!(Distribution::of(&[]), None);
    }
}
