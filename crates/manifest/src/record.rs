//! How it was measured: clocks, overheads, probe, checks, input, and the source of imports.

use std::collections::BTreeMap;

use flyball_units::Nanos;
use serde::{Deserialize, Serialize};

/// The clock of one table, and its offset to another clock where known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClockRecord {
    /// The table.
    pub table: String,
    /// Its clock: `monotonic`, `realtime`, `guest`, `virtual`, `unknown`.
    pub clock: String,
    /// The other clock that `offset_ns` leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_to: Option<String>,
    /// Other clock minus this clock; absent where unknown: then the tables must not be joined
    /// on time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_ns: Option<i64>,
    /// Half-width of the offset's uncertainty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty_ns: Option<u64>,
}

/// What the run was to do, and how much of it was done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PlanRecord {
    /// What is counted: `trials`, `measurements`, `ramp-ups`, `phases`, `points`, `milliseconds`, `bytes`
    /// (of a trace that is imported).
    pub what: String,
    /// How many of them were to be done.
    pub planned: u64,
    /// How many were done; absent while the run goes on, and so where it was killed: the tables then
    /// tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
}

impl PlanRecord {
    /// The plan of a run that begins.
    pub fn of(what: &str, planned: usize) -> Option<PlanRecord> {
        Some(PlanRecord { what: what.to_owned(), planned: planned as u64, done: None })
    }

    /// The plan of a run that ends by itself after this time; none without one.
    pub fn time(duration: Option<Nanos>) -> Option<PlanRecord> {
        let millis = duration?.0 / 1_000_000;
        Some(PlanRecord { what: "milliseconds".to_owned(), planned: millis, done: None })
    }
}

/// A table as it was when the run was closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TableRecord {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Checksum of its Parquet file, as `crc32:` and eight hexadecimal digits; absent where the table
    /// stayed NDJSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// A cost of the measurement itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OverheadRecord {
    /// What was timed: `clock`, `probe`, `telemetry`, ...
    pub name: String,
    /// Median.
    pub median_ns: f64,
    /// 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// Number of timings.
    pub n: u64,
}

/// What the probe's frequency rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProbeBasis {
    /// Cycles per multiply measured with a cycle counter on this core type.
    Measured,
    /// Cycles per multiply taken from the core's documentation.
    Assumed,
    /// Unknown: the probe gives shares of the best seen, no frequency.
    #[default]
    Relative,
    /// A basis that a newer version wrote.
    #[serde(other)]
    Unknown,
}

/// The frequency probe's calibration on one CPU.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProbeCalibration {
    /// The CPU.
    pub cpu: u32,
    /// Its core type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_type: Option<String>,
    /// What the frequency rests on.
    pub basis: ProbeBasis,
    /// Core cycles per dependent multiply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_per_multiply: Option<f64>,
    /// Dependent multiplies per probe.
    pub chain_length: u64,
    /// Counter ticks of the fastest probe seen.
    pub ticks_min: u64,
    /// Frequency of the counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter_khz: Option<f64>,
    /// Frequency at the fastest probe seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_khz: Option<u64>,
    /// Spread of undisturbed probes at one speed, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_permille: Option<f64>,
    /// Change at the recalibration at the end, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalibrated_drift_permille: Option<f64>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Could not be checked here.
    #[default]
    Unavailable,
    /// An outcome that a newer version wrote.
    #[serde(other)]
    Unknown,
}

/// One check before, during or after the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CheckRecord {
    /// What was checked.
    pub name: String,
    /// How it went.
    pub outcome: CheckOutcome,
    /// On what: a path, a CPU.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// What was expected.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What was found.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// What to do about it, best a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The signal that the workloads read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct InputRecord {
    /// `synthetic`, `edf`, `float32`, `csv`.
    pub kind: String,
    /// File name, without its directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Sampling rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_hz: Option<f64>,
    /// Channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
    /// Samples per channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What was done with not-a-number samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nan_handling: Option<String>,
    /// Further parameters, such as the synthetic signal's.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub params: toml::Table,
}

/// Where imported data came from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SourceRecord {
    /// The tool that wrote it: `cortex`, `cyclictest`, `hyperfine`, `csv`.
    pub tool: String,
    /// The column map as used: our column on the left, theirs on the right.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
    /// The files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
}

/// One imported file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FileRecord {
    /// Path below the imported folder.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Rows taken.
    pub rows: u64,
    /// Lines that ended early.
    #[serde(skip_serializing_if = "is_zero")]
    pub torn_lines: u64,
    /// Rows left out because a value was wrong.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
