//! FreeBSD's powerd as the 2010 paper prints it.

use crate::accounting::{LastTimes, Reading};
use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables};
use crate::{CpuTimes, Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

/// Algorithm 1 of "Improved Power Management for FreeBSD": every 250 ms, load > 95 % quadruples the
/// frequency, > 75 % increases and < 50 % reduces it slightly.
///
/// "Slightly" is not defined there; here it is one operating point. The load is the sum over the
/// CPUs, at most 100, as the daemon sums it.
#[derive(Debug)]
pub struct PowerdPaper {
    tunables: Tunables<4>,
    policy: Option<CpufreqPolicy>,
    last: LastTimes,
}

const POLL_IVAL: usize = 0;
const QUADRUPLE_MARK: usize = 1;
const RUNNING_MARK: usize = 2;
const IDLE_MARK: usize = 3;

const fn percent(name: &'static str, doc: &'static str, default: i64) -> TunableSpec {
    TunableSpec { name, doc, default, min: 0, max: 100 }
}

const SPECS: [TunableSpec; 4] = [
    TunableSpec {
        name: "poll_ival",
        doc: "time between polls, in ms",
        default: 250,
        min: 5,
        max: 60_000,
    },
    percent("quadruple_mark", "load above which the frequency is quadrupled, in percent", 95),
    percent("cpu_running_mark", "load above which it goes one level up, in percent", 75),
    percent("cpu_idle_mark", "load below which it goes one level down, in percent", 50),
];

impl PowerdPaper {
    /// Name; upstream's daemon is `powerd`.
    pub const NAME: &'static str = "powerd-paper";

    fn poll(&mut self, times: &[CpuTimes], now: Nanos) -> Decision {
        let decision = match self.last.advance(times, Reading::default()) {
            Some(spent) => {
                let load: u64 = spent.iter().map(|cpu| cpu.load_percent()).sum();
                self.decide(i64::try_from(load.min(100)).unwrap_or(100))
            }
            None => Decision::NONE,
        };
        decision.wake_at(now + Nanos::from_millis(self.tunables.unsigned(POLL_IVAL)))
    }

    fn decide(&mut self, load: i64) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        let current = policy.current;
        if load > self.tunables.get(QUADRUPLE_MARK) {
            let quadruple = KiloHertz(current.0.saturating_mul(4));
            policy.target(quadruple, Relation::L, "quadrupled")
        } else if load > self.tunables.get(RUNNING_MARK) {
            policy.target(KiloHertz(current.0.saturating_add(1)), Relation::L, "a level up")
        } else if load < self.tunables.get(IDLE_MARK) {
            policy.target(policy.opps.step_down(current), Relation::H, "a level down")
        } else {
            Decision::NONE
        }
    }
}

impl Default for PowerdPaper {
    fn default() -> PowerdPaper {
        let tunables = Tunables::new(PowerdPaper::NAME, SPECS);
        PowerdPaper { tunables, policy: None, last: LastTimes::default() }
    }
}

impl Governor for PowerdPaper {
    fn name(&self) -> &'static str {
        PowerdPaper::NAME
    }

    fn needs(&self) -> Needs {
        Needs { poll: true, ..Needs::default() }
    }

    fn start(&mut self, domain: &Domain, now: Nanos) -> Decision {
        self.policy = Some(CpufreqPolicy::of(domain));
        self.last.clear();
        Decision::NONE.wake_at(now)
    }

    fn on(&mut self, event: &Event<'_>, now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match event {
            Event::Poll { times } => return self.poll(times, now),
            Event::Limits { min, max } => return policy.apply_limits(*min, *max),
            Event::Applied { frequency } => policy.current = *frequency,
            Event::Cpus { .. } => self.last.clear(),
            _ => {}
        }
        Decision::NONE
    }

    fn poll_interval(&self) -> Option<Nanos> {
        Some(Nanos::from_millis(self.tunables.unsigned(POLL_IVAL)))
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
    use crate::testing::{Load, domain};

    #[test]
    fn each_band_of_load_has_its_step() {
        let mut governor = PowerdPaper::default();
        let levels = [300_000, 600_000, 800_000, 1_000_000, 1_200_000, 1_400_000, 1_700_000];
        governor.start(&domain(&levels), Nanos::ZERO);
        let mut load = Load::new();
        governor.on(&load.poll(), load.now());
        let mut step = |percent| {
            load.pass(250, percent);
            let decision = governor.on(&load.poll(), load.now());
            assert_eq!(decision.wake_at, Some(load.now() + Nanos::from_millis(250)));
            governor.policy.as_ref().unwrap().current.0 / 1000
        };
        assert_eq!(step(96), 1200, "4 x 300");
        assert_eq!(step(95), 1400, "above 75: a level up");
        assert_eq!(step(75), 1400, "neither above 75 nor below 50");
        assert_eq!(step(50), 1400);
        assert_eq!(step(49), 1200);
        assert_eq!(step(0), 1000);
        assert_eq!(step(100), 1700);
    }
}
