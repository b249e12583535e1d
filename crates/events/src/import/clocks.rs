//! Frequencies, clock domains and capacities. The kernel writes one `cpu_frequency` per CPU of a
//! domain, one behind the other: that is how domains show in a trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flyball_run::{CapacitySample, FrequencySample, Tables};

use super::builder::Builder;
use crate::event::Record;

/// What the rows of changes say where they come from.
pub(super) const SOURCE: &str = "cpu_frequency";

/// `cpu_frequency` events of one CPU's without another event between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    t_ns: u64,
    khz: u64,
    /// The CPUs whose frequency changed, ascending.
    cpus: Vec<u32>,
}

/// A clock domain as the changes show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    /// As cpufreq names its policies: after the lowest CPU.
    pub name: String,
    /// Its CPUs, ascending.
    pub cpus: Vec<u32>,
}

/// All changes of frequency and capacity: a few bytes each, as domains are known only at the end.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// The different lists of CPUs that changed together, and whether one was ever seen whole.
    lists: Vec<(Vec<u32>, bool)>,
    /// Their numbers.
    known: HashMap<Vec<u32>, usize>,
    /// Time, frequency, number of the list.
    changes: Vec<(u64, u64, usize)>,
    /// Time, CPU, capacity.
    capacities: Vec<(u64, u32, u32)>,
    capacity: BTreeMap<u32, u32>,
}

impl Clocks {
    /// A CPU's capacity, where it is a new one.
    pub fn capacity(&mut self, t_ns: u64, cpu: u32, capacity: u32) {
        if self.capacity.insert(cpu, capacity) != Some(capacity) {
            self.capacities.push((t_ns, cpu, capacity));
        }
    }

    fn add(&mut self, burst: Burst, whole: bool) {
        let list = match self.known.get(&burst.cpus) {
            Some(list) => *list,
            None => {
                self.known.insert(burst.cpus.clone(), self.lists.len());
                self.lists.push((burst.cpus, false));
                self.lists.len() - 1
            }
        };
        if let Some((_, seen)) = self.lists.get_mut(list) {
            *seen |= whole;
        }
        self.changes.push((burst.t_ns, burst.khz, list));
    }

    /// CPUs that always change together share a domain. Lists that a gap or the trace's end cut
    /// short prove nothing; a CPU that no whole list holds is a domain of its own.
    pub fn domains(&self) -> Vec<Domain> {
        let mut in_lists = BTreeMap::<u32, BTreeSet<usize>>::new();
        for (number, (cpus, whole)) in self.lists.iter().enumerate() {
            for &cpu in cpus {
                let lists = in_lists.entry(cpu).or_default();
                if *whole {
                    lists.insert(number);
                }
            }
        }
        let mut together = BTreeMap::<&BTreeSet<usize>, Vec<u32>>::new();
        let mut domains: Vec<Vec<u32>> = Vec::new();
        for (&cpu, lists) in &in_lists {
            if lists.is_empty() {
                domains.push(vec![cpu]);
            } else {
                together.entry(lists).or_default().push(cpu);
            }
        }
        domains.extend(together.into_values());
        domains.sort();
        let name = |cpus: &Vec<u32>| format!("policy{}", cpus.first().copied().unwrap_or_default());
        domains.into_iter().map(|cpus| Domain { name: name(&cpus), cpus }).collect()
    }

    /// Writes the rows: per change one for each domain in it, per CPU its capacities.
    pub fn rows(&self, domains: &[Domain], tables: &mut Tables) {
        let touches =
            |cpus: &[u32], domain: &Domain| domain.cpus.iter().any(|cpu| cpus.contains(cpu));
        let changed: Vec<Vec<&Domain>> = self
            .lists
            .iter()
            .map(|(cpus, _)| domains.iter().filter(|domain| touches(cpus, domain)).collect())
            .collect();
        for &(t_ns, khz, list) in &self.changes {
            for domain in changed.get(list).into_iter().flatten() {
                tables.frequency.push(FrequencySample {
                    t_ns,
                    domain: domain.name.clone(),
                    claimed_khz: Some(khz),
                    source: SOURCE.to_owned(),
                    ..FrequencySample::default()
                });
            }
        }
        for &(t_ns, cpu, capacity) in &self.capacities {
            let domain = name_of(domains, cpu);
            let row = CapacitySample { t_ns, cpu, capacity, domain, ..CapacitySample::default() };
            tables.capacity.push(row);
        }
    }

    /// The largest capacity that each CPU showed: its own, without pressure.
    pub fn largest(&self) -> BTreeMap<u32, u32> {
        let mut largest = BTreeMap::new();
        for &(_, cpu, capacity) in &self.capacities {
            let most: &mut u32 = largest.entry(cpu).or_default();
            *most = capacity.max(*most);
        }
        largest
    }
}

/// The name of a CPU's domain, where it has one.
pub(super) fn name_of(domains: &[Domain], cpu: u32) -> Option<String> {
    let own = domains.iter().find(|domain| domain.cpus.contains(&cpu));
    own.map(|domain| domain.name.clone())
}

impl Builder {
    pub(super) fn frequency(&mut self, record: &Record<'_>, cpu: u32, khz: u64) {
        let writer = self.cpu(record.cpu);
        if let Some(burst) = &mut writer.burst
            && burst.khz == khz
            && burst.cpus.last().is_some_and(|last| *last < cpu)
        {
            burst.cpus.push(cpu);
            return;
        }
        self.close_burst(record.cpu, true);
        self.cpu(record.cpu).burst = Some(Burst { t_ns: record.t_ns, khz, cpus: vec![cpu] });
    }

    /// Ends the frequency events of a CPU; `whole` where another event of it follows.
    pub(super) fn close_burst(&mut self, number: u32, whole: bool) {
        if let Some(burst) = self.cpus.get_mut(&number).and_then(|cpu| cpu.burst.take()) {
            self.clocks.add(burst, whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(lists: &[(&[u32], bool)]) -> Vec<Vec<u32>> {
        let mut clocks = Clocks::default();
        for (cpus, whole) in lists {
            clocks.add(Burst { t_ns: 1, khz: 2, cpus: cpus.to_vec() }, *whole);
        }
        clocks.domains().into_iter().map(|domain| domain.cpus).collect()
    }

    #[test]
    fn cpus_that_change_together_share_a_domain() {
        assert_eq!(clocks(&[(&[0, 1], true), (&[2, 3], true)]), [vec![0, 1], vec![2, 3]]);
        assert_eq!(clocks(&[(&[0, 1], true), (&[0], false)]), [vec![0, 1]], "cut by the end");
        // Two domains may be set to one frequency at once, but not always.
        let set = clocks(&[(&[0, 1, 2, 3], true), (&[0, 1], true), (&[2, 3], true)]);
        assert_eq!(set, [vec![0, 1], vec![2, 3]]);
        assert_eq!(clocks(&[(&[4], false)]), [vec![4]]);
    }
}
