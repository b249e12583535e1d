//! Values with their intervals.

use flyball_stats::random::Random;
use flyball_stats::{Cell, QuantileType, effective_size, mean, quantile_sorted};
use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

/// Coverage of every interval here.
pub const LEVEL: f64 = 0.95;

/// Fewer values have no interval.
const LEAST: usize = 5;

/// A value with its 95 % interval, in the unit of the field that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// From all the data.
    pub value: f64,
    /// Lower end; none where there are too few data for an interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// A value without an interval.
    pub fn bare(value: f64) -> Estimate {
        Estimate { value, low: None, high: None }
    }

    /// The same, moved by `by`.
    #[must_use]
    pub fn shifted(self, by: f64) -> Estimate {
        let Estimate { value, low, high } = self;
        Estimate { value: value + by, low: low.map(|v| v + by), high: high.map(|v| v + by) }
    }

    /// Whether the interval is known and holds `value`.
    pub fn covers(&self, value: f64) -> bool {
        self.low.zip(self.high).is_some_and(|(low, high)| (low..=high).contains(&value))
    }

    /// Whether both intervals are known and share nothing.
    pub fn is_apart_from(&self, other: &Estimate) -> bool {
        let ends = |e: &Estimate| e.low.zip(e.high);
        ends(self).zip(ends(other)).is_some_and(|(a, b)| a.1 < b.0 || b.1 < a.0)
    }
}

/// A sample in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
        sorted.sort_unstable_by(f64::total_cmp);
        let effective = effective(values);
        let at = |p| quantile(&sorted, p, effective);
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

/// A quantile of an ascending sample that is worth `effective` independent values.
///
/// The interval is the percentile interval of the bootstrap, without its replicates: the k-th
/// smallest of n draws from a sample lies at the fraction u of it, where u has the distribution
/// Beta(k, n - k + 1) (Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", 1982,
/// section 10.4, where n is the number of draws).
pub fn quantile(sorted: &[f64], p: f64, effective: f64) -> Estimate {
    let value = quantile_sorted(sorted, p, QuantileType::Type7);
    if sorted.len() < LEAST || effective < LEAST as f64 {
        return Estimate::bare(value);
    }
    let k = p * (effective - 1.0) + 1.0;
    let Ok(place) = Beta::new(k, effective - k + 1.0) else { return Estimate::bare(value) };
    let at = |tail: f64| quantile_sorted(sorted, place.inverse_cdf(tail), QuantileType::Type1);
    let tail = (1.0 - LEVEL) / 2.0;
    let (low, high) = (at(tail).min(value), at(1.0 - tail).max(value));
    Estimate { value, low: Some(low), high: Some(high) }
}

/// A figure of several samples, each resampled by itself; `figure` sees them ascending.
pub fn resampled(
    samples: &[&[f64]],
    replicates: u32,
    seed: u64,
    figure: impl Fn(&[Vec<f64>]) -> f64,
) -> Estimate {
    let sorted = |values: &mut Vec<f64>| values.sort_unstable_by(f64::total_cmp);
    let mut drawn: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
    drawn.iter_mut().for_each(sorted);
    let value = figure(&drawn);
    if samples.iter().any(|sample| sample.len() < LEAST) {
        return Estimate::bare(value);
    }
    let mut random = Random::new(seed);
    let mut figures = Vec::with_capacity(replicates as usize);
    for _ in 0..replicates {
        for (sample, drawn) in samples.iter().zip(&mut drawn) {
            drawn.clear();
            drawn.extend(sample.iter().filter_map(|_| sample.get(random.below(sample.len()))));
            sorted(drawn);
        }
        figures.push(figure(&drawn));
    }
    sorted(&mut figures);
    let tail = (1.0 - LEVEL) / 2.0;
    let at = |p| quantile_sorted(&figures, p, QuantileType::Type7);
    Estimate { value, low: Some(at(tail).min(value)), high: Some(at(1.0 - tail).max(value)) }
}

/// The median of an ascending sample.
pub fn median(sorted: &[f64]) -> f64 {
    quantile_sorted(sorted, 0.5, QuantileType::Type7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|_| 100.0 + 900.0 * random.uniform()).collect()
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
        sorted.sort_unstable_by(f64::total_cmp);
        let exact = quantile(&sorted, 0.5, 200.0);
        let drawn = resampled(&[&values], 4000, 1, |samples| median(&samples[0]));
        let width = exact.high.unwrap() - exact.low.unwrap();
        for (a, b) in [(exact.low, drawn.low), (exact.high, drawn.high)] {
            assert!((a.unwrap() - b.unwrap()).abs() < 0.15 * width, "{exact:?} {drawn:?}");
        }
    }

    #[test]
    fn correlation_widens_and_few_values_have_no_interval() {
        let independent = uniform(400, 9);
        let runs: Vec<f64> = independent.iter().flat_map(|v| [*v; 5]).take(400).collect();
        let width = |values: &[f64]| {
            let median = Distribution::of(values).unwrap().median;
            median.high.unwrap() - median.low.unwrap()
        };
        assert!(width(&runs) > 1.5 * width(&independent));
        assert_eq!(Distribution::of(&[1.0, 2.0]).unwrap().median, Estimate::bare(1.5));
        assert_eq!(Distribution::of(&[]), None);
    }
}
