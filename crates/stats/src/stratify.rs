//! Like for like over recorded strata: core type, clock domain, delivered frequency.

use crate::{BootstrapOptions, Cell, Estimate, StatsError};
use serde::{Deserialize, Serialize};

/// A cell with a stratum per window.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedCell {
    cell: Cell,
    tags: Vec<Vec<u32>>,
}

impl TaggedCell {
    /// A cell, and tags of the same shape as its repeats: indices into the caller's labels.
    ///
    /// # Errors
    /// Tags of another shape.
    pub fn new(cell: Cell, tags: Vec<Vec<u32>>) -> Result<TaggedCell, StatsError> {
        let expected = cell.repeats().len();
        if tags.len() != expected {
            return Err(StatsError::Shape { what: "repeats of tags", expected, found: tags.len() });
        }
        for (values, tags) in cell.repeats().iter().zip(&tags) {
            if values.len() != tags.len() {
                let (expected, found) = (values.len(), tags.len());
                return Err(StatsError::Shape { what: "tags of a repeat", expected, found });
            }
        }
        Ok(TaggedCell { cell, tags })
    }
}

/// One stratum that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumRatio {
    /// Its label.
    pub label: String,
    /// Windows of `a` and of `b` in it.
    pub windows: [usize; 2],
    /// Its share of the windows of `a` and of `b`, 0 to 1.
    pub shares: [f64; 2],
    /// Ratio of medians, `a` over `b`.
    pub ratio: Estimate,
}

/// A comparison like for like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stratified {
    /// The strata that both sides have, in the order of their tags.
    pub strata: Vec<StratumRatio>,
    /// Geometric mean of the strata's ratios, weighted as Mantel and Haenszel: n_a n_b / (n_a +
    /// n_b). None where no stratum is common.
    pub pooled: Option<Estimate>,
    /// Share of each side's windows that is in no common stratum and was left out.
    pub left_out: [f64; 2],
    /// Strata were inferred from the latencies themselves, not recorded.
    pub inferred: bool,
}

/// Compares two tagged cells stratum by stratum; `labels[tag]` names a stratum.
///
/// # Errors
/// Options outside their range.
pub fn stratified_ratio(
    _a: &TaggedCell,
    _b: &TaggedCell,
    _labels: &[String],
    _options: &BootstrapOptions,
) -> Result<Stratified, StatsError> {
    todo!()
}
