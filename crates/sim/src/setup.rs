//! What the engine is given: a machine, its kernel, one governor per clock domain, and tasks.

use crate::behavior::Behavior;
use flyball_governors::{Governor, ResponseRamp};
use flyball_platform::{IdleBalanceCost, Kernel, Platform};
use flyball_units::{CpuId, KiloHertz, Mismatch, Nanos};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Everything that decides a simulation. The same setup gives the same events, bit for bit.
pub struct Setup {
    /// The hardware.
    pub platform: Platform,
    /// The kernel.
    pub kernel: Kernel,
    /// One governor per clock domain, in the platform's order. Ignored by domains whose hardware
    /// chooses by itself.
    pub governors: Vec<Box<dyn Governor>>,
    /// What the governor's own work costs.
    pub governor_cost: GovernorCost,
    /// The tasks. Their position is their [`TaskId`].
    pub tasks: Vec<TaskSetup>,
    /// The control groups that tasks name, side by side.
    pub cgroups: Vec<Cgroup>,
    /// Hints about tasks that the scheduler gets while they run, in any order.
    pub hints: Vec<HintCall>,
    /// How tasks are placed at wake-up.
    pub placement: Placement,
    /// What was before time began; None: nothing, and all of it begins with time.
    pub before: Option<Before>,
    /// Time from the start to the first tick of CPU 0, less than a tick: the phase of the ticks
    /// relative to the workload. The ticks of other CPUs are simultaneous.
    pub tick_phase: Nanos,
    /// The same for the first wake-up of a polling governor, less than its polling interval.
    pub poll_phase: Nanos,
    /// Who sets clamps ([`TaskSetup::clamp_ramp`]).
    pub controller: Controller,
    /// Policy limits per clock domain; None where the hardware's hold.
    pub limits: Vec<Option<(KiloHertz, KiloHertz)>>,
    /// Frequency per clock domain at the start; None: the governor's choice for an idle machine.
    pub initial: Vec<Option<KiloHertz>>,
    /// Decisions that are taken out of the machine's hands.
    pub prescribed: Prescribed,
    /// End of the simulation.
    pub duration: Nanos,
    /// Seed of everything random: behaviours, interrupts.
    pub seed: u64,
}

/// Decisions that are not the machine's own, as those that a kernel took: an experiment that takes one kind of decision out of its hands
/// tells what that kind makes of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prescribed {
    /// For each clock domain from when on which of its frequencies holds, by time, the first from the start; none: its governor decides.
    /// Empty: of all.
    pub frequencies: Vec<Vec<(Nanos, KiloHertz)>>,
    /// For each task where it is from when on, by time; none: the scheduler decides. Empty: of all.
    pub placements: Vec<Vec<Placed>>,
    /// When signals of idle CPUs are brought up to date, by time; empty: when their ticks and those of others find that due.
    pub care: Vec<Cared>,
}

/// The signals of an idle CPU are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cared {
    /// When.
    pub at: Nanos,
    /// The CPU.
    pub cpu: CpuId,
    /// The CPU that does it.
    pub by: CpuId,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// From when on.
    pub at: Nanos,
    /// The CPU.
    pub cpu: CpuId,
    /// Whether it goes there at once if it runs or waits; else with its next wake-up.
    pub awake: bool,
}

/// A machine that had been idle for long when time began, but for what ran now and then: each CPU's load tracking begins
/// somewhere in its period of 1024 us, as the seed says, and not all with one, and a sampler waits for the scheduler's call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// What was left on each CPU; empty: nothing.
    pub left: Vec<Left>,
    /// How long ago somebody last brought the signals of idle CPUs up to date.
    pub looked_after: Nanos,
}

/// What ran on a CPU left there: its signals as they were last brought up to date, which is what a task's creation looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Utilisation of its fair queue, 0 to 1024.
    pub util_avg: u32,
    /// How long ago that was.
    pub updated: Nanos,
    /// For how long it has been idle.
    pub idle: Nanos,
    /// How long its idle times before were, the latest last.
    pub idle_times: Vec<Nanos>,
    /// How much of a period of load tracking had passed then, 0 to 1023 units of 1024 ns; None: as the seed says.
    pub period_contrib: Option<u32>,
    /// How long the longest look for work took it when it went idle; None: as long as the platform says.
    pub idle_balance_cost: Option<IdleBalanceCost>,
    /// The CPU to which it last pushed a deadline task: the next one has its turn after that; None: CPU 0.
    pub pushed_to: Option<CpuId>,
    /// When, from now on, timers of the kernel's own expire there, in order: where its tick is stopped it comes then.
    pub timers: Vec<Nanos>,
    /// When it reads its clock for ticks, as far as that is known, in order: each comes at its own time from then on. A tick of which
    /// that is not known comes as late as half of them.
    pub ticks: Vec<Nanos>,
}

