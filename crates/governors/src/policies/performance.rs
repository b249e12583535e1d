//! Always the highest frequency that the policy allows.

use crate::knobs::Knobs;
use crate::policy::Policy;
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{Nanos, Relation};

/// Linux's `performance`: the policy's maximum, at the start and whenever the limits change.
#[derive(Debug)]
pub struct Performance {
    knobs: Knobs<0>,
    policy: Option<Policy>,
}

impl Performance {
    /// Upstream name.
    pub const NAME: &'static str = "performance";
}

impl Default for Performance {
    fn default() -> Performance {
        Performance { knobs: Knobs::new(Performance::NAME, []), policy: None }
    }
}

impl Governor for Performance {
    fn name(&self) -> &'static str {
        Performance::NAME
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let mut policy = Policy::of(domain);
        let decision = policy.insist(policy.max, Relation::H, "the policy's maximum");
        self.policy = Some(policy);
        decision
    }

    fn on(&mut self, event: &Event<'_>, _now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match *event {
            Event::Limits { min, max } => {
                policy.set_limits(min, max);
                policy.insist(policy.max, Relation::H, "the policy's new maximum")
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
        let mut governor = Performance::default();
        let request =
            |khz| Some(Request::Frequency { target: KiloHertz(khz), relation: Relation::H });
        let domain = domain(&[600_000, 800_000, 1_000_000]);
        let start = governor.start(&domain, Nanos::ZERO);
        assert_eq!(start.request, request(domain.max.0));
        let limits = Event::Limits { min: KiloHertz(800_000), max: KiloHertz(800_000) };
        assert_eq!(governor.on(&limits, Nanos(1)).request, request(800_000));
    }
}
