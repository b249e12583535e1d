//! Real-time tasks (FIFO and deadline) and CPUs: where one wakes up, and how those that wait are pushed and pulled, so that the most
//! urgent ones of the machine run.

use super::Machine;
use super::task::{Task, Urgency};
use crate::observe::Observer;
use flyball_governors::UtilFlags;
use std::cmp::Reverse;

impl Machine {
    /// A real-time task stays on its previous CPU, also where a fair task runs there, unless one that is at
    /// least as urgent, or may run nowhere else, has it, or the CPU is smaller than the task's clamp. Then it gets the CPU with the
    /// least urgent task of those that are large enough (`find_lowest_rq`): of equals the previous one, then one of its clock domain,
    /// whether it is idle or not. The kernel takes these by turns, the model a random one.
    pub(super) fn choose_for_fifo(&self, task: &Task, previous: Option<usize>) -> Option<usize> {
        let holds = |c: usize| {
            self.cpus[c].current.map(|current| &self.tasks[current]).is_some_and(|current| {
                current.rank > 0
                    && (current.pinned.is_some() || current.urgency() >= task.urgency())
            })
        };
        let stays = |c: usize| task.allowed.has(c) && !self.too_small(task, c) && !holds(c);
        if let Some(c) = previous.filter(|&c| stays(c)) {
            return Some(c);
        }
        self.least_urgent(task, previous)
    }

    /// Looked at wherever uclamp is built in, whether anybody has clamps or not: real-time tasks have a lower
    /// clamp of 1024 by default, so they belong on the largest CPUs.
    fn too_small(&self, task: &Task, c: usize) -> bool {
        if let Some(budget) = &task.budget {
            return !budget.fits(self.cpus[c].capacity);
        }
        let wanted = task.uclamp_min.min(task.uclamp_max);
        self.uclamp_built && self.cpus[c].capacity < wanted
    }

    fn least_urgent(&self, task: &Task, previous: Option<usize>) -> Option<usize> {
        let all = task.allowed.iter();
        let domain = |c: usize| self.cpus[c].domain;
        let is_far = |c: usize| previous.is_some_and(|previous| domain(previous) != domain(c));
        let first = (self.drawn_now() % self.cpus.len() as u64) as usize;
        all.min_by_key(|&c| {
            let urgency = self.urgency(c);
            let taken = urgency >= task.urgency();
            // One that nobody creates begins on an idle CPU.
            let (busy, turn) = match previous {
                None => (!self.cpus[c].is_idle(), c),
                Some(_) => (false, (c + self.cpus.len() - first) % self.cpus.len()),
            };
            (taken, self.too_small(task, c), urgency, previous != Some(c), is_far(c), busy, turn)
        })
    }

    /// How urgent the most urgent task is that runs or waits on CPU `c`: rank 0 where none is of real time.
    fn urgency(&self, c: usize) -> Urgency {
        let cpu = &self.cpus[c];
        let all = cpu.current.iter().chain(cpu.urgent.last()).map(|&t| self.tasks[t].urgency());
        all.max().unwrap_or((0, Reverse(0)))
    }

    /// The most urgent task that waits on CPU `c` and may go elsewhere.
    fn pushable(&self, c: usize) -> Option<usize> {
        let waiting = self.cpus[c].urgent.iter().rev().copied();
        let mut waiting = waiting.filter(|&t| !self.tasks[t].is_interrupt());
        waiting.find(|&t| self.tasks[t].pinned.is_none())
    }

    /// Real-time tasks that wait on CPU `c` go where less urgent ones run.
    pub(super) fn push_urgent<O: Observer>(&mut self, c: usize, observer: &mut O) {
        while let Some(t) = self.pushable(c) {
            let task = &self.tasks[t];
            let to = self.least_urgent(task, Some(c));
            let Some(to) = to.filter(|&to| to != c && self.urgency(to) < task.urgency()) else {
                return;
            };
            self.move_urgent(t, (c, to), c, observer);
        }
    }

    /// CPU `c`, which has no running task, takes the real-time tasks that wait elsewhere and are more urgent than what it
    /// has.
    pub(super) fn pull_urgent<O: Observer>(&mut self, c: usize, observer: &mut O) {
        loop {
            let own = self.urgency(c);
            let waits = (0..self.cpus.len()).filter(|&other| {
                other != c
                    && self.cpus[other].current.is_some()
                    && !self.cpus[other].urgent.is_empty()
            });
            let best = waits
                .filter_map(|other| {
                    let t = self.pushable(other)?;
                    let task = &self.tasks[t];
                    let urgency = task.urgency();
                    (task.allowed.has(c) && urgency > own).then_some((urgency, Reverse(other), t))
                })
                .max();
            let Some((_, Reverse(from), t)) = best else { return };
            self.move_urgent(t, (from, c), c, observer);
        }
    }

    /// CPU `by` moves a real-time task that waits.
    pub(super) fn move_urgent<O: Observer>(
        &mut self,
        t: usize,
        (from, to): (usize, usize),
        by: usize,
        observer: &mut O,
    ) {
        self.caller = Some(by);
        self.cpus[from].touch(self.now);
        self.aggregate_clamps(from, Some(t), None);
        self.cpus[from].urgent.retain(|&other| other != t);
        self.count_urgent(t, from, -1);
        if self.tasks[t].is_fifo() {
            self.ask(from, UtilFlags::default(), observer);
        }
        self.renew_level(from);
        self.note_migration(t, from, to, observer);
        self.join(t, to, false, observer);
    }
}
