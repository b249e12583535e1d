//! What may be inferred where nothing was recorded: machine states behind latency modes.

use crate::{BootstrapOptions, Cell, Estimate, ModeOptions, StatsError};
use serde::{Deserialize, Serialize};

/// One kernel measured under two conditions.
#[derive(Clone, Debug)]
pub struct KernelPair<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// Its windows under condition `a`.
    pub a: &'a Cell,
    /// Its windows under condition `b`.
    pub b: &'a Cell,
}

/// Which rule paired the modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairingRule {
    /// The ratio of locations is the same for all kernels: the same kind of core at two speeds.
    ConstantRatio,
    /// Only one kernel, as many modes on both sides: in order of location.
    Order,
    /// Given by the caller.
    Given,
    /// No pairing is defensible.
    None,
}

/// One inferred state that both conditions show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatePair {
    /// For each kernel, the index of the mode of `a` and of `b`.
    pub modes: Vec<[usize; 2]>,
    /// For each kernel, the medians of these modes.
    pub medians: Vec<[f64; 2]>,
    /// Mean share of the windows of `a` and of `b` over kernels, 0 to 1.
    pub shares: [f64; 2],
    /// Standard deviation over kernels of the log ratio of locations.
    pub spread: f64,
    /// Ratio of medians per kernel, `a` over `b`.
    pub per_kernel: Vec<Estimate>,
    /// Geometric mean of the ratios over kernels.
    pub ratio: Estimate,
}

/// A like-for-like comparison over inferred states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LikeForLike {
    /// Always true: it rests on the latencies themselves.
    pub inferred: bool,
    /// Which rule paired the modes.
    pub rule: PairingRule,
    /// The largest spread that counts as constant.
    pub tolerance: f64,
    /// Kernels, in the order of all lists here.
    pub kernels: Vec<String>,
    /// States, the one that holds most windows first.
    pub states: Vec<StatePair>,
    /// Geometric mean over the states, weighted by the windows they hold; none without a state.
    pub pooled: Option<Estimate>,
    /// The smallest spread among pairings that were refused, for comparison.
    pub best_refused_spread: Option<f64>,
    /// What was inferred from what, in words.
    pub sentence: String,
}

/// Compares two conditions like for like, if their modes are states of the machine.
///
/// # Errors
/// No kernel, or options outside their range.
pub fn like_for_like(
    _kernels: &[KernelPair<'_>],
    _modes: &ModeOptions,
    _options: &BootstrapOptions,
) -> Result<LikeForLike, StatsError> {
    todo!()
}
