//! Patch 12: the time that a task is runnable but does not run.

use crate::decay::divider;
use crate::sched_avg::{EntityState, QueueLoad, SchedAvg};

/// The waiting signal of one task: tracked like utilisation, with its clock, summed over the root
/// run queue's tasks ([`QueueWaitingAvg`]).
///
/// A reviewer's remark holds: it is close to runnable_avg - util_avg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WaitingAvg {
    signal: SchedAvg,
}

impl WaitingAvg {
    /// Accounting starts at `now` (ns of the task's clock_pelt).
    #[must_use]
    pub const fn starting_at(now: u64) -> WaitingAvg {
        WaitingAvg { signal: SchedAvg::starting_at(now) }
    }

    /// Accounts the time up to `now`, in which the task was in `state`. Whether a period boundary
    /// was crossed.
    #[inline]
    pub fn update(&mut self, now: u64, state: EntityState) -> bool {
        let waiting = state == EntityState::Waiting;
        let load = u64::from(waiting);
        self.signal.update(now, QueueLoad { load, runnable: 0, running: waiting })
    }

    /// Takes over the time and position in the period of the run queue that its task joins.
    pub fn attach(&mut self, queue: &SchedAvg) {
        self.signal.last_update = queue.last_update;
        self.signal.period_contrib = queue.period_contrib;
        self.signal.util_sum = self.signal.util_avg.wrapping_mul(divider(queue.period_contrib));
    }

    /// waiting_avg, 0 to 1024.
    #[inline]
    #[must_use]
    pub const fn average(&self) -> u32 {
        self.signal.util_avg
    }
}

/// Sum of the waiting averages of a root run queue's runnable tasks.
///
/// A task's share goes in when it is enqueued, out when it is dequeued, and is exchanged around
/// each update of it while it is runnable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueWaitingAvg(u32);

impl QueueWaitingAvg {
    /// The sum, on the capacity scale.
    #[inline]
    #[must_use]
    pub const fn sum(self) -> u32 {
        self.0
    }

    /// A task is enqueued, or was updated.
    pub const fn add(&mut self, task: &WaitingAvg) {
        self.0 = self.0.wrapping_add(task.average());
    }

    /// A task is dequeued, or is about to be updated.
    pub const fn subtract(&mut self, task: &WaitingAvg) {
        self.0 = self.0.saturating_sub(task.average());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_being_runnable_without_running() {
        let mut waits = WaitingAvg::default();
        let mut runs = WaitingAvg::default();
        let mut sleeps = WaitingAvg::default();
        for ms in 1..=400 {
            let now = ms * 1_000_000;
            waits.update(now, EntityState::Waiting);
            runs.update(now, EntityState::Running);
            sleeps.update(now, EntityState::Blocked);
        }
        assert!((1020..=1025).contains(&waits.average()), "{}", waits.average());
        assert_eq!(runs.average(), 0);
        assert_eq!(sleeps.average(), 0);
    }

    #[test]
    fn close_to_runnable_less_running() {
        let mut waiting = WaitingAvg::default();
        let mut averages = SchedAvg::default();
        for ms in 1..=300_u64 {
            let state = if ms % 3 == 0 { EntityState::Running } else { EntityState::Waiting };
            averages.update_entity(ms * 1_000_000, 1024, state);
            waiting.update(ms * 1_000_000, state);
        }
        let difference = averages.runnable_avg as u32 - averages.util_avg;
        assert!(difference.abs_diff(waiting.average()) <= 1);
    }

    #[test]
    fn the_queue_holds_the_sum() {
        let mut task = WaitingAvg::default();
        let mut queue = QueueWaitingAvg::default();
        queue.add(&task);
        queue.subtract(&task);
        task.update(100_000_000, EntityState::Waiting);
        queue.add(&task);
        assert_eq!(queue.0, task.average());
        let mut root = SchedAvg::starting_at(5 << 20);
        root.period_contrib = 9;
        task.attach(&root);
        queue.subtract(&task);
        assert_eq!(queue.0, 0);
        assert!(!task.update((5 << 20) + 1023, EntityState::Waiting));
    }
}
