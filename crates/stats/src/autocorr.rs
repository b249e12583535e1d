//! How many independent windows a cell is worth.

use crate::Cell;
use serde::{Deserialize, Serialize};

/// Effective sample size of log latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectiveSize {
    /// Windows.
    pub windows: usize,
    /// Independent windows that would determine the mean as well, between-repeat variance
    /// included.
    pub effective: f64,
    /// The same within each repeat, about the repeat's own mean.
    pub per_repeat: Vec<f64>,
    /// Sum of `per_repeat`: it ignores differences between repeats.
    pub sum_of_repeats: f64,
    /// All values are equal: nothing varies, and `effective` is the number of windows.
    pub constant: bool,
    /// The autocorrelation had not decayed at the longest lag tried: `effective` is an upper bound.
    pub truncated: bool,
}

/// Autocorrelation at lags 0 to `max_lag` about the series' mean; empty for an empty series, and
/// 1 at lag 0 and 0 elsewhere for a constant one.
pub fn autocorrelation(_series: &[f64], _max_lag: usize) -> Vec<f64> {
    todo!()
}

/// Effective sample size of the logarithm of a cell's values.
pub fn effective_size(_cell: &Cell) -> EffectiveSize {
    todo!()
}
