//! Operating points: the frequency that a clock domain has for the one that was asked for.

use flyball_host::Policy;
use flyball_units::{Frequency, KiloHertz};

/// The operating point of a policy for a frequency: the lowest at or above, inside the hardware's
/// range; none where the policy does not tell its range.
pub(crate) fn resolve(policy: &Policy, asked: Frequency) -> Option<KiloHertz> {
    let (low, high) = (policy.hardware_min_khz?, policy.hardware_max_khz?);
    Some(match asked {
        Frequency::Min => low,
        Frequency::Max => high,
        Frequency::At(khz) => {
            // Not `clamp`, which panics where a machine says that its lowest is above its highest.
            let khz = khz.min(high).max(low);
            let points = policy.available_khz.iter().chain(&policy.boost_khz).copied();
            points.filter(|point| (khz..=high).contains(point)).min().unwrap_or(khz)
        }
    })
}

/// Whether `userspace` can be told exactly `khz`.
pub(crate) fn is_offered(policy: &Policy, khz: KiloHertz) -> bool {
    let listed = policy.available_khz.is_empty();
    listed || policy.available_khz.contains(&khz) || policy.boost_khz.contains(&khz)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    #[test]
    fn a_frequency_becomes_an_operating_point_inside_the_range() {
        let listing = include_str!("../../host/tests/machines/arm-big-little.txt");
        let host = RecordedHost::from_listing(listing).unwrap();
        let policies = Policy::all(&host).unwrap();
        let policy = &policies[0];
        let (low, high) = (policy.hardware_min_khz.unwrap(), policy.hardware_max_khz.unwrap());
        assert_eq!(resolve(policy, Frequency::Min), Some(low));
        assert_eq!(resolve(policy, Frequency::Max), Some(high));
        assert_eq!(resolve(policy, Frequency::At(KiloHertz(1))), Some(low));
        assert_eq!(resolve(policy, Frequency::At(KiloHertz(99_000_000))), Some(high));
        let second = policy.available_khz[1];
        assert_eq!(resolve(policy, Frequency::At(KiloHertz(low.0 + 1))), Some(second));
        assert!(is_offered(policy, second) && !is_offered(policy, KiloHertz(low.0 + 1)));
        let odd = Policy { hardware_max_khz: Some(KiloHertz(1)), ..policy.clone() };
        assert_eq!(resolve(&odd, Frequency::At(second)), Some(low));
        let boosted = Policy { boost_khz: vec![KiloHertz(high.0 - 1)], ..policy.clone() };
        let above = policy.available_khz[policy.available_khz.len() - 2].0 + 1;
        assert_eq!(resolve(&boosted, Frequency::At(KiloHertz(above))), Some(KiloHertz(high.0 - 1)));
    }
}
