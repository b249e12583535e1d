//! Where the windows of a cell ran.

use std::collections::BTreeMap;

use flyball_run::Manifest;
use flyball_stats::median_in_place;

use super::cell::Sample;
use crate::model::{CpuShare, InferredCore, Placement};

/// The stratum of each CPU, where the manifest tells: its core type, else its clock domain.
/// Where core types are known they are known for all CPUs or not used: half a stratification
/// would compare a core type with a clock domain.
pub(super) fn strata(manifest: &Manifest) -> BTreeMap<u32, String> {
    let Some(machine) = &manifest.machine else { return BTreeMap::new() };
    let typed: BTreeMap<u32, String> =
        (machine.cpus.iter()).filter_map(|cpu| Some((cpu.cpu, cpu.core_type.clone()?))).collect();
    if !typed.is_empty() && typed.len() == machine.cpus.len() {
        return typed;
    }
    let mut domains: BTreeMap<u32, String> =
        (machine.cpus.iter()).filter_map(|cpu| Some((cpu.cpu, cpu.domain.clone()?))).collect();
    for domain in &machine.domains {
        for &cpu in &domain.cpus {
            domains.entry(cpu).or_insert_with(|| domain.name.clone());
        }
    }
    domains
}

/// Placement of a cell. `samples` are its windows in order of execution.
pub(super) fn summarise(
    samples: &[Sample],
    migrated: u64,
    core_types: &BTreeMap<u32, String>,
    inferred: Option<InferredCore>,
) -> Placement {
    let mut by_cpu: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut known = 0_usize;
    for sample in samples {
        if let Some(cpu) = sample.cpu {
            by_cpu.entry(cpu).or_default().push(sample.execution_us);
            known += 1;
        }
    }
    let mut cpus: Vec<CpuShare> = by_cpu
        .into_iter()
        .map(|(cpu, mut values)| CpuShare {
            cpu,
            core_type: core_types.get(&cpu).cloned(),
            share: values.len() as f64 / samples.len() as f64,
            median_us: median_in_place(&mut values),
        })
        .collect();
    cpus.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.cpu.cmp(&b.cpu)));
    let recorded = known == samples.len() && known > 0;
    let numbers = cpus.iter().map(|share| share.cpu).collect();
    let summary = match &inferred {
        Some(core) => format!("{}, inferred", core.kind),
        None => in_words(recorded, numbers),
    };
    Placement { recorded, summary, cpus, migrated, inferred }
}

/// Core types of the CPUs that have one.
pub(super) fn core_types(manifest: &Manifest) -> BTreeMap<u32, String> {
    let cpus = manifest.machine.iter().flat_map(|machine| &machine.cpus);
    cpus.filter_map(|cpu| Some((cpu.cpu, cpu.core_type.clone()?))).collect()
}

/// `cpu1`, `cpu0-3`, `cpu0,2`, `5 CPUs`, `partly recorded`, `unrecorded`.
fn in_words(recorded: bool, mut cpus: Vec<u32>) -> String {
    cpus.sort_unstable();
    match (recorded, cpus.as_slice()) {
        (_, []) => "unrecorded".to_owned(),
        (false, _) => "partly recorded".to_owned(),
        (true, [cpu]) => format!("cpu{cpu}"),
        (true, [first, .., last]) if (last - first) as usize == cpus.len() - 1 => {
            format!("cpu{first}-{last}")
        }
        (true, [first, second]) => format!("cpu{first},{second}"),
        (true, many) => format!("{} CPUs", many.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_few_words() {
        assert_eq!(in_words(true, vec![1]), "cpu1");
        assert_eq!(in_words(true, vec![3, 1, 2]), "cpu1-3");
        assert_eq!(in_words(true, vec![4, 0]), "cpu0,4");
        assert_eq!(in_words(true, vec![4, 0, 9]), "3 CPUs");
        assert_eq!(in_words(false, vec![]), "unrecorded");
    }
}
