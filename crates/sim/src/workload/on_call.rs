//! Work that is done whenever somebody calls for it.

use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Waits to be woken, does its work, and waits again.
#[derive(Clone, Debug)]
pub struct OnCall {
    work: Work,
    waits: bool,
}

impl OnCall {
    /// One that takes this work each time.
    pub fn new(work: Work) -> OnCall {
        OnCall { work, waits: false }
    }
}

impl Behavior for OnCall {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.waits = !self.waits;
        if self.waits { Step::Wait } else { Step::Run(self.work) }
    }
}
