//! The signals of the real-time and deadline queues and of interrupts, and where a new task begins.

use crate::clock::{CpuSpeed, scale};
use crate::features::{Features, PeltMultiplier};
use crate::sched_avg::{QueueLoad, SchedAvg};

impl SchedAvg {
    /// Update of the real-time or deadline queue's signals: `running` says whether a task of the
    /// class ran since the last update. Whether a period boundary was crossed.
    #[inline]
    pub fn update_class(&mut self, now: u64, running: bool) -> bool {
        self.update(now, QueueLoad::one_if(running))
    }

    /// Update of the interrupts' signal: of the time up to `clock` (ns, neither scaled nor less
    /// interrupts), the last `irq_time` ns went to them. The CPU's speed scales that time here, by
    /// frequency first, as no clock_pelt exists for it. Whether a period boundary was crossed.
    #[inline]
    pub fn update_irq(
        &mut self,
        clock: u64,
        irq_time: u64,
        speed: CpuSpeed,
        multiplier: PeltMultiplier,
    ) -> bool {
        let busy = scale(scale(irq_time, speed.frequency_scale), speed.capacity);
        let began = multiplier.stretch(clock.wrapping_sub(busy));
        let before = self.update_sums(began, QueueLoad::NONE);
        let during = self.update_sums(multiplier.stretch(clock), QueueLoad::one_if(true));
        let crossed = before | during;
        if crossed {
            self.recompute(1);
        }
        crossed
    }

    /// The signals of a task that was just created, of `weight`, that starts with `util` (see
    /// [`new_task_utilization`]). [`SchedAvg::attach`] gives them their sums.
    #[must_use]
    pub fn new_task(weight: u64, util: u32) -> SchedAvg {
        SchedAvg {
            load_avg: weight,
            runnable_avg: util.into(),
            util_avg: util,
            ..SchedAvg::default()
        }
    }
}

/// A task that was just created, and the queue that it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NewTask {
    /// The task's weight (1024 at nice 0).
    pub weight: u64,
    /// Capacity of the CPU.
    pub capacity: u32,
    /// util_avg of the CPU's fair queue.
    pub queue_util: u32,
    /// load_avg of the CPU's fair queue.
    pub queue_load: u64,
}

/// Utilisation that a new task starts with.
///
/// Half of what is left of the CPU on an idle queue; else the queue's utilisation per load times
/// the task's weight, at most that half. Nothing where nothing is left, and with patch 16.
#[must_use]
pub fn new_task_utilization(task: NewTask, features: &Features) -> u32 {
    let NewTask { weight, capacity, queue_util, queue_load } = task;
    if features.fork_starts_at_zero {
        return 0;
    }
    let limit = capacity.saturating_sub(queue_util) / 2;
    if queue_util == 0 {
        return limit;
    }
    let share = u64::from(queue_util).wrapping_mul(weight) / queue_load.saturating_add(1);
    // At most `limit`, which has 32 bits.
    share.min(limit.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_task_gets_half_of_the_rest() {
        let task = |queue_util, queue_load| NewTask {
            weight: 1024,
            capacity: 1024,
            queue_util,
            queue_load,
        };
        let new = |util, load| new_task_utilization(task(util, load), &Features::STOCK);
        assert_eq!(new(0, 0), 512);
        assert_eq!(new(0, 5000), 512);
        assert_eq!(new(100, 1023), 100);
        assert_eq!(new(100, 0), 462, "limited");
        assert_eq!(new(1022, 1), 1);
        assert_eq!(new(1023, 1), 0);
        assert_eq!(new(1025, 1), 0, "more than the capacity leaves nothing");
        assert_eq!(new_task_utilization(task(0, 0), &Features::SERIES), 0);
    }

    #[test]
    fn a_new_task_joins_with_its_weight_as_load() {
        let mut task = SchedAvg::new_task(1024, 512);
        let mut queue = SchedAvg::starting_at(3 << 20);
        queue.attach(&mut task, 1024);
        assert_eq!((queue.load_avg, queue.util_avg, queue.runnable_avg), (1024, 512, 512));
        assert_eq!(task.load_sum, u64::from(crate::MIN_DIVIDER));
    }

    #[test]
    fn classes_saturate() {
        let mut class = SchedAvg::default();
        assert!(class.update_class(400_000_000, true));
        assert!((1022..=1024).contains(&class.util_avg));
        assert!(class.update_class(2_600_000_000, false));
        assert_eq!(class.util_avg, 0);
    }

    #[test]
    fn interrupt_time_is_scaled() {
        let busy_for = |capacity| {
            let mut irq = SchedAvg::default();
            let speed = CpuSpeed { capacity, ..CpuSpeed::FULL };
            irq.update_irq(64 << 20, 32 << 20, speed, PeltMultiplier::X1);
            irq.util_avg
        };
        assert!((505..=515).contains(&busy_for(1024)), "a half-life of interrupts");
        assert!(busy_for(512) < busy_for(1024));
        let mut irq = SchedAvg::default();
        assert!(!irq.update_irq(1000, 500, CpuSpeed::FULL, PeltMultiplier::X1));
    }
}
