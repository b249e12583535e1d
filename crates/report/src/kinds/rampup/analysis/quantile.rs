//! Quantiles of repetitions with bootstrap intervals.

use flyball_stats::{BootstrapOptions, Cell, Prepared, Statistic, estimate};
use serde::Serialize;

/// Stands for a time that never came: longer than any.
pub const NEVER: f64 = 1e300;

/// A value from here on is a time that never came, or lies between one and a time that came.
const NOT_REACHED: f64 = 1e200;

/// Below the resolution of any clock here; the bootstrap's statistics need values above zero.
const LEAST: f64 = 1e-9;

/// A value with its interval. What lies beyond every time that came is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// From all repetitions.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end; infinite (in JSON null) where some replicates never got there.
    pub high: f64,
    /// Coverage.
    pub level: f64,
}

/// Of repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// The median; none where half of them never got there.
    pub median: Option<Interval>,
    /// The 90th percentile.
    pub p90: Option<Interval>,
}

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Coverage of the intervals.
    pub level: f64,
    /// Seed of the resampling.
    pub seed: u64,
}

/// Of values above zero, one per repetition: repetitions are what is drawn.
pub fn quantiles(values: Vec<f64>, options: Options) -> Quantiles {
    let repeats = values.into_iter().map(|value| vec![value.max(LEAST)]).collect();
    let Ok(cell) = Cell::new(repeats) else { return Quantiles::default() };
    let prepared = Prepared::new(&cell);
    let options =
        BootstrapOptions { level: options.level, seed: options.seed, ..Default::default() };
    let of = |statistic| {
        let found = estimate(&prepared, statistic, &options).ok()?;
        let reached = |value: f64| if value < NOT_REACHED { value } else { f64::INFINITY };
        (found.value < NOT_REACHED).then(|| Interval {
            value: found.value,
            low: found.low,
            high: reached(found.high),
            level: options.level,
        })
    };
    Quantiles { median: of(Statistic::Median), p90: of(Statistic::Quantile(0.9)) }
}

/// The median; none of nothing.
pub fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| flyball_stats::median_in_place(&mut values))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options { level: 0.95, seed: 3 };

    #[test]
    fn what_never_came_is_longer_than_any() {
        let mut values: Vec<f64> = (1..=20).map(f64::from).collect();
        values[18] = NEVER;
        values[19] = NEVER;
        let found = quantiles(values.clone(), OPTIONS);
        let median = found.median.unwrap();
        assert_eq!(median.value, 10.5);
        assert!((5.0..10.5).contains(&median.low) && (10.5..19.0).contains(&median.high));
        assert_eq!(found.p90, None, "18.1 of 20: between 18 and never");
        values[..12].fill(NEVER);
        assert_eq!(quantiles(values, OPTIONS), Quantiles::default());
        assert_eq!(quantiles(Vec::new(), OPTIONS), Quantiles::default());
    }

    #[test]
    fn zero_is_a_time() {
        let found = quantiles(vec![0.0; 6], OPTIONS).median.unwrap();
        assert!(found.value < 1e-8 && found.high < 1e-8, "{found:?}");
    }
}
