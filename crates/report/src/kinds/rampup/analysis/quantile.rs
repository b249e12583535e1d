//! Quantiles of repetitions with bootstrap intervals.

use flyball_stats::{BootstrapOptions, Cell, Estimate, Prepared, Statistic, estimate};
use serde::{Deserialize, Serialize};

/// Stands for a time that never came: longer than any.
pub const NEVER: f64 = 1e300;

/// A value from here on is a time that never came, or lies between one and a time that came.
const NOT_REACHED: f64 = 1e200;

/// Below the resolution of any clock here; the bootstrap's statistics need values above zero.
const LEAST: f64 = 1e-9;

/// A time, or a share, with its interval. What lies beyond every time that came is none.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtLevel {
    /// From all repetitions. The lower end is always known: no time is below 0. No upper end where
    /// some replicates never got there, or where it lies beyond what was watched.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Coverage.
    pub level: f64,
}

impl AtLevel {
    /// Lower end, value and upper end; the upper one infinite where it is not known.
    pub fn ends(&self) -> [f64; 3] {
        let Estimate { value, low, high } = self.estimate;
        [low.unwrap_or(0.0), value, high.unwrap_or(f64::INFINITY)]
    }
}

/// Of repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// The median; none where half of them never got there.
    pub median: Option<AtLevel>,
    /// The 90th percentile.
    pub p90: Option<AtLevel>,
}

impl Quantiles {
    /// Without upper ends beyond `longest`: nothing was watched for longer, so such an end, which few
    /// repetitions give, says nothing.
    pub fn within(self, longest: f64) -> Quantiles {
        let bounded = |at: AtLevel| {
            let high = at.estimate.high.filter(|high| *high <= longest);
            AtLevel { estimate: Estimate { high, ..at.estimate }, ..at }
        };
        Quantiles { median: self.median.map(bounded), p90: self.p90.map(bounded) }
    }
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
        let Estimate { value, low, high } = estimate(&prepared, statistic, &options).ok()?.estimate;
        let high = high.filter(|high| *high < NOT_REACHED);
        (value < NOT_REACHED).then_some(AtLevel {
            estimate: Estimate { value, low: Some(low.unwrap_or(0.0)), high },
            level: options.level,
        })
    };
    Quantiles { median: of(Statistic::Median), p90: of(Statistic::Quantile(0.9)) }
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
        let [low, value, high] = median.ends();
        assert_eq!(value, 10.5);
        assert!((5.0..10.5).contains(&low) && (10.5..19.0).contains(&high));
        assert_eq!(found.p90, None, "18.1 of 20: between 18 and never");
        values[..12].fill(NEVER);
        assert_eq!(quantiles(values, OPTIONS), Quantiles::default());
        assert_eq!(quantiles(Vec::new(), OPTIONS), Quantiles::default());
    }

    #[test]
    fn an_end_beyond_what_was_watched_is_none() {
        let found = quantiles(vec![0.001, 103.0, 110.0], OPTIONS);
        assert!(found.median.unwrap().ends()[2] > 1e6, "three repetitions bound nothing");
        let median = found.within(300.0).median.unwrap();
        assert!((median.estimate.value - 103.0).abs() < 1e-9 && median.estimate.high.is_none());
        let close = quantiles(vec![103.0, 104.0, 105.0], OPTIONS).within(300.0).median.unwrap();
        assert!(close.estimate.high.is_some_and(|high| high < 120.0), "{close:?}");
    }

    #[test]
    fn zero_is_a_time() {
        let found = quantiles(vec![0.0; 6], OPTIONS).median.unwrap();
        assert!(found.ends().iter().all(|end| *end < 1e-8), "{found:?}");
    }
}
