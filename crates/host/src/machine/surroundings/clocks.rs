//! Frequency and idle, beyond what a policy says of itself: tunables, biases, bounds.

use super::tolerant::Tolerant;
use crate::machine::cpus::CPU;
use flyball_units::{CpuId, CpuSet, KiloHertz};
use std::collections::BTreeMap;

/// What a cpufreq policy's folder holds beside [`Policy`](crate::Policy).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyDetail {
    /// Number of the policy.
    pub id: u32,
    /// `cpuinfo_transition_latency` as it stands there, in nanoseconds: 4294967295 is "eternal".
    pub declared_latency_ns: Option<u64>,
    /// Highest frequency that the firmware allows now (`bios_limit`).
    pub firmware_khz: Option<KiloHertz>,
    /// Frequency that the governor `userspace` was told.
    pub set_speed_khz: Option<KiloHertz>,
    /// Tunables of the governor in use: name to value, as far as they are numbers.
    pub tunables: BTreeMap<String, u64>,
    /// The folder of the tunables; empty where there is none.
    pub tunables_path: String,
}

/// intel_pstate's limits, in percent of the highest performance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntelLimits {
    /// Highest performance that may be asked for.
    pub max_percent: Option<u32>,
    /// Lowest.
    pub min_percent: Option<u32>,
}

/// CPUs with one energy-performance bias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergyBias {
    /// The CPUs.
    pub cpus: CpuSet,
    /// 0 (performance) to 15 (power); 6 is the usual default.
    pub bias: u32,
}

/// A bound on the idle exit latency of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBound {
    /// The CPU.
    pub cpu: CpuId,
    /// The bound, in microseconds; 0 where no latency at all is tolerated.
    pub limit_us: u64,
}

/// Tunables that decide how fast a governor answers.
const TUNABLES: &[&str] = &[
    "rate_limit_us",
    "sampling_rate",
    "up_threshold",
    "down_threshold",
    "freq_step",
    "sampling_down_factor",
    "powersave_bias",
];

pub(super) fn policies(files: &Tolerant<'_>) -> Vec<PolicyDetail> {
    let folders = files.numbered(&format!("{CPU}/cpufreq"), "policy");
    folders.into_iter().map(|(id, path)| policy(files, id, &path)).collect()
}

fn policy(files: &Tolerant<'_>, id: u32, path: &str) -> PolicyDetail {
    // The driver's answer where nobody may set a speed is no number: `<unsupported>` reads as none.
    let governor = files.name(&format!("{path}/scaling_governor"));
    let (tunables_path, tunables) =
        governor.map(|name| tunables(files, path, &name)).unwrap_or_default();
    PolicyDetail {
        id,
        declared_latency_ns: files.number(&format!("{path}/cpuinfo_transition_latency")),
        firmware_khz: files.number(&format!("{path}/bios_limit")).map(KiloHertz),
        set_speed_khz: files.number(&format!("{path}/scaling_setspeed")).map(KiloHertz),
        tunables,
        tunables_path,
    }
}

/// The folder is the policy's where drivers have one governor per policy, else a common one.
fn tunables(files: &Tolerant<'_>, path: &str, governor: &str) -> (String, BTreeMap<String, u64>) {
    for folder in [format!("{path}/{governor}"), format!("{CPU}/cpufreq/{governor}")] {
        let found: BTreeMap<String, u64> = TUNABLES
            .iter()
            .filter_map(|name| {
                Some(((*name).to_owned(), files.number(&format!("{folder}/{name}"))?))
            })
            .collect();
        if !found.is_empty() {
            return (folder, found);
        }
    }
    Default::default()
}

pub(super) fn intel(files: &Tolerant<'_>) -> Option<IntelLimits> {
    let file = |name: &str| files.number(&format!("{CPU}/intel_pstate/{name}"));
    let limits =
        IntelLimits { max_percent: file("max_perf_pct"), min_percent: file("min_perf_pct") };
    (limits != IntelLimits::default()).then_some(limits)
}

pub(super) fn energy_bias(files: &Tolerant<'_>, cpus: &[CpuId]) -> Vec<EnergyBias> {
    let mut groups: Vec<EnergyBias> = Vec::new();
    for &cpu in cpus {
        let path = format!("{CPU}/cpu{}/power/energy_perf_bias", cpu.0);
        let Some(bias) = files.number(&path) else { continue };
        match groups.iter_mut().find(|group| group.bias == bias) {
            Some(group) => {
                group.cpus.insert(cpu);
            }
            None => groups.push(EnergyBias { cpus: cpu.into(), bias }),
        }
    }
    groups
}

/// `pm_qos_resume_latency_us`: 0 is no bound, `n/a` no latency at all, a number the bound.
pub(super) fn latency_bounds(files: &Tolerant<'_>, cpus: &[CpuId]) -> Vec<LatencyBound> {
    let bound = |&cpu: &CpuId| {
        let path = format!("{CPU}/cpu{}/power/pm_qos_resume_latency_us", cpu.0);
        let limit_us = match files.name(&path)?.as_str() {
            "n/a" => 0,
            _ => files.number(&path).filter(|&limit| limit > 0)?,
        };
        Some(LatencyBound { cpu, limit_us })
    };
    cpus.iter().filter_map(bound).collect()
}
