//! The manifest of a recorded machine: what files can't tell.

use crate::{CounterRate, Errno, Scheduling};
use flyball_units::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the snapshot format that this crate writes and reads.
pub const FORMAT: u32 = 1;

/// `manifest.json` of a snapshot. Every field but `format` may be missing, so that a machine can be
/// written down by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Version of Flyball that captured it.
    #[serde(default)]
    pub flyball: String,
    /// Architecture, as Rust names it: `x86_64`, `aarch64`.
    #[serde(default)]
    pub architecture: String,
    /// When it was captured: CLOCK_REALTIME.
    #[serde(default, rename = "captured_realtime_ns")]
    pub captured: Nanos,
    /// CLOCK_MONOTONIC at the same time.
    #[serde(default, rename = "captured_monotonic_ns")]
    pub monotonic: Nanos,
    /// Results of system calls.
    #[serde(default)]
    pub calls: Calls,
    /// Symbolic links: path to target.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Files and folders that were there and could not be read: path to reason.
    #[serde(default)]
    pub unreadable: BTreeMap<String, Errno>,
    /// Files that were longer than the bound, and end early.
    #[serde(default)]
    pub shortened: Vec<String>,
}

/// What the system calls answered on the recorded machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// CPUs allowed to the capturing thread; none where only the files are known.
    pub affinity: Option<CpuSet>,
    /// The capturing thread's class.
    pub scheduling: Scheduling,
    /// The capturing thread's timer slack.
    #[serde(rename = "timer_slack_ns")]
    pub timer_slack: Nanos,
    /// Ticks per second of `/proc/stat`.
    pub user_hz: u64,
    /// The counter's rate.
    pub counter: Option<CounterRate>,
    /// Could a thread become SCHED_FIFO?
    pub real_time: Tried,
    /// Could the cycle counters be opened?
    pub cycles: Tried,
    /// Which paths this process might have written.
    pub writable: BTreeMap<String, bool>,
}

impl Default for Calls {
    /// An unprivileged thread of a machine of which only the files are known.
    fn default() -> Calls {
        Calls {
            affinity: None,
            scheduling: Scheduling::DEFAULT,
            timer_slack: Nanos(50_000),
            user_hz: 100,
            counter: None,
            real_time: Tried::Refused(Errno::EPERM),
            cycles: Tried::Impossible("not recorded".to_owned()),
            writable: BTreeMap::new(),
        }
    }
}

/// What came of trying something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tried {
    /// It worked.
    Worked,
    /// The system refused.
    Refused(Errno),
    /// The machine can't.
    Impossible(String),
}

impl Default for Manifest {
    /// The manifest of a machine written by hand.
    fn default() -> Manifest {
        Manifest {
            format: FORMAT,
            flyball: String::new(),
            architecture: String::new(),
            captured: Nanos::ZERO,
            monotonic: Nanos::ZERO,
            calls: Calls::default(),
            links: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            shortened: Vec::new(),
        }
    }
}
