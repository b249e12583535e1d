//! Fair scheduling: virtual time, slices, and who is next (after EEVDF).
//!
//! ```text
//!   V          = sum(w_i * v_i) / sum(w_i)      average virtual time of the runnable tasks
//!   lag_i      = V - v_i                        what it has been denied
//!   eligible_i = lag_i >= 0
//!   deadline_i = v_i + slice * 1024 / w_i       renewed when v_i passes it
//! ```
//! The eligible task with the earliest deadline is next. A running task that is eligible keeps the
//! CPU until its slice ends (the kernel's `RUN_TO_PARITY`), so equals do not preempt each other at
//! wake-up. Kernels before 6.6 do otherwise: `cfs`.

use super::Machine;
use crate::observe::Observer;
use flyball_units::KernelRule;

/// No timer of a slice is nearer than this, in ns (`hrtick_start`).
const LEAST_TIMER: u64 = 10_000;

/// `time` of a task of `weight`, as virtual time.
#[inline]
pub(super) fn virtual_time(time: u64, weight: u32) -> i64 {
    if weight == 1024 {
        return time as i64;
    }
    // Below 2^64 for every time a simulation has, as weights are at least 15.
    (u128::from(time) * 1024 / u128::from(weight.max(1))) as i64
}

/// Weighted sum of virtual times relative to `base`, and the sum of the weights.
#[derive(Clone, Copy)]
struct Average {
    base: i64,
    sum: i128,
    weight: i64,
}

impl Average {
    fn add(&mut self, vruntime: i64, weight: u32) {
        self.sum += i128::from(vruntime - self.base) * i128::from(weight);
        self.weight += i64::from(weight);
    }

    fn is_eligible(&self, vruntime: i64) -> bool {
        i128::from(vruntime - self.base) * i128::from(self.weight) <= self.sum
    }

    fn value(&self) -> i64 {
        if self.weight == 0 { self.base } else { self.base + divided(self.sum, self.weight) }
    }
}

/// In 64 bits where they suffice: else it takes several times as long.
#[inline]
fn divided(sum: i128, weight: i64) -> i64 {
    match i64::try_from(sum) {
        Ok(sum) => sum / weight,
        Err(_) => (sum / i128::from(weight)) as i64,
    }
}

impl Machine {
    /// The average virtual time of CPU `c`'s fair tasks.
    pub(super) fn average_vruntime(&self, c: usize) -> i64 {
        self.average(c).value()
    }

    fn average(&self, c: usize) -> Average {
        let cpu = &self.cpus[c];
        let mut average = Average { base: cpu.min_vruntime, sum: 0, weight: 0 };
        for &t in &cpu.fair {
            average.add(self.tasks[t].vruntime, self.tasks[t].weight);
        }
        for &t in &cpu.delayed {
            average.add(self.tasks[t].vruntime, self.tasks[t].weight);
        }
        if let Some(task) = cpu.current.map(|t| &self.tasks[t]).filter(|task| task.is_fair()) {
            average.add(task.vruntime, task.weight);
        }
        average
    }

    /// Accounts the running fair task's execution; `clock` is up to date. Whether its slice is
    /// over.
    pub(super) fn update_current(&mut self, c: usize) -> bool {
        match self.cpus[c].current {
            Some(t) if self.tasks[t].cgroup.is_some() => self.update_in_cgroup(t, c),
            Some(t) => self.execute(t, c),
            None => false,
        }
    }

    /// The same for a task of a control group, whose time it takes.
    #[cold]
    fn update_in_cgroup(&mut self, t: usize, c: usize) -> bool {
        let before = self.tasks[t].ran;
        let over = self.execute(t, c);
        self.charge_cgroup(t, c, self.tasks[t].ran - before);
        over
    }

    /// The same for any task.
    #[inline(always)]
    fn execute(&mut self, t: usize, c: usize) -> bool {
        let cpu = &mut self.cpus[c];
        let task = &mut self.tasks[t];
        let executed = cpu.clock.clock_task().wrapping_sub(task.exec_start);
        task.exec_start = cpu.clock.clock_task();
        task.ungrown += executed;
        task.ran += executed;
        task.vruntime += virtual_time(executed, task.weight);
        if self.rules.has(KernelRule::Cfs) {
            self.advance_least(c);
            return false;
        }
        if cpu.fair.is_empty() {
            cpu.min_vruntime = cpu.min_vruntime.max(task.vruntime);
        }
        let over = task.vruntime >= task.deadline;
        if over {
            task.deadline = task.vruntime + virtual_time(self.slice, task.weight);
            task.protected = false;
        }
        over
    }

