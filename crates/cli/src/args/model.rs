//! Arguments of the commands that run on a model.

use super::CheckFormat;
use clap::{Args, ValueEnum};
use flyball_sim::sweep::Shard;
use std::path::PathBuf;

pub const SIM_EXAMPLES: &str = include_str!("../../help/sim.txt").trim_ascii_end();

/// `flyball sim`.
#[derive(Debug, Args)]
pub struct SimArgs {
    /// A TOML file, or the name of a scenario that ships; without it, a list of these
    #[arg(value_name = "SCENARIO")]
    pub scenario: Option<String>,
    /// The machine instead of the scenario's: model:NAME[,kernel=K], or host: its tasks as threads
    #[arg(short, long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// The governor instead of the scenario's: NAME[:TUNABLE=VALUE,...]
    #[arg(short, long, value_name = "GOVERNOR")]
    pub governor: Option<String>,
    /// The kernel instead of the scenario's; two are set side by side, with what is behind differences
    #[arg(short, long, value_name = "KERNEL", value_delimiter = ',')]
    pub kernel: Vec<String>,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of the scenario, such as governor.rate_limit_us=70; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Go through values of a key: a..b, a..b..step or a,b,c; several make every combination
    #[arg(long, value_name = "KEY=VALUES")]
    pub sweep: Vec<String>,
    /// Simulate only this part of the sweep's points, such as 1/4, into the file --out
    #[arg(long, value_name = "I/N", requires_all = ["sweep", "out"])]
    pub shard: Option<Shard>,
    /// Put the files of all parts of a sweep together into the run directory --out
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "out", conflicts_with_all = [
        "scenario", "sweep", "machine", "governor", "kernel", "set", "phases", "seed", "record", "figure", "init"
    ])]
    pub merge: Vec<PathBuf>,
    /// Phases of tick and poll instead of the scenario's
    #[arg(long, value_name = "N")]
    pub phases: Option<u32>,
    /// Seed instead of the scenario's
    #[arg(long)]
    pub seed: Option<u64>,
    /// What to keep instead of the scenario's choice
    #[arg(long, value_enum)]
    pub record: Option<RecordChoice>,
    /// Draw utilisation and frequency over time of one phase as SVG, PNG or PDF; keeps every event of it
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    pub figure: Option<PathBuf>,
    /// A run directory with events to draw in the same figure; repeatable
    #[arg(long, value_name = "DIR", requires = "figure")]
    pub beside: Vec<PathBuf>,
    /// With --machine host: several times, each into a run directory of its own: DIR/1, DIR/2, ...
    #[arg(long, value_name = "N", requires = "out")]
    pub repeats: Option<std::num::NonZeroU32>,
    /// With --machine host: capture the scheduler's events, all groups that the kernel has or those
    /// named
    #[arg(long, value_name = "GROUPS", num_args = 0..=1, default_missing_value = "")]
    pub trace: Option<String>,
    /// Write the named scenario, or a commented template, into a new file to edit, and stop
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "scenario.toml")]
    pub init: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// What a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordChoice {
    /// Nothing
    None,
    /// The results of every phase
    Summary,
    /// Also every event of one phase
    Full,
}

impl RecordChoice {
    /// The word in a scenario.
    pub fn word(self) -> &'static str {
        match self {
            RecordChoice::None => "none",
            RecordChoice::Summary => "summary",
            RecordChoice::Full => "full",
        }
    }
}
