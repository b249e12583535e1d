//! Kinds of core: "P" and "E", "big" and "little". A figure that mixes kinds is worth little, so
//! every CPU gets one, with the evidence that decided.

use super::cpus::Cpu;
use super::processor::Processor;
use super::reader::Reader;
use crate::HostError;
use flyball_units::{CpuId, CpuSet};
use serde::{Deserialize, Serialize};

/// A kind of core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreType {
    /// `P`, `E`, `LP`, `big`, `mid`, `little`, `type0`..., or `all` where there is one kind.
    pub name: String,
    /// Its CPUs.
    pub cpus: CpuSet,
    /// What decided, in words.
    pub evidence: String,
}

/// Folders of the hybrid performance counters, and what Intel calls their cores.
const HYBRID: [(&str, &str); 3] = [("cpu_core", "P"), ("cpu_atom", "E"), ("cpu_lowpower", "LP")];

/// Values closer than this belong to one kind: favoured cores of one kind (Turbo Boost Max,
/// preferred cores) are declared up to some 8 % faster than their like, while real kinds differ
/// by a third and more.
const SAME_KIND: f64 = 1.10;

/// Sorts the CPUs into kinds: by the hybrid counters' folders, else by capacity, else by the
/// highest declared frequency, else by Arm's part number.
pub(crate) fn discover(
    reader: &Reader<'_>,
    cpus: &[Cpu],
    processor: &Processor,
) -> Result<Vec<CoreType>, HostError> {
    let all: CpuSet = cpus.iter().filter(|cpu| cpu.online).map(|cpu| cpu.id).collect();
    let hybrid = hybrid(reader, &all)?;
    if hybrid.len() > 1 {
        return Ok(hybrid);
    }
    let capacities = values(cpus, |cpu| cpu.capacity.map(|capacity| u64::from(capacity.0)));
    let frequencies = values(cpus, |cpu| cpu.max_khz.map(|khz| khz.0));
    for (values, what) in [(&capacities, "cpu_capacity"), (&frequencies, "cpuinfo_max_freq")] {
        let groups = group(values);
        if groups.len() > 1 {
            return Ok(named(groups, what, processor));
        }
    }
    if processor.arm_parts.len() > 1 {
        return Ok(by_part(&all, processor));
    }
    let evidence = match (capacities.is_empty(), frequencies.is_empty()) {
        (false, false) => "cpu_capacity and cpuinfo_max_freq are alike on all CPUs",
        (false, true) => "cpu_capacity is alike on all CPUs",
        (true, false) => "cpuinfo_max_freq is alike on all CPUs",
        (true, true) => "assumed: this machine describes no differences",
    };
    Ok(vec![CoreType { name: "all".to_owned(), cpus: all, evidence: evidence.to_owned() }])
}

/// Kinds by the folders of Intel's hybrid performance counters.
fn hybrid(reader: &Reader<'_>, all: &CpuSet) -> Result<Vec<CoreType>, HostError> {
    let mut types = Vec::new();
    let mut rest = all.clone();
    for (folder, name) in HYBRID {
        let path = format!("/sys/devices/{folder}/cpus");
        let Some(cpus) = reader.cpus(&path)? else { continue };
        let cpus = cpus.intersection(&rest);
        rest = rest.difference(&cpus);
        if !cpus.is_empty() {
            types.push(CoreType { name: name.to_owned(), cpus, evidence: path });
        }
    }
    if !types.is_empty() && !rest.is_empty() {
        let evidence = "in none of the hybrid performance counters' folders".to_owned();
        types.push(CoreType { name: "other".to_owned(), cpus: rest, evidence });
    }
    Ok(types)
}

/// What each online CPU declares; empty unless all of them do.
fn values(cpus: &[Cpu], value: impl Fn(&Cpu) -> Option<u64>) -> Vec<(u64, CpuId)> {
    let online = cpus.iter().filter(|cpu| cpu.online);
    online.map(|cpu| Some((value(cpu)?, cpu.id))).collect::<Option<_>>().unwrap_or_default()
}

/// Groups of CPUs with neighbouring values, the largest first, each with its range (low, high).
fn group(values: &[(u64, CpuId)]) -> Vec<(CpuSet, u64, u64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by_key(|&(value, cpu)| (std::cmp::Reverse(value), cpu));
    let mut groups: Vec<(CpuSet, u64, u64)> = Vec::new();
    for (value, cpu) in sorted {
        match groups.last_mut() {
            Some((cpus, low, _)) if value as f64 * SAME_KIND >= *low as f64 => {
                cpus.insert(cpu);
                *low = value;
            }
            _ => groups.push((cpu.into(), value, value)),
        }
    }
    groups
}

/// Names for groups, by custom of the architecture.
fn named(groups: Vec<(CpuSet, u64, u64)>, what: &str, processor: &Processor) -> Vec<CoreType> {
    let arm = !processor.arm_parts.is_empty() && !processor.is_apple();
    let names: &[&str] = match (groups.len(), arm) {
        (2, true) => &["big", "little"],
        (3, true) => &["big", "mid", "little"],
        (2, false) => &["P", "E"],
        (3, false) => &["P", "E", "LP"],
        _ => &[],
    };
    let range = |low: u64, high: u64| {
        if low == high { high.to_string() } else { format!("{low} to {high}") }
    };
    let types = groups.into_iter().enumerate().map(|(index, (cpus, low, high))| CoreType {
        name: names.get(index).map_or_else(|| format!("type{index}"), |name| (*name).to_owned()),
        cpus,
        evidence: format!("{what} {}", range(low, high)),
    });
    types.collect()
}

/// Kinds by Arm's part numbers, where nothing says which is the faster one.
fn by_part(all: &CpuSet, processor: &Processor) -> Vec<CoreType> {
    let parts = processor.arm_parts.iter().enumerate().map(|(index, part)| CoreType {
        name: format!("type{index}"),
        cpus: part.cpus.intersection(all),
        evidence: format!("/proc/cpuinfo: implementer {}, part {}", part.implementer, part.part),
    });
    parts.filter(|kind| !kind.cpus.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(values: &[u64]) -> Vec<usize> {
        let values: Vec<_> =
            values.iter().enumerate().map(|(i, &v)| (v, CpuId(i as u32))).collect();
        group(&values).iter().map(|(cpus, ..)| cpus.len()).collect()
    }

    #[test]
    fn favoured_cores_are_no_kind_of_their_own() {
        assert_eq!(sizes(&[5_700_000, 5_450_000, 5_450_000, 5_250_000]), [4]);
        assert_eq!(sizes(&[409, 409, 1024, 1024]), [2, 2]);
        assert_eq!(sizes(&[1024, 870, 330, 330]), [1, 1, 2]);
        assert_eq!(sizes(&[0, 0]), [2]);
        assert!(sizes(&[]).is_empty());
    }
}
