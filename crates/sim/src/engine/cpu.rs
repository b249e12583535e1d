//! A CPU as the engine sees it.

use super::arrival::Told;
use super::idle::Sleeps;
use super::new_idle::NewIdle;
use super::timers::OwnTimers;
use crate::setup::Class;
use flyball_governors::CpuTimes;
use flyball_pelt::{ClockPelt, FitRule, QueueUtilEst, QueueWaitingAvg, RemovedLoad, SchedAvg};

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// In the idle loop, in the idle state of this position, or awake (None).
    Idle(Option<usize>),
    /// On the way out of an idle state.
    Waking,
    /// Executes [`Cpu::current`].
    Busy,
    /// On the way from [`Cpu::leaving`], which sleeps.
    Leaving,
}

/// CPUs among which load is balanced.
pub(super) struct BalanceLevel {
    /// The other CPUs.
    pub(super) others: Vec<usize>,
    /// How long an idle CPU waits from one look to the next, and a busy one: after one that found an imbalance, and
    /// after one that found none.
    pub(super) idle_periods: [u64; 2],
    pub(super) busy_periods: [u64; 2],
    /// Whether the last look found none.
    pub(super) was_balanced: bool,
    /// When it was; None before the first time.
    pub(super) looked_at: Option<u64>,
    /// How often in a row it has got none although there was an imbalance.
    pub(super) failed: u32,
}

/// What fair tasks that wait for FIFO tasks get.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairServer {
    /// When its present period began; `u64::MAX` while no fair task waits for a FIFO task.
    pub(super) since: u64,
    /// Since when a fair task runs in this period; `u64::MAX` where none does.
    pub(super) running_since: u64,
    /// What fair tasks have run in this period.
    pub(super) ran: u64,
    /// Whether fair tasks go first.
    pub(super) boosts: bool,
    /// Time of its next event; `u64::MAX` without one.
    pub(super) at: u64,
}

impl FairServer {
    /// Nobody waits.
    pub(super) const OFF: FairServer = FairServer {
        since: u64::MAX,
        running_since: u64::MAX,
        ran: 0,
        boosts: false,
        at: u64::MAX,
    };
}

/// What the time of a running task counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Runs {
    /// A task.
    #[default]
    Plain,
    /// A task of a positive nice value.
    Niced,
    /// An interrupt.
    Interrupt,
}

impl Runs {
    /// Of a class.
    pub(super) fn of(class: Class) -> Runs {
        match class {
            Class::Fair { nice: 1.. } => Runs::Niced,
            Class::Fair { .. } | Class::Fifo { .. } | Class::Deadline { .. } | Class::Stop => {
                Runs::Plain
            }
            Class::Interrupt => Runs::Interrupt,
        }
    }
}

/// A CPU.
pub(super) struct Cpu {
    /// Its clock domain.
    pub(super) domain: usize,
    /// At the highest frequency, 1 to 1024.
    pub(super) capacity: u32,
    /// What limits of frequency leave of it.
    pub(super) capacity_capped: u32,
    /// Patch 4's rule for tasks that fit.
    pub(super) fit_rule: FitRule,
    /// Nanoseconds per reference cycle at each operating point.
    pub(super) ns_per_cycle: Vec<f64>,
    /// The same at the present one.
    pub(super) ns_per_cycle_now: f64,

    pub(super) activity: Activity,
    /// What the time of [`Cpu::current`] counts as.
    pub(super) runs: Runs,
    /// The task that runs.
    pub(super) current: Option<usize>,
    /// In leaps, the only task that ever runs here.
    pub(super) alone: Option<usize>,
    /// Fair tasks that wait, in the order in which they came.
    pub(super) fair: Vec<usize>,
    /// Fair tasks that wait for their control group's next period.
    pub(super) parked: Vec<usize>,
    /// Sleeping fair tasks that had more than their share, which still weigh in the queue ([`KernelRule::DelayedDequeue`]).
    pub(super) delayed: Vec<usize>,
    /// FIFO tasks and interrupts that wait, the one to run next at the end.
    pub(super) urgent: Vec<usize>,
    /// Of the tasks that sleep here, as far as the kernel knows when they will wake up.
    pub(super) timers: OwnTimers,
    /// Fair tasks, waiting and running.
    pub(super) fair_count: u32,
    /// FIFO tasks, waiting and running.
    pub(super) fifo_count: u32,
    /// Deadline tasks, waiting and running.
    pub(super) dl_count: u32,
    /// Sum of the bandwidths of the deadline tasks that count here.
    pub(super) dl_bandwidth: u64,
    /// When a fair task last joined or left it; None before the first, and where no server reserves time for them.
    pub(super) fair_at: Option<u64>,
    /// Where it last pushed a deadline task.
    pub(super) pushed_to: usize,
    /// Sum of the fair tasks' weights.
    pub(super) weight: u64,
    /// No waiting task has a lower virtual time; it never falls.
    pub(super) min_vruntime: i64,

