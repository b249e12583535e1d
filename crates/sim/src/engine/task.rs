//! A task as the engine sees it.

use super::arrival::Arriving;
use super::deadline::Budget;
use super::ramped::Ramped;
use super::way_out::WayOut;
use crate::behavior::{Behavior, Interrupt, Work};
use crate::setup::{Class, Creator};
use flyball_pelt::{SchedAvg, UtilEst, WaitingAvg};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;

/// Weights of the nice values -20 to 19: a step is about 1.25.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// Weight of a class: 1024 at nice 0 and for those that have no nice value.
pub(super) fn weight(class: Class) -> u32 {
    match class {
        Class::Fair { nice } => {
            WEIGHTS[(i32::from(nice) + 20).clamp(0, WEIGHTS.len() as i32 - 1) as usize]
        }
        Class::Fifo { .. } | Class::Deadline { .. } | Class::Stop | Class::Interrupt => 1024,
    }
}

/// Rank of deadline tasks: above all priorities.
const DEADLINE: u8 = 100;

/// Rank of what the kernel stops a CPU for.
const STOP: u8 = DEADLINE + 1;

/// Order of the scheduling classes: a higher rank takes the CPU from a lower one.
pub(super) fn rank(class: Class) -> u8 {
    match class {
        Class::Fair { .. } => 0,
        Class::Fifo { priority } => priority,
        Class::Deadline { .. } => DEADLINE,
        Class::Stop => STOP,
        Class::Interrupt => u8::MAX,
    }
}

/// See [`Task::urgency`]; the greater goes first.
pub(super) type Urgency = (u8, Reverse<u64>);

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not created yet.
    Unborn,
    /// Waits for a timer or another task.
    Sleeping,
    /// Waits for a CPU.
    Runnable,
    /// Has a CPU.
    Running,
    /// Is over.
    Ended,
}

/// What executes a task's steps.
pub(super) enum Program {
    /// A workload.
    Behavior(Box<dyn Behavior>),
    /// The governor of a clock domain: decides each time it has run this many cycles.
    Governor {
        /// The domain.
        domain: usize,
        /// Cycles until it decides.
        cycles: u64,
        /// And from then until it sleeps.
        rest: u64,
        /// More of these where it changed the frequency.
        change: u64,
        /// What it does next.
        at: Decision,
    },
}

/// What a governor that runs as a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It works on its decision.
    Due,
    /// It decides.
    Ready,
    /// It sleeps.
    Done,
}

/// The rest of a [`Work`]: units that take a time each. A unit is a cycle, or where there are no
/// cycles a nanosecond of memory time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Units left; infinite for work without end.
    pub(super) units: f64,
    /// Cycles per unit, 1 or 0.
    pub(super) cycles: f64,
    /// Nanoseconds per unit that do not scale with frequency.
    pub(super) memory: f64,
}

impl Segment {
    /// All of `work`; None where there is none.
    pub(super) fn new(work: Work) -> Option<Segment> {
        let (cycles, memory) = (work.cycles as f64, work.memory.0 as f64);
        if work.cycles == u64::MAX {
            Some(Segment { units: f64::INFINITY, cycles: 1.0, memory: memory / cycles })
        } else if work.cycles > 0 {
            Some(Segment { units: cycles, cycles: 1.0, memory: memory / cycles })
        } else if work.memory.0 > 0 {
            Some(Segment { units: memory, cycles: 0.0, memory: 1.0 })
        } else {
            None
        }
    }

    /// Nanoseconds that a unit takes where a cycle takes `ns_per_cycle`.
    #[inline]
    pub(super) fn ns_per_unit(&self, ns_per_cycle: f64) -> f64 {
        self.cycles * ns_per_cycle + self.memory
    }
}

/// The CPUs that a task may run on.
pub(super) struct Allowed {
    /// Whether these are all: then none has to be looked up.
    everywhere: bool,
    cpus: Vec<bool>,
}

impl Allowed {
    pub(super) fn new(cpus: Vec<bool>) -> Allowed {
        Allowed { everywhere: cpus.iter().all(|&allowed| allowed), cpus }
    }

    /// Whether CPU `c` is one of them.
    #[inline]
    pub(super) fn has(&self, c: usize) -> bool {
        self.everywhere || self.cpus[c]
    }