    /// Gives a task that joins CPU `c` its virtual time: the average, less the lag it left with.
    /// `new`: its first slice is half as long; `woken`: it slept.
    pub(super) fn place_virtually(&mut self, t: usize, c: usize, new: bool, woken: bool) {
        if self.rules.has(KernelRule::Cfs) {
            return self.place_at_least(t, c, new, woken);
        }
        if self.tasks[t].delayed && self.comes_back(t, c) {
            return;
        }
        let average = self.average(c);
        let task = &mut self.tasks[t];
        let slice = virtual_time(self.slice, task.weight);
        // What a task had more than its share, it has paid for in the queue.
        let least = if self.rules.has(KernelRule::DelayedDequeue) { 0 } else { -2 * slice };
        let lag = i128::from(task.lag.clamp(least, 2 * slice));
        let lag = match average.weight {
            // Nobody denies it anything.
            0 => 0,
            // Joining moves the average towards the task: the lag is stretched to last.
            others => divided(lag * i128::from(others + i64::from(task.weight)), others),
        };
        task.vruntime = average.value() - lag;
        task.deadline = task.vruntime + if new { slice / 2 } else { slice };
    }

    /// A timer ends the slice of CPU `c`'s running fair task, whose execution is accounted up to now, where the kernel has one,
    /// others wait and it does not run yet.
    pub(super) fn watch_slice(&mut self, c: usize) {
        let cpu = &self.cpus[c];
        if !self.slice_timer || cpu.slice_at != u64::MAX || cpu.fair.is_empty() {
            return;
        }
        let Some(task) = cpu.current.map(|t| &self.tasks[t]).filter(|task| task.is_fair()) else {
            return;
        };
        let left = (task.deadline - task.vruntime).max(0) as u128;
        // As long as a slice: below 2^64.
        let time = (left * u128::from(task.weight)).div_ceil(1024) as u64;
        self.cpus[c].slice_at = self.now + time.max(LEAST_TIMER);
        self.requeue(c);
    }

