//! A sample in a handful of numbers.

use crate::cell::check_positive;
use crate::quantile::{QuantileType, quantile_of_type};
use crate::{Cell, StatsError};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A sample in a handful of numbers, in the sample's own unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); none for a single value.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// 1st percentile.
    pub p01: f64,
    /// 5th percentile.
    pub p05: f64,
    /// First quartile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile; with fewer than 1000 values it says little more than `max`.
    pub p999: f64,
    /// Largest value.
    pub max: f64,
    /// The estimator of all percentiles and of the median.
    pub quantile_type: QuantileType,
}

impl Summary {
    /// Of an ascending sample; percentiles by Hyndman and Fan's type 7.
    ///
    /// # Errors
    /// An empty sample.
    pub fn of_sorted(sorted: &[f64]) -> Result<Summary, StatsError> {
        Summary::of_sorted_with(sorted, QuantileType::default())
    }

    /// Of an ascending sample with a named estimator of percentiles.
    ///
    /// # Errors
    /// An empty sample.
    pub fn of_sorted_with(sorted: &[f64], estimator: QuantileType) -> Result<Summary, StatsError> {
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Err(StatsError::TooFew { what: "summary", expected: 1, found: 0 });
        };
        let at = |p| quantile_of_type(sorted, p, estimator);
        let mean = mean(sorted);
        Ok(Summary {
            n: sorted.len(),
            mean,
            sd: sample_sd(sorted, mean),
            min,
            p01: at(0.01),
            p05: at(0.05),
            p25: at(0.25),
            median: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max,
            quantile_type: estimator,
        })
    }

    /// Of all windows of a cell.
    ///
    /// # Errors
    /// None in practice: a cell is never empty.
    pub fn of(cell: &Cell) -> Result<Summary, StatsError> {
        Summary::of_sorted(&cell.sorted())
    }
}

/// Arithmetic mean, corrected once for rounding; NaN for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let first = values.iter().sum::<f64>() / n;
    first + values.iter().map(|v| v - first).sum::<f64>() / n
}

/// Sample standard deviation about a known mean (divisor n - 1); none below two values.
pub(crate) fn sample_sd(values: &[f64], mean: f64) -> Option<f64> {
    (values.len() > 1).then(|| {
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        (squares / (values.len() - 1) as f64).sqrt()
    })
}

/// Half the 95 % interval (Student's t) of the mean of independent values; none below two.
pub fn mean_half_width(values: &[f64]) -> Option<f64> {
    let sd = sample_sd(values, mean(values))?;
    let n = values.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    Some(t * sd / n.sqrt())
}

/// Geometric mean, as the sources form it of medians: exp(mean(ln x)).
///
/// # Errors
/// No value, or one that is not finite or not above zero.
pub fn geometric_mean(values: &[f64]) -> Result<f64, StatsError> {
    if values.is_empty() {
        return Err(StatsError::TooFew { what: "geometric mean", expected: 1, found: 0 });
    }
    for (index, &value) in values.iter().enumerate() {
        check_positive("geometric mean", index, value)?;
    }
    let logs: f64 = values.iter().map(|v| v.ln()).sum();
    Ok((logs / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `np.mean`, `np.std(ddof=1)`, `np.percentile`, `scipy.stats.gmean` of
    /// [1, 2, 4, 7, 11, 16, 22, 29].
    #[test]
    fn agrees_with_numpy() {
        let x = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0, 29.0];
        let s = Summary::of_sorted(&x).unwrap();
        assert_eq!((s.n, s.mean, s.median, s.min, s.max), (8, 11.5, 9.0, 1.0, 29.0));
        assert!((s.sd.unwrap() - 10.099504938362077).abs() < 1e-12);
        assert!((s.p99 - 28.51).abs() < 1e-12);
        assert!((geometric_mean(&x).unwrap() - 7.076445588632742).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_spread() {
        let s = Summary::of_sorted(&[5.0]).unwrap();
        assert_eq!((s.sd, s.median, s.p99), (None, 5.0, 5.0));
        assert!(Summary::of_sorted(&[]).is_err());
        assert!(geometric_mean(&[1.0, 0.0]).is_err());
        assert!(geometric_mean(&[]).is_err());
    }
}
