//! Patch 12: the time that a task is runnable but does not run.

use crate::averages::Averages;
use crate::decay::divider;

/// The waiting signal of one task: tracked like utilisation, with its clock, summed over the root
/// run queue's tasks ([`QueueWaiting`]).
///
/// A reviewer's remark holds: it is close to runnable_avg - util_avg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Waiting {
    signal: Averages,
}

impl Waiting {
    /// Accounting starts at `now` (ns of the task's clock_pelt).
    #[must_use]
    pub const fn starting_at(now: u64) -> Waiting {
        Waiting { signal: Averages::starting_at(now) }
    }

    /// Accounts the time up to `now`, in which the task was `runnable` and `running` or not.
    /// Whether a period boundary was crossed.
    #[inline]
    pub fn update(&mut self, now: u64, runnable: bool, running: bool) -> bool {
        let waiting = runnable && !running;
        self.signal.update(now, waiting.into(), 0, waiting)
    }

    /// Takes over the time and position in the period of the run queue that its task joins.
    pub fn attach(&mut self, queue: &Averages) {
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
pub struct QueueWaiting(pub u32);

impl QueueWaiting {
    /// A task is enqueued, or was updated.
    pub const fn add(&mut self, task: &Waiting) {
        self.0 = self.0.wrapping_add(task.average());
    }

    /// A task is dequeued, or is about to be updated.
    pub const fn subtract(&mut self, task: &Waiting) {
        self.0 = self.0.saturating_sub(task.average());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_being_runnable_without_running() {
        let mut waits = Waiting::default();
        let mut runs = Waiting::default();
        let mut sleeps = Waiting::default();
        for ms in 1..=400 {
            let now = ms * 1_000_000;
            waits.update(now, true, false);
            runs.update(now, true, true);
            sleeps.update(now, false, false);
        }
        assert!((1020..=1025).contains(&waits.average()), "{}", waits.average());
        assert_eq!(runs.average(), 0);
        assert_eq!(sleeps.average(), 0);
    }

    #[test]
    fn close_to_runnable_less_running() {
        let mut waiting = Waiting::default();
        let mut averages = Averages::default();
        for ms in 1..=300_u64 {
            let running = ms % 3 == 0;
            averages.update_entity(ms * 1_000_000, 1024, true, running);
            waiting.update(ms * 1_000_000, true, running);
        }
        let difference = averages.runnable_avg as u32 - averages.util_avg;
        assert!(difference.abs_diff(waiting.average()) <= 1);
    }

    #[test]
    fn the_queue_holds_the_sum() {
        let mut task = Waiting::default();
        let mut queue = QueueWaiting::default();
        queue.add(&task);
        queue.subtract(&task);
        task.update(100_000_000, true, false);
        queue.add(&task);
        assert_eq!(queue.0, task.average());
        let mut root = Averages::starting_at(5 << 20);
        root.period_contrib = 9;
        task.attach(&root);
        queue.subtract(&task);
        assert_eq!(queue.0, 0);
        assert!(!task.update((5 << 20) + 1023, true, false));
    }
}
