//! How long a thread has been running since its last sleep, from the records of its switches.

use flyball_governors::ResponseRamp;
use flyball_host::{Switch, SwitchRecord};
use flyball_units::Nanos;

/// A run shorter than this gets nothing: most end before a frequency could have changed.
const SHORTEST: Nanos = Nanos::from_millis(3);

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

    /// What the thread is to count for now; none where it asks for nothing special.
    pub fn demand(&self, ramp: ResponseRamp, now: Nanos) -> Option<u32> {
        let running = self.running(now);
        (running >= SHORTEST).then(|| ramp.demand(running))
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
        assert_eq!(burst.demand(ramp, Nanos::from_micros(2999)), None);
        assert_eq!(
            burst.demand(ramp, Nanos::from_millis(8)),
            Some(ramp.demand(Nanos::from_millis(8)))
        );
        assert_eq!(Burst::new(false, Nanos::ZERO).demand(ramp, Nanos::from_secs(1)), None);
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