    /// The timer of CPU `c` says that the running task's slice is over. As a tick, but for misfits, balancing
    /// and the weights of control groups.
    pub(super) fn end_slice<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.cpus[c].slice_at = u64::MAX;
        self.cpus[c].touch(self.now);
        if let Some(t) = self.cpus[c].current.filter(|&t| self.tasks[t].is_fair()) {
            let over = self.update_current(c);
            self.grow_util_est(t, c);
            self.update_task(t, c, true, observer);
            self.call_simply(c);
            if over {
                self.settle_delayed(c);
            }
            match over && !self.cpus[c].fair.is_empty() {
                true => self.pending.push(c),
                false => self.watch_slice(c),
            }
        }
        if self.cpus[c].urgent.iter().any(|&t| self.tasks[t].is_pushed()) {
            self.pending.push(c);
        }
        self.requeue(c);
    }

    /// CPU `c` looks for whom was pushed to it when it has executed so many cycles.
    pub(super) fn end_slice_after(&mut self, c: usize, cycles: u64) {
        let at = self.now + self.cpu_time(c, cycles);
        self.cpus[c].slice_at = self.cpus[c].slice_at.min(at);
        self.requeue(c);
    }

    /// A task that went to sleep on CPU `c` stays in its queue if it had more than its share and others wait: only when it would
    /// be next has it paid for that.
    pub(super) fn delay_dequeue(&mut self, t: usize, c: usize) {
        let (task, cpu) = (&mut self.tasks[t], &mut self.cpus[c]);
        let stays = task.lag < 0 && task.cgroup.is_none() && !cpu.fair.is_empty();
        if stays && self.rules.has(KernelRule::DelayedDequeue) {
            task.delayed = true;
            cpu.delayed.push(t);
        }
    }

    /// Takes tasks that sleep out of CPU `c`'s queue, each as it would be next: those have no lag left.
    #[inline]
    pub(super) fn settle_delayed(&mut self, c: usize) {
        while let Some((at, t)) = self.next_delayed(c) {
            self.cpus[c].delayed.remove(at);
            (self.tasks[t].delayed, self.tasks[t].lag) = (false, 0);
        }
    }

    /// The sleeping task that would be next on CPU `c`, if one of these would, and its position among them.
    #[inline]
    fn next_delayed(&self, c: usize) -> Option<(usize, usize)> {
        let cpu = &self.cpus[c];
        if cpu.delayed.is_empty() {
            return None;
        }
        let average = self.average(c);
        let running = self.eligible_current(c, &average);
        if running.is_some_and(|t| self.tasks[t].protected) {
            return None;
        }
        let (at, t) = self.first_eligible(&cpu.delayed, &average)?;
        let awake = self.first_eligible(&cpu.fair, &average).map(|(_, t)| t);
        let later = |other: usize| self.tasks[t].deadline < self.tasks[other].deadline;
        awake.into_iter().chain(running).all(later).then_some((at, t))
    }

    /// The running task of CPU `c`, if it is a fair one that has not had more than its share.
    #[inline]
    fn eligible_current(&self, c: usize, average: &Average) -> Option<usize> {
        let may =
            |t: &usize| self.tasks[*t].is_fair() && average.is_eligible(self.tasks[*t].vruntime);
        self.cpus[c].current.filter(may)
    }

    /// Of tasks that have not had more than their share the one with the earliest deadline, of equals the first: its position
    /// and itself.
    #[inline]
    fn first_eligible(&self, tasks: &[usize], average: &Average) -> Option<(usize, usize)> {
        let tasks = tasks.iter().copied().enumerate();
        let eligible = tasks.filter(|&(_, t)| average.is_eligible(self.tasks[t].vruntime));
        eligible.min_by_key(|&(_, t)| self.tasks[t].deadline)
    }

    /// A sleeping task is in no queue any more.
    pub(super) fn forget_delayed(&mut self, t: usize) {
        if std::mem::take(&mut self.tasks[t].delayed) {
            self.cpus[self.tasks[t].cpu].delayed.retain(|&other| other != t);
        }
    }

    /// A task wakes up that the queue of CPU `c` still has. Whether it goes on where it was: one that paid for all is placed as
    /// one without lag.
    fn comes_back(&mut self, t: usize, c: usize) -> bool {
        let lag = self.average_vruntime(c) - self.tasks[t].vruntime;
        self.forget_delayed(t);
        self.tasks[t].lag = lag.min(0);
        lag <= 0
    }

    /// Remembers the lag of a task that leaves CPU `c`.
    pub(super) fn keep_lag(&mut self, t: usize, c: usize) {
        if self.rules.has(KernelRule::Cfs) {
            // It keeps its virtual time.
            return;
        }
        let cpu = &self.cpus[c];
        let is_alone = cpu.current == Some(t) && cpu.fair.is_empty() && cpu.delayed.is_empty();
        let value = if is_alone { self.tasks[t].vruntime } else { self.average(c).value() };
        let cpu = &mut self.cpus[c];
        cpu.min_vruntime = cpu.min_vruntime.max(value);
        self.tasks[t].lag = value - self.tasks[t].vruntime;
    }

    /// Position in the queue of the fair task that is next; None: the running one goes on, or none
    /// is there.
    pub(super) fn pick_fair(&self, c: usize) -> Option<usize> {
        let cpu = &self.cpus[c];
        if cpu.fair.is_empty() {
            return None;
        }
        if cpu.fair.len() == 1 && cpu.current.is_none() {
            return Some(0);
        }
        if self.rules.has(KernelRule::Cfs) {
            return self.pick_first(c);
        }
        let average = self.average(c);
        // Any of equals before the one that runs.
        let key = |t: usize| self.tasks[t].deadline;
        let current = self.eligible_current(c, &average);
        if current.is_some_and(|t| self.tasks[t].protected) {
            return None;
        }
        match (self.first_eligible(&cpu.fair, &average), current) {
            (Some((_, t)), Some(running)) if key(running) < key(t) => None,
            (Some((at, _)), _) => Some(at),
            // Rounding can leave none eligible: the one that is behind most.
            (None, Some(_)) => None,
            (None, None) => {
                let behind = |&(_, &t): &(usize, &usize)| self.tasks[t].vruntime;
                cpu.fair.iter().enumerate().min_by_key(behind).map(|(at, _)| at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_tasks_age_slowly() {
        assert_eq!(virtual_time(3_000_000, 1024), 3_000_000);
        assert_eq!(virtual_time(3_000_000, 2048), 1_500_000);
        assert_eq!(virtual_time(3_000_000, 512), 6_000_000);
    }

    #[test]
    fn those_behind_the_average_are_eligible() {
        let mut average = Average { base: 100, sum: 0, weight: 0 };
        average.add(110, 1024);
        average.add(140, 2048);
        assert_eq!(average.value(), 130);
        assert!(average.is_eligible(130) && !average.is_eligible(131));
    }
}
