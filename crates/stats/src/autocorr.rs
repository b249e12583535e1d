//! How many independent windows a cell is worth.

use crate::Cell;
use crate::summary::mean;
use serde::{Deserialize, Serialize};

/// Effective sample size of log latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectiveSize {
    /// Windows.
    pub windows: usize,
    /// Independent windows whose mean would be as uncertain as this cell's: from the larger of the
    /// variance that autocorrelation explains and the variance seen between repeats. At least 1,
    /// at most `windows`.
    pub effective: f64,
    /// Within each repeat, about the repeat's own mean.
    pub per_repeat: Vec<f64>,
    /// Sum of `per_repeat`: it is blind to differences between repeats.
    pub sum_of_repeats: f64,
    /// All values are equal: nothing varies, and `effective` is the number of windows.
    pub constant: bool,
    /// In some repeat the autocorrelation had not decayed at the longest lag tried: `effective` is
    /// an upper bound.
    pub truncated: bool,
}

/// Multiplications spent on one repeat's autocorrelation: 62,500 windows get 640 lags.
const BUDGET: usize = 40_000_000;

/// Autocorrelation at lags 0 to `max_lag` about the series' mean, with the biased divisor n that
/// keeps the sequence positive definite; empty for an empty series, 1 at lag 0 and 0 elsewhere
/// for a constant one.
pub fn autocorrelation(series: &[f64], max_lag: usize) -> Vec<f64> {
    if series.is_empty() {
        return Vec::new();
    }
    let centred = centre(series);
    let variance = product(&centred, &centred);
    let lags = 0..=max_lag.min(series.len() - 1);
    lags.map(|lag| match (lag, variance > 0.0) {
        (0, _) => 1.0,
        (_, false) => 0.0,
        (lag, true) => product(&centred, &centred[lag..]) / variance,
    })
    .collect()
}

/// Effective sample size of the logarithm of a cell's values.
///
/// Within a repeat: n / (1 + 2 sum of rho), the sum cut off by Geyer's initial monotone positive
/// sequence ("Practical Markov Chain Monte Carlo", Statistical Science 7(4), 1992, section 3.3),
/// which holds for reversible chains and is conservative for others. Over repeats the variance of
/// the mean is taken as the larger of the pooled within-repeat estimate and that of the repeats'
/// means: windows that agree within a repeat and differ between repeats are not independent.
pub fn effective_size(cell: &Cell) -> EffectiveSize {
    let repeats: Vec<Vec<f64>> =
        cell.repeats().iter().map(|r| r.iter().map(|v| v.ln()).collect()).collect();
    let windows = cell.windows();
    let all: Vec<f64> = repeats.iter().flatten().copied().collect();
    let overall = mean(&all);
    let constant = all.iter().all(|&v| v == all[0]);
    let within: Vec<(f64, bool)> = repeats.iter().map(|r| effective_of_series(r)).collect();
    let per_repeat: Vec<f64> = within.iter().map(|&(size, _)| size).collect();
    let sum_of_repeats = per_repeat.iter().sum();
    let truncated = within.iter().any(|&(_, truncated)| truncated);
    let effective = if constant {
        windows as f64
    } else {
        let total = all.iter().map(|v| (v - overall).powi(2)).sum::<f64>() / windows as f64;
        let of_mean = variance_of_mean(&repeats, &per_repeat, overall);
        (total / of_mean).clamp(1.0, windows as f64)
    };
    EffectiveSize { windows, effective, per_repeat, sum_of_repeats, constant, truncated }
}

/// Variance of the mean over all windows: the larger of the two estimates.
fn variance_of_mean(repeats: &[Vec<f64>], effective: &[f64], overall: f64) -> f64 {
    let windows: usize = repeats.iter().map(Vec::len).sum();
    let (mut within, mut between) = (0.0, 0.0);
    for (repeat, &size) in repeats.iter().zip(effective) {
        let weight = repeat.len() as f64 / windows as f64;
        let centre = mean(repeat);
        let variance =
            repeat.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / repeat.len() as f64;
        within += weight * weight * variance / size;
        between += weight * weight * (centre - overall).powi(2);
    }
    let count = repeats.len() as f64;
    let between = if count > 1.0 { between * count / (count - 1.0) } else { 0.0 };
    within.max(between)
}

