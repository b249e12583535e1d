//! Background load at a share of a CPU, as `flyball hold --load` makes it: busy for a part of every
//! period, counted in CPU time, whatever the frequency.

use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Busy for `busy` of every `period`.
#[derive(Clone, Debug)]
pub struct Duty {
    period: Nanos,
    busy: Nanos,
    next: Nanos,
    asleep: bool,
}

impl Duty {
    /// `percent` of a CPU (1 to 100) in periods of `period`, the first at `phase`.
    pub fn new(percent: u8, period: Nanos, phase: Nanos) -> Duty {
        let busy = Nanos((u128::from(period.0) * u128::from(percent.min(100)) / 100) as u64);
        Duty { period: period.max(Nanos(1)), busy: busy.max(Nanos(1)), next: phase, asleep: false }
    }
}

impl Behavior for Duty {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.asleep = !self.asleep;
        if self.asleep {
            // Time lost to others is not made up for: a full CPU would never sleep again.
            let due = self.next.max(now);
            self.next = due + self.period;
            return Step::SleepUntil(due);
        }
        Step::Run(Work { cycles: 0, memory: self.busy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    #[test]
    fn nine_tenths_are_busy() {
        let mut duty = Duty::new(90, Nanos::from_millis(5), Nanos::from_millis(1));
        let steps = play(&mut duty, Nanos::from_millis(101), 1_000_000);
        let busy: u64 = steps
            .iter()
            .filter_map(|(_, step)| match step {
                Step::Run(work) => Some(work.memory.0),
                _ => None,
            })
            .sum();
        assert_eq!(busy, 20 * 4_500_000);
    }
}
