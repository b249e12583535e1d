//! What a report says, as data: the one structure that every renderer reads and that
//! `flyball report --format json` prints.
//!
//! Latencies are in microseconds, frequencies in megahertz, shares from 0 to 1. An interval is
//! always the 95 % one, and `None` means "not recorded" or "cannot be estimated", never zero.

mod blame;
mod effects;
mod events;
mod scheduling;
mod traces;

pub use blame::{BlameCell, BlameCulprit, BlamePart, BlameRun, BlameWindow};
pub use effects::{
    Cause, CausePart, Culprit, Effect, Judged, Part, Relation, headline, quantile_name,
};
pub use events::{
    CauseCount, DomainEvents, EnergySum, EventRun, EventTrial, Fact, PhaseResult, PointResults,
    TaskItems,
};
pub use scheduling::{
    CoreLevel, CpuStates, FrequencyChange, IdleShare, LatencyBucket, LevelTime, StageTime,
    TaskDetail, TaskStates, UtilizationShare,
};

pub use traces::{ChangeKind, TraceComparison, TraceFigure};

pub use flyball_stats::Estimate;
use serde::{Deserialize, Serialize};

use crate::kinds::{rampup, switches};
use crate::timeline::RunView;

/// Version of this structure; raised when a field changes its meaning or disappears.
pub const SCHEMA: &str = "flyball-report/1";

/// A report on one or more runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The runs that were read, in the order given.
    pub runs: Vec<RunSummary>,
    /// Comparisons, the most important first.
    pub comparisons: Vec<Comparison>,
    /// One entry per run, workload and condition.
    pub cells: Vec<Cell>,
    /// Geometric mean of the workloads' medians, one entry per run and condition.
    pub geometric_means: Vec<GeometricMean>,
    /// The conditions as a whole, one entry per run and condition.
    #[serde(default)]
    pub conditions: Vec<ConditionSummary>,
    /// Claimed and delivered frequency per run, condition and clock domain.
    pub frequencies: Vec<FrequencySummary>,
    /// Proof of load per run and condition.
    pub loads: Vec<LoadSummary>,
    /// What the CPUs did, one entry per CPU of a run that recorded their load.
    #[serde(default)]
    pub activity: Vec<ActivitySummary>,
    /// One entry per run with tables of events: simulations, ramps, traces.
    #[serde(default)]
    pub events: Vec<EventRun>,
    /// Runs of events against the first of them; empty where there is only one.
    #[serde(default)]
    pub traces: Vec<TraceComparison>,
    /// What the responses were made of, one entry per run with events beside its windows.
    #[serde(default)]
    pub blame: Vec<BlameRun>,
    /// Releases that were missed because the window before took longer than its period.
    #[serde(default)]
    pub overruns: Vec<Overrun>,
    /// Ramp-ups, one entry per run or machine.
    #[serde(default)]
    pub rampups: Vec<rampup::Findings>,
    /// Frequency switches, one entry per run.
    #[serde(default)]
    pub switches: Vec<switches::Findings>,
    /// What disturbed the measurement.
    pub disturbances: Vec<Finding>,
    /// What could not be checked, and the command that would.
    pub not_checked: Vec<Finding>,
    /// What the reader of the files had to say (torn lines, missing tables).
    pub warnings: Vec<String>,
    /// Seed of the bootstrap, and its replicates.
    pub bootstrap: BootstrapNote,
}

/// How the intervals were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BootstrapNote {
    /// Seed of the generator.
    pub seed: u64,
    /// Number of replicates.
    pub replicates: u32,
    /// In plain words: what was resampled.
    pub method: String,
}

/// Where the data came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// Name of the run (its directory's or file's name).
    pub name: String,
    /// `bench`, `import`, ...
    pub kind: String,
    /// `complete`, `interrupted`, `running` or `invalid`.
    pub state: String,
    /// What is missing of it; absent of a run that is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Missing>,
    /// When it was made, RFC 3339.
    pub created: String,
    /// The machine in one line: CPU, kernel, virtualisation; empty where unknown.
    pub machine: String,
    /// Windows without warm-up.
    pub windows: u64,
    /// Duration from first release to last end, seconds.
    pub duration_s: f64,
    /// Seed of the experiment.
    pub seed: Option<u64>,
    /// Core types and the evidence that decided them.
    pub core_types: Option<String>,
    /// Overheads that were calibrated.
    pub overheads: Vec<Overhead>,
    /// Path of the run directory as it was given.
    pub path: String,
    /// Runs that were put together into this one; 1 for a run as it is.
    #[serde(default)]
    pub pooled: u64,
    /// The command line that made it.
    pub command: Option<String>,
    /// Program and version that made it, for example `flyball 0.1.0 (1a2b3c4)`.
    pub tool: Option<String>,
}