/// Geyer's estimate for one series, and whether it ran out of lags.
pub(crate) fn effective_of_series(series: &[f64]) -> (f64, bool) {
    let n = series.len();
    let centred = centre(series);
    let variance = product(&centred, &centred);
    if n < 4 || variance <= 0.0 {
        return (n as f64, false);
    }
    let longest = (BUDGET / n).clamp(1, n - 1);
    let rho = |lag: usize| product(&centred, &centred[lag..]) / variance;
    let (mut sum, mut ceiling, mut lag, mut decayed) = (0.0, f64::INFINITY, 0, false);
    while lag < longest {
        let pair = rho(lag) + rho(lag + 1);
        if pair <= 0.0 {
            decayed = true;
            break;
        }
        ceiling = pair.min(ceiling);
        sum += ceiling;
        lag += 2;
    }
    // Each pair holds two lags; lag 0 counts once, all others twice.
    let time = (2.0 * sum - 1.0).max(1.0);
    ((n as f64 / time).max(1.0), !decayed && longest < n - 1)
}

fn centre(series: &[f64]) -> Vec<f64> {
    // A constant series must be exactly zero after centring, whatever its mean rounds to.
    if series.iter().all(|&v| v == series[0]) {
        return vec![0.0; series.len()];
    }
    let mean = mean(series);
    series.iter().map(|v| v - mean).collect()
}

/// Sum of products over the common length, in eight lanes so that the compiler can vectorise it.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (a[..n].chunks_exact(8), b[..n].chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    let mut lanes = [0.0; 8];
    for (x, y) in a.zip(b) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn ar1(n: usize, phi: f64, stream: u64) -> Vec<f64> {
        let mut rng = Rng::new(11, stream);
        let mut state = 0.0;
        let mut next = || {
            state = phi * state + (rng.uniform() - 0.5);
            (0.01 * state).exp()
        };
        (0..n).map(|_| next()).collect()
    }

    /// ```python
    /// x = np.array([1., 3, 2, 5, 4, 7, 6, 9]); c = x - x.mean()
    /// [float(c[:8 - k] @ c[k:] / (c @ c)) for k in range(4)]
    /// ```
    #[test]
    fn autocorrelation_agrees_with_numpy() {
        let x = [1.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0, 9.0];
        let expected = [1.0, 0.3355263157894737, 0.42042606516290726, -0.17637844611528822];
        for (found, want) in autocorrelation(&x, 3).iter().zip(expected) {
            assert!((found - want).abs() < 1e-12);
        }
        assert_eq!(autocorrelation(&[2.0; 5], 2), [1.0, 0.0, 0.0]);
        assert!(autocorrelation(&[], 2).is_empty());
    }

    #[test]
    fn an_autoregression_has_the_size_of_theory() {
        // n (1 - phi) / (1 + phi)
        for phi in [0.0, 0.5, 0.9] {
            let repeats = (0..4).map(|r| ar1(4000, phi, r)).collect();
            let size = effective_size(&Cell::new(repeats).unwrap());
            let theory = 16_000.0 * (1.0 - phi) / (1.0 + phi);
            assert!((size.sum_of_repeats / theory - 1.0).abs() < 0.25, "{phi} {size:?}");
            assert!(size.effective <= size.windows as f64 && size.effective >= 1.0);
            assert!(!size.truncated);
        }
    }

    #[test]
    fn repeats_that_differ_count_as_few() {
        let repeats =
            (0..5).map(|r| ar1(200, 0.0, r).iter().map(|v| v * (1.0 + r as f64)).collect());
        let size = effective_size(&Cell::new(repeats.collect()).unwrap());
        assert!(size.effective < 6.0, "{size:?}");
        assert!(size.sum_of_repeats > 500.0);
    }

    #[test]
    fn a_constant_cell_says_so() {
        let size = effective_size(&Cell::new(vec![vec![0.1; 50]; 3]).unwrap());
        assert!(size.constant && size.effective == 150.0 && !size.truncated);
        let single = effective_size(&Cell::new(vec![vec![1.0]]).unwrap());
        assert_eq!(single.effective, 1.0);
    }
}
