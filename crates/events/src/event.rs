//! The vocabulary: what a recorded event says, whichever reader it came from.

use serde::{Deserialize, Serialize};

/// A task as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRef<'a> {
    /// Its name then.
    pub name: &'a [u8],
    /// Its number; 0 for the idle loop.
    pub tid: u32,
    /// The kernel's priority: 0 to 99 real-time, 100 to 139 fair; none where the event has none.
    pub priority: Option<i32>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `sched_switch`.
    Switch {
        /// Who gave the CPU up.
        prev: TaskRef<'a>,
        /// In what state: `R`, `R+`, `S`, `D`, `I`, `X`, `Z`, ...
        state: &'a [u8],
        /// Who got it.
        next: TaskRef<'a>,
    },
    /// `sched_waking`: somebody begins to wake a task.
    Waking(TaskRef<'a>),
    /// `sched_wakeup` and `sched_wakeup_new`: the task is on a run queue.
    Wakeup {
        /// The task.
        task: TaskRef<'a>,
        /// The CPU that it was placed on.
        cpu: u32,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// The task.
        task: TaskRef<'a>,
        /// The CPU it left.
        from: u32,
        /// The CPU it went to.
        to: u32,
    },
    /// `sched_process_fork`: the child.
    Fork(TaskRef<'a>),
    /// `sched_process_exit`.
    Exit(TaskRef<'a>),
    /// `cpu_frequency`: one per CPU of the clock domain.
    Frequency {
        /// The CPU.
        cpu: u32,
        /// Its new frequency.
        khz: u64,
    },
    /// `cpu_idle`.
    Idle {
        /// The CPU.
        cpu: u32,
        /// The state that it enters; none where it leaves idle.
        state: Option<u32>,
    },
    /// A probe on `pelt_se_tp`: an entity's averages.
    EntityAverages {
        /// The task's number; none for a group.
        tid: Option<u32>,
        /// util_avg.
        util: u32,
        /// runnable_avg.
        runnable: Option<u32>,
    },
    /// A probe on `sched_util_est_se_tp`: a task's estimate, without its flag.
    EntityEstimate {
        /// The task's number.
        tid: u32,
        /// util_avg.
        util: Option<u32>,
        /// util_est.
        estimate: u32,
    },
    /// A probe on `pelt_cfs_tp`: a fair run queue's averages.
    QueueAverages {
        /// The CPU.
        cpu: u32,
        /// util_avg.
        util: u32,
        /// runnable_avg.
        runnable: Option<u32>,
        /// Sum of util_est.
        estimate: Option<u32>,
        /// period_contrib: how much of the present period has passed, 0 to 1023 units of 1024 ns.
        contrib: Option<u32>,
    },
    /// A probe on `pelt_rt_tp` or `pelt_dl_tp`: what a class besides the fair one used of a CPU.
    ClassAverages {
        /// The class.
        class: Class,
        /// The CPU.
        cpu: u32,
        /// util_avg.
        util: u32,
        /// period_contrib: how much of the present period has passed, 0 to 1023 units of 1024 ns.
        contrib: Option<u32>,
    },
    /// A probe on `sched_cpu_capacity_tp`.
    Capacity {
        /// The CPU.
        cpu: u32,
        /// Capacity left for fair tasks.
        capacity: u32,
    },
    /// A probe on schedutil's `get_next_freq`: what it is given.
    GovernorAsked {
        /// A CPU of the clock domain, where the probe tells.
        cpu: Option<u32>,
        /// Utilisation with headroom.
        util: u32,
        /// Capacity that it is set against.
        max: Option<u32>,
    },
    /// A probe on the return of `get_next_freq`: what it answers.
    GovernorAnswered {
        /// The operating point.
        khz: u64,
    },
    /// A CPU enters an interrupt.
    Enters(InterruptRef<'a>),
    /// A CPU leaves an interrupt.
    Leaves(InterruptRef<'a>),
    /// `tracing_mark_write` and trace-cmd's `print`.
    Mark(&'a [u8]),
    /// Anything else, by name.
    Other(&'a [u8]),
}

/// A class of tasks that runs before the fair one, as far as load tracking has a signal of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// FIFO and round-robin tasks.
    RealTime,
    /// Deadline tasks.
    Deadline,
}

impl Class {
    /// As the kernel writes it, and the column `kind` of the table `utilization`.
    pub const fn name(self) -> &'static str {
        match self {
            Class::RealTime => "rt",
            Class::Deadline => "dl",
        }
    }
}

/// An interrupt as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptRef<'a> {
    /// `irq` (a device's handler), `softirq`, or `vector` (one of the CPU's own).
    pub kind: &'static str,
    /// Number of the line, the softirq or the vector.
    pub number: Option<u32>,
    /// Its name, where the event has one.
    pub name: Option<&'a [u8]>,
}

/// An event with its head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// Time in ns of the trace's clock.
    pub t_ns: u64,
    /// The CPU that wrote it.
    pub cpu: u32,
    /// The thread that the CPU ran then; 0 for the idle loop.
    pub tid: u32,
    /// That thread's name; `<...>` where the kernel had forgotten it.
    pub task: &'a [u8],
    /// The flags as written, such as `d.h2.`; empty where there are none.
    pub flags: &'a [u8],
    /// The event.
    pub event: Event<'a>,
}

impl Record<'_> {
    /// Whether it was written in an interrupt (hard, soft or not maskable): the thread was then only
    /// interrupted.
    pub fn in_interrupt(&self) -> bool {
        matches!(self.flags.get(2), Some(b'h' | b'H' | b's' | b'z' | b'Z'))
    }
}

/// A record's flags as letters: the third, for where the CPU was, is filled (TRACE_FLAG_NMI,
/// _HARDIRQ and _SOFTIRQ of include/linux/trace_events.h).
pub(crate) fn flag_letters(flags: u32) -> &'static [u8] {
    match (flags & 0x40 != 0, flags & 0x08 != 0, flags & 0x10 != 0) {
        (true, true, _) => b"..Z..",
        (true, false, _) => b"..z..",
        (false, true, true) => b"..H..",
        (false, true, false) => b"..h..",
        (false, false, true) => b"..s..",
        (false, false, false) => b".....",
    }
}
