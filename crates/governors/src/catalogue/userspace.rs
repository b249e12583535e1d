//! The frequency that somebody sets.

use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::{TunableSpec, Tunables};
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{KiloHertz, Nanos, Relation};

/// Linux's `userspace`: holds `scaling_setspeed`, which starts as the present frequency.
///
/// Limits bend the frequency but not the setting: it returns when the limits allow it. A new
/// setting takes effect with the next event.
#[derive(Debug)]
pub struct Userspace {
    tunables: Tunables<1>,
    policy: Option<CpufreqPolicy>,
    /// The setting was changed and not yet asked for.
    changed: bool,
}

const SETSPEED: usize = 0;

impl Userspace {
    /// Upstream name.
    pub const NAME: &'static str = "userspace";
}

impl Default for Userspace {
    fn default() -> Userspace {
        let setspeed = TunableSpec {
            name: "scaling_setspeed",
            doc: "frequency to hold, in kHz; default: the frequency at the start",
            default: 0,
            min: 0,
            max: u32::MAX as i64,
        };
        let tunables = Tunables::new(Userspace::NAME, [setspeed]);
        Userspace { tunables, policy: None, changed: false }
    }
}

impl Userspace {
    fn hold(&mut self, why: &'static str) -> Decision {
        let speed = KiloHertz(self.tunables.unsigned(SETSPEED));
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        self.changed = false;
        let relation = if speed > policy.max { Relation::H } else { Relation::L };
        policy.target(speed, relation, why)
    }
}

impl Governor for Userspace {
    fn name(&self) -> &'static str {
        Userspace::NAME
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let current = i64::try_from(domain.current.0).unwrap_or(i64::MAX);
        self.tunables.rebase(SETSPEED, current, 0);
        self.policy = Some(CpufreqPolicy::of(domain));
        self.hold("scaling_setspeed")
    }

    fn on(&mut self, event: &Event<'_>, _now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match *event {
            Event::Limits { min, max } => {
                policy.set_limits(min, max);
                return self.hold("scaling_setspeed under new limits");
            }
            Event::Applied { frequency } => policy.current = frequency,
            _ => {}
        }
        if self.changed { self.hold("scaling_setspeed") } else { Decision::NONE }
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.tunables.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.tunables.set(name, value)?;
        self.changed = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::testing::domain;

    fn frequency(decision: Decision) -> Option<u64> {
        match decision.request {
            Some(Request::Frequency { target, .. }) => Some(target.0),
            _ => None,
        }
    }

    #[test]
    fn the_setting_survives_limits() {
        let mut governor = Userspace::default();
        governor.start(&domain(&[600_000, 800_000, 1_000_000]), Nanos::ZERO);
        governor.set("scaling_setspeed", 1_000_000).unwrap();
        assert_eq!(frequency(governor.on(&Event::Timer, Nanos(1))), Some(1_000_000));
        let limits = |max| Event::Limits { min: KiloHertz(0), max: KiloHertz(max) };
        assert_eq!(frequency(governor.on(&limits(800_000), Nanos(2))), Some(800_000));
        assert_eq!(frequency(governor.on(&limits(u64::MAX), Nanos(3))), Some(1_000_000));
        assert_eq!(frequency(governor.on(&Event::Timer, Nanos(4))), None);
    }
}
