//! Robust estimates, modes, bootstrap, comparisons and verdicts.
//!
//! Pure: no I/O and no clock. Deterministic: every random draw comes from an explicit seed, and no
//! result depends on the number of threads. Values carry the caller's unit (all functions are
//! equivariant under scaling); ratios are `a` over `b`, so above 1 `a` is slower.
//!
//! `docs/statistics.md` gives each estimator's formula, source and default.

mod autocorr;
mod blocks;
mod bootstrap;
mod cell;
mod density;
mod drift;
mod equivalence;
mod error;
mod estimate;
mod looks;
mod modes;
mod orders;
mod product_limit;
mod quantile;
pub mod random;
mod rng;
mod states;
mod stratify;
mod summary;
mod verdict;
mod welch;

pub use autocorr::{EffectiveSize, autocorrelation, effective_size};
pub use blocks::{
    BlockDraws, BlockValues, LEAST_BLOCKS, Replicated, judge_contrast, quantiles_judged, together,
};
pub use bootstrap::{
    BootstrapOptions, Distribution, Draws, Prepared, Statistic, Weight, difference, estimate,
    geometric_mean_of, geometric_mean_ratio, percentile_bootstrap, quantile_estimate, ratio,
};
pub use cell::Cell;
pub use density::density;
pub use drift::{Drift, drift};
pub use equivalence::{Equivalence, equivalence};
pub use error::StatsError;
pub use estimate::{Estimate, LEVEL, Resampled};
pub use looks::{look_level, look_times};
pub use modes::{Mode, ModeOptions, Modes, dip, dip_p_value, find_modes};
pub use orders::share_of_orders;
pub use product_limit::{Wait, mean_wait};
pub use quantile::{
    QuantileType, median, median_high, median_in_place, median_of, nearest_rank, quantile,
    quantile_of_type, rank, sort, weighted_median,
};
pub use states::{
    KernelModes, KernelPair, LikeForLike, PairingRule, StatePair, like_for_like,
    like_for_like_given, like_for_like_with_modes,
};
pub use stratify::{
    CommonRatio, Stratified, StratumRatio, TaggedCell, common_ratio, stratified_ratio,
};
pub use summary::{Summary, geometric_mean, mean, mean_half_width};
pub use verdict::{
    Basis, Evidence, Judgement, LoadEvidence, Reason, ReasonKind, SchedulingEvidence, SideEvidence,
    StratumShare, ThrottledEvidence, Verdict, judge,
};
pub use welch::{TTest, paired_repeats, welch_repeats, welch_windows};