    /// In order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.cpus.iter().enumerate().filter(|&(_, &allowed)| allowed).map(|(c, _)| c)
    }

    /// The only one, if there is only one.
    pub(super) fn only_one(&self) -> Option<usize> {
        let mut cpus = self.iter();
        let first = cpus.next();
        first.filter(|_| cpus.next().is_none())
    }

    /// From now on it is CPU `c` alone.
    fn only(&mut self, c: usize) {
        self.cpus.iter_mut().enumerate().for_each(|(other, allowed)| *allowed = other == c);
        self.everywhere = self.cpus.len() == 1;
    }

    /// CPU `c` is none of them any more.
    #[cfg(test)]
    pub(super) fn forbid(&mut self, c: usize) {
        (self.cpus[c], self.everywhere) = (false, false);
    }
}

/// A task.
pub(super) struct Task {
    pub(super) name: String,
    pub(super) class: Class,
    /// See [`rank`].
    pub(super) rank: u8,
    /// See [`weight`].
    pub(super) own_weight: u32,
    /// What its control group leaves of it; its own where it is in none.
    pub(super) weight: u32,
    /// Its control group.
    pub(super) cgroup: Option<usize>,
    /// Its CPU's load-tracking clock when it began to wait for its group's next period.
    pub(super) parked_at: u64,
    pub(super) allowed: Allowed,
    /// The only CPU it may run on, if there is only one.
    pub(super) pinned: Option<usize>,
    pub(super) uclamp_min: u32,
    pub(super) uclamp_max: u32,
    /// Patch 11's ramp-up multiplier.
    pub(super) multiplier: u32,
    /// The ramp that its lower clamp follows.
    pub(super) ramped: Option<Box<Ramped>>,
    pub(super) creator: Creator,
    pub(super) initial_util: Option<u32>,
    /// What a deadline task has reserved.
    pub(super) budget: Option<Box<Budget>>,
    pub(super) program: Program,
    pub(super) random: Xoshiro256PlusPlus,

    pub(super) state: State,
    /// Since when it is in `state`.
    pub(super) since: u64,
    /// CPU that it runs, waits or last ran on.
    pub(super) cpu: usize,
    /// The CPU it was on before, as of the last wake-up that found `cpu` taken; at first its creator's.
    pub(super) recent: Option<usize>,
    /// What it executes; None: the program has to be asked.
    pub(super) segment: Option<Segment>,
    pub(super) way_out: WayOut,
    /// Whether a wake-up came while it was awake.
    pub(super) wake_pending: bool,
    pub(super) arriving: Arriving,
    /// Whether it sleeps for I/O.
    pub(super) in_iowait: bool,
    /// When its timer expires; `u64::MAX` without one.
    pub(super) timer: u64,
    /// What has to come to it then, where that takes time.
    pub(super) interrupt: Option<Interrupt>,
    /// Whether the kernel knows that time: nothing announces what comes from outside.
    pub(super) announced: bool,

    pub(super) avg: SchedAvg,
    /// Whether `avg` belongs to a queue: not before the first enqueue.
    pub(super) attached: bool,
    pub(super) util_est: UtilEst,
    /// Patch 12's signal.
    pub(super) waiting: WaitingAvg,
    /// util_avg at the last sleeping dequeue that looked at it (patch 9).
    pub(super) util_at_dequeue: u32,
    /// Its CPU's task clock at the last account of its execution.
    pub(super) exec_start: u64,
    /// Execution not yet counted by patch 8's growth, in ns.
    pub(super) ungrown: u64,
    /// Execution since it was given the CPU, in ns.
    pub(super) ran: u64,
    /// Virtual time, in ns at weight 1024.
    pub(super) vruntime: i64,
    /// Virtual time at which its slice ends.
    pub(super) deadline: i64,
    /// How far it lagged behind its queue's average when it went to sleep.
    pub(super) lag: i64,
    /// Whether it sleeps and its CPU's queue still has it.
    pub(super) delayed: bool,
    /// Whether it runs on the slice it was picked with, and is not preempted by equals.
    pub(super) protected: bool,

    pub(super) totals: Totals,
}

/// Sums over a task's life.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) running: u64,
    /// Of that, on the CPU where the task is, since it came there.
    pub(super) running_here: u64,
    pub(super) runnable: u64,
    pub(super) sleeping: u64,
    /// The rest by CPU.
    pub(super) running_on: Vec<u64>,
    pub(super) cycles: f64,
    pub(super) wakeups: u64,
    pub(super) preemptions: u64,
    pub(super) migrations: u64,
    pub(super) ended: Option<u64>,
}

