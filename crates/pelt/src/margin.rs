//! How much of a CPU a task may use before it should go to a larger one.

use crate::approximate::{approximate_runtime, approximate_util_avg};
use crate::features::{MigrationMargin, PeltMultiplier};

/// The rule by which a task fits one CPU. Computed once per CPU, used at each look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FitRule {
    /// The stock rule, [`fits_capacity`].
    Fixed,
    /// The utilisation has to be below this.
    Below(u32),
}

impl FitRule {
    /// Whether `util` fits. `capacity` is what is left of the CPU after pressure (interrupts,
    /// real-time, thermal); the series as posted does not look at it.
    #[inline]
    #[must_use]
    pub const fn fits(self, util: u32, capacity: u32) -> bool {
        match self {
            FitRule::Fixed => fits_capacity(util, capacity),
            FitRule::Below(threshold) => util < threshold,
        }
    }
}

impl MigrationMargin {
    /// The rule for a CPU of `capacity` (at its highest frequency, without pressure) where misfits
    /// are moved every `tick_us`.
    #[must_use]
    pub const fn rule(self, capacity: u32, tick_us: u64, multiplier: PeltMultiplier) -> FitRule {
        match self {
            MigrationMargin::Fixed => FitRule::Fixed,
            MigrationMargin::SeriesAsPosted => {
                FitRule::Below(threshold_as_posted(capacity, tick_us, multiplier))
            }
            MigrationMargin::SeriesScaledByCapacity => {
                FitRule::Below(threshold_scaled(capacity, tick_us, multiplier))
            }
        }
    }
}

/// The stock rule: util * 1280 < capacity * 1024, that is 80 %, strictly. At capacity 1024, 819
/// fits and 820 does not.
#[inline]
#[must_use]
pub const fn fits_capacity(util: u32, capacity: u32) -> bool {
    util as u64 * 1280 < capacity as u64 * 1024
}

/// Whether capacity `a` is noticeably larger than `b`: by more than about 5 %.
#[inline]
#[must_use]
pub const fn capacity_greater(a: u32, b: u32) -> bool {
    a as u64 * 1024 > b as u64 * 1078
}

/// Patch 4 as posted: what a task reaches one tick before it would reach the CPU's capacity. The
/// time is that of the largest CPU; see [`threshold_scaled`].
///
/// Where the tick is longer than that time (100 Hz and a very small core) the patch wraps and lets
/// anything fit; here nothing does.
#[must_use]
pub const fn threshold_as_posted(capacity: u32, tick_us: u64, multiplier: PeltMultiplier) -> u32 {
    let limit = runtime_us(capacity, multiplier).saturating_sub(tick_us);
    approximate_util_avg(0, limit, multiplier)
}

/// The same as the cover letter's table has it: the time stretched by the CPU's capacity.
#[must_use]
pub const fn threshold_scaled(capacity: u32, tick_us: u64, multiplier: PeltMultiplier) -> u32 {
    let limit = runtime_us(capacity, multiplier).saturating_sub(tick_us);
    approximate_util_avg(0, (limit * capacity as u64) >> 10, multiplier)
}

const fn runtime_us(capacity: u32, multiplier: PeltMultiplier) -> u64 {
    approximate_runtime(capacity, multiplier) as u64 * 1000
}

/// A row of the cover letter's table of margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MarginRow {
    /// Capacity of the CPU.
    pub capacity: u32,
    /// What a task reaches there in the time in which it reaches that capacity on the largest CPU.
    pub threshold: u32,
    /// `threshold` in percent of `capacity`, in hundredths, truncated.
    pub percent_hundredths: u32,
    /// What it reaches a tick of 1 ms earlier.
    pub threshold_tick: u32,
    /// `threshold_tick` in percent of `capacity`, in hundredths, truncated.
    pub percent_tick_hundredths: u32,
}

/// The row of the cover letter's table for a capacity.
#[must_use]
pub const fn margin_table_row(capacity: u32) -> MarginRow {
    let threshold = threshold_scaled(capacity, 0, PeltMultiplier::X1);
    let threshold_tick = threshold_scaled(capacity, 1000, PeltMultiplier::X1);
    MarginRow {
        capacity,
        threshold,
        percent_hundredths: percent_hundredths(threshold, capacity),
        threshold_tick,
        percent_tick_hundredths: percent_hundredths(threshold_tick, capacity),
    }
}

const fn percent_hundredths(part: u32, whole: u32) -> u32 {
    match (part as u64 * 10_000).checked_div(whole as u64) {
        Some(percent) => percent as u32,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(capacity: u32, tick_us: u64) -> u32 {
        threshold_as_posted(capacity, tick_us, PeltMultiplier::X1)
    }

    #[test]
    fn eighty_percent_strictly() {
        assert!(fits_capacity(819, 1024));
        assert!(!fits_capacity(820, 1024));
        assert!(!fits_capacity(0, 0));
        assert!(fits_capacity(367, 459));
        assert!(!fits_capacity(368, 459));
        assert!(!fits_capacity(u32::MAX, u32::MAX));
    }

    #[test]
    fn capacities_differ_by_more_than_five_percent() {
        assert!(capacity_greater(1024, 972));
        assert!(!capacity_greater(1024, 973));
        assert!(!capacity_greater(1024, 1024));
    }

    #[test]
    fn the_posted_margin() {
        assert_eq!(posted(160, 1000), 140);
        assert_eq!(posted(160, 4000), 83, "as a reviewer measured it");
        assert_eq!(posted(459, 1000), 445);
        assert_eq!(posted(459, 4000), 407);
        assert_eq!(posted(459, 10_000), 324);
    }

    #[test]
    fn a_tick_that_is_too_long_lets_nothing_fit() {
        for capacity in [0, 1, 16, 160] {
            assert_eq!(posted(capacity, 10_000), 0, "capacity {capacity}");
        }
        assert!(posted(300, 10_000) > 0);
        let rule = MigrationMargin::SeriesAsPosted.rule(16, 10_000, PeltMultiplier::X1);
        assert!(!rule.fits(0, 16));
    }
}