/// What is missing of a run that is not whole: nothing is decided on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// What was planned and counted: `trials`, `measurements`, `ramp-ups`, `phases`, `points`.
    pub what: Option<String>,
    /// How many were planned.
    pub planned: Option<u64>,
    /// How many were done.
    pub done: Option<u64>,
    /// How many are missing.
    pub missing: Option<u64>,
    /// The same in a sentence.
    pub text: String,
}

impl Report {
    /// A sentence for each run that is not whole. It is shown before anything else.
    pub fn unfinished(&self) -> Vec<String> {
        let sentence =
            |run: &RunSummary| Some(format!("{}: {}", run.name, run.unfinished.as_ref()?.text));
        self.runs.iter().filter_map(sentence).collect()
    }

    /// Why there is no comparison, where there is none.
    pub fn not_compared(&self) -> &'static str {
        let mut conditions = self.cells.iter().map(|cell| (&cell.run, &cell.condition));
        let first = conditions.next();
        match conditions.all(|other| Some(other) == first) {
            true => "there is one condition, so there is nothing to compare",
            false => "no two conditions differ in one respect alone, so that none are compared",
        }
    }
}

/// A calibrated overhead of the measurement itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overhead {
    /// What was timed.
    pub name: String,
    /// Median, microseconds.
    pub median_us: f64,
    /// 99th percentile, microseconds.
    pub p99_us: f64,
}

/// Distribution of one latency in one cell, microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number of windows.
    pub n: u64,
    /// Median with its interval.
    pub median_us: Estimate,
    /// Arithmetic mean.
    pub mean_us: f64,
    /// Sample standard deviation (n - 1).
    pub sd_us: f64,
    /// Smallest value.
    pub min_us: f64,
    /// 1st percentile.
    pub p1_us: f64,
    /// 5th percentile.
    pub p5_us: f64,
    /// 25th percentile.
    pub p25_us: f64,
    /// 75th percentile.
    pub p75_us: f64,
    /// 95th percentile.
    pub p95_us: f64,
    /// 99th percentile with its interval.
    pub p99_us: Estimate,
    /// 99.9th percentile; `None` under 1000 windows.
    pub p999_us: Option<f64>,
    /// Largest value.
    pub max_us: f64,
    /// The percentile estimator, for example `Hyndman-Fan 7`.
    pub estimator: String,
    /// Histogram on a logarithmic axis: `bins[i]` counts values in
    /// `edges_us[i] .. edges_us[i + 1]`.
    pub histogram: Histogram,
}

/// A histogram with explicit edges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// Edges, one more than there are bins, microseconds.
    pub edges_us: Vec<f64>,
    /// Counts.
    pub counts: Vec<u64>,
}

/// Which latency the figures of a cell are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// From dispatch to end.
    #[default]
    Execution,
    /// From the scheduled release to dispatch, of data that hold no execution: a tool that
    /// measures wake-ups runs nothing.
    WakeUp,
}

/// One workload under one condition in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Run's name.
    pub run: String,
    /// Workload's name.
    pub workload: String,
    /// Condition's name.
    pub condition: String,
    /// Windows without warm-up.
    pub n: u64,
    /// Repeats.
    pub repeats: u32,
    /// Which latency `execution`, `effective_n`, `modes` and `points` are of.
    #[serde(default)]
    pub measure: Measure,
    /// Execution time (end - dispatch), or what `measure` says instead.
    pub execution: Distribution,
    /// Lateness (dispatch - scheduled release); `None` where releases were not on a schedule.
    pub lateness: Option<Distribution>,
    /// Response time (end - scheduled release).
    pub response: Option<Distribution>,
    /// Median CPU time of a program as a whole, microseconds; absent for what is no program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time_median_us: Option<f64>,
    /// Windows that missed their deadline.
    pub missed: u64,
    /// The deadline, counted from the scheduled release, microseconds; `None` where the
    /// experiment sets none.
    pub deadline_us: Option<f64>,
    /// Effective sample size of log execution time.
    pub effective_n: f64,
    /// Lag-1 autocorrelation of log execution time.
    pub lag1_autocorrelation: Option<f64>,
    /// Modes of the execution time.
    pub modes: Modes,
    /// Where the windows ran.
    pub placement: Placement,
    /// Delivered frequency, from cycles of the windows or from the probe around them.
    pub delivered: Option<Delivered>,
    /// How much of what the caller saw was transport; `None` where nothing was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Windows that were disturbed, by cause.
    pub disturbed: Disturbed,
    /// Scheduling class as applied, for example `FIFO 80`; `None` where not recorded.
    pub scheduling: Option<String>,
    /// What was asked for and not applied; figures of such a cell say so.
    pub degraded: Vec<String>,
    /// At most some hundreds of windows for the time line and the scatter plot, evenly
    /// thinned, with every maximum of its stretch kept.
    pub points: Vec<Point>,
}

