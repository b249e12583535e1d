//! Recorded work, done again.

use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// One item of recorded work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// When it became due, from the beginning of the recording.
    pub released: Nanos,
    /// What it took then, in cycles.
    pub work: Work,
    /// CPU time that it had then.
    pub busy: Nanos,
    /// Of its cycles those after its task had left its queue.
    pub way: u64,
}

/// When an item of a replay becomes due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// When it did in the recording, whatever became of the ones before: requests from outside.
    #[default]
    Open,
    /// As long after the end of the one before as in the recording: a user who reads the answer
    /// before asking again.
    Closed,
}

/// Does recorded items, in their order; then it ends.
#[derive(Clone, Debug)]
pub struct Replay {
    items: Arc<[Recorded]>,
    pace: Pace,
    at: usize,
    state: State,
    released: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Await,
    Begin,
    Run,
    End,
}

impl Replay {
    /// All of `items`, which are in order of their release.
    pub fn new(items: Arc<[Recorded]>, pace: Pace) -> Replay {
        Replay { items, pace, at: 0, state: State::Await, released: Nanos::ZERO }
    }

    /// When item `at` is due, if the one before was done just `now`.
    fn due(&self, item: &Recorded, now: Nanos) -> Nanos {
        let before = self.at.checked_sub(1).and_then(|at| self.items.get(at));
        match (self.pace, before) {
            (Pace::Closed, Some(before)) => {
                now + item.released.since(before.released + before.busy)
            }
            _ => item.released,
        }
    }
}

impl Behavior for Replay {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        let Some(item) = self.items.get(self.at) else { return Step::Exit };
        match self.state {
            State::Await => {
                self.state = State::Begin;
                self.released = self.due(item, now);
                Step::AwaitUntil(self.released)
            }
            State::Begin => {
                self.state = State::Run;
                Step::Begin { item: self.at as u64, released: self.released }
            }
            State::Run => {
                self.state = State::End;
                Step::Run(item.work)
            }
            State::End => {
                self.state = State::Await;
                self.at += 1;
                Step::End { item: self.at as u64 - 1 }
            }
        }
    }

    fn is_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    /// (release, work) in ms at 1 GHz; recorded at the same speed.
    fn releases(items: &[(u64, u64)], pace: Pace, khz: u64) -> Vec<u64> {
        let items = items.iter().map(|&(at, ms)| Recorded {
            released: Nanos::from_millis(at),
            work: Work { cycles: ms * 1_000_000, memory: Nanos::ZERO },
            busy: Nanos::from_millis(ms),
            way: 0,
        });
        let mut replay = Replay::new(items.collect(), pace);
        let steps = play(&mut replay, Nanos::from_secs(10), khz);
        let released = |(_, step): (Nanos, Step)| match step {
            Step::Begin { released, .. } => Some(released.0 / 1_000_000),
            _ => None,
        };
        steps.into_iter().filter_map(released).collect()
    }

    #[test]
    fn an_open_loop_keeps_its_times_and_a_closed_one_its_gaps() {
        let items = [(0, 4), (10, 4), (12, 4), (30, 1)];
        assert_eq!(releases(&items, Pace::Open, 1_000_000), [0, 10, 12, 30]);
        assert_eq!(releases(&items, Pace::Open, 500_000), [0, 10, 12, 30]);
        // Gaps of 6, 0 and 14 ms after items of 4 ms each, or of 8 at half the speed.
        assert_eq!(releases(&items, Pace::Closed, 1_000_000), [0, 10, 14, 32]);
        assert_eq!(releases(&items, Pace::Closed, 500_000), [0, 14, 22, 44]);
    }

    #[test]
    fn it_ends() {
        let mut nothing = Replay::new(Arc::from([]), Pace::Open);
        let steps = play(&mut nothing, Nanos::from_secs(1), 1_000_000);
        assert_eq!(steps, [(Nanos::ZERO, Step::Exit)]);
    }
}
