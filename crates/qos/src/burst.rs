//! How long a thread has been running since its last sleep, from the records of its switches.

use flyball_governors::ResponseRamp;
use flyball_host::{Switch, SwitchRecord};
use flyball_units::Nanos;

/// A run shorter than this gets nothing: most end before a frequency could have changed.
const SHORTEST: Nanos = Nanos::from_millis(3);
/// The demand of a thread that can ask for no more.
pub(crate) const FULL: Option<u32> = Some(1024);

/// The frequency takes 2 to 3 ms to follow a clamp, which leads it by so much: it is the frequency that follows the
/// ramp then.
const LEAD: Nanos = Nanos::from_micros(2500);
/// A clamp is set again where the ramp has risen by so much,
const RISE: u32 = 96;
/// but not sooner than after this time, in which the frequency would not have followed yet,
const NEAREST: Nanos = Nanos::from_millis(2);
/// nor later than after this.
const FARTHEST: Nanos = Nanos::from_millis(8);

/// What a thread is to count for, and for how long: none until it does something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub demand: Option<u32>,
    pub lasts: Option<Nanos>,
}

impl Step {
    /// What the ramp says in the middle of the time for which the frequency is to stay.
    pub fn of(ramp: ResponseRamp, running: Nanos) -> Step {
        let running = running + LEAD;
        let here = ramp.demand(running);
        if Some(here) == FULL {
            return Step { demand: FULL, lasts: None };
        }
        let mut lasts = NEAREST;
        while lasts < FARTHEST && ramp.demand(running + lasts) < here + RISE {
            lasts = lasts + Nanos::from_millis(1);
        }
        Step { demand: Some(ramp.demand(running + Nanos(lasts.0 / 2))), lasts: Some(lasts) }
    }
}

/// The time that a thread has been running without a sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Burst {
    state: State,
    /// Before it was given the CPU that it has now.
    before: Nanos,
    /// How often it was given a CPU since the last [`Burst::starts`].
    starts: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Asleep,
    /// It would run.
    Ready,
    Running {
        since: Nanos,
    },
}

impl Burst {
    /// A thread that is seen for the first time, running or asleep.
    pub fn new(runs: bool, now: Nanos) -> Burst {
        let state = if runs { State::Running { since: now } } else { State::Asleep };
        Burst { state, ..Burst::default() }
    }

    /// Takes a record in.
    pub fn take(&mut self, record: &SwitchRecord) {
        match record.what {
            Switch::In => {
                // Twice without leaving between: what it did meanwhile was lost.
                self.state = State::Running { since: record.at };
                self.starts = self.starts.saturating_add(1);
            }
            Switch::Out { ready: true } => {
                self.before = self.running(record.at);
                self.state = State::Ready;
            }
            Switch::Out { ready: false } | Switch::Ended | Switch::Lost => {
                self.before = Nanos::ZERO;
                self.state = State::Asleep;
            }
            Switch::Made { .. } => {}
        }
    }

    /// Whether it runs, or would.
    pub fn is_awake(&self) -> bool {
        self.state != State::Asleep
    }

    /// How long it has been running by `now`.
    pub fn running(&self, now: Nanos) -> Nanos {
        match self.state {
            State::Asleep => Nanos::ZERO,
            State::Ready => self.before,
            State::Running { since } => self.before + now.since(since),
        }
    }

    /// What the thread is to count for from now on: nothing where its run is short, else what the ramp says.
    pub fn step(&self, ramp: ResponseRamp, now: Nanos) -> Step {
        let running = self.running(now);
        if running < SHORTEST {
            let lasts = match self.state {
                State::Asleep => None,
                // Its time stands still: what is left of it may be next to nothing, again and again.
                State::Ready => Some(SHORTEST),
                State::Running { .. } => Some(SHORTEST.since(running)),
            };
            return Step { demand: None, lasts };
        }
        Step::of(ramp, running)
    }

