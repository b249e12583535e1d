//! Which CPU a task gets when it wakes up.

use super::Machine;
use super::cpu::Cpu;
use super::task::Task;
use crate::setup::Placement;
use flyball_pelt::{CpuCapacity, Fit, Uclamp, util_fits_cpu};
use std::cmp::Reverse;

impl Cpu {
    /// As built, as limits leave it, and as interrupts and FIFO tasks do, of which `left` is left.
    #[inline]
    pub(super) fn capacities(&self, left: u32) -> CpuCapacity {
        let actual = self.capacity_capped;
        CpuCapacity { original: self.capacity, actual, available: left.min(actual) }
    }
}

impl Machine {
    /// The CPU for a task that wakes up on CPU `here`, where its waker is or its timer, or, without a previous CPU, begins.
    pub(super) fn choose_cpu(
        &mut self,
        t: usize,
        previous: Option<usize>,
        here: Option<usize>,
    ) -> usize {
        let task = &self.tasks[t];
        if let Some(only) = task.pinned {
            return only;
        }
        let chosen = if task.is_interrupt() {
            previous.or_else(|| self.allowed(task).next())
        } else if !task.is_fair() {
            self.choose_for_fifo(task, previous)
        } else {
            match self.placement {
                Placement::PreviousOrIdle => self.previous_or_idle(task, previous),
                Placement::CapacityAware => match (self.most_efficient(t, previous), previous) {
                    (Some(c), _) => Some(c),
                    (None, Some(previous)) => self.near(t, previous, here.unwrap_or(previous)),
                    (None, None) => self.by_size(t),
                },
                Placement::Consolidating => self.consolidating(t, previous),
            }
        };
        // Every task is allowed on at least one CPU.
        chosen.unwrap_or(0)
    }

    /// Whether its utilisation is looked at when the task wakes up: only where CPUs differ.
    pub(super) fn placed_by_size(&self, t: usize) -> bool {
        let task = &self.tasks[t];
        self.placement != Placement::PreviousOrIdle
            && !self.capacities_equal
            && task.pinned.is_none()
            && task.is_fair()
    }

    pub(super) fn allowed<'a>(&self, task: &'a Task) -> impl Iterator<Item = usize> + use<'a> {
        task.allowed.iter()
    }

    fn previous_or_idle(&self, task: &Task, previous: Option<usize>) -> Option<usize> {
        if let Some(c) = previous.filter(|&c| self.cpus[c].is_idle()) {
            return Some(c);
        }
        let near = |c: usize| previous.is_some_and(|p| self.cpus[p].domain == self.cpus[c].domain);
        self.allowed(task).min_by_key(|&c| {
            let cpu = &self.cpus[c];
            if cpu.is_idle() {
                (0, u32::from(!self.core_is_idle(c)), !near(c), c)
            } else {
                (1, cpu.runnable_count(), previous != Some(c), c)
            }
        })
    }

    /// Whether a CPU has more to do than fits it: then the kernel spreads load, whatever it costs.
    #[inline(never)]
    pub(super) fn overutilized(&self) -> bool {
        let has_tasks = |cpu: &&Cpu| cpu.fair_count > 0;
        self.cpus.iter().filter(has_tasks).any(|cpu| {
            let clamps = Uclamp { min: cpu.uclamp_min, max: cpu.uclamp_max };
            let clamps = self.uclamp_used.then_some(clamps);
            let capacity = self.capacity_of(cpu);
            util_fits_cpu(cpu.expected_util(), clamps, capacity, cpu.fit_rule) == Fit::No
        })
    }

    /// The busiest CPU that has room; where none has, an idle one, then the least crowded.
    fn consolidating(&self, t: usize, previous: Option<usize>) -> Option<usize> {
        let task = &self.tasks[t];
        let room = self.allowed(task).filter(|&c| self.has_room(t, c));
        let used =
            room.max_by_key(|&c| (self.util_if(task, c, false), previous == Some(c), Reverse(c)));
        used.or_else(|| self.previous_or_idle(task, previous))
    }

    /// Whether CPU `c` can take the task besides what it has.
    fn has_room(&self, t: usize, c: usize) -> bool {
        let task = &self.tasks[t];
        if self.fit(task, c) != Fit::Yes {
            return false;
        }
        let cpu = &self.cpus[c];
        let capped = self.uclamp_used && task.uclamp_max < cpu.capacity;
        capped || cpu.fit_rule.fits(self.util_if(task, c, true), cpu.capacity_left())
    }

    /// How well a task fits CPU `c`.
    pub(super) fn fit(&self, task: &Task, c: usize) -> Fit {
        let cpu = &self.cpus[c];
        let clamps =
            self.uclamp_used.then_some(Uclamp { min: task.uclamp_min, max: task.uclamp_max });
        util_fits_cpu(task.expected_util(), clamps, self.capacity_of(cpu), cpu.fit_rule)
    }

    /// Capacities of a CPU: as built, as limits leave it, and as interrupts and FIFO tasks do.
    #[inline]
    pub(super) fn capacity_of(&self, cpu: &Cpu) -> CpuCapacity {
        cpu.capacities(cpu.capacity_left())
    }

    /// The ceiling of a domain changed: its CPUs' capacities follow.
    pub(super) fn cap_capacities(&mut self, d: usize) {
        let domain = &self.domains[d];
        let (ceiling, top) = (domain.ceiling().0, domain.opps.max().0);
        for &c in &domain.cpus {
            let cpu = &mut self.cpus[c];
            let allowed = u64::from(cpu.capacity) * ceiling / top;
            // At most the capacity.
            cpu.capacity_capped = cpu.capacity.min(allowed as u32);
        }
    }
}
