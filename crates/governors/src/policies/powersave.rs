//! Always the lowest frequency that the policy allows.

use crate::knobs::Knobs;
use crate::policy::Policy;
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{Nanos, Relation};

/// Linux's `powersave`: the policy's minimum, at the start and whenever the limits change.
#[derive(Debug)]
pub struct Powersave {
    knobs: Knobs<0>,
    policy: Option<Policy>,
}

impl Powersave {
    /// Upstream name.
    pub const NAME: &'static str = "powersave";
}

impl Default for Powersave {
    fn default() -> Powersave {
        Powersave { knobs: Knobs::new(Powersave::NAME, []), policy: None }
    }
}

impl Governor for Powersave {
    fn name(&self) -> &'static str {
        Powersave::NAME
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let mut policy = Policy::of(domain);
        let decision = policy.insist(policy.min, Relation::L, "the policy's minimum");
        self.policy = Some(policy);
        decision
    }

    fn on(&mut self, event: &Event<'_>, _now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match *event {
            Event::Limits { min, max } => {
                policy.set_limits(min, max);
                policy.insist(policy.min, Relation::L, "the policy's new minimum")
            }
            _ => Decision::NONE,
        }
    }

    fn tunables(&self) -> Vec<Tunable> {
        self.knobs.list()
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), TunableError> {
        self.knobs.set(name, value).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::testing::domain;
    use flyball_units::KiloHertz;

    #[test]
    fn the_limit_is_followed() {
        let mut governor = Powersave::default();
        let request =
            |khz| Some(Request::Frequency { target: KiloHertz(khz), relation: Relation::L });
        let domain = domain(&[600_000, 800_000, 1_000_000]);
        let start = governor.start(&domain, Nanos::ZERO);
        assert_eq!(start.request, request(domain.min.0));
        let limits = Event::Limits { min: KiloHertz(800_000), max: KiloHertz(800_000) };
        assert_eq!(governor.on(&limits, Nanos(1)).request, request(800_000));
    }
}