/// Whoever sets the clamps of ramps, from outside of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// Time from when a clamp is due until it begins to see to it.
    pub delay: Nanos,
    /// The task whose work that is, where it costs something: it waits, and is woken for it; it looks when it begins, and has
    /// set the clamps when it is done.
    pub task: Option<TaskId>,
}

/// Number of a task: its position in [`Setup::tasks`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct TaskId(pub u32);

/// The random stream of a task's behaviour: the same wherever it is played.
pub fn random_stream(seed: u64, task: usize) -> Xoshiro256PlusPlus {
    // Far apart for neighbouring tasks and seeds.
    let stream = seed ^ (task as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(stream)
}

/// One task.
pub struct TaskSetup {
    /// Its name.
    pub name: String,
    /// Scheduling class.
    pub class: Class,
    /// CPUs it may run on; empty: all.
    pub allowed: Vec<CpuId>,
    /// Lower clamp, 0 to 1024. Where uclamp is in use, a FIFO task without one (0) has the kernel's
    /// default for real-time tasks, 1024.
    pub uclamp_min: u32,
    /// Effective upper clamp, 0 to 1024.
    pub uclamp_max: u32,
    /// The series' ramp-up multiplier from the start on; None: the kernel's default.
    pub rampup_multiplier: Option<u32>,
    /// The ramp that its lower clamp follows, as `flyball qos` sets it from outside of the kernel; without effect
    /// where the kernel has no clamps.
    pub clamp_ramp: Option<ResponseRamp>,
    /// Its control group: a position in [`Setup::cgroups`]; None: it is in none.
    pub cgroup: Option<usize>,
    /// When it is created.
    pub start: Nanos,
    /// Who creates it.
    pub creator: Creator,
    /// Initial util_avg where it did not start as a new task does.
    pub initial_util: Option<u32>,
    /// What is expected of it at its creation (util_est): 0, but where a task that slept for long stands in the model.
    pub initial_util_est: u32,
    /// What it does.
    pub behavior: Box<dyn Behavior>,
}

impl TaskSetup {
    /// Its clamps as far as its control group allows, one of these.
    pub fn clamps(&self, cgroups: &[Cgroup]) -> (u32, u32) {
        let group = self.cgroup.and_then(|group| cgroups.get(group));
        let allowed = |asked| group.map_or(asked, |group| group.clamp(asked));
        (allowed(self.uclamp_min), allowed(self.uclamp_max))
    }
}

/// Who creates a task. The kernel looks from its CPU on for one on which a new task begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Creator {
    /// Nobody: it begins on the smallest idle CPU that it fits.
    #[default]
    Nobody,
    /// Nobody, as it was there long before and slept: nothing is left of its signals.
    Earlier {
        /// It was on another CPU until then.
        comes: bool,
        /// When it last slept it had been denied a slice: it runs before others when it comes back.
        was_denied: bool,
    },
    /// A task, awake for it on the CPU on which it ran last.
    Task(TaskId),
    /// Somebody who is no task of the model, awake on this CPU.
    Cpu(CpuId),
    /// Somebody who has chosen this CPU for it.
    Chose(CpuId),
}

/// A control group (cgroup v2, the `cpu` controller): what its tasks have together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Its name.
    pub name: String,
    /// `cpu.max` and `cpu.max.burst`; None: no limit.
    pub bandwidth: Option<Bandwidth>,
    /// `cpu.weight`, 1 to 10000; that of a task of nice 0 is 100.
    pub weight: u32,
    /// The least lower clamp of its tasks, 0 to 1024 (`cpu.uclamp.min`, which is in percent).
    pub uclamp_min: u32,
    /// The greatest clamp of its tasks, 0 to 1024 (`cpu.uclamp.max`, which is in percent).
    pub uclamp_max: u32,
}

impl Cgroup {
    /// A group of this name that limits nothing.
    pub fn named(name: impl Into<String>) -> Cgroup {
        let (weight, uclamp_min, uclamp_max) = (Cgroup::DEFAULT_WEIGHT, 0, 1024);
        Cgroup { name: name.into(), bandwidth: None, weight, uclamp_min, uclamp_max }
    }

    /// `cpu.weight` where none is set.
    pub const DEFAULT_WEIGHT: u32 = 100;
    /// Weights that there are.
    pub const WEIGHTS: (u32, u32) = (1, 10_000);
    /// Longest name, in characters.
    pub const NAME_LENGTH: usize = 64;

    /// Whether it changes the clamps of its tasks.
    pub fn is_clamping(&self) -> bool {
        (self.uclamp_min, self.uclamp_max) != (0, 1024)
    }

