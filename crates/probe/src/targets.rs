//! What is known of a CPU before its probe is calibrated.

use crate::board;
use crate::calibrate::CalibrationTarget;
use flyball_host::{Topology, arch};
use flyball_run::manifest::BoardRecord;
use flyball_units::{CpuId, CpuSet};

/// Family 6 models of Intel's small cores (Silvermont to Crestmont), whose multiplication takes
/// 4 to 5 cycles.
const INTEL_SMALL_CORES: &[u32] = &[
    0x37, 0x4a, 0x4c, 0x4d, 0x5a, 0x5c, 0x5d, 0x5f, 0x7a, 0x86, 0x96, 0x9c, 0xaf, 0xb6, 0xbe, 0xdd,
];

/// What the frequency probe needs to know about each of `cpus`.
pub fn calibration_targets(
    topology: &Topology,
    cpus: &CpuSet,
    board: Option<&BoardRecord>,
) -> Vec<CalibrationTarget> {
    cpus.iter()
        .map(|cpu| CalibrationTarget {
            cpu,
            core_type: topology.core_type(cpu).map(|kind| kind.name.clone()),
            assumed_cycles: match board {
                Some(board) => board::cycles_per_multiply(board, cpu.0),
                None => assumed_cycles(topology, cpu),
            },
            least: board.map(board::chain),
        })
        .collect()
}

/// Cycles of a dependent 64-bit multiplication where the kind of core settles them: 3 on AMD since
/// Zen and on Intel's large cores since Nehalem. Everywhere else the probe gives shares of the
/// best seen, unless the machine counts cycles.
fn assumed_cycles(topology: &Topology, cpu: CpuId) -> Option<f64> {
    let (family, model, _) = topology.processor.family_model_stepping?;
    let large = match topology.processor.vendor.as_deref()? {
        "AuthenticAMD" | "HygonGenuine" => family >= 0x17,
        "GenuineIntel" => {
            // The fastest kind comes first; on a hybrid the others are small cores.
            let fastest = topology.core_types.first().is_none_or(|kind| kind.cpus.contains(cpu));
            family == 6 && fastest && !INTEL_SMALL_CORES.contains(&model)
        }
        _ => false,
    };
    large.then_some(arch::MULTIPLY_CYCLES).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    fn recorded(listing: &str) -> Topology {
        let host = RecordedHost::from_listing(listing).unwrap();
        Topology::discover(&host).unwrap()
    }

    fn cycles(topology: &Topology) -> Vec<Option<f64>> {
        let targets = calibration_targets(topology, &topology.online, None);
        targets.into_iter().map(|target| target.assumed_cycles).collect()
    }

    const HYBRID: &str = include_str!("../../host/tests/machines/intel-hybrid.txt");
    const BIG_LITTLE: &str = include_str!("../../host/tests/machines/arm-big-little.txt");

    #[test]
    fn cycles_are_assumed_where_the_core_settles_them() {
        if arch::MULTIPLY_CYCLES.is_none() {
            return; // the machine under test is not x86: nothing is ever assumed
        }
        let hybrid = recorded(HYBRID);
        let (large, small) = (hybrid.core_types[0].clone(), hybrid.core_types[1].clone());
        let targets = calibration_targets(&hybrid, &hybrid.online, None);
        for target in targets {
            let expected = large.cpus.contains(target.cpu).then_some(3.0);
            assert_eq!(target.assumed_cycles, expected, "{}", target.cpu);
            assert_ne!(large.cpus.contains(target.cpu), small.cpus.contains(target.cpu));
        }
        assert!(cycles(&recorded(BIG_LITTLE)).iter().all(Option::is_none));
    }
}
