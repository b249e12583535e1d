//! Quantiles by name. A percentile without its definition is not reproducible.
//!
//! | function | of | definition |
//! |---|---|---|
//! | [`quantile`], [`median`], [`median_of`], [`median_in_place`] | numbers | Hyndman and Fan's type 7 |
//! | [`quantile_of_type`] | numbers | the type that is named |
//! | [`nearest_rank`] | anything ordered | type 1: one of the values, the smallest that at least this share does not exceed |
//! | [`median_high`] | anything ordered | one of the values: of two in the middle the larger |
//! | [`weighted_median`] | values with weights | type 1 by weight |

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

/// The quantile of an ascending sample at `p` (clamped to 0..=1) by type 7; NaN for an empty
/// sample.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    quantile_of_type(sorted, p, QuantileType::Type7)
}

/// The median of an ascending sample; NaN for an empty one.
pub fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

/// The median of values in any order; none of nothing.
pub fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| median_in_place(&mut values))
}

/// Median of values in any order, by selection in O(n); NaN for an empty slice. Reorders them.
pub fn median_in_place(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let (left, &mut upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return upper;
    }
    let lower = left.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    interpolate(lower, upper, 0.5)
}

/// Brings values into ascending order, as the functions here want them.
pub fn sort(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

/// The nearest rank of `n` ascending values at `p` (clamped to 0..=1), from 1; 0 for none.
pub fn rank(n: u64, p: f64) -> u64 {
    ((p.clamp(0.0, 1.0) * n as f64).ceil() as u64).clamp(n.min(1), n)
}

/// The smallest of ascending values that at least the share `p` of them do not exceed (type 1);
/// none of nothing. At 0.5 of an even number it is the smaller of the two in the middle.
pub fn nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let rank = rank(sorted.len() as u64, p) as usize;
    sorted.get(rank.checked_sub(1)?).copied()
}

/// The middle of ascending values; of two the larger. None of nothing.
pub fn median_high<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}

/// The smallest of ascending values up to which lies half of all weight; none of nothing.
pub fn weighted_median<T>(sorted: impl Iterator<Item = (T, u64)> + Clone) -> Option<T> {
    let whole: u128 = sorted.clone().map(|(_, weight)| u128::from(weight)).sum();
    let mut before = 0;
    let mut reached = sorted.skip_while(|(_, weight)| {
        before += u128::from(*weight);
        before * 2 < whole
    });
    reached.next().map(|(value, _)| value)
}

/// The quantile of an ascending sample at `p` (clamped to 0..=1) by a named definition; NaN for an
/// empty sample.
pub fn quantile_of_type(sorted: &[f64], p: f64, estimator: QuantileType) -> f64 {
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
                let found = quantile_of_type(&x, p, estimator);
                assert!((found - want).abs() < 1e-12, "{estimator:?} at {p}: {found} {want}");
            }
        }
    }

    #[test]
    fn medians_are_what_their_names_say() {
        assert_eq!(median_in_place(&mut [29.0, 1.0, 7.0, 2.0, 16.0, 4.0, 22.0, 11.0]), 9.0);
        assert_eq!(median_in_place(&mut [3.0, 1.0, 2.0]), 2.0);
        assert!(median_in_place(&mut []).is_nan());
        assert_eq!(median_of([4.0, 1.0]), Some(2.5));
        assert_eq!(median_of([]), None);
        assert_eq!((nearest_rank(&[1, 4], 0.5), median_high(&[1, 4])), (Some(1), Some(4)));
        assert_eq!((nearest_rank::<u8>(&[], 0.5), median_high::<u8>(&[])), (None, None));
        assert_eq!(weighted_median([(1, 2), (5, 1), (9, 3)].into_iter()), Some(5));
        assert_eq!(weighted_median([(1, 0), (5, 0)].into_iter()), Some(1));
        assert_eq!(weighted_median(std::iter::empty::<(u8, u64)>()), None);
    }

    /// The product in floating point must not pass the whole number that it stands for.
    #[test]
    fn ranks_are_those_of_whole_numbers() {
        for n in 1..=100_000_u64 {
            for (p, percent) in [(0.05, 5), (0.5, 50), (0.9, 90), (0.95, 95), (0.99, 99)] {
                assert_eq!(rank(n, p), (n * percent).div_ceil(100), "{p} of {n}");
            }
        }
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!(
            [0.0, 0.5, 0.99, 1.0].map(|p| nearest_rank(&sorted, p)),
            [1, 50, 99, 100].map(Some)
        );
    }

    #[test]
    fn edges() {
        assert!(quantile_of_type(&[], 0.5, Type7).is_nan());
        assert_eq!(quantile_of_type(&[3.0], 0.99, Type7), 3.0);
        assert_eq!(quantile_of_type(&[3.0, 5.0], 7.0, Type7), 5.0);
    }
}
