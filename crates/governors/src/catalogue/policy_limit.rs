//! Always a limit of the policy: `performance` the highest frequency, `powersave` the lowest.

use crate::cpufreq_policy::CpufreqPolicy;
use crate::tunables::Tunables;
use crate::{Decision, Domain, Event, Governor, Needs, Tunable, TunableError};
use flyball_units::{Nanos, Relation};

/// Linux's `performance` and `powersave`: the policy's maximum or minimum, at the start and
/// whenever the limits change.
#[derive(Debug)]
pub struct PolicyLimit {
    limit: Limit,
    tunables: Tunables<0>,
    policy: Option<CpufreqPolicy>,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Highest,
    Lowest,
}

impl PolicyLimit {
    /// Upstream name of the governor that keeps the maximum.
    pub const PERFORMANCE: &'static str = "performance";
    /// Upstream name of the governor that keeps the minimum.
    pub const POWERSAVE: &'static str = "powersave";

    /// Linux's `performance`.
    pub fn performance() -> PolicyLimit {
        PolicyLimit::keeping(Limit::Highest)
    }

    /// Linux's `powersave`.
    pub fn powersave() -> PolicyLimit {
        PolicyLimit::keeping(Limit::Lowest)
    }

    fn keeping(limit: Limit) -> PolicyLimit {
        PolicyLimit { limit, tunables: Tunables::new(limit.governor(), []), policy: None }
    }
}

impl Limit {
    const fn governor(self) -> &'static str {
        match self {
            Limit::Highest => PolicyLimit::PERFORMANCE,
            Limit::Lowest => PolicyLimit::POWERSAVE,
        }
    }

    fn ask(self, policy: &mut CpufreqPolicy, [highest, lowest]: [&'static str; 2]) -> Decision {
        match self {
            Limit::Highest => policy.insist(policy.max, Relation::H, highest),
            Limit::Lowest => policy.insist(policy.min, Relation::L, lowest),
        }
    }
}

impl Governor for PolicyLimit {
    fn name(&self) -> &'static str {
        self.limit.governor()
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn start(&mut self, domain: &Domain, _now: Nanos) -> Decision {
        let policy = self.policy.insert(CpufreqPolicy::of(domain));
        self.limit.ask(policy, ["the policy's maximum", "the policy's minimum"])
    }

    fn on(&mut self, event: &Event<'_>, _now: Nanos) -> Decision {
        let Some(policy) = &mut self.policy else { return Decision::NONE };
        match *event {
            Event::Limits { min, max } => {
                policy.set_limits(min, max);
                self.limit.ask(policy, ["the policy's new maximum", "the policy's new minimum"])
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
    use crate::Request;
    use crate::testing::domain;
    use flyball_units::KiloHertz;

    #[test]
    fn the_limit_is_followed() {
        let domain = domain(&[600_000, 800_000, 1_000_000]);
        for (mut governor, khz, relation) in [
            (PolicyLimit::performance(), domain.max.0, Relation::H),
            (PolicyLimit::powersave(), domain.min.0, Relation::L),
        ] {
            let request = |khz| Some(Request::Frequency { target: KiloHertz(khz), relation });
            let start = governor.start(&domain, Nanos::ZERO);
            assert_eq!(start.request, request(khz));
            let limits = Event::Limits { min: KiloHertz(800_000), max: KiloHertz(800_000) };
            assert_eq!(governor.on(&limits, Nanos(1)).request, request(800_000));
        }
    }
}
