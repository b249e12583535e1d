//! Work released at regular times: control loops, audio, video, signal kernels; also bursts of full
//! activity with quiet times between them, the burst problem of Thomson 2010 (section 2.3, Figure 5).

use super::uniform;
use crate::behavior::{Behavior, Step, Work};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What happens to releases that pass while the task is still busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrun {
    /// They wait; every one is worked off.
    #[default]
    Queue,
    /// They are lost; the next one in the future is awaited.
    Skip,
}

/// One item of work per period.
#[derive(Clone, Debug)]
pub struct Periodic {
    /// From release to release.
    pub period: Nanos,
    /// First release.
    pub phase: Nanos,
    /// Each release is late by a random time below this.
    pub jitter: Nanos,
    /// Work per release.
    pub work: Work,
    /// What a busy task does about releases.
    pub overrun: Overrun,
    state: State,
    number: u64,
    released: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Await,
    Begin,
    Run,
    End,
}

impl Periodic {
    /// Releases at `phase`, `phase + period`, ...
    pub fn new(period: Nanos, work: Work) -> Periodic {
        Periodic {
            period: period.max(Nanos(1)),
            phase: Nanos::ZERO,
            jitter: Nanos::ZERO,
            work,
            overrun: Overrun::Queue,
            state: State::Await,
            number: 0,
            released: Nanos::ZERO,
        }
    }

    /// Chooses the item to wait for.
    fn release(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Nanos {
        if self.overrun == Overrun::Skip {
            let passed = now.since(self.phase).0.div_ceil(self.period.0);
            self.number = self.number.max(passed);
        }
        let due = Nanos(self.period.0.saturating_mul(self.number)) + self.phase;
        self.released = due + Nanos(uniform(random, self.jitter.0));
        self.released
    }
}

impl Behavior for Periodic {
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        match self.state {
            State::Await => {
                self.state = State::Begin;
                Step::SleepUntil(self.release(now, random))
            }
            State::Begin => {
                self.state = State::Run;
                Step::Begin { item: self.number, released: self.released }
            }
            State::Run => {
                self.state = State::End;
                Step::Run(self.work)
            }
            State::End => {
                self.state = State::Await;
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

    fn releases(periodic: &mut Periodic, end_ms: u64) -> Vec<(u64, u64)> {
        play(periodic, Nanos::from_millis(end_ms), 1_000_000)
            .into_iter()
            .filter_map(|(_, step)| match step {
                Step::Begin { item, released } => Some((item, released.0 / 1_000_000)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn releases_follow_the_period() {
        let work = Work { cycles: 1_000_000, memory: Nanos::ZERO };
        let mut periodic = Periodic::new(Nanos::from_millis(10), work);
        periodic.phase = Nanos::from_millis(3);
        assert_eq!(releases(&mut periodic, 30), [(0, 3), (1, 13), (2, 23)]);
    }

    #[test]
    fn a_late_task_queues_or_skips() {
        let work = Work { cycles: 25_000_000, memory: Nanos::ZERO };
        let mut queue = Periodic::new(Nanos::from_millis(10), work);
        assert_eq!(releases(&mut queue, 60), [(0, 0), (1, 10), (2, 20)]);
        let mut skip = Periodic::new(Nanos::from_millis(10), work);
        skip.overrun = Overrun::Skip;
        assert_eq!(releases(&mut skip, 60), [(0, 0), (3, 30)]);
    }

    #[test]
    fn a_burst_of_time_lasts_as_long_as_told() {
        let burst = Work { cycles: 0, memory: Nanos::from_millis(300) };
        let mut bursts = Periodic::new(Nanos::from_secs(1), burst);
        bursts.phase = Nanos::from_millis(50);
        let steps = play(&mut bursts, Nanos::from_secs(2), 600_000);
        let ends: Vec<u64> = steps
            .iter()
            .filter(|(_, step)| matches!(step, Step::End { .. }))
            .map(|(at, _)| at.0 / 1_000_000)
            .collect();
        assert_eq!(ends, [350, 1350]);
    }

    #[test]
    fn jitter_only_delays() {
        let mut periodic = Periodic::new(Nanos::from_millis(10), Work::default());
        periodic.jitter = Nanos::from_millis(5);
        let late: Vec<u64> =
            releases(&mut periodic, 300).iter().map(|(item, at)| at - item * 10).collect();
        assert!(late.iter().all(|late| *late < 5) && late.iter().any(|late| *late > 0));
    }
}
