//! util_est: what a task needed when it last ran, kept while it sleeps.

use crate::approximate::approximate_util_avg;
use crate::features::Features;
use crate::sched_avg::CAPACITY_SCALE;

/// A difference of about 1 % that is not worth an update.
const MARGIN: u32 = CAPACITY_SCALE / 100;

/// A new value counts one quarter, 2^-2.
const WEIGHT_SHIFT: u32 = 2;

/// The bit of the kernel's `util_est` that holds [`UtilEst::unchanged`].
const UNCHANGED: u32 = 1 << 31;

/// A task's estimated utilisation. [`UtilEst::raw`] shows the kernel's word for it,
/// [`UtilEst::from_raw`] takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UtilEst {
    value: u32,
    unchanged: bool,
}

/// A task that is dequeued to sleep, as util_est sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepingTask {
    /// The task's `util_avg`, *before* the dequeue's own update of it (6.12).
    pub util: u32,
    /// The task's `runnable_avg` at the same time.
    pub runnable: u64,
    /// Capacity of the CPU at its highest frequency, without pressure; `u32::MAX` on kernels that do not
    /// look at it (7.2).
    pub capacity: u32,
}

/// The running task, as util_est sees it at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningTask {
    /// Time executed since the last growth, in us of wall time: neither capacity nor frequency
    /// count.
    pub executed_us: u64,
    /// The task's `util_avg`.
    pub util: u32,
    /// `util_avg` at the last sleeping dequeue that [looked at it](UtilEst::sleep_with).
    pub util_at_dequeue: u32,
    /// The task's ramp-up multiplier; 1 without a hint.
    pub multiplier: u32,
}

impl UtilEst {
    /// From the kernel's word, flag included.
    #[must_use]
    pub const fn from_raw(raw: u32) -> UtilEst {
        UtilEst { value: raw & !UNCHANGED, unchanged: raw & UNCHANGED != 0 }
    }

    /// As the kernel stores it.
    #[must_use]
    pub const fn raw(self) -> u32 {
        self.value | if self.unchanged { UNCHANGED } else { 0 }
    }

    /// The moving average, 0 to 1024.
    #[inline]
    #[must_use]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// Whether the task's signals were not recomputed since this was last updated.
    #[must_use]
    pub const fn is_unchanged(self) -> bool {
        self.unchanged
    }

    /// To be called with the answer of every update of the task's signals: one that crossed a
    /// period recomputed them, and clears the flag.
    #[inline]
    pub const fn after_update(&mut self, crossed: bool) {
        self.unchanged &= !crossed;
    }

    /// The utilisation to expect of the task: max(util_avg, util_est).
    #[inline]
    #[must_use]
    pub fn task_utilization(self, util: u32) -> u32 {
        self.value.max(util)
    }

    /// Update at a dequeue for sleeping, as a stock kernel does it. Whether it looked at the task's
    /// utilisation, which the flag prevents.
    pub fn sleep(&mut self, task: SleepingTask) -> bool {
        self.follow(task, 1)
    }

    /// The same with patches 11 and 15: a task with a ramp-up multiplier decays that many times
    /// slower, and 0 switches util_est off for it if `features` say so.
    ///
    /// Whether it looked at the task's utilisation. Then patch 9 remembers that as
    /// [`RunningTask::util_at_dequeue`]; else it keeps the one before.
    #[inline]
    pub fn sleep_with(&mut self, task: SleepingTask, multiplier: u32, features: &Features) -> bool {
        if disabled(multiplier, features) {
            self.disable();
            return false;
        }
        self.follow(task, multiplier.max(1))
    }

    fn follow(&mut self, task: SleepingTask, slowness: u32) -> bool {
        if self.unchanged {
            return false;
        }
        if self.value <= task.util {
            // Utilisation grew: only decreases are smoothed.
            self.value = task.util;
        } else {
            let excess = self.value - task.util;
            if excess >= MARGIN {
                if task.util > task.capacity {
                    return true; // Without idle time it might have wanted more. No flag.
                }
                let waited = u64::from(task.util) + u64::from(MARGIN) < task.runnable;
                if !waited {
                    let quadruple = u64::from(self.value) << WEIGHT_SHIFT;
                    let closer = quadruple - u64::from(excess / slowness);
                    // At most the value, which has 32 bits.
                    self.value = (closer >> WEIGHT_SHIFT) as u32;
                }
            }
        }
        self.unchanged = true;
        true
    }

    /// Patches 8, 9, 11 and 15: growth while the task runs, at each tick and when it stops running
    /// but stays runnable. Whether anything was done; the queue's sum has to follow, so call
    /// [`QueueUtilEst::dequeue`] before and [`QueueUtilEst::enqueue`] after.
    ///
    /// As posted, growth sets the flag: a dequeue before the next period boundary decays nothing.
    pub fn run(&mut self, task: RunningTask, features: &Features) -> bool {
        if !features.util_est_ramp_up {
            return false;
        }
        if disabled(task.multiplier, features) {
            self.disable();
            return true;
        }
        if features.util_est_ramp_up_transient_only && task.util <= task.util_at_dequeue {
            return false;
        }
        let time = task.executed_us.saturating_mul(task.multiplier.into());
        self.value = approximate_util_avg(self.value, time, features.pelt_multiplier);
        self.unchanged = true;
        true
    }

    fn disable(&mut self) {
        self.value = 0;
        self.unchanged = true;
    }
}

/// Patch 15.
fn disabled(multiplier: u32, features: &Features) -> bool {
    multiplier == 0 && features.zero_multiplier_disables_util_est
}

/// Sum of the util_est of a run queue's tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueUtilEst(u32);

