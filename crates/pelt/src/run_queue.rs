//! Entities join and leave run queues and take their share of the signals with them.

use crate::decay::{MIN_DIVIDER, divider};
use crate::sched_avg::SchedAvg;

impl SchedAvg {
    /// Adds an entity of `weight` to this run queue (wake-up after migration, fork, change of
    /// class). The entity takes over the queue's time and position in the period; its sums become
    /// its averages times the divider there.
    ///
    /// Both have to be up to date.
    #[inline]
    pub fn attach(&mut self, entity: &mut SchedAvg, weight: u64) {
        let divider = divider(self.period_contrib);
        entity.last_update = self.last_update;
        entity.period_contrib = self.period_contrib;
        entity.util_sum = entity.util_avg.wrapping_mul(divider);
        entity.runnable_sum = entity.runnable_avg.wrapping_mul(divider.into());
        let load = entity.load_avg.wrapping_mul(divider.into());
        // The queue's sum holds weights, the entity's holds time.
        entity.load_sum = if weight < load { load / weight.max(1) } else { 1 };

        self.load_avg = self.load_avg.wrapping_add(entity.load_avg);
        self.load_sum = self.load_sum.wrapping_add(weight.wrapping_mul(entity.load_sum));
        self.util_avg = self.util_avg.wrapping_add(entity.util_avg);
        self.util_sum = self.util_sum.wrapping_add(entity.util_sum);
        self.runnable_avg = self.runnable_avg.wrapping_add(entity.runnable_avg);
        self.runnable_sum = self.runnable_sum.wrapping_add(entity.runnable_sum);
    }

    /// Takes an entity of `weight` out of this run queue, both up to date.
    #[inline]
    pub fn detach(&mut self, entity: &SchedAvg, weight: u64) {
        self.subtract(Share {
            load_avg: entity.load_avg,
            load_sum: weight.wrapping_mul(entity.load_sum),
            runnable_avg: entity.runnable_avg,
            runnable_sum: entity.runnable_sum,
            util_avg: entity.util_avg,
            util_sum: entity.util_sum,
        });
    }

    /// Takes the share of blocked entities out, of which only the averages are known: they migrate
    /// while they sleep, and the queue learns of it at its next update.
    fn remove_blocked(&mut self, removed: RemovedLoad) {
        let RemovedLoad { load_avg, runnable_avg, util_avg, .. } = removed;
        let divider = divider(self.period_contrib);
        self.subtract(Share {
            load_avg,
            load_sum: load_avg.wrapping_mul(divider.into()),
            runnable_avg,
            runnable_sum: runnable_avg.wrapping_mul(divider.into()),
            util_avg,
            util_sum: util_avg.wrapping_mul(divider),
        });
    }

    /// Takes off what left since the last update; to be called first in each update. Whether
    /// anything did: this queue's signals then count as changed, whatever the time says.
    #[inline]
    pub fn take_off(&mut self, removed: &mut RemovedLoad) -> bool {
        if removed.is_empty() {
            return false;
        }
        self.remove_blocked(core::mem::take(removed));
        true
    }

    /// Rounding lets an entity's share exceed what the queue has: no signal goes below 0, and no
    /// sum below what its average stands for.
    fn subtract(&mut self, share: Share) {
        self.load_avg = self.load_avg.saturating_sub(share.load_avg);
        self.load_sum =
            least_sum(self.load_sum.saturating_sub(share.load_sum), self.load_avg).into();
        self.runnable_avg = self.runnable_avg.saturating_sub(share.runnable_avg);
        self.runnable_sum =
            least_sum(self.runnable_sum.saturating_sub(share.runnable_sum), self.runnable_avg)
                .into();
        self.util_avg = self.util_avg.saturating_sub(share.util_avg);
        self.util_sum =
            least_sum(self.util_sum.saturating_sub(share.util_sum).into(), self.util_avg.into());
    }
}

/// What blocked entities took with them to other CPUs while the queue that they left does not know
/// of it yet.
///
/// Only a queue's own CPU changes its signals. Whoever moves a sleeping entity leaves its share
/// here, and the queue takes all of it off at its next update, before it accounts any time
/// ([`SchedAvg::take_off`]). Until then its signals, and the frequency that is chosen from them,
/// still count the entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RemovedLoad {
    entities: u32,
    util_avg: u32,
    runnable_avg: u64,
    load_avg: u64,
}

