//! What a task did before what it is there for: it sets itself up, and sleeps meanwhile.

use super::Recorded;
use crate::behavior::{Behavior, Step};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// Recorded stretches of work, then another behaviour.
pub struct SetUp {
    stretches: Arc<[Recorded]>,
    at: usize,
    awaits: bool,
    then: Box<dyn Behavior>,
}

impl SetUp {
    /// All of `stretches`, which are in order of their release, before `then`.
    pub fn new(stretches: Arc<[Recorded]>, then: Box<dyn Behavior>) -> SetUp {
        SetUp { stretches, at: 0, awaits: true, then }
    }
}

impl Behavior for SetUp {
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        let Some(stretch) = self.stretches.get(self.at) else {
            return self.then.next(now, random);
        };
        if std::mem::replace(&mut self.awaits, false) {
            return Step::SleepUntil(stretch.released);
        }
        (self.awaits, self.at) = (true, self.at + 1);
        Step::Leave { work: stretch.work, way: stretch.way }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behavior::Work;
    use crate::workload::testing::play;
    use crate::workload::{Rampup, SPIN};

    #[test]
    fn stretches_come_first_however_late() {
        let stretch = |at: u64, ms: u64| Recorded {
            released: Nanos::from_millis(at),
            work: Work { cycles: ms * 1_000_000, memory: Nanos::ZERO },
            ..Recorded::default()
        };
        let stretches = [stretch(2, 3), stretch(4, 1), stretch(10, 1)].into();
        let mut task = SetUp::new(stretches, Box::new(Rampup::new(0, Nanos::ZERO)));
        let steps = play(&mut task, Nanos::from_millis(100), 1_000_000);
        let begun: Vec<u64> = steps
            .iter()
            .filter(|(_, step)| matches!(step, Step::Run(_) | Step::Leave { .. }))
            .map(|(at, _)| at.0 / 1_000_000)
            .collect();
        assert_eq!(begun, [2, 5, 10, 11]);
        assert!(steps.contains(&(Nanos::from_millis(11), Step::Mark(SPIN))));
    }
}
