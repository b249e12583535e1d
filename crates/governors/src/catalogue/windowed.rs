//! Two frequencies in turn: an experiment, not a saving.

use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables};
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

/// The schedule that the i.MX8QM latency report ran under DEmOS: alternate between two frequencies
/// at the start of each window of length W.
///
/// The share of the expected work that is lost gives the stall of a switch: L = W x (1 - reached /
/// expected). Windows are counted from the start without drift; one that the timer missed is
/// skipped, and its frequency with it.
#[derive(Debug)]
pub struct Windowed {
    tunables: Tunables<3>,
    policy: Option<CpufreqPolicy>,
    begin: Nanos,
}

const WINDOW: usize = 0;
const FIRST: usize = 1;
const SECOND: usize = 2;

const SPECS: [TunableSpec; 3] = [
    TunableSpec {
        name: "window_us",
        doc: "W: time at each frequency, in us",
        default: 1_000,
        min: 10,
        max: 3_600_000_000,
    },
    TunableSpec {
        name: "first_khz",
        doc: "frequency of even windows, in kHz; 0: the policy's minimum",
        default: 0,
        min: 0,
        max: u32::MAX as i64,
    },
    TunableSpec {
        name: "second_khz",
        doc: "frequency of odd windows, in kHz; 0: the policy's maximum",
        default: 0,
        min: 0,
        max: u32::MAX as i64,
    },
];

impl Windowed {
    /// Name.
    pub const NAME: &'static str = "windowed";

    fn window(&mut self, now: Nanos) -> Decision {
        let length = Nanos::from_micros(self.tunables.unsigned(WINDOW)).0.max(1);
        let number = now.since(self.begin).0 / length;
        let even = number.is_multiple_of(2);
        let setting = self.tunables.unsigned(if even { FIRST } else { SECOND });
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        let target = match (setting, even) {
            (0, true) => policy.min,
            (0, false) => policy.max,
            (khz, _) => KiloHertz(khz),
        };
        let why = if even { "an even window begins" } else { "an odd window begins" };
        let next = self.begin + Nanos(number.saturating_add(1).saturating_mul(length));
        policy.target(target, Relation::C, why).wake_at(next)
    }
}

impl Default for Windowed {
    fn default() -> Windowed {
        Windowed {
            tunables: Tunables::new(Windowed::NAME, SPECS),
            policy: None,
            begin: Nanos::ZERO,
        }
    }
}

impl Governor for Windowed {
    fn name(&self) -> &'static str {
        Windowed::NAME
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        self.policy = Some(CpufreqPolicy::of(domain));
        self.begin = now;
        self.window(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match *event {
            Event::Timer => self.window(now),
            Event::Limits { min, max } => policy.apply_limits(min, max),
            Event::Applied { frequency } => {
                policy.current = frequency;
                Decision::NONE
            }
            _ => Decision::NONE,
        }
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.tunables.set(name, value).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::domain;

    #[test]
    fn windows_alternate_without_drift() {
        let mut governor = Windowed::default();
        governor.set("second_khz", 1_104_000).unwrap();
        let domain = domain(&[600_000, 896_000, 1_104_000, 1_200_000]);
        let begin = Nanos::from_millis(3);
        let mut decision = governor.start(&domain, begin);
        for number in 1..10u64 {
            let at = decision.wake_at.unwrap();
            assert_eq!(at, begin + Nanos::from_millis(number));
            decision = governor.on(&Event::Timer, at + Nanos(number));
            let expected = if number % 2 == 0 { 600_000 } else { 1_104_000 };
            assert_eq!(governor.policy.as_ref().unwrap().current.0, expected);
        }
        let late = governor.on(&Event::Timer, Nanos::from_millis(23) + Nanos(1));
        assert_eq!(late.wake_at, Some(Nanos::from_millis(24)), "missed windows are skipped");
    }
}
