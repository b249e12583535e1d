//! What a report says of the parts of the responses.
//!
//! Times are in microseconds, shares from 0 to 1. `null` means that nothing recorded could show the
//! part, never that there was none of it.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// A run whose events tell what its windows' responses were made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameRun {
    /// Run's name.
    pub run: String,
    /// Windows without warm-up that the events cover.
    pub windows: u64,
    /// Windows, warm-up included, that they do not cover.
    pub uncovered: u64,
    /// Largest error of the times of events against those of windows, microseconds; 0 where both
    /// are on one clock.
    pub uncertainty_us: f64,
    /// One entry per workload and condition.
    pub cells: Vec<BlameCell>,
    /// What was not recorded, and what that means for the parts.
    pub missing: Vec<String>,
}

/// The parts of the responses of one workload under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameCell {
    /// Workload's name.
    pub workload: String,
    /// Condition's name.
    pub condition: String,
    /// Windows.
    pub n: u64,
    /// Mean response.
    pub response_us: f64,
    /// Mean of the measured task's own running time in it.
    pub running_us: f64,
    /// The slowest windows: 1 % of all, at least 5 where there are 50.
    pub slow_n: u64,
    /// Their mean response.
    pub slow_response_us: f64,
    /// Mean response of the others.
    pub rest_response_us: f64,
    /// What tells the frequency, and in how many windows: `changes` (delivered), `cycles`,
    /// `claimed`, `probe`; empty where nothing does.
    pub basis: Vec<(String, u64)>,
    /// Mean frequency while the task ran, megahertz, over windows in which it is known.
    pub mhz: Option<f64>,
    /// The parts, in one order everywhere. Their means sum to the mean response.
    pub parts: Vec<BlamePart>,
    /// Who kept the slowest windows from running, the longest first.
    pub culprits: Vec<BlameCulprit>,
    /// The very slowest windows.
    pub slowest: Vec<BlameWindow>,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlamePart {
    /// `work`, `frequency`, `idle_exit`, `interrupts`, `queue`, `preemption`, `slept`, `backlog`,
    /// `steal`, `unexplained`. `frequency` is an upper bound: time that memory takes does not scale.
    pub part: String,
    /// Mean over all windows.
    pub mean_us: Option<f64>,
    /// Mean over the windows of its share of the response, with its interval over repeats.
    pub share: Option<Estimate>,
    /// Mean over the slowest windows.
    pub slow_us: Option<f64>,
    /// Mean over the slowest windows minus mean over the others: what it adds to their response.
    pub excess_us: Option<f64>,
}

/// Who kept slow windows from running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameCulprit {
    /// The part that it is in.
    pub part: String,
    /// A task, an idle state, an interrupt.
    pub who: String,
    /// Mean over the slowest windows.
    pub us: f64,
    /// Slowest windows that it is in.
    pub windows: u64,
}

/// One window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameWindow {
    /// Its number in the table `windows`.
    pub seq: u64,
    /// Repeat.
    pub repeat: u32,
    /// Its response.
    pub response_us: f64,
    /// Its parts by name, those that are known.
    pub parts: Vec<(String, f64)>,
    /// Mean frequency while the task ran, megahertz.
    pub mhz: Option<f64>,
    /// The part that took the longest, the work left out; in words, with who it was.
    pub most: Option<String>,
}
