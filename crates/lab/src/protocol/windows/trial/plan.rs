//! What a trial is asked to do, and what its thread really got.

use flyball_host::Scheduling;
use flyball_units::{CpuId, CpuSet, Nanos};

/// Which trial of the experiment it is: the columns that are the same in all its windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrialLabels {
    /// Number in order of execution, from 0.
    pub trial: u32,
    /// The workload's name.
    pub workload: String,
    /// The condition's name.
    pub condition: String,
    /// Repeat of the cell (workload x condition), from 1.
    pub repeat: u32,
    /// Block of the randomised order, from 0.
    pub block: u32,
}

/// When the frequency probe runs around a window; never inside the timed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMode {
    /// Never: the loop touches the processor only for the window.
    Off,
    /// Right after each window: the idle gap before the next release stays untouched.
    After,
    /// After each window, and once more in the gap before the release.
    BeforeAfter {
        /// Time from the probe's start to the release. `None`: half of the gap. Never less than
        /// [`ProbeMode::MIN_LEAD`], so that the core goes idle again before the release.
        lead: Option<Nanos>,
    },
}

impl ProbeMode {
    /// The shortest time between the start of the probe before a window and its release. Where
    /// the gap is shorter, there is no probe before the window.
    pub const MIN_LEAD: Nanos = Nanos::from_millis(1);
}

impl Default for ProbeMode {
    fn default() -> Self {
        ProbeMode::BeforeAfter { lead: None }
    }
}

/// One trial: a workload released `warmup_windows + windows` times on a grid of absolute times.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialPlan {
    /// Which trial it is.
    pub labels: TrialLabels,
    /// Time from release to release; zero releases each window as soon as the one before is over.
    pub period: Nanos,
    /// Deadline of a window after its release; zero where there is none.
    pub deadline: Nanos,
    /// Releases that count.
    pub windows: u64,
    /// Releases before them, recorded and marked.
    pub warmup_windows: u64,
    /// The first release, on CLOCK_MONOTONIC. `None`: [`TrialPlan::LEAD_IN`] after the thread is
    /// ready. A time that has passed counts as the grid's origin.
    pub first_release: Option<Nanos>,
    /// The CPUs that the thread is confined to; `None` leaves the placement to the system.
    pub cpus: Option<CpuSet>,
    /// The thread's scheduling class.
    pub scheduling: Scheduling,
    /// Whether to lock the process's memory while the trial runs.
    pub lock_memory: bool,
    /// Bound on the wake-up latency of idle states that is held while the trial runs. It changes
    /// the system under observation: a condition of its own.
    pub hold_idle_latency: Option<Nanos>,
    /// Bounds of the thread's utilisation, 0 to 1024 (uclamp).
    pub utilization_clamp: Option<(u32, u32)>,
    /// The multiplier of the ramp that the thread's demand, and that of its programs, follows.
    pub response_ramp: Option<u32>,
    /// How late a timer of a normal thread may fire to save wake-ups. The kernel's default is
    /// 50 us, which would be measured as lateness.
    pub timer_slack: Option<Nanos>,
    /// When the frequency probe runs.
    pub probe: ProbeMode,
    /// Whether to count the window's cycles where the machine can.
    pub count_cycles: bool,
    /// Whether to measure although something could not be applied.
    pub allow_degraded: bool,
}

impl TrialPlan {
    /// Time from the thread's readiness to its first release.
    pub const LEAD_IN: Nanos = Nanos::from_millis(5);

    /// The smallest timer slack that Linux knows.
    pub const LEAST_SLACK: Nanos = Nanos(1);

    /// A plan that needs no privileges and changes nothing: no placement, the default class.
    pub fn new(labels: TrialLabels, period: Nanos, windows: u64) -> TrialPlan {
        TrialPlan {
            labels,
            period,
            deadline: period,
            windows,
            warmup_windows: 0,
            first_release: None,
            cpus: None,
            scheduling: Scheduling::DEFAULT,
            lock_memory: false,
            hold_idle_latency: None,
            utilization_clamp: None,
            response_ramp: None,
            timer_slack: Some(TrialPlan::LEAST_SLACK),
            probe: ProbeMode::default(),
            count_cycles: true,
            allow_degraded: false,
        }
    }

    /// All releases, warm-up included.
    pub fn releases(&self) -> u64 {
        self.warmup_windows.saturating_add(self.windows)
    }
}

/// The state of the measuring thread, read back in that thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// The kernel's number of the thread, in the program's PID namespace: a trace names it so.
    pub tid: Option<u32>,
    /// CPUs that it may use, ascending; empty where that could not be read.
    pub cpus: Vec<CpuId>,
    /// Its scheduling class.
    pub scheduling: Option<Scheduling>,
    /// Its timer slack.
    pub timer_slack: Option<Nanos>,
    /// Bytes of the process that the kernel counts as locked, where it was asked to lock them.
    pub locked_bytes: Option<u64>,
    /// The bound on idle latency that is held.
    pub idle_latency: Option<Nanos>,
    /// The bounds of its utilisation, where it was asked to have some.
    pub utilization_clamp: Option<(u32, u32)>,
    /// The multiplier of its ramp, where it was asked to have one.
    pub response_ramp: Option<u32>,
    /// Whether the window's cycles are counted.
    pub counts_cycles: bool,
    /// What was asked for and could not be applied.
    pub degraded: Vec<Degraded>,
    /// What would have been recorded, and can't be here: nothing that was asked for by name.
    pub unavailable: Vec<Degraded>,
}

/// A setting that could not be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degraded {
    /// The setting: `cpu 1`, `scheduling fifo:80`, `locked memory`.
    pub setting: String,
    /// Why not.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}
