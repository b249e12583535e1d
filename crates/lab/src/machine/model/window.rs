//! The measured task: releases on a grid of absolute times, one window of work at each.

use crate::protocol::windows::trial::Grid;
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The CPU on which the present window began. The observer writes it, the task reads it right
/// after: a window's cycles depend on the kind of core that it got.
pub(super) type Whereabouts = Arc<AtomicU32>;

/// The mark that the measured task leaves after its last window.
pub(super) const DONE: &str = "done";

/// The measured task's behaviour.
pub(super) struct WindowTask {
    pub grid: Grid,
    pub releases: u64,
    /// Work of one window on each CPU.
    pub works: Vec<Work>,
    pub cpu: Whereabouts,
    pub index: u64,
    pub step: Next,
}

/// What the task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    Begin,
    Run,
    End,
    Release,
    Leave,
}

impl Behavior for WindowTask {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        if self.step == Next::Release {
            // A release that is due for a whole period is skipped, as on a real machine.
            self.index = self.grid.next(self.index, now);
            self.step = Next::Wait;
        }
        let released = self.grid.release(self.index);
        let (step, next) = match self.step {
            Next::Wait if self.index >= self.releases => (Step::Mark(DONE), Next::Leave),
            Next::Wait | Next::Release => (Step::SleepUntil(released), Next::Begin),
            Next::Begin => (Step::Begin { item: self.index, released }, Next::Run),
            Next::Run => (Step::Run(self.work()), Next::End),
            Next::End => (Step::End { item: self.index }, Next::Release),
            Next::Leave => (Step::Exit, Next::Leave),
        };
        self.step = next;
        step
    }
}

impl WindowTask {
    fn work(&self) -> Work {
        let cpu = self.cpu.load(Ordering::Relaxed) as usize;
        self.works.get(cpu).or(self.works.first()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn windows_follow_the_grid_and_overruns_skip_releases() {
        let mut task = WindowTask {
            grid: Grid::new(Nanos(1_000), Nanos(100)),
            releases: 5,
            works: vec![
                Work { cycles: 1, memory: Nanos::ZERO },
                Work { cycles: 2, memory: Nanos::ZERO },
            ],
            cpu: Arc::new(AtomicU32::new(1)),
            index: 0,
            step: Next::Wait,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut next = |now: u64| task.next(Nanos(now), &mut random);
        assert_eq!(next(0), Step::SleepUntil(Nanos(1_000)));
        assert_eq!(next(1_000), Step::Begin { item: 0, released: Nanos(1_000) });
        assert_eq!(next(1_000), Step::Run(Work { cycles: 2, memory: Nanos::ZERO }));
        assert_eq!(next(1_250), Step::End { item: 0 });
        assert_eq!(next(1_250), Step::SleepUntil(Nanos(1_200)), "release 1 was due for a period");
        assert_eq!(next(1_250), Step::Begin { item: 2, released: Nanos(1_200) });
        next(1_250);
        next(1_600);
        assert_eq!(next(1_600), Step::Mark(DONE), "release 6 is behind the end");
        assert_eq!(next(1_600), Step::Exit);
    }
}
