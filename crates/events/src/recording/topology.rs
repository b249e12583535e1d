//! The CPUs of a recording: from the manifest's machine, and from the table `capacity`, which
//! wins, for it is what the scheduler went by.

use std::collections::BTreeMap;

use flyball_run::{Manifest, Tables};
use serde::Serialize;

use super::events::of_trial;

/// One CPU as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Its number.
    pub cpu: u32,
    /// Kind of core.
    pub core_type: Option<String>,
    /// Capacity at its highest frequency.
    pub capacity: Option<u32>,
    /// Its clock domain.
    pub domain: Option<String>,
}

/// The CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Topology {
    cpus: BTreeMap<u32, Cpu>,
}

impl Topology {
    /// What manifest and tables know.
    pub(super) fn of(tables: &Tables, manifest: &Manifest, trial: Option<u32>) -> Topology {
        let mut topology = Topology::default();
        if let Some(machine) = &manifest.machine {
            for domain in &machine.domains {
                for &cpu in &domain.cpus {
                    topology.entry(cpu).domain = Some(domain.name.clone());
                }
            }
            for record in &machine.cpus {
                let cpu = topology.entry(record.cpu);
                cpu.core_type.clone_from(&record.core_type);
                cpu.capacity = record.capacity;
                cpu.domain = record.domain.clone().or(cpu.domain.take());
            }
        }
        topology.read(tables, trial);
        topology
    }

    fn read(&mut self, tables: &Tables, trial: Option<u32>) {
        let rows = &tables.capacity;
        let mut original = BTreeMap::<u32, u32>::new();
        for row in (0..rows.len()).filter(|&row| of_trial(&rows.trial, row, trial)) {
            let Some(&number) = rows.cpu.get(row) else { continue };
            let cpu = self.entry(number);
            if let Some(core_type) = rows.core_type.get(row) {
                cpu.core_type = Some(core_type.to_owned());
            }
            if let Some(domain) = rows.domain.get(row) {
                cpu.domain = Some(domain.to_owned());
            }
            // Without pressure a CPU shows its own capacity: the most it ever had.
            let shown = rows.original.get(row).or_else(|| rows.capacity.get(row).copied());
            let most = original.entry(number).or_default();
            *most = (*most).max(shown.unwrap_or_default());
        }
        for (number, capacity) in original {
            self.entry(number).capacity = Some(capacity);
        }
    }

    fn entry(&mut self, cpu: u32) -> &mut Cpu {
        self.cpus.entry(cpu).or_insert_with(|| Cpu { cpu, ..Cpu::default() })
    }

    /// The CPUs, ascending.
    pub fn cpus(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.values()
    }

    /// One CPU; none where nothing is known of it.
    pub fn cpu(&self, cpu: u32) -> Option<&Cpu> {
        self.cpus.get(&cpu)
    }

    /// The core type of a CPU; where it has no name, its capacity stands for it.
    pub fn core_type(&self, cpu: u32) -> Option<String> {
        let known = self.cpu(cpu)?;
        known
            .core_type
            .clone()
            .or_else(|| known.capacity.map(|capacity| format!("capacity {capacity}")))
    }
}
