//! A job of fixed work that starts at a random time: Thomson's Table 1 (229.2 ms at 1700 MHz).

use super::uniform;
use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Jobs with rests between them; the response of each is its completion time.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The job.
    pub work: Work,
    /// Time before the first job, and between jobs.
    pub rest: Nanos,
    /// A random time below this is added to every rest.
    pub spread: Nanos,
    /// Number of jobs.
    pub jobs: u64,
    done: u64,
    step: u8,
}

impl Batch {
    /// `jobs` jobs, each after a rest.
    pub fn new(work: Work, rest: Nanos, spread: Nanos, jobs: u64) -> Batch {
        Batch { work, rest, spread, jobs, done: 0, step: 0 }
    }
}

impl Behavior for Batch {
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        if self.done >= self.jobs {
            return Step::Exit;
        }
        self.step = (self.step + 1) % 4;
        match self.step {
            1 => Step::Sleep(self.rest + Nanos(uniform(random, self.spread.0))),
            2 => Step::Begin { item: self.done, released: now },
            3 => Step::Run(self.work),
            _ => {
                self.done += 1;
                Step::End { item: self.done - 1 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    #[test]
    fn the_jobs_are_done_and_the_task_ends() {
        let work = Work { cycles: 389_640_000, memory: Nanos::ZERO };
        let mut batch = Batch::new(work, Nanos::from_secs(1), Nanos::from_millis(250), 3);
        let steps = play(&mut batch, Nanos::from_secs(60), 1_700_000);
        assert_eq!(steps.len(), 13);
        assert_eq!(steps[12].1, Step::Exit);
        let (begin, end) = (steps[1].0, steps[3].0);
        assert_eq!(end.since(begin), Nanos(229_200_000));
    }
}
