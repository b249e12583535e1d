//! Bursts of full activity with quiet times between them: the burst problem of source C
//! (section 2.3, Figure 5). A burst keeps its CPU busy for a given time whatever the frequency, as
//! in the figure, or has a given amount of work.

use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bursts at regular times.
#[derive(Clone, Debug)]
pub struct Bursty {
    /// From burst to burst.
    pub every: Nanos,
    /// Start of the first burst.
    pub phase: Nanos,
    /// One burst.
    pub burst: Work,
    number: u64,
    step: u8,
}

impl Bursty {
    /// A burst that keeps the CPU busy for `busy` out of `every`.
    pub fn of_time(every: Nanos, busy: Nanos, phase: Nanos) -> Bursty {
        Bursty::of_work(every, Work { cycles: 0, memory: busy }, phase)
    }

    /// A burst of fixed work.
    pub fn of_work(every: Nanos, burst: Work, phase: Nanos) -> Bursty {
        Bursty { every: every.max(Nanos(1)), phase, burst, number: 0, step: 0 }
    }
}

impl Behavior for Bursty {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        let due = Nanos(self.every.0.saturating_mul(self.number)) + self.phase;
        self.step = (self.step + 1) % 4;
        match self.step {
            1 => Step::SleepUntil(due),
            2 => Step::Begin { item: self.number, released: due },
            3 => Step::Run(self.burst),
            _ => {
                self.number += 1;
                Step::End { item: self.number - 1 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    #[test]
    fn a_burst_lasts_as_long_as_told() {
        let mut bursty =
            Bursty::of_time(Nanos::from_secs(1), Nanos::from_millis(300), Nanos::from_millis(50));
        let steps = play(&mut bursty, Nanos::from_secs(2), 600_000);
        let ends: Vec<u64> = steps
            .iter()
            .filter(|(_, step)| matches!(step, Step::End { .. }))
            .map(|(at, _)| at.0 / 1_000_000)
            .collect();
        assert_eq!(ends, [350, 1350]);
    }
}
