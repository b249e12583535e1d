//! What a report says of a run's tables of events: simulations, ramps, imported traces.
//!
//! Times are in milliseconds, latencies in microseconds, energies in millijoules. The curves
//! themselves are not repeated here: they are the run's tables `utilization` and `frequency`.

use serde::{Deserialize, Serialize};

use super::{CpuStates, FrequencyChange, LevelShare, TaskDetail, TaskStates};
use crate::timeline::RunView;

/// A run with tables of events or with results of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRun {
    /// Run's name.
    pub run: String,
    /// What was run, in words: `platform` and `apple-m1`.
    pub facts: Vec<Fact>,
    /// Events, one entry per trial that has any; one without a number where events belong to the
    /// whole run.
    pub trials: Vec<EventTrial>,
    /// Results over the phases, one entry per point of a sweep; one without parameters for a
    /// simulation without a sweep.
    pub points: Vec<PointResults>,
    /// What the run does not hold, and what cannot be told for that reason.
    pub missing: Vec<String>,
}

/// A name and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its name: `platform`, `kernel`, `governor`, `rate_limit_us`.
    pub name: String,
    /// What it is.
    pub value: String,
}

/// The events of one trial: one phase of a simulation, one variant of a ramp, one trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventTrial {
    /// The trial's number; `None` where the events belong to the whole run.
    pub trial: Option<u32>,
    /// Its name in the report, unique.
    pub name: String,
    /// Length of the recording, milliseconds.
    pub length_ms: f64,
    /// Latencies of work items per task.
    pub items: Vec<TaskItems>,
    /// How the tasks spent the recording, the one that ran longest first.
    pub tasks: Vec<TaskStates>,
    /// The task that is looked at, from `zero` on; `None` where no task is known.
    pub detail: Option<TaskDetail>,
    /// What the CPUs did.
    pub cpus: Vec<CpuStates>,
    /// The clock domains.
    pub domains: Vec<DomainEvents>,
    /// Energy per clock domain, CPU and package.
    pub energy: Vec<EnergySum>,
    /// Energy of everything together; `None` where none was recorded.
    #[serde(default)]
    pub total_energy: Option<EnergySum>,
    /// Gaps in the recording.
    pub gaps: u64,
    /// Events known to be lost in them.
    pub lost_events: u64,
    /// Tables without rows, and what cannot be told for that reason.
    pub missing: Vec<String>,
    /// The mark at which the time line begins; `None` where it begins with the recording.
    pub zero: Option<String>,
    /// The time line, from which the plots are drawn; not part of the JSON.
    #[serde(skip)]
    pub view: Option<Box<RunView>>,
}

/// Work items of one task, from release to done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskItems {
    /// The task.
    pub task: String,
    /// Its number.
    pub tid: u32,
    /// Items done.
    pub done: u64,
    /// Items released and not seen done.
    pub unfinished: u64,
    /// Median latency, microseconds; `None` where no item was done.
    pub median_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// Largest.
    pub max_us: Option<f64>,
    /// Done items that have a deadline.
    pub with_deadline: u64,
    /// Those of them that were done after it.
    pub missed: u64,
}

/// What one clock domain did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DomainEvents {
    /// The domain.
    pub domain: String,
    /// Mean frequency over the time in which it is known, megahertz.
    pub mean_mhz: Option<f64>,
    /// Share of that time at each frequency, ascending.
    pub residency: Vec<LevelShare>,
    /// Share of the recording in which the frequency is not known.
    pub unknown_share: f64,
    /// Changes of frequency.
    pub transitions: u64,
    /// Changes per second.
    pub transitions_per_s: Option<f64>,
    /// Changes upwards.
    pub up: u64,
    /// Changes downwards.
    pub down: u64,
    /// What led to them, the most frequent first.
    pub causes: Vec<CauseCount>,
    /// Changes without a cause that fits.
    pub unexplained: u64,
    /// Median time from the cause to the effect, microseconds.
    pub delay_median_us: Option<f64>,
    /// The first 1000 changes, each with its cause.
    pub changes: Vec<FrequencyChange>,
}

/// An event, the rule that answered it, and the changes that it led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseCount {
    /// Kind of event: `tick`, `util`, `poll`; `utilization` where no decisions were recorded: the
    /// last reading before the change.
    pub event: String,
    /// The rule that led to the answer; the CPU that was read.
    pub why: Option<String>,
    /// Changes.
    pub count: u64,
}

/// Energy of a domain, a CPU or the package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnergySum {
    /// Whose: `domain big`, `cpu 3`, `package base`.
    pub subject: String,
    /// Millijoules.
    pub energy_mj: f64,
    /// Mean power over the recording, milliwatts.
    pub power_mw: Option<f64>,
}

/// Results of one point of a sweep over its phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointResults {
    /// The point's parameters, phases left out; empty for a simulation without a sweep.
    pub parameters: Vec<Fact>,
    /// Phases that were simulated.
    pub phases: u64,
    /// The results, each over the phases, in the order of the run.
    pub results: Vec<PhaseResult>,
}

/// One result over the phases of tick and poll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseResult {
    /// What it is about: a task, `domain NAME`, `machine`.
    pub subject: String,
    /// What it is, ending in its unit: `response_p99_ns`.
    pub name: String,
    /// Phases in which it came to be.
    pub n: u64,
    /// Median over those phases.
    pub median: f64,
    /// 1st percentile.
    pub p1: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}
