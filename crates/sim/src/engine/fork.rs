//! Which CPU a new task gets: the kernel looks for the idlest group of CPUs, and in it for the idlest CPU
//! (`find_idlest_group` and `find_idlest_group_cpu`, as in 6.12). Groups are the clock domains.

use super::Machine;
use super::balance::IMBALANCE_PERCENT;
use super::cpu::{Activity, Cpu};
use crate::setup::{Creator, Placement};
use flyball_pelt::Fit;
use std::cmp::Reverse;

/// How busy a group is; the lower the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Busy {
    HasSpare,
    Fully,
    /// The task fits none of its CPUs.
    TooSmall,
    Overloaded,
}

/// What is compared of a group of CPUs.
#[derive(Clone, Copy, Debug)]
struct Group {
    busy: Busy,
    idle: usize,
    util: u32,
    /// Load per capacity.
    load: u64,
    capacity: u32,
}

impl Machine {
    /// The CPU on which task `t` begins.
    pub(super) fn choose_for_new(&mut self, t: usize) -> usize {
        let task = &self.tasks[t];
        let creator = match task.creator {
            Creator::Nobody | Creator::Earlier { .. } => None,
            Creator::Task(parent) => self.tasks.get(parent.0 as usize).map(|parent| parent.cpu),
            Creator::Cpu(cpu) => Some(cpu.0 as usize),
            Creator::Chose(cpu) => return cpu.0 as usize,
        };
        self.tasks[t].recent = creator;
        let task = &self.tasks[t];
        let by_kernel = self.placement != Placement::Consolidating;
        // Who has deadlines creates nobody, so a task that is to have some begins as a fair one.
        let fair = task.is_fair() || task.is_deadline();
        let from = creator.filter(|_| by_kernel && fair && task.pinned.is_none());
        let found = from.and_then(|creator| {
            let (d, is_local) = self.idlest_group(t, creator);
            self.idlest_cpu(t, d, creator, is_local)
        });
        found.unwrap_or_else(|| self.choose_cpu(t, None, None))
    }

    /// The domain for a new task, and whether it is the creator's: that one wherever no other is better.
    fn idlest_group(&self, t: usize, creator: usize) -> (usize, bool) {
        let task = &self.tasks[t];
        let own = self.cpus[creator].domain;
        let others = (own + 1..self.domains.len()).chain(0..own);
        let others = others.filter(|&d| self.domains[d].cpus.iter().any(|&c| task.allowed.has(c)));
        let mut idlest: Option<(usize, Group)> = None;
        for d in others {
            let group = self.group(t, d, creator);
            if idlest.is_none_or(|(_, least)| group.is_idler_than(least)) {
                idlest = Some((d, group));
            }
        }
        let Some((d, other)) = idlest else { return (own, true) };
        if !self.domains[own].cpus.iter().any(|&c| task.allowed.has(c)) {
            return (d, false);
        }
        let local = self.group(t, own, creator);
        let leave = match local.busy.cmp(&other.busy) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => match local.busy {
                Busy::HasSpare => other.idle > local.idle,
                Busy::TooSmall => other.capacity > local.capacity,
                Busy::Fully | Busy::Overloaded => {
                    100 * local.load > u64::from(IMBALANCE_PERCENT) * other.load
                }
            },
        };
        if leave { (d, false) } else { (own, true) }
    }

    fn group(&self, t: usize, d: usize, creator: usize) -> Group {
        let cpus = || self.domains[d].cpus.iter().map(|&c| (c, &self.cpus[c]));
        let running = |(c, cpu): (usize, &Cpu)| {
            cpu.runnable_count() + u32::from(c == creator && cpu.is_idle())
        };
        let count = cpus().count() as u32;
        let (util, capacity) = cpus().fold((0, 0), |(util, capacity), (_, cpu)| {
            (util + cpu.cfs.util_avg(), capacity + cpu.capacity_left())
        });
        let running = cpus().map(running).sum::<u32>();
        let used = u64::from(util) * u64::from(IMBALANCE_PERCENT);
        let room = 100 * u64::from(capacity);
        let busy = if running > count && room < used {
            Busy::Overloaded
        } else if !self.capacities_equal
            && cpus().all(|(c, _)| self.fit(&self.tasks[t], c) != Fit::Yes)
        {
            Busy::TooSmall
        } else if running < count || room > used {
            Busy::HasSpare
        } else {
            Busy::Fully
        };
        let load = cpus().map(|(_, cpu)| cpu.cfs.load_avg()).sum::<u64>();
        Group {
            busy,
            idle: cpus().filter(|&(c, cpu)| cpu.is_idle() && c != creator).count(),
            util,
            load: load * 1024 / u64::from(capacity.max(1)),
            capacity: cpus().map(|(_, cpu)| cpu.capacity).max().unwrap_or(0),
        }
    }

    /// Of a domain the idle CPU that a task can have soonest, else the one with least load. In the
    /// creator's domain each CPU is a group of its own, so the one that was used least comes first.
    fn idlest_cpu(&self, t: usize, d: usize, creator: usize, is_local: bool) -> Option<usize> {
        let task = &self.tasks[t];
        let cpus = &self.domains[d].cpus;
        let first = if is_local { creator } else { 0 };
        let order = cpus.iter().filter(|&&c| c >= first).chain(cpus.iter().filter(|&&c| c < first));
        let allowed = order.copied().filter(|&c| task.allowed.has(c));
        allowed.min_by_key(|&c| {
            let cpu = &self.cpus[c];
            let is_idle = cpu.is_idle() && c != creator;
            match (is_idle, is_local) {
                (true, true) => (false, u64::from(cpu.cfs.util_avg()), Reverse(None)),
                (true, false) => (false, self.exit_latency(cpu), Reverse(cpu.new_idle.since())),
                (false, _) => (true, cpu.cfs.load_avg(), Reverse(None)),
            }
        })
    }

    /// How long a CPU takes to leave its idle state, in ns.
    fn exit_latency(&self, cpu: &Cpu) -> u64 {
        let Activity::Idle(Some(state)) = cpu.activity else { return 0 };
        let states = &self.domains[cpu.domain].idle_states;
        states.get(state).map_or(0, |state| state.exit_latency.0)
    }
}

impl Group {
    fn is_idler_than(self, other: Group) -> bool {
        if self.busy != other.busy {
            return self.busy < other.busy;
        }
        match self.busy {
            Busy::HasSpare => (self.idle, Reverse(self.util)) > (other.idle, Reverse(other.util)),
            Busy::TooSmall => self.capacity > other.capacity,
            Busy::Fully | Busy::Overloaded => self.load < other.load,
        }
    }
}
