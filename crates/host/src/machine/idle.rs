//! Idle states: what waking up may cost.

use super::cpus::{CPU, Cpu};
use super::reader::Reader;
use crate::HostError;
use flyball_units::CpuSet;
use serde::{Deserialize, Serialize};

/// How CPUs idle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// cpuidle's driver.
    pub driver: Option<String>,
    /// cpuidle's governor.
    pub governor: Option<String>,
    /// The states, per group of CPUs that have the same.
    pub groups: Vec<IdleGroup>,
}

/// CPUs with the same idle states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleGroup {
    /// The CPUs.
    pub cpus: CpuSet,
    /// Their states, the shallowest first.
    pub states: Vec<IdleState>,
}

/// An idle state, as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Its number.
    pub index: u32,
    /// `POLL`, `C1`, `C6`...
    pub name: String,
    /// Longer description.
    pub description: Option<String>,
    /// Time to leave it.
    pub latency_us: u64,
    /// Stay from which on it saves energy.
    pub residency_us: u64,
    /// Whether the user forbade it.
    pub disabled: bool,
}

/// Reads all of it.
pub(crate) fn idle(reader: &Reader<'_>, cpus: &[Cpu]) -> Result<Idle, HostError> {
    let mut groups: Vec<IdleGroup> = Vec::new();
    for cpu in cpus.iter().filter(|cpu| cpu.online) {
        let states = states(reader, &format!("{CPU}/cpu{}/cpuidle", cpu.id.0))?;
        if states.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|group| group.states == states) {
            Some(group) => {
                group.cpus.insert(cpu.id);
            }
            None => groups.push(IdleGroup { cpus: cpu.id.into(), states }),
        }
    }
    let name = |name: &str| reader.name(&format!("{CPU}/cpuidle/{name}"));
    Ok(Idle {
        driver: name("current_driver"),
        // The writable file came with 5.9; before, only the read-only one.
        governor: name("current_governor").or_else(|| name("current_governor_ro")),
        groups,
    })
}

fn states(reader: &Reader<'_>, folder: &str) -> Result<Vec<IdleState>, HostError> {
    let mut states = Vec::new();
    for (index, path) in reader.numbered(folder, "state") {
        let micros = |name: &str| -> Result<u64, HostError> {
            Ok(reader.value(&format!("{path}/{name}"), "microseconds")?.unwrap_or(0))
        };
        states.push(IdleState {
            index,
            name: reader.name(&format!("{path}/name")).unwrap_or_else(|| format!("state{index}")),
            description: reader.name(&format!("{path}/desc")),
            latency_us: micros("latency")?,
            residency_us: micros("residency")?,
            // A bit mask: any bit forbids the state.
            disabled: reader
                .number::<u64>(&format!("{path}/disable"))?
                .is_some_and(|bits| bits != 0),
        });
    }
    Ok(states)
}
