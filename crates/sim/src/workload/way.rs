//! What a task's way to its items and from them takes beside their work: on a slow CPU the kernel's own
//! instructions count, which a model of a scheduler does not have.

use crate::behavior::{Behavior, Interrupt, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// The way to items and from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// From the release that wakes a task until it is awake, for each item.
    pub late: Arc<[Late]>,
    /// What comes after the end of each item until the task sleeps.
    pub after: Arc<[After]>,
}

/// How late a timer wakes its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// How late it expires.
    pub expires: Nanos,
    /// Its interrupt.
    pub interrupt: Interrupt,
}

/// Work after the end of an item, in reference cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// All of it.
    pub cycles: u64,
    /// Of that what comes after the task has left its queue.
    pub way: u64,
}

/// A behaviour whose items have a [`Way`], each due by a timer.
pub struct OnItsWay {
    inner: Box<dyn Behavior>,
    way: Way,
    /// Items that ended.
    done: usize,
    /// Whether an item has just ended.
    ended: bool,
    /// What the behaviour wanted before that was done.
    next: Option<Step>,
}

impl OnItsWay {
    /// The same with this way.
    pub fn new(inner: Box<dyn Behavior>, way: Way) -> OnItsWay {
        OnItsWay { inner, way, done: 0, ended: false, next: None }
    }

    /// A sleep that really is one ends later.
    fn late(&self, step: Step, now: Nanos) -> Step {
        match sleeps_until(&step, now) {
            Some(at) => {
                let late = self.way.late.get(self.done).copied().unwrap_or_default();
                Step::SleepForInterrupt { expires: at + late.expires, interrupt: late.interrupt }
            }
            None => step,
        }
    }
}

/// Until when a step sleeps, if it does.
fn sleeps_until(step: &Step, now: Nanos) -> Option<Nanos> {
    match step {
        Step::SleepUntil(at) | Step::AwaitUntil(at) if *at > now => Some(*at),
        _ => None,
    }
}

impl Behavior for OnItsWay {
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        if let Some(step) = self.next.take() {
            return self.late(step, now);
        }
        let step = self.inner.next(now, random);
        if std::mem::replace(&mut self.ended, matches!(step, Step::End { .. })) {
            let done = self.done;
            self.done += 1;
            if sleeps_until(&step, now).is_some() {
                self.next = Some(step);
                let After { cycles, way } = self.way.after.get(done).copied().unwrap_or_default();
                return Step::Leave { work: Work { cycles, memory: Nanos::ZERO }, way };
            }
        }
        self.late(step, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Periodic;
    use crate::workload::testing::play;

    /// Releases, begins and ends of items in ms, of work of `ms` every 10 ms from 3 ms on, which are `late` by so many ms;
    /// 2 ms come after.
    fn items(ms: u64, late: &[u64]) -> Vec<(u64, u64, u64)> {
        let work = Work { cycles: ms * 1_000_000, memory: Nanos::ZERO };
        let mut periodic = Periodic::new(Nanos::from_millis(10), work);
        periodic.phase = Nanos::from_millis(3);
        let late = late.iter().map(|&ms| {
            let interrupt = Interrupt { cycles: ms * 500_000, ..Interrupt::default() };
            Late { expires: Nanos(ms * 500_000), interrupt }
        });
        let late = late.collect();
        let way = Way { late, after: [After { cycles: 2_000_000, way: 1_000_000 }; 3].into() };
        let mut task = OnItsWay::new(Box::new(periodic), way);
        let steps = play(&mut task, Nanos::from_millis(30), 1_000_000);
        let mut found = Vec::new();
        for (at, step) in steps {
            match step {
                Step::Begin { released, .. } => {
                    found.push((released.0 / 1_000_000, at.0 / 1_000_000, 0));
                }
                Step::End { .. } => {
                    if let Some(last) = found.last_mut() {
                        last.2 = at.0 / 1_000_000;
                    }
                }
                _ => {}
            }
        }
        found
    }

    #[test]
    fn a_task_that_sleeps_is_late_and_its_release_is_not() {
        assert_eq!(items(4, &[1, 0, 2]), [(3, 4, 8), (13, 13, 17), (23, 25, 29)]);
    }

    #[test]
    fn a_task_that_is_behind_goes_on_with_its_next_item() {
        assert_eq!(items(10, &[1, 1, 1]), [(3, 4, 14), (13, 14, 24), (23, 24, 0)]);
    }

    #[test]
    fn what_comes_after_an_item_delays_the_next_one() {
        // 4 to 12 ms and 2 ms more: the second release, at 13 ms, finds the task awake until 14 ms.
        assert_eq!(
            items(8, &[1, 1, 1]),
            [(3, 4, 12), (13, 14, 22), (23, 24, 0)],
            "the last one goes on"
        );
    }
}
