//! An interactive page: short tasks in dependency chains.
//!
//! The stand-in for the response-time series' Speedometer: a main thread and its helpers hand work to each other.
//! Every hand-over puts one task to sleep and wakes another, so no task runs long enough to build
//! up utilisation by itself, and the chain as a whole is as slow as the governor's answer.
//!
//! ```text
//!   main    [run][wake h1][wait]      [run][wake h2][wait]      ... [pause]
//!   h1                    [run][wake main]
//!   h2                                              [run][wake main]
//! ```

use super::uniform;
use crate::behavior::{Behavior, Step, Work};
use crate::setup::TaskId;
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a page consists of.
#[derive(Clone, Debug)]
pub struct PageLoad {
    /// Stages of one page.
    pub stages: u32,
    /// Mean work of the main thread per stage.
    pub main: Work,
    /// Mean work of a helper per stage.
    pub helper: Work,
    /// Pause after every `pause_every` stages: timers and frames that the page waits for.
    pub pause: Nanos,
    /// Stages between pauses.
    pub pause_every: u32,
    /// Quiet time between two pages.
    pub think: Nanos,
    /// Pages after which the tasks end; None: never.
    pub pages: Option<u64>,
}

/// The main thread.
#[derive(Clone, Debug)]
pub struct PageMain {
    page: PageLoad,
    helpers: Vec<TaskId>,
    number: u64,
    stage: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    Run,
    Hand,
    Wait,
    Pause,
    End,
    Think,
}

impl PageMain {
    /// The main thread of a page with these helpers; without helpers it works alone.
    pub fn new(page: PageLoad, helpers: Vec<TaskId>) -> PageMain {
        PageMain { page, helpers, number: 0, stage: 0, state: State::Begin }
    }

    /// The state after a stage.
    fn after_stage(&mut self) -> State {
        self.stage += 1;
        let pauses = self.page.pause_every > 0 && self.stage.is_multiple_of(self.page.pause_every);
        match (self.stage >= self.page.stages, pauses) {
            (true, _) => State::End,
            (false, true) => State::Pause,
            (false, false) => State::Run,
        }
    }
}

impl Behavior for PageMain {
    fn next(&mut self, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        match self.state {
            State::Begin if self.page.pages.is_some_and(|pages| self.number >= pages) => Step::Exit,
            State::Begin => {
                (self.state, self.stage) = (State::Run, 0);
                Step::Begin { item: self.number, released: now }
            }
            State::Run => {
                let alone = self.helpers.is_empty();
                self.state = if alone { self.after_stage() } else { State::Hand };
                Step::Run(varied(self.page.main, random))
            }
            State::Hand => {
                self.state = State::Wait;
                let helper = self.helpers.get(self.stage as usize % self.helpers.len().max(1));
                helper.map_or(Step::Mark("alone"), |helper| Step::Wake(*helper))
            }
            State::Wait => {
                self.state = self.after_stage();
                Step::Wait
            }
            State::Pause => {
                self.state = State::Run;
                Step::Sleep(self.page.pause)
            }
            State::End => {
                self.state = State::Think;
                self.number += 1;
                Step::End { item: self.number - 1 }
            }
            State::Think => {
                self.state = State::Begin;
                Step::Sleep(self.page.think)
            }
        }
    }
}

/// A helper: waits, works, wakes the main thread.
#[derive(Clone, Debug)]
pub struct PageHelper {
    main: TaskId,
    work: Work,
    step: u8,
}

impl PageHelper {
    /// A helper of the task `main`.
    pub fn new(page: &PageLoad, main: TaskId) -> PageHelper {
        PageHelper { main, work: page.helper, step: 0 }
    }
}

impl Behavior for PageHelper {
    fn next(&mut self, _: Nanos, random: &mut Xoshiro256PlusPlus) -> Step {
        self.step = (self.step + 1) % 3;
        match self.step {
            1 => Step::Wait,
            2 => Step::Run(varied(self.work, random)),
            _ => Step::Wake(self.main),
        }
    }
}

/// Between half and one and a half of the mean.
fn varied(mean: Work, random: &mut Xoshiro256PlusPlus) -> Work {
    let vary = |value: u64, part: u64| {
        u64::try_from(u128::from(value) * u128::from(part) / 1000).unwrap_or(u64::MAX)
    };
    let part = 500 + uniform(random, 1001);
    Work { cycles: vary(mean.cycles, part), memory: Nanos(vary(mean.memory.0, part)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::play;

    fn page() -> PageLoad {
        let work = Work { cycles: 1_000_000, memory: Nanos::ZERO };
        PageLoad {
            stages: 6,
            main: work,
            helper: work,
            pause: Nanos::from_millis(4),
            pause_every: 3,
            think: Nanos::from_millis(100),
            pages: Some(2),
        }
    }

    #[test]
    fn a_page_hands_over_once_per_stage_and_pauses() {
        let mut main = PageMain::new(page(), vec![TaskId(4), TaskId(5)]);
        let steps = play(&mut main, Nanos::from_secs(10), 1_000_000);
        let count = |what: fn(&Step) -> bool| steps.iter().filter(|(_, s)| what(s)).count();
        assert_eq!(count(|s| matches!(s, Step::Run(_))), 12);
        assert_eq!(count(|s| matches!(s, Step::Wake(TaskId(4)))), 6);
        assert_eq!(count(|s| matches!(s, Step::Wait)), 12);
        assert_eq!(count(|s| *s == Step::Sleep(Nanos::from_millis(4))), 2);
        assert_eq!(steps.last().unwrap().1, Step::Exit);
    }

    #[test]
    fn a_helper_answers() {
        let mut helper = PageHelper::new(&page(), TaskId(3));
        let steps = play(&mut helper, Nanos::from_millis(2), 1_000_000);
        assert_eq!(steps[0].1, Step::Wait);
        assert_eq!(steps[2].1, Step::Wake(TaskId(3)));
    }
}
