//! Quantiles by name. A percentile without its estimator is not reproducible.

use serde::{Deserialize, Serialize};

/// The nine sample quantiles of Hyndman and Fan, "Sample Quantiles in Statistical Packages",
/// The American Statistician 50(4), 1996.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantileType {
    /// Inverse of the empirical distribution function.
    Type1,
    /// As type 1, averaged at discontinuities.
    Type2,
    /// The nearest order statistic, ties to even (SAS).
    Type3,
    /// Linear interpolation of the empirical distribution function.
    Type4,
    /// Piecewise linear through the midpoints of its steps (hydrology).
    Type5,
    /// Weibull's: p(k) = k / (n + 1) (Minitab, SPSS).
    Type6,
    /// p(k) = (k - 1) / (n - 1): the default of numpy ("linear"), R, Excel, and here.
    #[default]
    Type7,
    /// Approximately median-unbiased for any distribution.
    Type8,
    /// Approximately unbiased for the normal distribution.
    Type9,
}

/// The quantile of an ascending sample at `p` (clamped to 0..=1); NaN for an empty sample.
pub fn quantile_sorted(sorted: &[f64], p: f64, estimator: QuantileType) -> f64 {
    let n = sorted.len();
    if n == 0 || p.is_nan() {
        return f64::NAN;
    }
    let (below, weight) = position(n, p.clamp(0.0, 1.0), estimator);
    let low = sorted[below];
    let high = sorted[(below + 1).min(n - 1)];
    interpolate(low, high, weight)
}

/// Between two neighbouring order statistics.
pub(crate) fn interpolate(low: f64, high: f64, weight: f64) -> f64 {
    // Not low * (1 - w) + high * w: equal neighbours must give exactly themselves.
    low + (high - low) * weight
}

/// Zero-based index of the lower order statistic, and the weight of its right neighbour.
pub(crate) fn position(n: usize, p: f64, estimator: QuantileType) -> (usize, f64) {
    let size = n as f64;
    // One-based position h = floor + fraction, as in the paper: h = n p + m.
    let (alpha, beta) = match estimator {
        QuantileType::Type1 | QuantileType::Type2 | QuantileType::Type3 => {
            return discontinuous(size, p, estimator);
        }
        QuantileType::Type4 => (0.0, 1.0),
        QuantileType::Type5 => (0.5, 0.5),
        QuantileType::Type6 => (0.0, 0.0),
        QuantileType::Type7 => (1.0, 1.0),
        QuantileType::Type8 => (1.0 / 3.0, 1.0 / 3.0),
        QuantileType::Type9 => (3.0 / 8.0, 3.0 / 8.0),
    };
    let h = p * (size + 1.0 - alpha - beta) + alpha;
    split(h.clamp(1.0, size))
}

fn discontinuous(size: f64, p: f64, estimator: QuantileType) -> (usize, f64) {
    let m = if estimator == QuantileType::Type3 { -0.5 } else { 0.0 };
    let h = size * p + m;
    let (floor, fraction) = (h.floor(), h - h.floor());
    let weight = match estimator {
        QuantileType::Type1 => f64::from(fraction > 0.0),
        QuantileType::Type2 if fraction > 0.0 => 1.0,
        QuantileType::Type2 => 0.5,
        _ => f64::from(fraction > 0.0 || floor.rem_euclid(2.0) == 1.0),
    };
    split((floor + weight).clamp(1.0, size))
}

/// A one-based position as a zero-based index and a weight.
fn split(h: f64) -> (usize, f64) {
    let floor = h.floor();
    (floor as usize - 1, h - floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use QuantileType::*;

    /// ```python
    /// import numpy as np
    /// x = np.array([1.0, 2, 4, 7, 11, 16, 22, 29])
    /// for m in ["inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    ///           "interpolated_inverted_cdf", "hazen", "weibull", "linear",
    ///           "median_unbiased", "normal_unbiased"]:
    ///     print(m, [float(np.quantile(x, p, method=m)) for p in (0, .1, .25, .5, .8, .99, 1)])
    /// ```
    #[test]
    fn agrees_with_numpy() {
        let x = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 22.0, 29.0];
        let p = [0.0, 0.1, 0.25, 0.5, 0.8, 0.99, 1.0];
        let expected = [
            (Type1, [1.0, 1.0, 2.0, 7.0, 22.0, 29.0, 29.0]),
            (Type2, [1.0, 1.0, 3.0, 9.0, 22.0, 29.0, 29.0]),
            (Type3, [1.0, 1.0, 2.0, 7.0, 16.0, 29.0, 29.0]),
            (Type4, [1.0, 1.0, 2.0, 7.0, 18.4, 28.44, 29.0]),
            (Type5, [1.0, 1.3, 3.0, 9.0, 21.4, 29.0, 29.0]),
            (Type6, [1.0, 1.0, 2.5, 9.0, 23.4, 29.0, 29.0]),
            (Type7, [1.0, 1.7, 3.5, 9.0, 19.6, 28.51, 29.0]),
            (Type8, [1.0, 1.1666666666667, 2.8333333333333, 9.0, 22.0, 29.0, 29.0]),
            (Type9, [1.0, 1.2, 2.875, 9.0, 21.85, 29.0, 29.0]),
        ];
        for (estimator, row) in expected {
            for (&p, want) in p.iter().zip(row) {
                let found = quantile_sorted(&x, p, estimator);
                assert!((found - want).abs() < 1e-12, "{estimator:?} at {p}: {found} {want}");
            }
        }
    }

    #[test]
    fn edges() {
        assert!(quantile_sorted(&[], 0.5, Type7).is_nan());
        assert_eq!(quantile_sorted(&[3.0], 0.99, Type7), 3.0);
        assert_eq!(quantile_sorted(&[3.0, 5.0], 7.0, Type7), 5.0);
    }
}