    pub(super) clock: ClockPelt,
    /// Time of the last update of `clock`.
    pub(super) clock_at: u64,
    /// Of the present frequency, 1024 at the highest or without invariance.
    pub(super) frequency_scale: u32,
    pub(super) cfs: SchedAvg,
    /// What sleeping tasks took with them that `cfs` still counts.
    pub(super) removed: RemovedLoad,
    pub(super) rt: SchedAvg,
    pub(super) dl: SchedAvg,
    pub(super) irq: SchedAvg,
    /// Patch 12's signal.
    pub(super) waiting: QueueWaitingAvg,
    pub(super) util_est: QueueUtilEst,
    /// Clamps of the runnable tasks; the upper one is kept while the CPU is idle.
    pub(super) uclamp_min: u32,
    pub(super) uclamp_max: u32,
    /// Whether the governor's copy of the signals is out of date.
    pub(super) stale: bool,
    /// Whether the running task was found not to fit at the last tick.
    pub(super) misfit: bool,
    /// When such a task moves to a larger CPU; `u64::MAX` where none does.
    pub(super) move_at: u64,
    /// When the running fair task's slice ends, by a timer; `u64::MAX` where none says it.
    pub(super) slice_at: u64,
    /// What was left of its capacity when it last woke up or balanced: other CPUs know no later one.
    pub(super) noted_capacity: u32,
    /// How often in succession it took nothing from an overloaded cluster.
    pub(super) moved_in_vain: u32,
    /// Other CPUs on the same core.
    pub(super) siblings: Vec<usize>,
    /// Tasks that were woken for it elsewhere.
    pub(super) told: Told,
    /// Its speed while one of these is busy, relative to when none is.
    pub(super) thread_speed: f64,
    /// Its speed now: this, or 1.
    pub(super) share: f64,
    /// The groups of CPUs that it balances with, the nearest first.
    pub(super) levels: Vec<BalanceLevel>,
    /// The first tick from this time on looks at them, and lets the CPU's signals decay.
    pub(super) balance_at: u64,
    /// The last tick before its signals were last let decay; None before the first time.
    pub(super) decayed: Option<u64>,
    /// The period of load tracking in which that was.
    pub(super) decayed_in: u64,
    /// Whether others balance for it: since it stopped its tick, until one finds a task.
    pub(super) is_tickless: bool,
    /// Whether others let its signals decay: since it stopped its tick, until none is left.
    pub(super) has_blocked: bool,
    /// The period and rest of what fair tasks get beside FIFO tasks.
    pub(super) server: FairServer,

    /// Times of the next events; `u64::MAX` without one.
    pub(super) tick_at: u64,
    /// When its ticks are to be, in order, as far as that is known; and for how long each is behind its time otherwise, in ns.
    pub(super) ticks: Vec<u64>,
    pub(super) tick_late: u64,
    pub(super) complete_at: u64,
    /// Out of its idle state; in leaps also when it begins to leave it.
    pub(super) awake_at: u64,
    /// Nothing is executed before this time.
    pub(super) frozen_until: u64,
    /// What a unit of the running task's work takes at the present frequency, in ns.
    pub(super) ns_per_unit: f64,
    /// Up to when the running task's progress is accounted.
    pub(super) progress_at: u64,