impl QueueUtilEst {
    /// The sum, on the capacity scale.
    #[inline]
    #[must_use]
    pub const fn sum(self) -> u32 {
        self.0
    }

    /// A task is enqueued.
    pub const fn enqueue(&mut self, task: UtilEst) {
        self.0 = self.0.wrapping_add(task.value);
    }

    /// A task is dequeued; its own update comes afterwards.
    pub const fn dequeue(&mut self, task: UtilEst) {
        self.0 = self.0.saturating_sub(task.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAG: u32 = UNCHANGED;

    fn after(raw: u32, util: u32, runnable: u64) -> u32 {
        after_on(1024, raw, util, runnable)
    }

    fn after_on(capacity: u32, raw: u32, util: u32, runnable: u64) -> u32 {
        let mut estimate = UtilEst::from_raw(raw);
        estimate.sleep(SleepingTask { util, runnable, capacity });
        estimate.raw()
    }

    #[test]
    fn grows_at_once_and_decays_by_quarters() {
        assert_eq!(after(100, 300, 300), 300 | FLAG);
        assert_eq!(after(300, 300, 300), 300 | FLAG);
        assert_eq!(after(300, 100, 100), 250 | FLAG);
        assert_eq!(after(101, 90, 90), ((404 - 11) / 4) | FLAG);
    }

    #[test]
    fn keeps_what_is_close_or_uncertain() {
        assert_eq!(after(109, 100, 0), 109 | FLAG, "closer than 10");
        assert_eq!(after(110, 100, 0), 107 | FLAG);
        assert_eq!(after(300, 100, 111), 300 | FLAG, "it waited");
        assert_eq!(after(300, 100, 110), 250 | FLAG);
        assert_eq!(after(300 | FLAG, 500, 500), 300 | FLAG, "nothing was recomputed");
        assert_eq!(after_on(459, 600, 500, 500), 600, "no idle time: no flag either");
        assert_eq!(after_on(459, 505, 500, 500), 505 | FLAG, "close comes first");
    }

    #[test]
    fn an_update_across_a_period_clears_the_flag() {
        let mut estimate = UtilEst::from_raw(7 | FLAG);
        estimate.after_update(false);
        assert_eq!(estimate.raw(), 7 | FLAG);
        estimate.after_update(true);
        assert_eq!(estimate.raw(), 7);
    }

    #[test]
    fn multipliers_slow_the_decay() {
        let task = SleepingTask { util: 100, runnable: 100, capacity: 1024 };
        let decayed = |multiplier, features: &Features| {
            let mut estimate = UtilEst::from_raw(500);
            estimate.sleep_with(task, multiplier, features);
            estimate.raw()
        };
        assert_eq!(decayed(1, &Features::SERIES), 400 | FLAG);
        assert_eq!(decayed(4, &Features::SERIES), 475 | FLAG);
        assert_eq!(decayed(0, &Features::SERIES), FLAG);
        let kept = Features { zero_multiplier_disables_util_est: false, ..Features::SERIES };
        assert_eq!(decayed(0, &kept), 400 | FLAG);
    }

    #[test]
    fn running_tasks_grow_in_wall_time() {
        let patch8 = Features { util_est_ramp_up: true, ..Features::STOCK };
        let mut estimate = UtilEst { value: 100, ..UtilEst::default() };
        let task = RunningTask { executed_us: 1000, util: 50, util_at_dequeue: 60, multiplier: 1 };
        assert!(estimate.run(task, &patch8));
        assert_eq!(estimate.value, approximate_util_avg(100, 1000, patch8.pelt_multiplier));
        let mut faster = UtilEst { value: 100, ..UtilEst::default() };
        assert!(faster.run(RunningTask { multiplier: 3, ..task }, &patch8));
        assert!(faster.value > estimate.value);
        assert!(!UtilEst::default().run(task, &Features::STOCK));
    }

    #[test]
    fn only_transient_tasks_grow() {
        let mut estimate = UtilEst { value: 200, unchanged: false };
        let task =
            RunningTask { executed_us: 4000, util: 200, util_at_dequeue: 200, multiplier: 1 };
        assert!(!estimate.run(task, &Features::SERIES));
        assert!(estimate.run(RunningTask { util: 201, ..task }, &Features::SERIES));
        assert!(estimate.value > 200);
        let off = RunningTask { multiplier: 0, ..task };
        assert!(estimate.run(off, &Features::SERIES));
        assert_eq!(estimate.raw(), FLAG);
    }

    #[test]
    fn a_dequeue_right_after_growth_does_not_look() {
        let mut estimate = UtilEst::default();
        let asleep = SleepingTask { util: 200, runnable: 200, capacity: 1024 };
        assert!(estimate.sleep(asleep));
        assert!(!estimate.sleep(asleep));
        estimate.after_update(true);
        let task =
            RunningTask { executed_us: 4000, util: 300, util_at_dequeue: 200, multiplier: 1 };
        assert!(estimate.run(task, &Features::SERIES));
        assert!(!estimate.sleep_with(asleep, 1, &Features::SERIES));
        estimate.after_update(true);
        assert!(estimate.sleep_with(asleep, 1, &Features::SERIES));
    }

    #[test]
    fn the_queue_holds_the_sum() {
        let mut queue = QueueUtilEst::default();
        let task = UtilEst::from_raw(300 | FLAG);
        queue.enqueue(task);
        queue.enqueue(UtilEst::from_raw(20));
        assert_eq!(queue.0, 320);
        queue.dequeue(task);
        queue.dequeue(task);
        assert_eq!(queue.0, 0);
    }
}
