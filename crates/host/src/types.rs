//! Plain values that the host's calls take and return.

use flyball_units::{CpuId, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a fair thread has of its CPU, beside its lower clamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FairShare {
    /// Nice value, -20 (most) to 19 (least).
    pub nice: i32,
    /// Time for which it runs among equals; 0 where the kernel has none of its own for a thread
    /// (before Linux 6.12).
    #[serde(rename = "slice_ns")]
    pub slice: Nanos,
    /// The most utilisation that the scheduler takes it to have (uclamp), 0 to 1024; 0 where the kernel
    /// has no clamps.
    pub most: u32,
}

/// The scheduling class of a thread, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "class")]
pub enum Scheduling {
    /// The default class, with a nice value from -20 (most) to 19 (least).
    Other {
        /// Nice value.
        nice: i32,
    },
    /// As `Other`, but never preempts on waking.
    Batch {
        /// Nice value.
        nice: i32,
    },
    /// Runs only when nothing else wants to.
    Idle,
    /// First in, first out, at a priority from 1 to 99 (most).
    Fifo {
        /// Priority.
        priority: u32,
    },
    /// As `Fifo`, with a time slice among equals.
    RoundRobin {
        /// Priority.
        priority: u32,
    },
    /// Earliest deadline first: `runtime` within `deadline` of every `period`.
    Deadline {
        /// CPU time per period.
        runtime: Nanos,
        /// Relative deadline.
        deadline: Nanos,
        /// Period.
        period: Nanos,
    },
    /// A scheduler loaded from BPF (sched_ext).
    Extensible {
        /// Nice value.
        nice: i32,
    },
}

impl Scheduling {
    /// What a thread has if nobody set anything.
    pub const DEFAULT: Scheduling = Scheduling::Other { nice: 0 };

    /// Whether the class runs before all normal threads: FIFO, round robin, deadline.
    pub const fn is_real_time(self) -> bool {
        matches!(
            self,
            Scheduling::Fifo { .. } | Scheduling::RoundRobin { .. } | Scheduling::Deadline { .. }
        )
    }
}

impl Default for Scheduling {
    fn default() -> Scheduling {
        Scheduling::Other { nice: 0 }
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheduling::Other { nice } => write!(f, "other:{nice}"),
            Scheduling::Batch { nice } => write!(f, "batch:{nice}"),
            Scheduling::Idle => write!(f, "idle"),
            Scheduling::Fifo { priority } => write!(f, "fifo:{priority}"),
            Scheduling::RoundRobin { priority } => write!(f, "rr:{priority}"),
            Scheduling::Deadline { runtime, deadline, period } => {
                write!(f, "deadline:{}ns/{}ns/{}ns", runtime.0, deadline.0, period.0)
            }
            Scheduling::Extensible { nice } => write!(f, "ext:{nice}"),
        }
    }
}

/// A scheduling class that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "scheduling {found:?}: expected other[:NICE], batch[:NICE], idle, fifo:PRIORITY, rr:PRIORITY, \
     deadline:RUNTIMEns/DEADLINEns/PERIODns or ext[:NICE], with NICE -20 to 19 and PRIORITY 1 to 99"
)]
pub struct SchedulingError {
    /// The text, shortened to 80 characters.
    pub found: String,
}

impl FromStr for Scheduling {
    type Err = SchedulingError;

    /// Reads what `Display` prints.
    fn from_str(text: &str) -> Result<Scheduling, SchedulingError> {
        let (class, rest) = match text.split_once(':') {
            Some((class, rest)) => (class, Some(rest)),
            None => (text, None),
        };
        let nice = || match rest {
            None => Some(0),
            Some(rest) => rest.parse().ok().filter(|nice| (-20..=19).contains(nice)),
        };
        let priority = || rest?.parse().ok().filter(|priority| (1..=99).contains(priority));
        let scheduling = match class {
            "other" => nice().map(|nice| Scheduling::Other { nice }),
            "batch" => nice().map(|nice| Scheduling::Batch { nice }),
            "ext" => nice().map(|nice| Scheduling::Extensible { nice }),
            "idle" if rest.is_none() => Some(Scheduling::Idle),
            "fifo" => priority().map(|priority| Scheduling::Fifo { priority }),
            "rr" => priority().map(|priority| Scheduling::RoundRobin { priority }),
            "deadline" => rest.and_then(parse_deadline),
            _ => None,
        };
        scheduling.ok_or_else(|| SchedulingError { found: text.chars().take(80).collect() })
    }
}

/// Reads `RUNTIMEns/DEADLINEns/PERIODns`, in the order that the kernel demands.
fn parse_deadline(text: &str) -> Option<Scheduling> {
    let mut times = text.split('/').map(|time| time.strip_suffix("ns")?.parse().ok().map(Nanos));
    let (runtime, deadline, period) = (times.next()??, times.next()??, times.next()??);
    let ordered = runtime <= deadline && deadline <= period && runtime > Nanos::ZERO;
    (times.next().is_none() && ordered).then_some(Scheduling::Deadline {
        runtime,
        deadline,
        period,
    })
}

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At or after the time asked for.
    OnTime,
    /// Early, because the program was asked to end (see [`Host::interrupted`](crate::Host::interrupted)).
    Interrupted,
}