    /// How often it was given a CPU since the last time that this was asked.
    pub fn starts(&mut self) -> u32 {
        std::mem::take(&mut self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64, what: Switch) -> SwitchRecord {
        SwitchRecord { at: Nanos::from_millis(ms), what }
    }

    #[test]
    fn a_sleep_ends_it_and_a_preemption_does_not() {
        let mut burst = Burst::default();
        burst.take(&at(10, Switch::In));
        assert_eq!(burst.running(Nanos::from_millis(12)), Nanos::from_millis(2));
        burst.take(&at(14, Switch::Out { ready: true }));
        assert!(burst.is_awake());
        assert_eq!(burst.running(Nanos::from_millis(20)), Nanos::from_millis(4));
        burst.take(&at(20, Switch::In));
        assert_eq!(burst.running(Nanos::from_millis(21)), Nanos::from_millis(5));
        burst.take(&at(22, Switch::Out { ready: false }));
        assert!(!burst.is_awake());
        assert_eq!(burst.running(Nanos::from_millis(30)), Nanos::ZERO);
        assert_eq!((burst.starts(), burst.starts()), (2, 0));
    }

    #[test]
    fn short_runs_ask_for_nothing() {
        let ramp = ResponseRamp::new(4);
        let burst = Burst::new(true, Nanos::ZERO);
        let step = burst.step(ramp, Nanos::from_micros(2999));
        assert_eq!(step, Step { demand: None, lasts: Some(Nanos::from_micros(1)) });
        assert!(burst.step(ramp, Nanos::from_millis(8)).demand.is_some());
        let mut preempted = burst;
        preempted.take(&at(2, Switch::Out { ready: true }));
        let step = preempted.step(ramp, Nanos::from_millis(9));
        assert_eq!(step, Step { demand: None, lasts: Some(SHORTEST) });
        let asleep = Burst::new(false, Nanos::ZERO);
        assert_eq!(asleep.step(ramp, Nanos::from_secs(1)), Step::default());
    }

    #[test]
    fn steps_follow_the_ramp_and_end_at_the_whole() {
        for multiplier in [1, 2, 4, 8, 64] {
            let ramp = ResponseRamp::new(multiplier);
            let burst = Burst::new(true, Nanos::ZERO);
            let (mut now, mut steps, mut last) = (SHORTEST, 0, 0);
            while let Step { demand: Some(demand), lasts: Some(lasts) } = burst.step(ramp, now) {
                assert!((NEAREST..=FARTHEST).contains(&lasts), "{multiplier}: {lasts:?}");
                let (led, end) = (now + LEAD, now + LEAD + lasts);
                assert!(demand >= ramp.demand(led) && demand <= ramp.demand(end));
                assert!(demand > last, "{multiplier}");
                (now, steps, last) = (now + lasts, steps + 1, demand);
            }
            let whole = Step { demand: FULL, lasts: None };
            assert_eq!(burst.step(ramp, now), whole, "{multiplier}");
            assert!(steps <= 30, "{multiplier}: {steps}");
        }
        // 80 % of the highest frequency, of five, take a clamp above 614 of 1024.
        let burst = Burst::new(true, Nanos::ZERO);
        let reached = |multiplier| {
            let mut now = SHORTEST;
            loop {
                let step = burst.step(ResponseRamp::new(multiplier), now);
                match step.demand {
                    Some(demand) if demand <= 614 => now = now + step.lasts.unwrap(),
                    _ => return now.0 as f64 / 1e6,
                }
            }
        };
        assert_eq!((reached(4), reached(8)), (8.0, 3.0));
    }

    #[test]
    fn after_lost_records_a_thread_counts_as_asleep_until_it_is_seen_again() {
        let mut burst = Burst::new(true, Nanos::ZERO);
        burst.take(&at(50, Switch::Lost));
        assert!(!burst.is_awake());
        burst.take(&at(60, Switch::In));
        assert_eq!(burst.running(Nanos::from_millis(61)), Nanos::from_millis(1));
    }

    #[test]
    fn records_out_of_order_do_no_harm() {
        let mut burst = Burst::default();
        burst.take(&at(10, Switch::In));
        burst.take(&at(5, Switch::Out { ready: true }));
        assert_eq!(burst.running(Nanos::ZERO), Nanos::ZERO);
    }
}
