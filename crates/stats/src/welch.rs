//! Welch's t: over windows as the sources do, and over repeats as it should be.

use crate::{Cell, StatsError};
use serde::{Deserialize, Serialize};

/// A t test of the difference of mean log latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// What was tested on what.
    pub method: String,
    /// The t statistic; infinite where neither side varies and the means differ.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Ratio of geometric means, `a` over `b`.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub low: f64,
    /// 95 % interval of the ratio.
    pub high: f64,
    /// Observations of `a` and of `b`.
    pub n: [usize; 2],
}

/// Welch's t on the logarithm of all windows: what the sources print. It takes windows for
/// independent, which they are not.
///
/// # Errors
/// Fewer than two windows on a side.
pub fn welch_windows(_a: &Cell, _b: &Cell) -> Result<TTest, StatsError> {
    todo!()
}

/// Welch's t on the logarithm of the repeats' medians.
///
/// # Errors
/// Fewer than two repeats on a side.
pub fn welch_repeats(_a: &Cell, _b: &Cell) -> Result<TTest, StatsError> {
    todo!()
}

/// Paired t on the logarithm of the repeats' medians, repeat by repeat: for conditions that were
/// measured in blocks.
///
/// # Errors
/// Fewer than two repeats, or different numbers of them.
pub fn paired_repeats(_a: &Cell, _b: &Cell) -> Result<TTest, StatsError> {
    todo!()
}
