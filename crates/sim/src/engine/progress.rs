//! How far the running task of a CPU got, and when its step is done.

use super::Machine;
use super::cpu::{Activity, Cpu};
use super::task::Task;

impl Cpu {
    /// Accounts what the running task executed up to `now`.
    #[inline(never)]
    pub(super) fn progress(&mut self, now: u64, tasks: &mut [Task]) {
        let Some(t) = self.current else { return };
        let passed = now - self.progress_at;
        let active = now.saturating_sub(self.progress_at.max(self.frozen_until));
        self.progress_at = now;
        self.totals.stalled += passed - active;
        let task = &mut tasks[t];
        if let Some(segment) = &mut task.segment {
            let done = (active as f64 / self.ns_per_unit).min(segment.units);
            segment.units -= done;
            task.totals.cycles += done * segment.cycles;
        }
    }

    /// Its clock domain is at operating point `point` from now on.
    pub(super) fn be_at(&mut self, point: usize) {
        self.ns_per_cycle_now = self.ns_per_cycle[point];
    }

    /// The time that so many cycles take at the present operating point, in ns.
    #[inline]
    pub(super) fn time_of(&self, cycles: u64) -> u64 {
        match cycles {
            0 => 0,
            _ => rounded_up(cycles as f64 * self.ns_per_cycle_now),
        }
    }

    /// What is left of the software's way out of idle, at operating point `to` instead of `from`.
    pub(super) fn hurry(&mut self, now: u64, from: usize, to: usize) {
        if self.awake_at > self.idle_until.max(now) {
            let cycles = (self.awake_at - now) as f64 / self.ns_per_cycle[from];
            let left = rounded_up(cycles * self.ns_per_cycle[to]);
            self.awake_at = (now + left).max(self.idle_until);
        }
    }

    /// Computes when the running task, whose progress is accounted, is done at the present operating point. To be called
    /// whenever either has changed.
    #[inline(never)]
    pub(super) fn set_completion(&mut self, now: u64, tasks: &[Task]) {
        let segment = self.current.and_then(|t| tasks[t].segment.as_ref());
        self.complete_at = match segment {
            None => u64::MAX,
            Some(segment) => {
                let alone = segment.ns_per_unit(self.ns_per_cycle_now);
                // Divisions take long, and nearly always there is nothing to divide.
                self.ns_per_unit = if self.share == 1.0 { alone } else { alone / self.share };
                let left = rounded_up(segment.units * self.ns_per_unit);
                now.max(self.frozen_until).saturating_add(left)
            }
        };
    }

    /// Executes nothing before `until`.
    #[inline]
    pub(super) fn freeze(&mut self, now: u64, until: u64, tasks: &mut [Task]) {
        let busy = self.activity == Activity::Busy;
        if busy {
            self.progress(now, tasks);
        }
        self.frozen_until = self.frozen_until.max(until);
        if busy {
            self.set_completion(now, tasks);
        }
    }
}

/// The least whole number that is not below `value`; the ends of the type where that lies outside.
#[inline]
pub(super) fn rounded_up(value: f64) -> u64 {
    // The conversion drops the fraction, and saturates. `ceil` would be a call into the C library.
    let whole = value as u64;
    if (whole as f64) < value { whole.saturating_add(1) } else { whole }
}

impl Machine {
    /// See [`Cpu::progress`].
    #[inline]
    pub(super) fn progress(&mut self, c: usize) {
        self.cpus[c].progress(self.now, &mut self.tasks);
    }

    /// See [`Cpu::set_completion`].
    #[inline]
    pub(super) fn set_completion(&mut self, c: usize) {
        self.cpus[c].set_completion(self.now, &self.tasks);
        self.requeue(c);
    }

    /// CPU `c` has become busy or idle: it and the others of its core share its speed.
    pub(super) fn share_core(&mut self, c: usize) {
        for at in 0..self.cpus[c].siblings.len() {
            let other = self.cpus[c].siblings[at];
            let share = self.share_of_core(other);
            if share != self.cpus[other].share {
                self.progress(other);
                self.cpus[other].share = share;
                self.set_completion(other);
            }
        }
        self.cpus[c].share = self.share_of_core(c);
    }

    fn share_of_core(&self, c: usize) -> f64 {
        let cpu = &self.cpus[c];
        let busy = |&other: &usize| {
            matches!(self.cpus[other].activity, Activity::Busy | Activity::Leaving)
        };
        if cpu.siblings.iter().any(busy) { cpu.thread_speed } else { 1.0 }
    }

    /// See [`Cpu::freeze`].
    #[inline]
    pub(super) fn freeze(&mut self, c: usize, until: u64) {
        self.cpus[c].freeze(self.now, until, &mut self.tasks);
        self.requeue(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_is_that_of_the_library() {
        let values =
            [0.0, -0.0, 0.1, 1.0, 1.5, 4_503_599_627_370_495.5, 9e15, 1.9e19, f64::INFINITY];
        for value in values.into_iter().chain([-1.0, f64::NAN, 1e-300]) {
            assert_eq!(rounded_up(value), value.ceil() as u64, "{value}");
        }
    }
}
