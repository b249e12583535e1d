//! Intervals by resampling whole repeats.

use crate::{Cell, StatsError, Summary};
use serde::{Deserialize, Serialize};

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// Number of replicates, 200 to 1,000,000.
    pub replicates: u32,
    /// Coverage of the interval, such as 0.95.
    pub level: f64,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        BootstrapOptions { replicates: 2000, level: 0.95, seed: 1 }
    }
}

/// What is estimated of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The median.
    Median,
    /// The arithmetic mean.
    Mean,
    /// A quantile (0 to 1) by Hyndman and Fan's type 7.
    Quantile(f64),
}

/// A value with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Computed from all the data.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The interval's nominal coverage.
    pub level: f64,
    /// Replicates that gave a value.
    pub replicates: u32,
    /// What was resampled, and why.
    pub method: String,
    /// False where there are too few repeats for the interval to hold what it promises.
    pub reliable: bool,
}

/// A cell made ready: sorted once, with each value's place in the resampling.
#[derive(Clone, Debug)]
pub struct Prepared {
    sorted: Vec<f64>,
}

impl Prepared {
    /// Sorts the cell; O(n log n).
    pub fn new(cell: &Cell) -> Prepared {
        Prepared { sorted: cell.sorted() }
    }

    /// All values, ascending.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Summary of all values.
    ///
    /// # Errors
    /// None in practice: a cell is never empty.
    pub fn summary(&self) -> Result<Summary, StatsError> {
        Summary::of_sorted(&self.sorted)
    }
}

/// A statistic of one cell.
///
/// # Errors
/// Options outside their range.
pub fn estimate(
    _cell: &Prepared,
    _statistic: Statistic,
    _options: &BootstrapOptions,
) -> Result<Estimate, StatsError> {
    todo!()
}

/// The ratio of a statistic, `a` over `b`; the two are resampled independently.
///
/// # Errors
/// Options outside their range.
pub fn ratio(
    _a: &Prepared,
    _b: &Prepared,
    _statistic: Statistic,
    _options: &BootstrapOptions,
) -> Result<Estimate, StatsError> {
    todo!()
}

/// The geometric mean over cells (kernels) of a statistic.
///
/// # Errors
/// No cell, or options outside their range.
pub fn geometric_mean_of(
    _cells: &[&Prepared],
    _statistic: Statistic,
    _options: &BootstrapOptions,
) -> Result<Estimate, StatsError> {
    todo!()
}

/// The geometric mean over kernels of the ratio of a statistic, `a` over `b`.
///
/// # Errors
/// No pair, or options outside their range.
pub fn geometric_mean_ratio(
    _pairs: &[(&Prepared, &Prepared)],
    _statistic: Statistic,
    _options: &BootstrapOptions,
) -> Result<Estimate, StatsError> {
    todo!()
}
