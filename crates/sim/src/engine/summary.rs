//! The totals of a simulation: kept always, because they cost nothing.

use crate::setup::TaskId;
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Totals of a simulation. All sums are exact over the simulated time: for each CPU
/// `busy + idle` is [`Summary::elapsed`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Time simulated.
    #[serde(rename = "elapsed_ns")]
    pub elapsed: Nanos,
    /// Energy of everything, base included, in millijoules.
    pub energy_mj: f64,
    /// The part that flows whatever the CPUs do, in millijoules.
    pub base_energy_mj: f64,
    /// One per CPU, in their order.
    pub cpus: Vec<CpuSummary>,
    /// One per clock domain, in their order.
    pub domains: Vec<DomainSummary>,
    /// One per task, in the order of their [`TaskId`]; the governors' own tasks at the end.
    pub tasks: Vec<TaskSummary>,
    /// One per control group, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<CgroupSummary>,
    /// None where the platform describes no thermal model.
    pub temperature: Option<TemperatureSummary>,
    /// Events that the engine worked through.
    pub events: u64,
}

/// Totals of one CPU.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CpuSummary {
    /// Its number.
    pub cpu: CpuId,
    /// Time with a task, an interrupt or a stall of a running task.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// Time in the idle loop, the way out of idle states included.
    #[serde(rename = "idle_ns")]
    pub idle: Nanos,
    /// The part of the busy time that interrupts took.
    #[serde(rename = "interrupt_ns")]
    pub interrupt: Nanos,
    /// The part of the busy time in which nothing was executed because the frequency changed:
    /// writes and stalls.
    #[serde(rename = "stalled_ns")]
    pub stalled: Nanos,
    /// Energy in millijoules.
    pub energy_mj: f64,
    /// Times the CPU left an idle state.
    pub wakeups: u64,
    /// The same per second.
    pub wakeups_per_s: f64,
    /// Wake-ups out of idle that a governor's own task caused.
    pub governor_wakeups: u64,
    /// Time in each idle state, without the way out.
    #[serde(rename = "idle_residency_ns")]
    pub idle_residency: Vec<Nanos>,
    /// Entries to each idle state.
    pub idle_entries: Vec<u64>,
    /// Scheduler ticks handled.
    pub ticks: u64,
    /// util_avg of the fair run queue at the end.
    pub util: u32,
    /// runnable_avg of the fair run queue at the end.
    pub runnable: u32,
    /// Sum of the enqueued tasks' util_est at the end.
    pub util_est: u32,
}

/// Totals of one clock domain.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct DomainSummary {
    /// Its name.
    pub name: String,
    /// Name of its governor; `hardware` where hardware decides.
    pub governor: String,
    /// Energy of its CPUs in millijoules.
    pub energy_mj: f64,
    /// Time at each operating point, ascending, whether its CPUs were busy or not.
    pub residency: Vec<FrequencyResidency>,
    /// Changes of frequency that took effect.
    pub transitions: u64,
    /// Events that its governor was given.
    pub governor_events: u64,
    /// Times its governor asked to be woken and was.
    pub governor_wakeups: u64,
    /// The same per second.
    pub governor_wakeups_per_s: f64,
    /// Frequency at the end.
    #[serde(rename = "frequency_khz")]
    pub frequency: KiloHertz,
}

/// Time at one operating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FrequencyResidency {
    /// The clock's frequency.
    #[serde(rename = "frequency_khz")]
    pub frequency: KiloHertz,
    /// Time at it.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// CPU time executed at it, summed over the domain's CPUs.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
}

/// Totals of one task. `running + runnable + sleeping` is the time since its start.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TaskSummary {
    /// Its number.
    pub task: TaskId,
    /// Its name.
    pub name: String,
    /// Time on a CPU.
    #[serde(rename = "running_ns")]
    pub running: Nanos,
    /// Time runnable but not on a CPU.
    #[serde(rename = "runnable_ns")]
    pub runnable: Nanos,
    /// Time asleep, or after its end.
    #[serde(rename = "sleeping_ns")]
    pub sleeping: Nanos,
    /// Time on each CPU.
    #[serde(rename = "running_on_ns")]
    pub running_on: Vec<Nanos>,
    /// Reference cycles executed.
    pub cycles: f64,
    /// Times it was woken.
    pub wakeups: u64,
    /// Times it was put off a CPU while it could run.
    pub preemptions: u64,
    /// Times it had run for the time that it had reserved, and waited for its next period; None but of deadline tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttles: Option<u64>,
    /// Times it changed CPU.
    pub migrations: u64,
    /// util_avg at the last update.
    pub util: u32,
    /// util_est at the end.
    pub util_est: u32,
    /// CPU it ran or waited on last.
    pub cpu: CpuId,
    /// When it ended; None while it lives.
    #[serde(rename = "ended_ns")]
    pub ended: Option<Nanos>,
}

/// Totals of one control group, as `cpu.stat` counts them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CgroupSummary {
    /// Its name.
    pub name: String,
    /// Time that its tasks ran.
    #[serde(rename = "running_ns")]
    pub running: Nanos,
    /// What became of its limit; None without one.
    #[serde(flatten)]
    pub limit: Option<LimitSummary>,
}

/// What a limit of a control group did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LimitSummary {
    /// Periods that began.
    pub periods: u64,
    /// Those before which tasks had to wait on some CPU.
    pub throttled_periods: u64,
    /// How long they did, summed over CPUs.
    #[serde(rename = "throttled_ns")]
    pub throttled: Nanos,
}

/// The package's temperature, in degrees Celsius.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TemperatureSummary {
    /// At the end.
    pub last_c: f64,
    /// Highest at any change of power.
    pub highest_c: f64,
    /// Time in which the limit held a domain below its maximum.
    #[serde(rename = "throttled_ns")]
    pub throttled: Nanos,
}
