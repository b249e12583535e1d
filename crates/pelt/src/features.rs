//! The switches of the response-time series, one set for governor, load tracking and scheduler.
//!
//! Source: "sched/fair/schedutil: Better manage system response time", 16 patches, August 2024.
//! Everything off is a stock 6.12 kernel.

/// Which patches of the series are applied, each by itself. Tunables per task and per policy
/// (schedutil's `response_time_ms`) belong to those.
///
/// ```
/// use flyball_pelt::Features;
///
/// let only_patch_5 = Features::STOCK.headroom_from_delay(true);
/// let without_patch_4 = Features::SERIES.migration_margin(Default::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Features {
    /// Patch 4: what a task's utilisation must stay below to fit a CPU.
    pub migration_margin: MigrationMargin,
    /// Patch 5: headroom from the time until the next update, instead of a quarter.
    pub headroom_from_delay: bool,
    /// Patch 6: the policy's `response_time_ms` scales the utilisation.
    pub response_time: bool,
    /// Patch 7: half-life of 32, 16 or 8 ms.
    pub pelt_multiplier: PeltMultiplier,
    /// Patch 8: util_est grows while the task runs.
    pub util_est_ramp_up: bool,
    /// Patch 9: ... only while the task is above its utilisation at the last dequeue.
    pub util_est_ramp_up_transient_only: bool,
    /// Patch 11: ... at the task's own pace, `rampup_multiplier` (the sysctl's default for tasks
    /// without a hint; 1 upstream).
    pub default_rampup_multiplier: u32,
    /// Patch 12: time runnable but not running is tracked per run queue.
    pub waiting_avg: bool,
    /// Patch 13: the headroom covers the time spent waiting.
    pub headroom_covers_waiting: bool,
    /// Patch 14: no headroom while the utilisation falls.
    pub no_headroom_when_falling: bool,
    /// Patch 15: a multiplier of 0 disables util_est for the task.
    pub zero_multiplier_disables_util_est: bool,
    /// Patch 16: a new task starts with utilisation 0.
    pub fork_starts_at_zero: bool,
}

setters!(Features {
    migration_margin: MigrationMargin,
    headroom_from_delay: bool,
    response_time: bool,
    pelt_multiplier: PeltMultiplier,
    util_est_ramp_up: bool,
    util_est_ramp_up_transient_only: bool,
    default_rampup_multiplier: u32,
    waiting_avg: bool,
    headroom_covers_waiting: bool,
    no_headroom_when_falling: bool,
    zero_multiplier_disables_util_est: bool,
    fork_starts_at_zero: bool,
});

impl Features {
    /// A stock 6.12 kernel.
    pub const STOCK: Features = Features {
        migration_margin: MigrationMargin::Fixed,
        headroom_from_delay: false,
        response_time: false,
        pelt_multiplier: PeltMultiplier::X1,
        util_est_ramp_up: false,
        util_est_ramp_up_transient_only: false,
        default_rampup_multiplier: 1,
        waiting_avg: false,
        headroom_covers_waiting: false,
        no_headroom_when_falling: false,
        zero_multiplier_disables_util_est: false,
        fork_starts_at_zero: false,
    };

    /// The whole series as posted, with its defaults.
    pub const SERIES: Features = Features {
        migration_margin: MigrationMargin::SeriesAsPosted,
        headroom_from_delay: true,
        response_time: true,
        util_est_ramp_up: true,
        util_est_ramp_up_transient_only: true,
        waiting_avg: true,
        headroom_covers_waiting: true,
        no_headroom_when_falling: true,
        zero_multiplier_disables_util_est: true,
        fork_starts_at_zero: true,
        ..Features::STOCK
    };
}

impl Default for Features {
    fn default() -> Features {
        Features::STOCK
    }
}

/// When a task fits a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MigrationMargin {
    /// util * 1280 < capacity * 1024.
    #[default]
    Fixed,
    /// Patch 4 as posted: what a task reaches on the CPU one tick before it reaches the capacity.
    SeriesAsPosted,
    /// The cover letter's table: the same, in time stretched by the CPU's capacity.
    SeriesScaledByCapacity,
}

/// The boot parameter of patch 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PeltMultiplier {
    /// Half-life 32 periods.
    #[default]
    X1,
    /// Half-life 16 periods.
    X2,
    /// Half-life 8 periods.
    X4,
}

impl PeltMultiplier {
    /// `time` (of any unit) as load tracking sees it. The kernel shifts the time between updates;
    /// shifting the clock itself gives the same sums.
    #[inline]
    #[must_use]
    pub const fn stretch(self, time: u64) -> u64 {
        match self {
            PeltMultiplier::X1 => time,
            PeltMultiplier::X2 => time << 1,
            PeltMultiplier::X4 => time << 2,
        }
    }

    /// 1, 2 or 4.
    #[must_use]
    pub const fn value(self) -> u32 {
        match self {
            PeltMultiplier::X1 => 1,
            PeltMultiplier::X2 => 2,
            PeltMultiplier::X4 => 4,
        }
    }

    /// The multiplier of a value, if there is one.
    #[must_use]
    pub const fn from_value(value: u32) -> Option<PeltMultiplier> {
        match value {
            1 => Some(PeltMultiplier::X1),
            2 => Some(PeltMultiplier::X2),
            4 => Some(PeltMultiplier::X4),
            _ => None,
        }
    }
}
