//! Whether latency moves with the order of execution.

use crate::Cell;
use crate::bootstrap::ENOUGH_REPEATS;
use crate::quantile::median_in_place;
use crate::welch::repeat_log_medians;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// A trend over the order of execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// What was tested.
    pub method: String,
    /// Points on the line: repeats, or blocks of windows.
    pub points: usize,
    /// Theil-Sen slope of log latency times the number of steps: last over first, minus 1.
    pub total_change: f64,
    /// Kendall's tau with time, -1 to 1.
    pub tau: f64,
    /// Two-sided p-value of the Mann-Kendall test.
    pub p_value: f64,
    /// The trend is both significant and larger than the threshold.
    pub flagged: bool,
}

/// With fewer repeats, the cell is cut into about this many blocks instead.
const BLOCKS: usize = 12;
/// Level of the test.
const ALPHA: f64 = 0.05;

/// Looks for a trend in a cell's repeats (or, with fewer than 5, in blocks of its windows).
/// `threshold` is the change from first to last, as a fraction, from which it matters.
///
/// The size is the slope of Theil and Sen (Sen 1968) on the logarithm of medians, the test that of
/// Mann and Kendall with its correction for ties. Blocks of one repeat may be autocorrelated,
/// which makes the test too eager: `method` says which of the two was used.
pub fn drift(cell: &Cell, threshold: f64) -> Drift {
    let repeats = cell.repeats().len();
    let (points, method) = if repeats >= ENOUGH_REPEATS {
        (repeat_log_medians(cell), "Theil-Sen and Mann-Kendall over repeats")
    } else {
        (block_log_medians(cell), "Theil-Sen and Mann-Kendall over blocks of windows")
    };
    let total_change = total_log_change(&points).exp_m1();
    let (tau, p_value) = mann_kendall(&points);
    Drift {
        method: method.to_owned(),
        points: points.len(),
        total_change,
        tau,
        p_value,
        flagged: p_value <= ALPHA && total_change.abs() >= threshold,
    }
}

/// Natural logarithm of the medians of some 12 blocks over all repeats, in order.
fn block_log_medians(cell: &Cell) -> Vec<f64> {
    let per_repeat = BLOCKS.div_ceil(cell.repeats().len());
    let blocks = cell
        .repeats()
        .iter()
        .flat_map(|repeat| repeat.chunks(repeat.len().div_ceil(per_repeat)).map(<[f64]>::to_vec));
    blocks.map(|mut block| median_in_place(&mut block).ln()).collect()
}

/// The median slope over all pairs of points, times the number of steps.
fn total_log_change(points: &[f64]) -> f64 {
    if points.len() < 2 {
        return 0.0;
    }
    let mut slopes = Vec::with_capacity(points.len() * (points.len() - 1) / 2);
    for (i, first) in points.iter().enumerate() {
        let later = points.iter().enumerate().skip(i + 1);
        slopes.extend(later.map(|(j, second)| (second - first) / (j - i) as f64));
    }
    median_in_place(&mut slopes) * (points.len() - 1) as f64
}

/// Kendall's tau with time, and the two-sided p-value by the normal approximation with continuity
/// and tie corrections (M. G. Kendall, "Rank Correlation Methods", 1975).
fn mann_kendall(points: &[f64]) -> (f64, f64) {
    let n = points.len() as f64;
    let mut score = 0.0;
    for (i, first) in points.iter().enumerate() {
        for second in &points[i + 1..] {
            score += f64::from(second > first) - f64::from(second < first);
        }
    }
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|group| term(group.len() as f64)).sum();
    let variance = (term(n) - ties) / 18.0;
    if variance <= 0.0 {
        return (0.0, 1.0);
    }
    let z = (score.abs() - 1.0).max(0.0) / variance.sqrt();
    let p_value = Normal::new(0.0, 1.0).map_or(1.0, |normal| 2.0 * normal.cdf(-z));
    (score / (n * (n - 1.0) / 2.0), p_value.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(repeats: usize, level: impl Fn(usize) -> f64) -> Cell {
        let windows = |r| (0..20).map(|i| level(r) * (1.0 + 1e-3 * f64::from(i % 7))).collect();
        Cell::new((0..repeats).map(windows).collect()).unwrap()
    }

    #[test]
    fn a_steady_rise_is_flagged_with_its_size() {
        let found = drift(&cell(10, |r| 1.01_f64.powi(r as i32)), 0.02);
        assert!(found.flagged && (found.tau - 1.0).abs() < 1e-12);
        assert!((found.total_change - (1.01_f64.powi(9) - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn noise_and_constants_are_not() {
        assert!(!drift(&cell(10, |_| 5.0), 0.0).flagged);
        assert!(!drift(&cell(8, |r| 1.0 + 0.1 * (r % 2) as f64), 0.02).flagged);
        let single = drift(&Cell::new(vec![vec![1.0]]).unwrap(), 0.02);
        assert_eq!((single.points, single.flagged, single.p_value), (1, false, 1.0));
    }

    /// ```python
    /// x = [1., 3, 2, 4, 4, 6, 5]   # S = 16, var = (7*6*19 - 2*1*9) / 18, tau = 16 / 21
    /// 2 * scipy.stats.norm.sf(15 / np.sqrt((7 * 6 * 19 - 18) / 18))
    /// ```
    #[test]
    fn the_score_is_kendalls() {
        let (tau, p) = mann_kendall(&[1.0, 3.0, 2.0, 4.0, 4.0, 6.0, 5.0]);
        assert!((tau - 16.0 / 21.0).abs() < 1e-12);
        assert!((p - 0.02268707153548603).abs() < 1e-9, "{p}");
    }

    #[test]
    fn few_repeats_are_cut_into_blocks() {
        let rising = (1..=240).map(|i| f64::from(i).sqrt()).collect();
        let found = drift(&Cell::new(vec![rising]).unwrap(), 0.02);
        assert_eq!(found.points, 12);
        assert!(found.flagged && found.method.contains("blocks"));
    }
}
