//! The scheduler's utilisation, with headroom, as a frequency.

mod governor;
mod sugov_policy;

pub use flyball_pelt::{IOWAIT_BOOST_MIN, IowaitBoost};
pub use governor::Schedutil;
pub use sugov_policy::SugovPolicy;

use flyball_pelt::{PerfLevel, headroom_quarter, raw_frequency};
use flyball_units::KiloHertz;

/// Frequency for a performance level of sched_ext (scx_bpf_cpuperf_set, 0 to 1024 on the absolute
/// capacity scale), before it becomes an operating point (the lowest at or above):
/// reference x min(perf + perf / 4, capacity) / capacity.
///
/// `reference` is [`Domain::reference_frequency`]: the highest frequency where utilisation is
/// frequency-invariant; elsewhere the level is relative to 1.25 x the current frequency.
///
/// [`Domain::reference_frequency`]: crate::Domain::reference_frequency
pub fn cpuperf_frequency(level: PerfLevel, reference: KiloHertz) -> KiloHertz {
    let perf = headroom_quarter(level.perf).min(level.capacity);
    KiloHertz(raw_frequency(reference.0, PerfLevel { perf, ..level }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::{OppTable, Relation};

    #[test]
    fn performance_levels_as_seen_on_the_aarch64_board() {
        let big = [600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000];
        let little = [600_000, 1_000_000, 1_400_000, 1_800_000];
        let at = |level, capacity, khz: &[u64]| {
            let opps = OppTable::from_khz(khz).unwrap();
            let raw = cpuperf_frequency(PerfLevel { perf: level, capacity }, opps.max());
            opps.resolve(raw, opps.min(), opps.max(), Relation::LE).0 / 1000
        };
        assert_eq!([300, 512, 1024].map(|level| at(level, 1024, &big)), [1200, 2400, 3000]);
        assert_eq!([100, 400].map(|level| at(level, 409, &little)), [600, 1800]);
    }
}
