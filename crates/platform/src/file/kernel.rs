//! A kernel as it is written in `kernels/*.toml`.

use super::value::{At, Micros, Source};
use serde::Deserialize;

/// A kernel: its clocks, scheduler and version rules.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "kernel"))]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelFile {
    /// Title for people.
    pub(crate) title: String,
    /// What the figures rest on and what is assumed, in a few sentences.
    pub(crate) notes: String,
    /// The governor that rules where nothing else is asked for; without it, `schedutil`.
    pub(crate) default_governor: Option<String>,
    /// Version of Linux (`6.12`), whose rules hold; without it none of the named rules does.
    pub(crate) version: Option<At<String>>,
    /// Rules that hold although the version lacks them, or the other way round.
    pub(crate) rules: Option<RulesFile>,
    /// Ticks.
    pub(crate) clock: Clock,
    /// The fair scheduler and placement.
    pub(crate) scheduler: Scheduler,
    /// The choice of idle states.
    pub(crate) idle: IdleFile,
    /// schedutil's rate limit; without this table the rule of its version.
    pub(crate) schedutil: Option<Schedutil>,
    /// Patches of the response-time series; without this table none.
    pub(crate) series: Option<Series>,
}

/// Rules that hold although the version lacks them, or the other way round: what was taken back to
/// an older kernel, or left out.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "rules"))]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesFile {
    /// Names of rules that hold.
    #[serde(default)]
    pub(crate) with: Vec<At<String>>,
    /// Names of rules that do not.
    #[serde(default)]
    pub(crate) without: Vec<At<String>>,
    /// Where that is known from.
    pub(crate) source: Source,
}

/// Ticks.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "clock"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Clock {
    /// Ticks per second.
    pub(crate) hz: At<u32>,
    /// Rate of the statistics clock in Hz; without it, of the tick.
    pub(crate) stat_hz: Option<At<u32>>,
    /// The tick of an idle CPU: `stops` or `continues`.
    pub(crate) idle_tick: IdleTickFile,
    /// Where these figures come from.
    pub(crate) source: Source,
}

/// The tick of an idle CPU.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum IdleTickFile {
    /// It stops.
    Stops,
    /// It goes on.
    Continues,
}

/// The fair scheduler and placement.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "scheduler"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Scheduler {
    /// Slice of a fair task.
    pub(crate) slice_us: At<Micros>,
    /// Whether uclamp is built in.
    pub(crate) uclamp: bool,
    /// Whether placement uses capacities.
    pub(crate) capacity_aware: bool,
    /// Whether placement uses the energy model.
    pub(crate) energy_aware: At<bool>,
    /// Where these facts come from.
    pub(crate) source: Source,
}

/// The choice of idle states.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "idle"))]
#[serde(deny_unknown_fields)]
pub(crate) struct IdleFile {
    /// `menu`, `teo`, `haltpoll` (a guest's), or `none` (only the shallowest state).
    pub(crate) governor: IdleGovernorFile,
    /// Where this comes from.
    pub(crate) source: Source,
}

/// Rules for idle states.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum IdleGovernorFile {
    /// Only the shallowest state.
    None,
    /// Next timer times a correction.
    Menu,
    /// Past sleeps in bins.
    Teo,
    /// Polls for a while, then halts.
    Haltpoll,
}

/// schedutil's rate limit.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "schedutil"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedutil {
    /// Which versions' rule derives the default: `up-to-6.8`, `6.9-to-6.11` or `from-6.12`.
    pub(crate) rate_limit_rule: RateLimitRuleFile,
    /// `rate_limit_us` as the administrator set it; without it, the rule's.
    pub(crate) rate_limit_us: Option<u32>,
    /// Where this comes from.
    pub(crate) source: Source,
}

/// Versions of the rule for schedutil's default rate limit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub(crate) enum RateLimitRuleFile {
    /// 1000 x latency, at most 10 ms.
    #[serde(rename = "up-to-6.8")]
    UpTo6_8,
    /// 1000 x latency, at most 2 ms.
    #[serde(rename = "6.9-to-6.11")]
    From6_9,
    /// 1.5 x latency.
    #[serde(rename = "from-6.12")]
    From6_12,
}

/// Patches of the response-time series ("Better manage system response time", 2024).
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "series"))]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// What holds for keys left out: `all` the patches, or `none`.
    pub(crate) patches: Patches,
    /// Patch 4: `fixed`, `as-posted` or `scaled-by-capacity`.
    pub(crate) migration_margin: Option<MigrationMarginFile>,
    /// Patch 5: headroom from the time until the next update.
    pub(crate) headroom_from_delay: Option<bool>,
    /// Patch 6: the policy's `response_time_ms`.
    pub(crate) response_time: Option<bool>,
    /// Patch 7: 1, 2 or 4.
    pub(crate) pelt_multiplier: Option<At<u32>>,
    /// Patch 8: util_est grows while the task runs.
    pub(crate) util_est_ramp_up: Option<bool>,
    /// Patch 9: ... only above the utilisation at the last dequeue.
    pub(crate) util_est_ramp_up_transient_only: Option<bool>,
    /// Patch 11: ramp-up multiplier of tasks without a hint.
    pub(crate) default_rampup_multiplier: Option<u32>,
    /// Patch 12: time waited is tracked per run queue.
    pub(crate) waiting_avg: Option<bool>,
    /// Patch 13: the headroom covers it.
    pub(crate) headroom_covers_waiting: Option<bool>,
    /// Patch 14: no headroom while the utilisation falls.
    pub(crate) no_headroom_when_falling: Option<bool>,
    /// Patch 15: a multiplier of 0 disables util_est.
    pub(crate) zero_multiplier_disables_util_est: Option<bool>,
    /// Patch 16: a new task starts with utilisation 0.
    pub(crate) fork_starts_at_zero: Option<bool>,
    /// Where this comes from.
    pub(crate) source: Source,
}

/// What holds for the patches that a file does not name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Patches {
    /// As posted, with its defaults.
    All,
    /// A stock kernel.
    None,
}

/// When a task fits a CPU.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MigrationMarginFile {
    /// util x 1280 < capacity x 1024.
    Fixed,
    /// Patch 4 as posted.
    AsPosted,
    /// The cover letter's table.
    ScaledByCapacity,
}
