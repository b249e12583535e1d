//! How many modes a cell has, where, and which share of the windows each holds.

use crate::StatsError;
use serde::{Deserialize, Serialize};

/// What counts as a mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeOptions {
    /// Level of the dip test.
    pub alpha: f64,
    /// A mode holds at least this share of the windows: a noise tail of 1 % is not a mode.
    pub min_share: f64,
    /// Medians of neighbouring modes differ at least by this factor minus 1.
    pub min_separation: f64,
    /// Between two modes the density falls to at most this fraction of the lower peak.
    pub max_valley: f64,
}

impl Default for ModeOptions {
    fn default() -> Self {
        ModeOptions { alpha: 0.01, min_share: 0.02, min_separation: 0.1, max_valley: 0.7 }
    }
}

/// The modes of a sample, ascending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Name and citation of the test.
    pub test: String,
    /// Hartigan's dip of the whole sample.
    pub statistic: f64,
    /// Its p-value against unimodality.
    pub p_value: f64,
    /// At least one.
    pub modes: Vec<Mode>,
    /// Boundaries between neighbouring modes, ascending; one fewer than the modes.
    pub cuts: Vec<f64>,
    /// Density at each boundary over that of the lower of its two peaks, 0 to 1.
    pub valleys: Vec<f64>,
}

/// One mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Median of its windows.
    pub median: f64,
    /// Smallest of its windows.
    pub low: f64,
    /// Largest of its windows.
    pub high: f64,
    /// Its share of the windows, 0 to 1.
    pub share: f64,
    /// Its windows.
    pub count: usize,
}

impl Modes {
    /// Whether there is more than one.
    pub fn is_mixture(&self) -> bool {
        self.modes.len() > 1
    }

    /// The index of the mode to which a value belongs.
    pub fn assign(&self, value: f64) -> usize {
        self.cuts.partition_point(|&cut| cut <= value)
    }
}

/// Finds the modes of an ascending sample of positive values.
///
/// # Errors
/// An empty sample, a value without a logarithm, or options outside their range.
pub fn find_modes(_sorted: &[f64], _options: &ModeOptions) -> Result<Modes, StatsError> {
    todo!()
}
