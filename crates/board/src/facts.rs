//! The description of its board that a guest gets, so that results measured there carry it.

use crate::machine::{Machine, Policy};
use flyball_run::manifest::{BoardPolicyRecord, BoardRecord};

/// The record of a board; how it kept its pace is known at the end only.
pub fn record(machine: &Machine, emulator: &str, step: u64, full_speed: bool) -> BoardRecord {
    BoardRecord {
        platform: machine.name.clone(),
        emulator: Some(emulator.to_owned()),
        step_instructions: step,
        full_speed,
        policies: machine.policies.iter().map(policy).collect(),
        differences: machine.differences.clone(),
        pace: Vec::new(),
    }
}

fn policy(policy: &Policy) -> BoardPolicyRecord {
    BoardPolicyRecord {
        cpus: policy.cpus.clone(),
        instructions_per_cycle: policy.ipc,
        lowest_mips: policy.lowest_mips(),
        highest_mips: policy.top_mips(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;
    use flyball_platform::Platform;

    #[test]
    fn a_guest_reads_what_it_is_told() {
        let platform = Platform::named("board-aarch64").unwrap();
        let machine = Machine::new(&platform, Arch::Aarch64, None).unwrap();
        let told = record(&machine, "QEMU 10.0.2", 10_000, false);
        let read: BoardRecord = toml::from_str(&toml::to_string(&told).unwrap()).unwrap();
        assert_eq!(read, told);
        assert_eq!(read.least_instructions(), 600_000);
        assert_eq!(read.instructions_per_cycle(1), Some(0.04));
        assert_eq!(read.instructions_per_cycle(9), None);
        let little = &read.policies[0];
        assert!((little.lowest_mips - 24.0).abs() < 1e-9, "{little:?}");
        assert!((little.highest_mips - 72.0).abs() < 1e-9, "{little:?}");
    }
}
