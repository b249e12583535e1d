//! The machine that a run was made on, as far as it is known.

use super::board::BoardRecord;
use serde::{Deserialize, Serialize};

/// The machine. Absent facts are absent, never guessed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Machine {
    /// CPU model as the system names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// `x86_64`, `aarch64`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Operating system kernel and release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Hypervisor, `none` on bare metal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualisation: Option<String>,
    /// Host name; left out of bundles unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Number of CPUs, where the CPUs are not listed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    /// Memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Whether boost (turbo) is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Real-time throttling: microseconds per period, -1 for off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rt_runtime_us: Option<i64>,
    /// Why the CPUs have the core types they have: the files that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_type_evidence: Option<String>,
    /// Temperature at the start, degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// The CPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuRecord>,
    /// The clock domains (cpufreq policies).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainRecord>,
    /// The idle states of CPU 0's driver.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<IdleStateRecord>,
    /// The virtual board, where the machine is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardRecord>,
}

/// One CPU.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CpuRecord {
    /// Its number.
    pub cpu: u32,
    /// Core type: `P`, `E`, `core0`; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_type: Option<String>,
    /// Capacity, 1024 for the largest at its maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
    /// Maximum frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<u64>,
    /// Its clock domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Hardware threads of the same core, itself left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub siblings: Vec<u32>,
    /// How long the longest look for work took it when it went idle, in ns, per scheduling domain, the smallest first
    /// (`max_newidle_lb_cost`); known where the kernel's debug files are, and tell of domains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_balance_costs_ns: Vec<u64>,
    /// Whether it is isolated from the scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolated: Option<bool>,
    /// Whether it is online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online: Option<bool>,
}

/// One clock domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DomainRecord {
    /// `policy0`, ...
    pub name: String,
    /// Its CPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// The cpufreq driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The governor in force at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Governors on offer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub governors: Vec<String>,
    /// Hardware minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_khz: Option<u64>,
    /// Hardware maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<u64>,
    /// Policy limit below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_min_khz: Option<u64>,
    /// Policy limit above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_max_khz: Option<u64>,
    /// Frequencies on offer, where listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_khz: Vec<u64>,
    /// Transition latency that the driver declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_latency_ns: Option<u64>,
}

/// One idle state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct IdleStateRecord {
    /// `POLL`, `C1`, ...
    pub name: String,
    /// Exit latency in microseconds, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_latency_us: Option<u64>,
    /// Target residency in microseconds, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residency_us: Option<u64>,
    /// Whether it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}