/// What the kernel counted for one thread (getrusage, `RUSAGE_THREAD`), or for a child process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUsage {
    /// Times the thread gave up its CPU by waiting.
    pub voluntary: u64,
    /// Times the CPU was taken from it.
    pub involuntary: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// CPU time in user and kernel mode.
    pub cpu_time: Nanos,
}

impl ThreadUsage {
    /// What was added since `earlier`.
    pub fn since(self, earlier: ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            cpu_time: self.cpu_time.since(earlier.cpu_time),
        }
    }
}

/// The scheduler's account of a thread: `/proc/TID/schedstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedStat {
    /// Time on a CPU.
    pub run_time: Nanos,
    /// Time ready to run, waiting for a CPU. Always zero in a kernel without `CONFIG_SCHED_INFO`.
    pub run_delay: Nanos,
    /// Times it was given a CPU.
    pub slices: u64,
}

/// The rate of the free-running counter, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterRate {
    /// Ticks per second of CLOCK_MONOTONIC.
    pub hz: f64,
    /// Bound of the relative error of `hz`: from the width of the clock readings at both ends.
    pub relative_uncertainty: f64,
}

impl CounterRate {
    /// `ticks` of the counter as nanoseconds.
    pub fn nanos(self, ticks: u64) -> f64 {
        ticks as f64 * 1e9 / self.hz
    }
}

/// CPU time of one CPU by what it was spent on, in ticks of [`CpuTimes::user_hz`]. Fields that an
/// old kernel does not report are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// Programs at normal priority.
    pub user: u64,
    /// Programs at a positive nice value.
    pub nice: u64,
    /// The kernel for programs.
    pub system: u64,
    /// Nothing.
    pub idle: u64,
    /// Nothing, with I/O under way.
    pub iowait: u64,
    /// Interrupts.
    pub irq: u64,
    /// Deferred interrupt work.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTime {
    /// Ticks that the CPU worked for this system: all but idle, iowait and steal.
    pub fn busy(self) -> u64 {
        [self.user, self.nice, self.system, self.irq, self.softirq]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// All ticks, steal included.
    pub fn total(self) -> u64 {
        [self.busy(), self.idle, self.iowait, self.steal].into_iter().fold(0, u64::saturating_add)
    }

    /// Ticks added since `earlier`; a field that ran backwards (iowait may) counts as zero.
    pub fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime {
            user: self.user.saturating_sub(earlier.user),
            nice: self.nice.saturating_sub(earlier.nice),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            iowait: self.iowait.saturating_sub(earlier.iowait),
            irq: self.irq.saturating_sub(earlier.irq),
            softirq: self.softirq.saturating_sub(earlier.softirq),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }
}

/// `/proc/stat`: what every CPU spent its time on since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Ticks per second: USER_HZ, 100 on almost every Linux, whatever the kernel's own HZ. The
    /// resolution of every figure here is one tick, 10 ms.
    pub user_hz: u64,
    /// One entry per online CPU, ascending.
    pub cpus: Vec<(CpuId, CpuTime)>,
    /// Threads that are ready or running now, this one included.
    pub running: Option<u64>,
}

impl CpuTimes {
    /// The entry of one CPU.
    pub fn of(&self, cpu: CpuId) -> Option<CpuTime> {
        self.cpus.iter().find(|(id, _)| *id == cpu).map(|(_, time)| *time)
    }

    /// What was added since `earlier`, for CPUs in both.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        let cpus = self
            .cpus
            .iter()
            .filter_map(|&(cpu, time)| Some((cpu, time.since(earlier.of(cpu)?))))
            .collect();
        CpuTimes { user_hz: self.user_hz, cpus, running: self.running }
    }

    /// `ticks` as a duration.
    pub fn duration(&self, ticks: u64) -> Nanos {
        Nanos(ticks.saturating_mul(1_000_000_000 / self.user_hz.max(1)))
    }

    /// Busy time of all CPUs that is not `own`: the load of other tasks. Known to one tick per CPU.
    pub fn load_of_others(&self, own: Nanos) -> Nanos {
        let busy = self.cpus.iter().map(|(_, time)| time.busy()).fold(0, u64::saturating_add);
        self.duration(busy).since(own)
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// The bell was rung; it is silent again.
    pub bell: bool,
    /// Somebody knocks at the socket.
    pub visitor: bool,
}