    /// A clamp that a task of it asks for, as far as the group allows.
    pub fn clamp(&self, asked: u32) -> u32 {
        asked.max(self.uclamp_min).min(self.uclamp_max)
    }
}

/// The time that the tasks of a group may run in each period, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// The time, on all CPUs together.
    pub quota: Nanos,
    /// The period.
    pub period: Nanos,
    /// What may be saved from earlier periods.
    pub burst: Nanos,
}

impl Bandwidth {
    /// The period where none is said.
    pub const DEFAULT_PERIOD: Nanos = Nanos::from_millis(100);
    /// The shortest quota and period, and the longest period.
    const LIMITS: (Nanos, Nanos) = (Nanos::from_millis(1), Nanos::from_secs(1));

    /// A limit of these times.
    ///
    /// # Errors
    /// Times that the kernel does not take.
    pub fn new(quota: Nanos, period: Nanos, burst: Nanos) -> Result<Bandwidth, Mismatch> {
        let (least, longest) = Bandwidth::LIMITS;
        if quota < least {
            return Err(Mismatch::value(format!("a quota of at least {least}"), quota));
        }
        if !(least..=longest).contains(&period) {
            return Err(Mismatch::value(format!("a period of {least} to {longest}"), period));
        }
        if burst > quota {
            return Err(Mismatch::value(format!("a burst up to the quota of {quota}"), burst));
        }
        Ok(Bandwidth { quota, period, burst })
    }
}

/// A call that tells the scheduler something about one task: patch 10 of the response-time series
/// (`sched_setattr` with `SCHED_FLAG_QOS`). Each call sets one hint. The task alone has it: what it
/// forks later begins with the kernel's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintCall {
    /// When; without effect on a task that has not started or has ended.
    pub at: Nanos,
    /// Whom it is about.
    pub task: TaskId,
    /// What it says.
    pub hint: Hint,
}

/// The kinds of hint (`sched_qos_type` and `sched_qos_value`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// How many times as fast util_est grows while the task runs (patch 11); 0: no util_est for it
    /// (patch 15).
    RampupMultiplier(u32),
}

/// The shortest runtime of a deadline task: the kernel multiplies such times in units of 1024 ns.
const LEAST_RUNTIME: Nanos = Nanos(1024);

/// The shortest and the longest period of a deadline task (`sched_deadline_period_min_us`, `_max_us`).
const PERIODS: (Nanos, Nanos) = (Nanos(100_000), Nanos(4_194_304_000));

/// Scheduling classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Fair, with the weight of a nice value (-20 to 19).
    Fair {
        /// Nice value.
        nice: i8,
    },
    /// First in, first out, before every fair task.
    Fifo {
        /// 1 (lowest) to 99.
        priority: u8,
    },
    /// A reserved time in each period, before every FIFO task; the earliest deadline first.
    Deadline {
        /// Time that it may run in each period, on the largest CPU at its highest frequency.
        runtime: Nanos,
        /// From the beginning of a period until that time is over.
        deadline: Nanos,
        /// From one period to the next.
        period: Nanos,
    },
    /// What the kernel stops a CPU for, as its watchdog: before every other task, and in no signal.
    Stop,
    /// An interrupt: before everything; accounted as irq time.
    Interrupt,
}

impl Class {
    /// A deadline task of these times.
    ///
    /// # Errors
    /// Times that the kernel does not take.
    pub fn deadline(runtime: Nanos, deadline: Nanos, period: Nanos) -> Result<Class, Mismatch> {
        if runtime < LEAST_RUNTIME {
            return Err(Mismatch::value(format!("a runtime of at least {LEAST_RUNTIME}"), runtime));
        }
        if runtime > deadline || deadline > period {
            let expected = "a runtime up to the deadline, and that up to the period";
            return Err(Mismatch::value(expected, format!("{runtime}, {deadline} and {period}")));
        }
        let (least, most) = PERIODS;
        if !(least..=most).contains(&period) {
            return Err(Mismatch::value(format!("a period of {least} to {most}"), period));
        }
        Ok(Class::Deadline { runtime, deadline, period })
    }
}

/// How a task that wakes up gets a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The previous CPU if it is idle, else an idle one, else the least loaded.
    #[default]
    PreviousOrIdle,
    /// The smallest CPU that the task fits, idle before busy; energy decides where the kernel is
    /// energy-aware.
    CapacityAware,
    /// Onto as few CPUs as have room.
    Consolidating,
}

/// What a governor costs the machine it rules (Thomson's argument against polling).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GovernorCost {
    /// CPU time of one decision of a governor that runs as a task (powerd, powerd++): a wake-up
    /// and this many cycles. 0: it costs nothing.
    pub cycles_per_poll: u64,
    /// CPU it runs on.
    pub cpu: CpuId,
}
