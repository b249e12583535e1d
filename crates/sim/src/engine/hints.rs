//! Hints about tasks that the scheduler gets while they run (patch 10 of the response-time series).

use super::Machine;
use super::task::State;
use crate::observe::Observer;
use crate::setup::{Hint, HintCall};
use flyball_units::Nanos;

/// The latest first; of those at one time, the one that was listed last first.
pub(super) fn in_order(mut hints: Vec<HintCall>) -> Vec<HintCall> {
    hints.sort_by_key(|call| call.at);
    hints.reverse();
    hints
}

impl Machine {
    /// Time of the next hint; `u64::MAX` where there is none.
    pub(super) fn next_hint(&self) -> u64 {
        self.hints.last().map_or(u64::MAX, |call| call.at.0)
    }

    /// Gives the hints that are due. No other task changes, be it forked by this one.
    pub(super) fn give_hints<O: Observer>(&mut self, observer: &mut O) {
        while self.next_hint() <= self.now {
            let Some(HintCall { task, hint, .. }) = self.hints.pop() else { return };
            let Some(told) = self.tasks.get_mut(task.0 as usize) else { continue };
            if matches!(told.state, State::Unborn | State::Ended) {
                continue;
            }
            match hint {
                Hint::RampupMultiplier(multiplier) => told.multiplier = multiplier,
            }
            observer.hinted(Nanos(self.now), task, hint);
        }
    }
}