/// Counts of one group since it was opened, user mode only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Cycles of the core at whatever frequency it ran.
    pub cycles: u64,
    /// Cycles at the constant reference rate; none where the machine does not count them (many
    /// Arm cores).
    pub ref_cycles: Option<u64>,
    /// Instructions retired.
    pub instructions: u64,
    /// Time that the group was meant to count.
    pub enabled: Nanos,
    /// Time that it did count; less than `enabled` when others wanted the same counters.
    pub running: Nanos,
}

impl Cycles {
    /// What was counted since `earlier`.
    pub fn since(self, earlier: Cycles) -> Cycles {
        Cycles {
            cycles: self.cycles.wrapping_sub(earlier.cycles),
            ref_cycles: self
                .ref_cycles
                .zip(earlier.ref_cycles)
                .map(|(now, then)| now.wrapping_sub(then)),
            instructions: self.instructions.wrapping_sub(earlier.instructions),
            enabled: self.enabled.since(earlier.enabled),
            running: self.running.since(earlier.running),
        }
    }

    /// Whether the counters ran the whole time, so that the counts need no scaling.
    pub fn is_whole(self) -> bool {
        self.enabled == self.running
    }
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// It was given a CPU.
    In,
    /// It left the CPU: `ready` where the CPU was taken from it, and not where it sleeps.
    Out {
        /// It would go on.
        ready: bool,
    },
    /// It made a thread, of its own process or as a new one.
    Made {
        /// The process of the new thread.
        pid: u32,
        /// The new thread.
        tid: u32,
    },
    /// It ended.
    Ended,
    /// Records were lost: whether it runs is not known.
    Lost,
    /// It runs, and has done so for the time that was asked for.
    Ran,
}

/// What of a thread is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// All of [`Switch`].
    Switches {
        /// The running time after which [`Switch::Ran`] comes, sleeps between not counted.
        every: Nanos,
    },
    /// [`Switch::Made`] and [`Switch::Ended`].
    Births,
}

/// What of a watched thread wakes who waits for it, besides that it makes threads and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// [`Switch::Ran`]: a thread that runs for moments wakes nobody, however often it switches.
    ToRuns,
    /// Each switch; [`Switch::Ran`] does not come.
    ToSwitches,
}

/// A record: what, and when on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchRecord {
    /// When.
    pub at: Nanos,
    /// What.
    pub what: Switch,
}

/// What a map is made of.
#[derive(Clone, Debug, Default)]
pub struct BpfMapSpec {
    /// Its name.
    pub name: String,
    /// `enum bpf_map_type`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bytes of a value.
    pub value_bytes: u32,
    /// Entries.
    pub entries: u32,
    /// Flags.
    pub flags: u32,
    /// Numbers of the types of key and value among the program's own; 0: none.
    pub types: [u32; 2],
    /// Number of the value's type among the kernel's, of a table of functions; 0: none.
    pub kernel_type: u32,
}

/// What a program is made of.
#[derive(Clone, Debug, Default)]
pub struct BpfProgramSpec {
    /// Its name.
    pub name: String,
    /// `enum bpf_prog_type`.
    pub kind: u32,
    /// `enum bpf_attach_type`; of a table's function, its place in the table.
    pub attach: u32,
    /// Number among the kernel's types of what it is attached to; 0: none.
    pub attach_type: u32,
    /// Whether it may sleep.
    pub sleepable: bool,
    /// Instructions of 8 bytes.
    pub code: Vec<u8>,
    /// Where its functions begin, in instructions, and their types among its own.
    pub functions: Vec<[u32; 2]>,
    /// Its licence, ended by 0.
    pub licence: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scheduling_round_trips() {
        let deadline = Scheduling::Deadline {
            runtime: Nanos(1000),
            deadline: Nanos(2000),
            period: Nanos(3000),
        };
        let all = [
            Scheduling::Other { nice: -5 },
            Scheduling::Batch { nice: 3 },
            Scheduling::Idle,
            Scheduling::Fifo { priority: 50 },
            Scheduling::RoundRobin { priority: 1 },
            Scheduling::Extensible { nice: 0 },
            deadline,
        ];
        for scheduling in all {
            assert_eq!(scheduling.to_string().parse(), Ok(scheduling));
        }
        for wrong in
            ["fifo", "fifo:0", "fifo:100", "other:20", "deadline:3ns/2ns/1ns", "idle:1", "x"]
        {
            assert!(wrong.parse::<Scheduling>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn load_of_others_leaves_own_time_out() {
        let time = CpuTime { user: 30, system: 20, idle: 50, steal: 9, ..CpuTime::default() };
        let times = CpuTimes { user_hz: 100, cpus: vec![(CpuId(0), time)], running: Some(1) };
        assert_eq!(times.load_of_others(Nanos::from_millis(200)), Nanos::from_millis(300));
        assert_eq!(times.load_of_others(Nanos::from_secs(2)), Nanos::ZERO);
        assert_eq!(time.total(), 109);
    }

    proptest! {
        #[test]
        fn arbitrary_scheduling_never_panics(text in ".{0,40}") {
            let _ = text.parse::<Scheduling>();
        }
    }
}