/// One window, thinned for plotting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Seconds since the run's first release.
    pub t_s: f64,
    /// Execution time, microseconds.
    pub execution_us: f64,
    /// Delivered frequency, megahertz.
    pub delivered_mhz: Option<f64>,
    /// CPU at dispatch.
    pub cpu: Option<u32>,
    /// Index into the cell's modes.
    pub mode: Option<u32>,
    /// Whether something disturbed the window.
    pub disturbed: bool,
}

/// Result of the search for modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Modes {
    /// Name of the test with its source.
    pub test: String,
    /// p-value of one mode against more.
    pub p_value: Option<f64>,
    /// True where more than one mode was found: the cell is a mixture.
    pub mixture: bool,
    /// The modes by location; one entry where the cell is not a mixture.
    pub modes: Vec<Mode>,
}

/// One mode of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// Median of the windows in the mode, microseconds.
    pub median_us: f64,
    /// Lower and upper limits, microseconds.
    pub low_us: f64,
    /// Upper limit, microseconds.
    pub high_us: f64,
    /// Share of the windows.
    pub share: f64,
    /// What the mode seems to be, for example `P at 600 MHz (inferred)`.
    pub label: Option<String>,
}

/// Where the windows of a cell ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placement {
    /// False where the CPU of the windows is unknown.
    pub recorded: bool,
    /// Share of the windows per CPU, the largest first.
    pub cpus: Vec<CpuShare>,
    /// One or two words for a table: `cpu1`, `cpu0-3`, `unrecorded`.
    pub summary: String,
    /// Windows that changed their CPU.
    pub migrated: u64,
    /// The kind of core, inferred where no CPU was recorded; it decides no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<InferredCore>,
}

/// The kind of core that windows ran on, by their cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InferredCore {
    /// `P`: faster than the core whose frequency was claimed; `one kind`: the same for all windows.
    pub kind: String,
    /// 1st percentile of cycles over execution time, megahertz.
    pub low_mhz: f64,
    /// 99th percentile.
    pub high_mhz: f64,
    /// The highest frequency that the system claimed meanwhile, of whichever CPU.
    pub claimed_mhz: Option<f64>,
}

/// Work that was sent to a device: medians over the windows, microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transport {
    /// From start to end, as the caller saw it.
    pub total_us: f64,
    /// Execution on the device.
    pub execution_us: f64,
    /// The rest: the way there and back, and what waited on it.
    pub transport_us: f64,
}

/// Share of a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuShare {
    /// The CPU.
    pub cpu: u32,
    /// Its core type.
    pub core_type: Option<String>,
    /// Share of the windows.
    pub share: f64,
    /// Median execution time there, microseconds.
    pub median_us: f64,
}

/// Delivered frequency of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivered {
    /// `cycles` (of the window itself), `probe` (around it) or `percent` (probe without a
    /// known core: percent of the best seen).
    pub source: String,
    /// Median, megahertz (percent where `source` is `percent`).
    pub median: f64,
    /// 1st percentile.
    pub p1: f64,
    /// 99th percentile.
    pub p99: f64,
    /// `measured`, `assumed` or `relative`: what the cycles per multiplication rest on.
    pub basis: String,
    /// Windows with an undisturbed sample.
    pub n: u64,
}

/// Disturbed windows of a cell, by cause; a window can have more than one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbed {
    /// Windows with at least one cause.
    pub windows: u64,
    /// Preempted (involuntary context switches).
    pub preempted: Option<u64>,
    /// Moved to another CPU.
    pub migrated: Option<u64>,
    /// Hypervisor steal.
    pub steal: Option<u64>,
    /// Page faults.
    pub faults: Option<u64>,
    /// Disturbed frequency probe.
    pub probe: Option<u64>,
    /// Input samples that were NaN and replaced.
    pub nan: Option<u64>,
}

