//! What a governor keeps of its domain: operating points, limits, the present frequency.

use crate::{Decision, Domain};
use flyball_units::{KiloHertz, OppTable, Relation};

/// A domain's clock as its governor sees it (the part of a cpufreq policy that changes).
#[derive(Clone, Debug)]
pub(crate) struct CpufreqPolicy {
    pub opps: OppTable,
    /// CpufreqPolicy limits, inside the hardware's.
    pub min: KiloHertz,
    pub max: KiloHertz,
    /// The frequency last asked for or reported.
    pub current: KiloHertz,
}

impl CpufreqPolicy {
    pub fn of(domain: &Domain) -> CpufreqPolicy {
        let mut policy = CpufreqPolicy {
            opps: domain.opps.clone(),
            min: domain.min,
            max: domain.max,
            current: domain.current,
        };
        policy.set_limits(domain.min, domain.max);
        policy
    }

    /// Takes over limits as cpufreq verifies them: inside the hardware's, the lower one giving way.
    pub fn set_limits(&mut self, min: KiloHertz, max: KiloHertz) {
        let inside = |frequency: KiloHertz| frequency.max(self.opps.min()).min(self.opps.max());
        self.max = inside(max);
        self.min = inside(min).min(self.max);
    }

    /// `frequency`, or the nearer limit.
    pub fn clamp(&self, frequency: KiloHertz) -> KiloHertz {
        frequency.max(self.min).min(self.max)
    }

    /// The operating point for a target.
    pub fn resolve(&self, target: KiloHertz, relation: Relation) -> KiloHertz {
        self.opps.resolve(target, self.min, self.max, relation)
    }

    /// Asks for a frequency unless that is the present one already.
    pub fn target(&mut self, target: KiloHertz, relation: Relation, why: &'static str) -> Decision {
        let target = self.clamp(target);
        let resolved = self.resolve(target, relation);
        if resolved == self.current {
            return Decision { why, ..Decision::NONE };
        }
        self.current = resolved;
        Decision::frequency(target, relation, why)
    }

    /// Asks for a frequency even if it should be the present one.
    pub fn insist(&mut self, target: KiloHertz, relation: Relation, why: &'static str) -> Decision {
        let target = self.clamp(target);
        self.current = self.resolve(target, relation);
        Decision::frequency(target, relation, why)
    }

    /// Takes over new limits and brings the frequency inside them, as cpufreq does for governors
    /// that would otherwise wait for their next sample.
    pub fn apply_limits(&mut self, min: KiloHertz, max: KiloHertz) -> Decision {
        self.set_limits(min, max);
        if self.max < self.current {
            self.target(self.max, Relation::HE, "above the new limit")
        } else if self.min > self.current {
            self.target(self.min, Relation::LE, "below the new limit")
        } else {
            Decision::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::testing::domain;

    #[test]
    fn limits_stay_inside_the_hardware_and_in_order() {
        let mut policy = CpufreqPolicy::of(&domain(&[600_000, 800_000, 1_000_000]));
        policy.set_limits(KiloHertz(0), KiloHertz(u64::MAX));
        assert_eq!((policy.min.0, policy.max.0), (600_000, 1_000_000));
        policy.set_limits(KiloHertz(900_000), KiloHertz(700_000));
        assert_eq!((policy.min.0, policy.max.0), (700_000, 700_000));
    }

    #[test]
    fn a_frequency_outside_new_limits_is_brought_inside() {
        let mut policy = CpufreqPolicy::of(&domain(&[600_000, 800_000, 1_000_000]));
        policy.current = KiloHertz(1_000_000);
        let decision = policy.apply_limits(KiloHertz(600_000), KiloHertz(900_000));
        let target = KiloHertz(900_000);
        assert_eq!(decision.request, Some(Request::Frequency { target, relation: Relation::HE }));
        assert_eq!(policy.current.0, 800_000);
        assert_eq!(policy.apply_limits(KiloHertz(0), KiloHertz(u64::MAX)), Decision::NONE);
    }
}