impl RemovedLoad {
    /// A blocked entity leaves, its signals as of the queue's last update.
    pub const fn add(&mut self, entity: &SchedAvg) {
        self.entities = self.entities.saturating_add(1);
        self.util_avg = self.util_avg.wrapping_add(entity.util_avg);
        self.runnable_avg = self.runnable_avg.wrapping_add(entity.runnable_avg);
        self.load_avg = self.load_avg.wrapping_add(entity.load_avg);
    }

    /// Whether no entity left since the queue's last update.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entities == 0
    }
}

/// What an entity takes away.
struct Share {
    load_avg: u64,
    load_sum: u64,
    runnable_avg: u64,
    runnable_sum: u64,
    util_avg: u32,
    util_sum: u32,
}

/// The larger of a sum and what its average stands for at the start of a period. The kernel
/// compares them in 32 bits, whatever the width of the sum.
fn least_sum(sum: u64, average: u64) -> u32 {
    (sum as u32).max(average.wrapping_mul(MIN_DIVIDER.into()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched_avg::EntityState;

    fn busy(milliseconds: u64) -> SchedAvg {
        let mut averages = SchedAvg::default();
        averages.update_entity(milliseconds * 1_000_000, 1024, EntityState::Running);
        averages
    }

    #[test]
    fn attaching_and_detaching_leaves_nothing() {
        let mut entity = busy(40);
        let mut queue = SchedAvg::starting_at(77_000_000);
        queue.period_contrib = 300;
        queue.attach(&mut entity, 1024);
        assert_eq!(entity.last_update, 77_000_000);
        assert_eq!(entity.period_contrib, 300);
        assert_eq!(queue.util_avg, entity.util_avg);
        assert_eq!(queue.util_sum, entity.util_avg * (46718 + 300));
        assert_eq!(queue.load_sum, 1024 * entity.load_sum);
        queue.detach(&entity, 1024);
        assert_eq!((queue.util_avg, queue.runnable_avg, queue.load_avg), (0, 0, 0));
        assert_eq!((queue.util_sum, queue.runnable_sum, queue.load_sum), (0, 0, 0));
    }

    #[test]
    fn a_light_entity_keeps_a_load_sum_of_one() {
        let mut entity = SchedAvg::default();
        let mut queue = SchedAvg::default();
        queue.attach(&mut entity, 88_761);
        assert_eq!(entity.load_sum, 1);
        assert_eq!(queue.load_sum, 88_761);
    }

    #[test]
    fn a_queue_that_stays_keeps_the_sum_of_its_average() {
        let mut stays = busy(200);
        let mut leaves = busy(30);
        let mut queue = SchedAvg::starting_at(1);
        queue.attach(&mut stays, 1024);
        queue.attach(&mut leaves, 1024);
        leaves.util_sum += 40_000;
        queue.detach(&leaves, 1024);
        assert_eq!(queue.util_avg, stays.util_avg);
        assert!(queue.util_sum >= queue.util_avg * MIN_DIVIDER);
    }

    #[test]
    fn what_left_is_taken_off_at_the_next_update() {
        let (mut stays, mut first, mut second) = (busy(200), busy(50), busy(30));
        let mut queue = SchedAvg::starting_at(9);
        for entity in [&mut stays, &mut first, &mut second] {
            queue.attach(entity, 1024);
        }
        let before = queue;
        let mut removed = RemovedLoad::default();
        assert!(!queue.take_off(&mut removed) && queue == before);
        removed.add(&first);
        removed.add(&second);
        assert_eq!(queue, before, "the queue does not know of it yet");
        assert!(queue.take_off(&mut removed) && removed.is_empty());
        assert_eq!(queue.util_avg, stays.util_avg);
        assert_eq!((queue.last_update, queue.period_contrib), (9, before.period_contrib));
        let mut at_once = before;
        at_once.remove_blocked(RemovedLoad {
            entities: 2,
            load_avg: first.load_avg + second.load_avg,
            runnable_avg: first.runnable_avg + second.runnable_avg,
            util_avg: first.util_avg + second.util_avg,
        });
        assert_eq!(queue, at_once);
    }

    #[test]
    fn a_blocked_entity_is_removed_by_its_averages() {
        let mut entity = busy(50);
        let mut queue = SchedAvg::starting_at(9);
        queue.attach(&mut entity, 1024);
        let mut removed = RemovedLoad::default();
        removed.add(&entity);
        queue.remove_blocked(removed);
        assert_eq!((queue.util_avg, queue.runnable_avg, queue.load_avg), (0, 0, 0));
    }
}