impl Side {
    /// What is compared: the workload, or the condition.
    #[must_use]
    pub fn label(&self) -> &str {
        self.workload.as_deref().unwrap_or(&self.condition)
    }
}

impl Report {
    /// The time lines of all runs with events, in their order; a report from JSON has none.
    #[must_use]
    pub fn time_lines(&self) -> Vec<RunView> {
        let trials = self.events.iter().flat_map(|run| &run.trials);
        trials.filter_map(|trial| trial.view.as_deref().cloned()).collect()
    }

    /// What can be compared with: conditions of windows and of ramp-ups, set-ups of switches.
    #[must_use]
    pub fn baselines(&self) -> Vec<&str> {
        let windows = self.cells.iter().map(|cell| cell.condition.as_str());
        let ramps = self.rampups.iter().flat_map(|found| &found.cells);
        let ramps = ramps.map(|cell| cell.condition.as_str());
        let switches = self.switches.iter().flat_map(|found| &found.switches);
        let switches = switches.filter_map(|switch| switch.setup.as_deref());
        windows.chain(ramps).chain(switches).collect()
    }

    /// Whether anything was looked for that disturbs a window, in any cell.
    pub fn disturbances_recorded(&self) -> bool {
        self.cells.iter().any(|cell| cell.disturbed.is_recorded())
    }
}

impl Disturbed {
    /// Whether any cause was looked for: none seen means something only then.
    pub fn is_recorded(&self) -> bool {
        let causes = [self.preempted, self.migrated, self.steal, self.faults, self.probe, self.nan];
        causes.iter().any(Option::is_some)
    }
}

/// Geometric mean of the workloads' medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GeometricMean {
    /// Run's name.
    pub run: String,
    /// Condition's name.
    pub condition: String,
    /// Workloads that went in.
    pub workloads: Vec<String>,
    /// The mean, microseconds, with its interval.
    pub median_us: Estimate,
}

/// A condition over all of its workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConditionSummary {
    /// Run's name.
    pub run: String,
    /// Condition's name.
    pub condition: String,
    /// The condition, with the run where the condition alone would be ambiguous.
    pub label: String,
    /// Its cells.
    pub cells: u64,
    /// Those of them that are mixtures.
    pub mixtures: u64,
    /// Geometric mean of the workloads' medians, microseconds.
    pub median_us: Option<Estimate>,
    /// Largest 99th percentile of the lateness of its cells, microseconds.
    pub lateness_p99_us: Option<f64>,
    /// Lowest and highest delivered frequency of its cells; empty where none is known.
    pub delivered: Vec<Delivered>,
    /// Where its windows ran, or `several`.
    pub placement: String,
}

/// Releases that a trial missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overrun {
    /// Run's name.
    pub run: String,
    /// The trial, with its workload and condition.
    pub object: String,
    /// Releases that were missed.
    pub releases: u64,
    /// Windows that took longer than their period.
    pub times: u64,
}

/// Claimed and delivered frequency of one clock domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencySummary {
    /// Run's name.
    pub run: String,
    /// Condition's name; `None` where the samples were not assigned.
    pub condition: Option<String>,
    /// Clock domain, for example `policy0`.
    pub domain: String,
    /// Number of samples.
    pub n: u64,
    /// Mean of the claimed frequency, megahertz.
    pub claimed_mean_mhz: Option<f64>,
    /// Levels that were claimed and their shares, for at most 32 levels.
    pub levels: Vec<LevelShare>,
    /// The level that was claimed most.
    #[serde(default)]
    pub most_claimed: Option<LevelShare>,
    /// Mean of the delivered frequency, megahertz.
    pub delivered_mean_mhz: Option<f64>,
    /// Governor that the log names.
    pub governor: Option<String>,
    /// Where the samples come from.
    pub source: String,
}

/// Share of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelShare {
    /// Level, megahertz.
    pub mhz: f64,
    /// Share of the samples.
    pub share: f64,
}

/// Load of a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSummary {
    /// Run's name.
    pub run: String,
    /// Condition's name.
    pub condition: String,
    /// Profile as asked.
    pub profile: String,
    /// Percent per loaded CPU as asked.
    pub wanted_percent: Option<f64>,
    /// Percent per loaded CPU as achieved.
    pub achieved_percent: Option<f64>,
    /// Whether the data prove that the load ran.
    pub proven: bool,
    /// Why, in plain words.
    pub why: String,
    /// Highest steal in a second, percent.
    pub steal_max_percent: Option<f64>,
}

