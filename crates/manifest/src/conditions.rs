//! What was run, under what, in which order.

use serde::{Deserialize, Serialize};

/// One workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WorkloadRecord {
    /// Its name in the tables.
    pub name: String,
    /// What it is, in a line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The kernel: `car`, `goertzel`, `command`, ...
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// `reference` or `fast`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Relative deadline after release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// Time between releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// Its parameters.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub params: toml::Table,
}

/// One condition: asked for, applied, and whether the load ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ConditionRecord {
    /// Its name in the tables.
    pub name: String,
    /// Governor during the condition, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Scheduling class asked for: `other`, `fifo:80`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_asked: Option<String>,
    /// Scheduling class read back in the measuring thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_applied: Option<String>,
    /// Placement: `cpu 1`, `one per core type`, `free`; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// What could not be applied but was allowed to degrade, one remark each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// The settings asked for.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub asked: toml::Table,
    /// The settings read back.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub applied: toml::Table,
    /// The background load; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// The CPU limit of the control group; absent where none made anybody wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<CpuLimitRecord>,
}

/// A CPU limit of the control group, and how often tasks had to wait for it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CpuLimitRecord {
    /// The file that says it.
    pub file: String,
    /// Time in each period, on all CPUs together.
    pub quota_us: u64,
    /// Length of a period.
    pub period_us: u64,
    /// Periods that passed with tasks of the group running, over the condition's blocks.
    pub periods: u64,
    /// Those in which tasks had to wait.
    pub throttled: u64,
}

/// Background load: asked for and achieved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LoadRecord {
    /// `idle`, `medium`, `heavy`, a free profile's text, or `unknown`.
    pub profile: String,
    /// What made the load: `flyball`, `stress-ng`, `unknown`.
    pub source: String,
    /// Mean load asked for over the loaded CPUs, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_percent: Option<f64>,
    /// Mean load achieved over the loaded CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved_percent: Option<f64>,
    /// Whether the run proves that the load ran; absent where nothing was to be proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    /// Why it counts as proven or not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Per CPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<LoadCpuRecord>,
}

/// Background load of one CPU.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LoadCpuRecord {
    /// The CPU.
    pub cpu: u32,
    /// Load asked for.
    pub wanted_percent: f64,
    /// Mean load that the kernel accounted to the generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved_percent: Option<f64>,
}

/// Looks at the data while the run was made. They were fixed beforehand, and so was the level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LooksRecord {
    /// Numbers of blocks at which to look.
    pub at: Vec<u32>,
    /// Level of the intervals of each look, with which all looks together hold with 95 %.
    pub level: f64,
    /// Looks that were made.
    pub made: u32,
}

/// One trial: a workload under a condition, once through its windows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TrialRecord {
    /// Number in order of execution, from 0.
    pub trial: u32,
    /// The workload's name.
    pub workload: String,
    /// The condition's name.
    pub condition: String,
    /// Repeat of the cell, from 1.
    pub repeat: u32,
    /// Block of the randomised order, from 0.
    pub block: u32,
    /// CPUs that the measuring thread was allowed to use; empty where not restricted or unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Number of the measuring thread: the kernel's, in the program's own PID namespace, or the
    /// model's; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tid: Option<u32>,
    /// Whether its block was disturbed from outside and done again: its windows are kept and are in
    /// no figure.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub set_aside: bool,
}
