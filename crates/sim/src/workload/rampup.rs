//! Always running after many short sleeps: the response-time series' `rampup` (100 sleeps of 10 ms, a mark, then
//! a loop without end). With no sleeps it is a plain busy loop.

use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The mark at which [`Rampup`] begins to spin.
pub const SPIN: &str = "spin";

/// A few sleeps, a mark, then work without end.
#[derive(Clone, Debug)]
pub struct Rampup {
    sleeps: u32,
    gap: Nanos,
    marked: bool,
}

impl Rampup {
    /// `sleeps` sleeps of `gap`; one long gap shows what an idle time costs.
    pub fn new(sleeps: u32, gap: Nanos) -> Rampup {
        Rampup { sleeps, gap, marked: false }
    }
}

impl Behavior for Rampup {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        if self.sleeps > 0 {
            self.sleeps -= 1;
            return Step::Sleep(self.gap);
        }
        if !self.marked {
            self.marked = true;
            return Step::Mark(SPIN);
        }
        Step::Run(Work::FOREVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    #[test]
    fn spins_after_its_sleeps() {
        let mut rampup = Rampup::new(100, Nanos::from_millis(10));
        let steps = play(&mut rampup, Nanos::from_secs(2), 1_000_000);
        assert_eq!(steps.len(), 102);
        assert_eq!(steps[100], (Nanos::from_secs(1), Step::Mark(SPIN)));
        assert_eq!(steps[101].1, Step::Run(Work::FOREVER));
    }
}