impl Task {
    /// From its next wake-up on it runs on CPU `c` only.
    pub(super) fn pin(&mut self, c: usize) {
        self.pinned = Some(c);
        self.allow_only(c);
    }

    /// It is allowed on CPU `c` only.
    pub(super) fn allow_only(&mut self, c: usize) {
        self.allowed.only(c);
    }

    /// Changes state at `now`, and accounts the time in the old one.
    pub(super) fn enter(&mut self, state: State, now: u64) {
        self.account(now);
        self.state = state;
    }

    /// It is on CPU `c` from now on; the time up to now is accounted.
    pub(super) fn go_to(&mut self, c: usize) {
        self.totals.running_on[self.cpu] += std::mem::take(&mut self.totals.running_here);
        self.cpu = c;
    }

    /// Accounts the time up to `now` to the present state.
    pub(super) fn account(&mut self, now: u64) {
        let passed = now.saturating_sub(self.since);
        self.since = now;
        match self.state {
            State::Unborn => {}
            State::Sleeping | State::Ended => self.totals.sleeping += passed,
            State::Runnable => self.totals.runnable += passed,
            State::Running => {
                self.totals.running += passed;
                self.totals.running_here += passed;
            }
        }
    }

    /// Whether it was created just now and has not run yet, and did not only begin to stand for one that was there before.
    pub(super) fn is_new(&self) -> bool {
        let Totals { running, wakeups, .. } = self.totals;
        let was_there = matches!(self.creator, Creator::Earlier { .. });
        running == 0 && wakeups == 0 && self.state != State::Running && !was_there
    }

    /// Whether it is of the fair class.
    #[inline]
    pub(super) fn is_fair(&self) -> bool {
        self.rank == 0
    }

    /// Whether it is an interrupt.
    #[inline]
    pub(super) fn is_interrupt(&self) -> bool {
        self.rank == u8::MAX
    }

    /// Whether it is a FIFO task.
    #[inline]
    pub(super) fn is_fifo(&self) -> bool {
        !matches!(self.rank, 0 | DEADLINE..)
    }

    /// Whether it is a deadline task.
    #[inline]
    pub(super) fn is_deadline(&self) -> bool {
        self.rank == DEADLINE
    }

    /// Whether the kernel stops its CPU for it.
    #[inline]
    pub(super) fn is_stop(&self) -> bool {
        self.rank == STOP
    }

    /// Whether its clamps count: fair and FIFO tasks have some.
    #[inline]
    pub(super) fn is_clamped(&self) -> bool {
        self.rank < DEADLINE
    }

    /// Who goes first: the higher rank; of deadline tasks, the earlier deadline.
    #[inline]
    pub(super) fn urgency(&self) -> Urgency {
        (self.rank, Reverse(self.budget.as_ref().map_or(0, |budget| budget.deadline())))
    }

    /// Whether the idle governor of the CPU where it sleeps knows its timer.
    #[inline]
    pub(super) fn is_known_to_idle(&self) -> bool {
        self.announced && !self.is_interrupt()
    }

    /// The utilisation to expect of it.
    #[inline]
    pub(super) fn expected_util(&self) -> u32 {
        self.util_est.task_utilization(self.avg.util_avg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Nanos;

    #[test]
    fn weights_and_ranks_are_ordered() {
        assert_eq!(weight(Class::Fair { nice: 0 }), 1024);
        assert_eq!(weight(Class::Fair { nice: -20 }), 88761);
        assert_eq!(weight(Class::Fair { nice: 19 }), 15);
        assert!(rank(Class::Interrupt) > rank(Class::Fifo { priority: 99 }));
        assert!(rank(Class::Fifo { priority: 1 }) > rank(Class::Fair { nice: -20 }));
    }

    #[test]
    fn work_is_cycles_and_memory() {
        let work = |cycles, memory| Segment::new(Work { cycles, memory: Nanos(memory) });
        let both = work(1000, 500).unwrap();
        assert_eq!(both.units * both.ns_per_unit(2.0), 2500.0);
        let memory = work(0, 500).unwrap();
        assert_eq!(memory.units * memory.ns_per_unit(2.0), 500.0);
        assert!(work(0, 0).is_none());
        assert_eq!(Segment::new(Work::FOREVER).unwrap().units, f64::INFINITY);
    }
}
