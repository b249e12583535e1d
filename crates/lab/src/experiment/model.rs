//! The experiment as its TOML file says it; [`super::read`] checks it and `plan` orders it.

use super::checked;
use super::condition::Condition;
use flyball_units::Duration;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// An experiment: workloads x conditions x repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name of the experiment, kept in the run.
    #[serde(default = "default_name")]
    pub name: String,
    /// What the experiment asks, kept in the run for its readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Seed of the order of trials, of the synthetic input and of the bootstrap.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Repeats of each workload under each condition; intervals rest on repeats, so fewer than 5
    /// decide little.
    #[serde(default = "default_repeats")]
    pub repeats: u32,
    /// Time from release to release.
    #[serde(default = "default_period")]
    pub period: Duration,
    /// Relative deadline; the period where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Measured time per trial (one workload, one condition, one repeat).
    #[serde(default = "default_duration")]
    pub duration: Duration,
    /// Executions per trial, one right after the other, instead of a period and a duration: for
    /// programs that are compared with each other. `duration` is then what a trial is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<NonZeroU32>,
    /// Look at the programs while they run and stop as soon as each is decided against the first one,
    /// at the latest after this time (with `runs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Duration>,
    /// Blocks that may be done again, each on both sides, because other programs or the hypervisor
    /// disturbed them. The disturbed ones are kept, and are in no figure. On real machines only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry: u32,
    /// Wait before the first block, at most so long, until other programs leave the CPUs alone (below
    /// 5 % for a second), and refuse to measure if they do not; wait again before a block is done again.
    /// On real machines only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_quiet: Option<Duration>,
    /// Time before each trial's measured part; its windows are stored, marked as warm-up.
    #[serde(default = "default_warmup")]
    pub warmup: Duration,
    /// Two conditions are equal when the interval of their ratio lies within this margin,
    /// as a fraction (0.03 = 3 %).
    #[serde(default = "default_margin")]
    pub margin: f64,
    /// Go on when a setting cannot be applied; every figure then says so. Otherwise the run fails.
    #[serde(default)]
    pub degrade: bool,
    /// Lock the process's memory (mlockall) before measuring.
    #[serde(default)]
    pub lock_memory: bool,
    /// When the delivered frequency is probed around each window.
    #[serde(default)]
    pub probe: ProbeTiming,
    /// Where the signal comes from.
    #[serde(default)]
    pub input: Input,
    /// What is run in each window.
    #[serde(rename = "workload", default)]
    pub workloads: Vec<Workload>,
    /// Under what it is run.
    #[serde(rename = "condition", default)]
    pub conditions: Vec<Condition>,
}

impl Experiment {
    /// As a TOML file; none where a number is too large for one.
    pub fn text(&self) -> Option<String> {
        toml::to_string(self).ok()
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// When the frequency probe runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProbeTiming {
    /// Before and after each window, outside the timed part.
    #[default]
    BeforeAndAfter,
    /// After each window only: the idle gap before the release stays untouched.
    After,
    /// Never; frequency is then known only where the window's cycles can be counted.
    Off,
}

/// Where the signal comes from: a file, or a seeded synthetic EEG.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A recording (.edf; .csv, .tsv, .txt; .f32, .raw, .bin), relative to the experiment's
    /// folder; a synthetic EEG (1/f background, alpha bursts, 60 Hz line) where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Channels: needed for raw files, checked against what other files say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<usize>,
    /// Sampling rate: needed for raw and CSV files, checked against what an EDF file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_hz: Option<f64>,
    /// Length of the synthetic recording; it repeats after that.
    #[serde(default = "default_input_length")]
    pub length: Duration,
    /// Synthetic only: mean number of NaN drop-outs per minute and channel.
    #[serde(default)]
    pub dropouts_per_minute: f64,
}

impl Default for Input {
    fn default() -> Self {
        Input {
            file: None,
            channels: None,
            rate_hz: None,
            length: default_input_length(),
            dropouts_per_minute: 0.0,
        }
    }
}

/// One workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name in the report; the kernel's name where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A signal kernel: car, notch_iir, goertzel, bandpass_fir, welch_psd or noop.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "checked::kernel"
    )]
    pub kernel: Option<String>,
    /// Any program, run once per window: `["./solve", "--once"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// `reference` (scalar, as defined) or `fast` (vectorised).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::form")]
    pub form: Option<String>,
    /// Folder that the program is run in; the present one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// A program to run before each window of this one, not timed: `["rm", "-f", "cache"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Vec<String>>,
    /// As [`flyball_signal::WorkloadSpec::window`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// As [`flyball_signal::WorkloadSpec::hop`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop: Option<usize>,
    /// As [`flyball_signal::WorkloadSpec::f0_hz`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f0_hz: Option<f64>,
    /// As [`flyball_signal::WorkloadSpec::q`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// As [`flyball_signal::WorkloadSpec::bands_hz`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bands_hz: Option<Vec<[f64; 2]>>,
    /// As [`flyball_signal::WorkloadSpec::taps`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taps: Option<usize>,
    /// As [`flyball_signal::WorkloadSpec::n_fft`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_fft: Option<usize>,
    /// `source` continues a stateful filter from the window's end, as the published bench does;
    /// `continuous` (the default) from where the next window starts.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "checked::compatibility"
    )]
    pub compatibility: Option<String>,
    /// How often a signal kernel is executed, on the same input, within each window; 1 where absent,
    /// on a virtual board as often as its steps need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<NonZeroU32>,
}

fn default_name() -> String {
    "experiment".into()
}
fn default_seed() -> u64 {
    1
}
fn default_repeats() -> u32 {
    8
}
fn default_period() -> Duration {
    Duration::millis(20)
}
fn default_duration() -> Duration {
    Duration::millis(500)
}
fn default_warmup() -> Duration {
    Duration::millis(100)
}
fn default_margin() -> f64 {
    0.03
}
fn default_input_length() -> Duration {
    Duration::millis(60_000)
}