    pub(super) idle_since: u64,
    /// When the hardware's part of the way that it is on is over: its idle state's exit latency.
    pub(super) idle_until: u64,
    /// What it takes from when a task joined its queue until that one is awake, at the frequency before, in ns.
    pub(super) wakes_for: u64,
    /// When it last asked cpufreq, and how much later than that moment it had come to it.
    pub(super) asked: (u64, u64),
    /// Until then others see its signals as they were before they were last brought up to date.
    pub(super) seen_from: u64,
    /// The task that sleeps, from whose stack it has not switched yet.
    pub(super) leaving: Option<usize>,
    /// For how long the interrupt that began this way had been going on, in ns.
    pub(super) interrupted_for: u64,
    /// When timers of the kernel's own expire, the next one last.
    pub(super) kernel_timers: Vec<u64>,
    /// Whether it stopped its tick when it went idle, until it is awake.
    pub(super) tick_stopped: bool,
    /// Whether the last tick found it idle, and nothing else happened since.
    pub(super) got_tick: bool,
    /// How often it went idle and stopped its tick.
    pub(super) idle_calls: u64,
    /// In leaps, how often the scheduler called cpufreq outside ticks.
    pub(super) calls: u64,
    pub(super) sleeps: Sleeps,
    /// Whether it looks for work elsewhere when it goes idle.
    pub(super) new_idle: NewIdle,
    /// Tasks of this CPU that sleep for I/O.
    pub(super) iowait_count: u32,

    /// Present power in milliwatts, and since when.
    pub(super) power: f64,
    pub(super) power_since: u64,
    /// The same power in whole nanowatts.
    pub(super) nanowatts: i64,
    pub(super) totals: Totals,
    /// Times as the statistics clock samples them.
    pub(super) sampled: CpuTimes,
}

/// Sums over a CPU's time.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) busy: u64,
    /// The part of `busy` with tasks of a positive nice value.
    pub(super) nice: u64,
    pub(super) idle: u64,
    /// The part of `idle` while a task waited for I/O.
    pub(super) iowait: u64,
    /// Idle time that samplers take for busy time, but for that of `iowait`; below 0, busy time that they take for idle.
    pub(super) unseen: i64,
    /// The same of `iowait`.
    pub(super) unseen_iowait: i64,
    pub(super) interrupt: u64,
    pub(super) stalled: u64,
    /// Picojoules: milliwatts times nanoseconds.
    pub(super) energy: f64,
    pub(super) wakeups: u64,
    pub(super) governor_wakeups: u64,
    pub(super) residency: Vec<u64>,
    pub(super) entries: Vec<u64>,
    pub(super) ticks: u64,
}

impl Cpu {
    /// Whether it has nothing to do, and nothing on the way to it.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Idle(_)) && self.told.count == 0
    }

    /// What samplers do not see of idle time as it is now, with tasks that wait for I/O or without.
    pub(super) fn unseen(&mut self) -> &mut i64 {
        match self.iowait_count {
            0 => &mut self.totals.unseen,
            _ => &mut self.totals.unseen_iowait,
        }
    }

    /// Runnable tasks of all classes, the running one included.
    #[inline]
    pub(super) fn runnable_count(&self) -> u32 {
        (self.fair.len() + self.urgent.len()) as u32 + u32::from(self.current.is_some())
    }

    /// What the kernel's balancers count as running here: also those that sleep in the queue.
    #[inline]
    pub(super) fn queued_count(&self) -> u32 {
        self.runnable_count() + self.delayed.len() as u32
    }

    /// Time of its next event.
    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        let other = self.server.at.min(self.move_at).min(self.slice_at);
        self.tick_at.min(self.complete_at).min(self.awake_at).min(other)
    }

    /// Utilisation of the fair tasks, what is expected of those that just woke up included.
    #[inline]
    pub(super) fn expected_util(&self) -> u32 {
        self.cfs.util_avg().max(self.util_est.sum())
    }

    /// Others see from now on what is left of its capacity now.
    pub(super) fn note_capacity(&mut self) {
        self.noted_capacity = self.capacity_left();
    }

    /// Capacity that real-time tasks, deadline tasks and interrupts leave, at least 1.
    #[inline]
    pub(super) fn capacity_left(&self) -> u32 {
        let used = self.rt.util_avg() + self.dl.util_avg();
        if used == 0 && self.irq.util_avg() == 0 { self.capacity } else { self.left_beside(used) }
    }

    /// The same beside tasks that used so much, and interrupts.
    #[inline(never)]
    fn left_beside(&self, used: u32) -> u32 {
        let free = self.capacity.saturating_sub(used);
        let interrupts = self.irq.util_avg().min(self.capacity);
        let left = u64::from(free) * u64::from(self.capacity - interrupts);
        // Not above the capacity.
        ((left / u64::from(self.capacity)) as u32).max(1)
    }
}
