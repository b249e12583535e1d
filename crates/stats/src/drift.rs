//! Whether latency moves with the order of execution.

use crate::Cell;
use serde::{Deserialize, Serialize};

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

/// Looks for a trend in a cell's repeats (or, with fewer than 5, in blocks of its windows).
/// `threshold` is the change from first to last, as a fraction, from which it matters.
pub fn drift(_cell: &Cell, _threshold: f64) -> Drift {
    todo!()
}
