//! rt-app workloads. What the model lacks is approximated, with a note ([`Program::notes`]); what is
//! not understood is an error that names the key and its place, never ignored.
//!
//! Times in the file are microseconds (the duration: seconds), as in rt-app. `run` is calibrated
//! to the fastest CPU at its highest frequency, as rt-app calibrates itself there; `runtime` is
//! wall time on a CPU, whatever the frequency.

mod json;
mod parse;
mod play;

pub use parse::parse;
pub use play::Thread;

use crate::setup::Class;
use flyball_units::{CpuId, Nanos};

/// A workload file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// How long it runs; None: without end.
    pub duration: Option<Nanos>,
    /// Its threads, instances multiplied out, in the order of the file.
    pub threads: Vec<ThreadSpec>,
    /// What was approximated, and how: one sentence each.
    pub notes: Vec<&'static str>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSpec {
    /// Its name.
    pub name: String,
    /// Scheduling class.
    pub class: Class,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<CpuId>,
    /// Lower clamp.
    pub uclamp_min: u32,
    /// Upper clamp.
    pub uclamp_max: u32,
    /// When it starts.
    pub delay: Nanos,
    /// How often its phases are gone through; None: without end.
    pub loops: Option<u64>,
    /// Its control group; None: that of the scenario's task.
    pub taskgroup: Option<String>,
    /// Whether it begins when another thread forks it, each time anew.
    pub forked: bool,
    /// What it does.
    pub phases: Vec<PhaseSpec>,
}

/// One phase: events, gone through several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseSpec {
    /// How often; None: without end.
    pub loops: Option<u64>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Work that takes this long on the fastest CPU at its highest frequency.
    Run(Nanos),
    /// Busy for this long, whatever the frequency.
    Runtime(Nanos),
    /// Asleep for this long.
    Sleep(Nanos),
    /// Asleep until the timer's next period.
    Timer {
        /// Number of the timer in its thread.
        timer: usize,
        /// Its period.
        period: Nanos,
        /// Whether a missed period is caught up with (`absolute`), or the timer starts anew from
        /// now (`relative`, the default).
        absolute: bool,
    },
    /// Waits for a device for this long.
    Io(Nanos),
    /// Asleep until another thread resumes it.
    Suspend,
    /// Resumes the thread of this number.
    Resume(usize),
}