/// What one CPU did while its load was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivitySummary {
    /// Run's name.
    pub run: String,
    /// The CPU.
    pub cpu: u32,
    /// Intervals.
    pub n: u64,
    /// Their length together, seconds.
    pub seconds: f64,
    /// Share of that time in which it executed anything, from 0 to 1.
    pub busy: f64,
    /// The same of its busiest interval.
    pub busiest: f64,
    /// Claimed frequency, mean over time, MHz.
    pub claimed_mean_mhz: Option<f64>,
    /// Lowest claimed frequency, MHz.
    pub claimed_low_mhz: Option<f64>,
    /// Highest claimed frequency, MHz.
    pub claimed_high_mhz: Option<f64>,
    /// Mean number of tasks that waited for this CPU.
    pub waiting_tasks: Option<f64>,
}

/// A verdict's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// A difference that nothing known explains away.
    Effect,
    /// No difference larger than the margin.
    Equivalent,
    /// The data do not decide.
    Undecided,
    /// Something else than the condition explains, or may explain, the difference.
    Confounded,
    /// The condition itself is not shown to have been in force.
    Unproven,
}

/// A comparison of two conditions (or of two runs under one condition).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// What is compared, in words: `schedutil against powersave`.
    pub title: String,
    /// Run and condition of the one that is judged.
    pub subject: Side,
    /// Run and condition that it is judged against.
    pub baseline: Side,
    /// The verdict over all workloads.
    pub verdict: VerdictWord,
    /// The verdict's sentence for a person.
    pub sentence: String,
    /// Why, each in plain words with figures.
    pub reasons: Vec<Reason>,
    /// Total effects on every quantity that was judged, those of all workloads together first; empty
    /// where the order of the sides was not random.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Where the difference comes from; `None` where the order was not random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Geometric mean of the ratios of medians, subject / baseline, all windows pooled.
    pub ratio: Estimate,
    /// The same inside strata: like for like.
    pub like_for_like: Vec<StratumRatio>,
    /// The same between windows that ran on the same kind of core at the same delivered frequency, in
    /// steps of 2 %; `None` where it was not recorded, or where the sides hardly met. What is left
    /// here is not frequency's.
    #[serde(default)]
    pub equal_frequency: Option<StratumRatio>,
    /// Margin of equivalence, as a fraction (0.03 = 3 %).
    pub margin: f64,
    /// Per workload.
    pub workloads: Vec<WorkloadComparison>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Run's name.
    pub run: String,
    /// Condition's name.
    pub condition: String,
    /// Workload's name, where workloads are compared and not conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
}

/// A reason with its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// Stable name: `mixture`, `placement_unrecorded`, `unproven_load`, ...
    pub kind: String,
    /// In plain words, with figures.
    pub text: String,
    /// True where it rests on inference, not on a record.
    pub inferred: bool,
}

/// Ratio within one stratum, geometric mean over the workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StratumRatio {
    /// The stratum: a core type, a clock domain, a mode, or equal delivered frequency.
    pub stratum: String,
    /// True where the stratum was inferred from modes.
    pub inferred: bool,
    /// Ratio subject / baseline with its interval.
    pub ratio: Estimate,
    /// Windows of the subject and of the baseline in the stratum.
    pub n_subject: u64,
    /// Windows of the baseline in the stratum.
    pub n_baseline: u64,
}

/// Comparison of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadComparison {
    /// The workload.
    pub workload: String,
    /// Ratio of medians with its interval.
    pub ratio: Estimate,
    /// Ratio of 99th percentiles with its interval.
    pub p99_ratio: Estimate,
    /// Its own verdict.
    pub verdict: VerdictWord,
    /// Welch's t on log latency with every window taken as independent, as the sources do; `None`
    /// where a side has one window, or neither side has any spread to hold the difference against.
    pub welch: Option<Welch>,
    /// The same at the level of repeats, `None` alike.
    pub repeat_level: Option<Welch>,
    /// Ratios inside strata.
    pub like_for_like: Vec<StratumRatio>,
    /// The ratio at equal delivered frequency.
    #[serde(default)]
    pub equal_frequency: Option<StratumRatio>,
}

/// Welch's t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Welch {
    /// Statistic.
    pub t: f64,
    /// Welch-Satterthwaite degrees of freedom.
    pub df: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What it is about, two or three words: `governors`, `real-time scheduling`.
    pub object: String,
    /// In plain words.
    pub text: String,
    /// A command that helps, if there is one.
    pub hint: Option<String>,
}
