//! Two recordings of events, compared figure by figure.

use serde::{Deserialize, Serialize};

use super::{Estimate, Reason, VerdictWord};

/// One run of events against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceComparison {
    /// What is compared, in words: `new against old`.
    pub title: String,
    /// Run that is judged.
    pub subject: String,
    /// Run that it is judged against.
    pub baseline: String,
    /// The verdict over all figures.
    pub verdict: VerdictWord,
    /// Why it is confounded, and what limits it.
    pub reasons: Vec<Reason>,
    /// What was resampled, in words.
    pub units: String,
    /// Margin of equivalence, as a fraction; 0.03 is 3 %, or 3 points of a share.
    pub margin: f64,
    /// The figures.
    pub figures: Vec<TraceFigure>,
}

/// One figure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceFigure {
    /// Its name: `mean frequency of policy0`.
    pub name: String,
    /// How its change is told.
    pub change_is: ChangeKind,
    /// Unit of the two values: `MHz`, `us`, `/s`; empty for a share from 0 to 1.
    pub unit: String,
    /// The baseline's value.
    pub baseline: f64,
    /// The subject's value.
    pub subject: f64,
    /// The change with its interval.
    pub change: Estimate,
    /// The verdict on this figure.
    pub verdict: VerdictWord,
    /// Units of resampling: of the subject and of the baseline.
    pub resampled: [u64; 2],
}

/// How a change is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Subject / baseline.
    Ratio,
    /// Subject minus baseline, in the figure's unit (a share: from -1 to 1).
    Difference,
}
