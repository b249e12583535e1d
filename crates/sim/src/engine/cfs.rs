//! Fair scheduling before 6.6: the task with the least virtual time is next (CFS).
//!
//! ```text
//!   latency = 8 g,  wake-up granularity = 4/3 g     of the least granularity g (0.75 ms x CPU factor)
//!   slice_i = max(latency, n g) * w_i / sum(w)       n runnable tasks; at least g
//!   at a tick the running task gives way where it ran for its slice, or where it ran for g and is a
//!   slice ahead of the first in the queue;
//!   at a wake-up where it is a granularity (of the woken task's weight) ahead of that one
//!   who slept long comes back half a latency before the least virtual time of the queue
//!   who is new begins a slice behind it
//! ```
//! Source: Documentation/scheduler/sched-design-CFS.rst and the defaults of sched_latency_ns,
//! sched_min_granularity_ns and sched_wakeup_granularity_ns (6, 0.75 and 1 ms for one CPU). Buddies of
//! wake-ups and groups of tasks are left out.

use super::Machine;
use super::fair::virtual_time;

/// Tasks of which each has a least granularity within the latency.
const TASKS_IN_LATENCY: u64 = 8;

impl Machine {
    fn latency(&self) -> u64 {
        TASKS_IN_LATENCY * self.slice
    }

    /// The running fair task of CPU `c`, if there is one.
    fn running_fair(&self, c: usize) -> Option<usize> {
        self.cpus[c].current.filter(|&t| self.tasks[t].is_fair())
    }

    /// What one round of the CPU's fair tasks leaves for a task, in its own time.
    fn share_of(&self, t: usize, c: usize) -> u64 {
        let cpu = &self.cpus[c];
        let tasks = || cpu.fair.iter().copied().chain(self.running_fair(c)).filter(|&o| o != t);
        let weight = u64::from(self.tasks[t].weight);
        let (others, sum) = tasks().fold((0, weight), |(count, sum), other| {
            (count + 1, sum + u64::from(self.tasks[other].weight))
        });
        let round = self.latency().max((others + 1) * self.slice);
        (u128::from(round) * u128::from(weight) / u128::from(sum)).max(self.slice.into()) as u64
    }

    /// The first in the queue: position and task.
    fn first(&self, c: usize) -> Option<(usize, usize)> {
        let queue = self.cpus[c].fair.iter().copied().enumerate();
        queue.min_by_key(|&(_, t)| self.tasks[t].vruntime)
    }

    /// The least virtual time of CPU `c` never goes back.
    pub(super) fn advance_least(&mut self, c: usize) {
        let first = self.first(c).map(|(_, t)| t);
        let least = first.into_iter().chain(self.running_fair(c));
        if let Some(least) = least.map(|t| self.tasks[t].vruntime).min() {
            let cpu = &mut self.cpus[c];
            cpu.min_vruntime = cpu.min_vruntime.max(least);
        }
    }

    /// At a tick: whether the running task, whose execution is accounted, has to give way.
    pub(super) fn round_is_over(&mut self, t: usize, c: usize) -> bool {
        let Some((_, first)) = self.first(c) else { return false };
        let slice = self.share_of(t, c);
        let task = &self.tasks[t];
        let ahead = task.vruntime - self.tasks[first].vruntime;
        let over = task.ran > slice || (task.ran >= self.slice && ahead > slice as i64);
        self.tasks[t].protected &= !over;
        over
    }

    /// The virtual time of a task that joins CPU `c`; `new`: for the first time, `woken`: from sleep.
    pub(super) fn place_at_least(&mut self, t: usize, c: usize, new: bool, woken: bool) {
        self.advance_least(c);
        let least = self.cpus[c].min_vruntime;
        if new {
            let slice = self.share_of(t, c);
            self.tasks[t].vruntime = least + virtual_time(slice, self.tasks[t].weight);
        } else if woken {
            let credited = least - (self.latency() / 2) as i64;
            self.tasks[t].vruntime = self.tasks[t].vruntime.max(credited);
        }
        if let Some(running) = self.running_fair(c) {
            // The other weight: a light task has a long way to preempt a heavy one.
            let granularity = virtual_time(self.slice * 4 / 3, self.tasks[t].weight);
            if self.tasks[running].vruntime - self.tasks[t].vruntime > granularity {
                self.tasks[running].protected = false;
            }
        }
    }

    /// As [`Machine::pick_fair`].
    pub(super) fn pick_first(&self, c: usize) -> Option<usize> {
        let (at, first) = self.first(c)?;
        match self.running_fair(c) {
            Some(running) if self.tasks[running].protected => None,
            Some(running) if self.tasks[running].vruntime < self.tasks[first].vruntime => None,
            _ => Some(at),
        }
    }
}
