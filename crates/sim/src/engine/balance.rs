//! Load balancing: misfits, idle CPUs that look for work, and the decay of idle CPUs' signals.

use super::Machine;
use crate::observe::Observer;
use crate::setup::Placement;
use flyball_pelt::{Fit, capacity_greater};

/// How often busy CPUs look for a much more crowded one, and let idle CPUs' signals decay, in ns.
pub(super) const BALANCE_PERIOD: u64 = 32_000_000;

/// From the tick that finds a misfit to its move, at most, in ns.
const BALANCER_LATENCY: u64 = 1_000_000;

impl Machine {
    /// The part of CPU `c`'s tick that looks at other CPUs.
    pub(super) fn balance_at_tick<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if self.now >= self.balance_at {
            self.balance_at = self.now + BALANCE_PERIOD;
            self.decay_idle_cpus(observer);
            self.pull_from_crowded(c, observer);
        }
        if !self.cpus[c].fair.is_empty() {
            self.push_to_idle(c, observer);
        }
    }

    fn decay_idle_cpus<O: Observer>(&mut self, observer: &mut O) {
        for c in 0..self.cpus.len() {
            let fair_runs = self.cpus[c].fair_count > 0;
            if !fair_runs && self.cpus[c].has_blocked_load() {
                self.update_blocked(c, observer);
            }
        }
    }

    /// Moves the running task of CPU `c` if it does not fit and a larger CPU is idle. Whether it was
    /// moved.
    ///
    /// The idle balancer that the tick wakes needs a fraction of a millisecond (0.6 ms on the
    /// recorded board at HZ=250): with ticks up to [`BALANCER_LATENCY`] apart the task is marked at
    /// one and moved at the next, with longer ticks the one that finds it counts.
    #[inline]
    pub(super) fn handle_misfit<O: Observer>(&mut self, c: usize, observer: &mut O) -> bool {
        if self.capacities_equal {
            return false;
        }
        let Some(t) = self.cpus[c].current else { return false };
        if self.fit(&self.tasks[t], c) != Fit::No {
            self.cpus[c].misfit = false;
            return false;
        }
        let marked = std::mem::take(&mut self.cpus[c].misfit);
        if (marked || self.tick > BALANCER_LATENCY)
            && let Some(to) = self.larger_idle(t, c)
        {
            self.move_task(t, c, to, observer);
            return true;
        }
        let larger = self.larger_allowed(t, c).next().is_some();
        self.cpus[c].misfit = larger;
        false
    }

    fn larger_allowed(&self, t: usize, c: usize) -> impl Iterator<Item = usize> {
        let capacity = self.cpus[c].capacity;
        let task = &self.tasks[t];
        (0..self.cpus.len()).filter(move |&other| {
            task.allowed[other] && capacity_greater(self.cpus[other].capacity_left(), capacity)
        })
    }

    /// The smallest larger idle CPU that the task fits, or else the largest idle one.
    fn larger_idle(&self, t: usize, c: usize) -> Option<usize> {
        let idle = self.larger_allowed(t, c).filter(|&other| self.cpus[other].is_idle());
        idle.min_by_key(|&other| {
            let capacity = self.cpus[other].capacity;
            match self.fit(&self.tasks[t], other) {
                Fit::No => (1, 1024 - capacity, other),
                Fit::Almost | Fit::Yes => (0, capacity, other),
            }
        })
    }

    /// Whether the kernel spreads load now: an energy-aware one only where a CPU is overutilised,
    /// and so does consolidating placement.
    fn spreads(&self) -> bool {
        let packs = match self.placement {
            Placement::PreviousOrIdle => false,
            Placement::CapacityAware => self.energy_aware,
            Placement::Consolidating => true,
        };
        !packs || self.overutilized()
    }

    /// A task that waits on CPU `from` and may go to CPU `to`, be that too small for it: waiting is
    /// worse.
    fn movable(&self, from: usize, to: usize) -> Option<usize> {
        self.cpus[from].fair.iter().copied().find(|&t| self.tasks[t].allowed[to])
    }

    /// New-idle balancing: CPU `c` is about to go idle and takes a task that waits elsewhere, from
    /// where most wait. Whether it got one.
    pub(super) fn pull_when_idle<O: Observer>(&mut self, c: usize, observer: &mut O) -> bool {
        let waits = |cpu: &super::cpu::Cpu| !cpu.fair.is_empty() && cpu.current.is_some();
        if !self.cpus.iter().any(waits) || !self.spreads() {
            return false;
        }
        let from = (0..self.cpus.len())
            .filter(|&other| other != c && waits(&self.cpus[other]))
            .filter_map(|other| Some((other, self.movable(other, c)?)))
            .max_by_key(|&(other, _)| (self.cpus[other].fair.len(), std::cmp::Reverse(other)));
        match from {
            Some((other, t)) => {
                self.move_task(t, other, c, observer);
                true
            }
            None => false,
        }
    }

    /// CPU `c` has tasks that wait: an idle CPU takes one (the kick of an idle balancer).
    fn push_to_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if self.cpus[c].current.is_none() || !self.spreads() {
            return;
        }
        let idle = (0..self.cpus.len())
            .filter(|&other| self.cpus[other].is_idle())
            .filter_map(|other| Some((other, self.movable(c, other)?)))
            .max_by_key(|&(other, _)| (self.cpus[other].capacity, std::cmp::Reverse(other)));
        if let Some((other, t)) = idle {
            self.move_task(t, c, other, observer);
        }
    }

    /// Periodic balancing: CPU `c` takes a task from a CPU that has at least two more of them.
    fn pull_from_crowded<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let own = self.cpus[c].fair_count;
        let crowded = (0..self.cpus.len())
            .filter(|&other| self.cpus[other].fair_count >= own + 2)
            .filter(|&other| self.cpus[other].current.is_some())
            .max_by_key(|&other| (self.cpus[other].fair_count, std::cmp::Reverse(other)));
        let Some(other) = crowded.filter(|_| self.spreads()) else { return };
        if let Some(t) = self.movable(other, c) {
            self.move_task(t, other, c, observer);
        }
    }
}
