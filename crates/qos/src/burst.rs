//! A thread's runs, from the records of its switches.

use flyball_governors::{ClampRamp, ClampStep, ResponseRamp};
use flyball_host::{Switch, SwitchRecord};
use flyball_units::Nanos;

/// What the rule of clamps has seen of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    rule: ClampRamp,
    /// How often it was given a CPU since the last [`Burst::starts`].
    starts: u32,
}

impl Burst {
    /// A thread that is seen for the first time, running or asleep.
    pub fn new(runs: bool, now: Nanos) -> Burst {
        Burst { rule: ClampRamp::new(runs, now), starts: 0 }
    }

    /// Takes a record in.
    pub fn take(&mut self, SwitchRecord { at, what }: SwitchRecord) {
        match what {
            Switch::In => {
                self.rule.run(at);
                self.starts = self.starts.saturating_add(1);
            }
            Switch::Out { ready: true } => self.rule.wait(at),
            Switch::Out { ready: false } => self.rule.sleep(at),
            Switch::Ended | Switch::Lost => self.rule.lose(),
            Switch::Ran => self.rule.ran(at),
            Switch::Made { .. } => {}
        }
    }

    /// Whether it runs, or would.
    pub fn is_awake(&self) -> bool {
        self.rule.is_awake()
    }

    /// What it is to count for from now on.
    pub fn step(&self, ramp: ResponseRamp, now: Nanos) -> ClampStep {
        self.rule.step(ramp, now)
    }

    /// How often it was given a CPU since the last time that this was asked.
    pub fn starts(&mut self) -> u32 {
        std::mem::take(&mut self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_runs_and_starts_are_counted_once() {
        let at = |ms, what| SwitchRecord { at: Nanos::from_millis(ms), what };
        let mut burst = Burst::new(false, Nanos::ZERO);
        let made = Switch::Made { pid: 1, tid: 2 };
        for what in [Switch::In, Switch::Out { ready: true }, Switch::In, made, Switch::Ran] {
            burst.take(at(10, what));
            assert!(burst.is_awake());
        }
        let demand = burst.step(ResponseRamp::new(4), Nanos::from_millis(20)).demand;
        assert!(demand.is_some());
        assert_eq!((burst.starts(), burst.starts()), (2, 0));
        for what in [Switch::Out { ready: false }, Switch::Ended, Switch::Lost] {
            burst.take(at(20, Switch::In));
            burst.take(at(30, what));
            assert!(!burst.is_awake());
        }
    }
}
