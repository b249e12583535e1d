//! What a governor is told. Serialisable: a list of events is also the record for a replay.

use flyball_pelt::CAPACITY_SCALE;
use flyball_units::{CpuId, KiloHertz, Nanos};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Something that a governor may have to answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// The time it asked to be woken at, with the domain's accounting.
    Poll {
        /// Cumulative times of each CPU of the machine that the rule looks at, in the order of
        /// the domain's CPUs.
        times: Cow<'a, [CpuTimes]>,
    },
    /// The time it asked to be woken at, for rules that do not poll.
    Timer,
    /// A statistics tick.
    Tick {
        /// The CPU it happened on.
        cpu: CpuId,
        /// Whether the tick interrupted anything but the idle loop.
        busy: bool,
    },
    /// Entry to or exit from the idle loop.
    Idle {
        /// The CPU.
        cpu: CpuId,
        /// Whether it enters.
        enter: bool,
    },
    /// The scheduler's utilisation update.
    Util {
        /// The CPU whose update it is.
        cpu: CpuId,
        /// Signals of the domain's CPUs, in the order of the domain's CPUs.
        signals: Cow<'a, [CpuSignals]>,
        /// Why it was sent.
        flags: UtilFlags,
    },
    /// A frequency took effect.
    Applied {
        /// The frequency.
        frequency: KiloHertz,
    },
    /// The policy's limits changed.
    Limits {
        /// Lowest frequency.
        min: KiloHertz,
        /// Highest frequency.
        max: KiloHertz,
    },
    /// The domain's online CPUs changed.
    Cpus {
        /// Those online now, ascending.
        cpus: Cow<'a, [CpuId]>,
    },
    /// The package's temperature.
    Temperature {
        /// In thousandths of a degree Celsius.
        millicelsius: i32,
    },
}

impl Event<'_> {
    /// What kind of event it is: the word that it is serialised with.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Poll { .. } => "poll",
            Event::Timer => "timer",
            Event::Tick { .. } => "tick",
            Event::Idle { .. } => "idle",
            Event::Util { .. } => "util",
            Event::Applied { .. } => "applied",
            Event::Limits { .. } => "limits",
            Event::Cpus { .. } => "cpus",
            Event::Temperature { .. } => "temperature",
        }
    }

    /// The CPU that it happened on, where it is an event of one CPU.
    pub const fn cpu(&self) -> Option<CpuId> {
        match self {
            Event::Tick { cpu, .. } | Event::Idle { cpu, .. } | Event::Util { cpu, .. } => {
                Some(*cpu)
            }
            _ => None,
        }
    }
}

/// Cumulative accounting of one CPU since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CpuTimes {
    /// Busy, `nice` not included.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// Busy with tasks of lowered priority.
    #[serde(rename = "nice_ns")]
    pub nice: Nanos,
    /// Idle, `iowait` not included.
    #[serde(rename = "idle_ns")]
    pub idle: Nanos,
    /// Idle while a task of this CPU waits for I/O.
    #[serde(rename = "iowait_ns")]
    pub iowait: Nanos,
}

setters!(CpuTimes { busy: Nanos, nice: Nanos, idle: Nanos, iowait: Nanos });

impl CpuTimes {
    /// A CPU that has just booted.
    pub const ZERO: CpuTimes =
        CpuTimes { busy: Nanos::ZERO, nice: Nanos::ZERO, idle: Nanos::ZERO, iowait: Nanos::ZERO };
}

/// The scheduler's signals of one CPU; utilisations on the capacity scale (0 to 1024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CpuSignals {
    /// util_avg of the fair run queue.
    pub util: u32,
    /// runnable_avg of the fair run queue.
    pub runnable: u32,
    /// Sum of the enqueued tasks' util_est.
    pub util_est: u32,
    /// Patch 12's waiting average of the root run queue.
    pub waiting: u32,
    /// util_avg of the real-time run queue.
    pub rt: u32,
    /// util_avg of the deadline run queue.
    pub dl: u32,
    /// Bandwidth reserved by deadline tasks.
    pub bw_dl: u32,
    /// util_avg of interrupts.
    pub irq: u32,
    /// Effective lower clamp of the run queue.
    pub uclamp_min: u32,
    /// Effective upper clamp of the run queue.
    pub uclamp_max: u32,
    /// Whether a real-time task is runnable.
    pub rt_runnable: bool,
    /// Runnable tasks of all classes.
    pub nr_running: u32,
    /// Slice of the running fair task.
    #[serde(rename = "slice_ns")]
    pub slice: Nanos,
    /// How often the CPU has entered idle: schedutil's hold compares it with the last look.
    pub idle_calls: u64,
    /// Capacity left after pressure, 1 to 1024; 0 where unknown: the domain's capacity then.
    pub capacity: u32,
}

setters!(CpuSignals {
    util: u32,
    runnable: u32,
    util_est: u32,
    waiting: u32,
    rt: u32,
    dl: u32,
    bw_dl: u32,
    irq: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    rt_runnable: bool,
    nr_running: u32,
    slice: Nanos,
    idle_calls: u64,
    capacity: u32,
});

impl CpuSignals {
    /// An idle CPU without clamps.
    pub const IDLE: CpuSignals = CpuSignals {
        util: 0,
        runnable: 0,
        util_est: 0,
        waiting: 0,
        rt: 0,
        dl: 0,
        bw_dl: 0,
        irq: 0,
        uclamp_min: 0,
        uclamp_max: CAPACITY_SCALE,
        rt_runnable: false,
        nr_running: 0,
        slice: Nanos(3_000_000),
        idle_calls: 0,
        capacity: 0,
    };
}

impl Default for CpuSignals {
    fn default() -> CpuSignals {
        CpuSignals::IDLE
    }
}

/// Why a utilisation update was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UtilFlags {
    /// A task that waited for I/O woke up.
    pub iowait: bool,
    /// More deadline bandwidth was reserved: the rate limit does not apply.
    pub deadline_bandwidth: bool,
}

setters!(UtilFlags { iowait: bool, deadline_bandwidth: bool });

impl UtilFlags {
    /// Nothing of these.
    pub const NONE: UtilFlags = UtilFlags { iowait: false, deadline_bandwidth: false };
}
