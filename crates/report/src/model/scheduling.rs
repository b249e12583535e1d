//! What a report says of tasks and CPUs in a run's tables of events.
//!
//! Times are in milliseconds, latencies in microseconds, shares from 0 to 1. Utilisation is on the
//! capacity scale, 0 to 1024.

use serde::{Deserialize, Serialize};

/// How one task spent the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskStates {
    /// The task.
    pub task: String,
    /// Its number.
    pub tid: u32,
    /// Time that it ran, milliseconds.
    pub ran_ms: f64,
    /// Share of the recording in which it ran.
    pub running: f64,
    /// ... in which it wanted a CPU and had none.
    pub runnable: f64,
    /// ... in which it slept.
    pub sleeping: f64,
    /// ... of which nobody knows, or behind its end.
    pub unknown: f64,
    /// Wake-ups that were seen until it ran.
    pub wakeups: u64,
    /// Wake-ups after which it was not seen to run, or during which events were lost.
    pub wakeups_open: u64,
    /// Median time from wake-up to run, microseconds; `None` without wake-ups.
    pub wakeup_median_us: Option<f64>,
    /// 99th percentile.
    pub wakeup_p99_us: Option<f64>,
    /// Largest.
    pub wakeup_max_us: Option<f64>,
    /// Mean frequency while it ran, megahertz; `None` where it is not known, and beyond the tasks
    /// that ran longest.
    pub mean_mhz: Option<f64>,
}

/// What one CPU did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuStates {
    /// Its number.
    pub cpu: u32,
    /// Kind of core.
    pub core_type: Option<String>,
    /// Its clock domain.
    pub domain: Option<String>,
    /// Share of the recording in which it ran a task; `None` where nobody recorded who ran.
    pub busy: Option<f64>,
    /// Time-weighted median of util_avg; `None` without readings.
    pub util_median: Option<u32>,
    /// Largest util_avg.
    pub util_max: Option<u32>,
    /// Share of the known time at each range of util_avg, ascending.
    pub utilization: Vec<UtilizationShare>,
    /// Idle states, ascending.
    pub idle: Vec<IdleShare>,
    /// Share of the recording in no idle state; `None` where idle states were not recorded.
    pub awake: Option<f64>,
    /// Share of the recording in gaps.
    pub lost: f64,
}

/// Time at a range of utilisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UtilizationShare {
    /// The range's begin.
    pub from: u32,
    /// Its end, excluded.
    pub to: u32,
    /// Share of the known time.
    pub share: f64,
}

/// Time in an idle state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleShare {
    /// The state's number.
    pub state: u32,
    /// Its name, where known.
    pub name: Option<String>,
    /// Share of the recording.
    pub share: f64,
    /// Stays.
    pub stays: u64,
    /// Mean stay, microseconds.
    pub mean_us: f64,
}

/// The task that is looked at, from its first mark on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskDetail {
    /// The task.
    pub task: String,
    /// Its number.
    pub tid: u32,
    /// Times to levels of utilisation.
    pub levels: Vec<LevelTime>,
    /// Largest util_avg; `None` without readings.
    pub peak: Option<u32>,
    /// Time on each kind of core before it moved to a larger one.
    pub stages: Vec<StageTime>,
    /// Whether the capacity of every CPU that it ran on is known; a move to one without is not seen.
    pub capacities_known: bool,
    /// Time that it ran at each frequency, per kind of core.
    pub frequencies: Vec<CoreLevel>,
    /// Share of its running time at each range of util_avg, ascending.
    pub utilization: Vec<UtilizationShare>,
    /// Times from wake-up to run, by size.
    pub wakeups: Vec<LatencyBucket>,
}

/// The time to a level of utilisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelTime {
    /// The level.
    pub util: u32,
    /// What was asked for, in words: `450`, `80 %`.
    pub asked: String,
    /// Time from the begin, milliseconds; 0 where it was there already, `None` where it never came.
    pub after_ms: Option<f64>,
    /// Time since the reading before: the level was passed somewhere in between.
    pub within_ms: Option<f64>,
    /// Whether it was there from the begin.
    pub already: bool,
    /// Whether events were lost just before: it may have come earlier.
    pub lost: bool,
}

/// The time on one kind of core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageTime {
    /// Kind of core.
    pub core_type: Option<String>,
    /// CPUs that it ran on.
    pub cpus: Vec<u32>,
    /// Time that it ran there, milliseconds.
    pub ran_ms: f64,
    /// When it moved to a larger CPU, milliseconds from the begin; `None` where it never did.
    pub left_after_ms: Option<f64>,
}

/// Running time at a frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreLevel {
    /// Kind of core.
    pub core_type: Option<String>,
    /// CPUs of this kind that it ran on.
    pub cpus: Vec<u32>,
    /// Megahertz.
    pub mhz: f64,
    /// Running time, milliseconds.
    pub ran_ms: f64,
}

/// Latencies of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyBucket {
    /// Bound, excluded, microseconds; those below the bucket before are not in it.
    pub below_us: f64,
    /// How many.
    pub count: u64,
}

/// One change of a clock domain's frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencyChange {
    /// Milliseconds from the recording's begin.
    pub t_ms: f64,
    /// Frequency before, megahertz.
    pub from_mhz: f64,
    /// Frequency behind.
    pub to_mhz: f64,
    /// What led to it: the governor's decision, else the last reading of utilisation before it.
    pub cause: Option<String>,
    /// Time since that, microseconds.
    pub after_us: Option<f64>,
}
