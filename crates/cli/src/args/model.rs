//! Arguments of the commands that run on a model.

use super::CheckFormat;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub const SIM_EXAMPLES: &str = "\
Examples:
  flyball sim rampup-m1                      a scenario that ships (list: flyball help scenarios)
  flyball sim mine.toml                      yours (write one with: flyball init --scenario mine.toml)
  flyball sim rampup-m1 --set governor.rate_limit_us=70 --set task.rampup.uclamp_min=512
  flyball sim rampup-m1 --record full        every event of one phase, for other tools
  flyball sim rampup-m1 --sweep governor.rate_limit_us=0..10000..500 --sweep hz=100,250,1000

A sweep that was interrupted goes on where it stopped: run the same command again.";

/// `flyball sim`.
#[derive(Debug, Args)]
pub struct SimArgs {
    /// A TOML file, or the name of a scenario that ships
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The run directory; a new one under flyball-runs where absent
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of the scenario, such as governor.rate_limit_us=70; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Go through values of a key: a..b, a..b..step or a,b,c; several make every combination
    #[arg(long, value_name = "KEY=VALUES")]
    pub sweep: Vec<String>,
    /// Phases of tick and poll instead of the scenario's
    #[arg(long, value_name = "N")]
    pub phases: Option<u32>,
    /// Seed instead of the scenario's
    #[arg(long)]
    pub seed: Option<u64>,
    /// What to keep instead of the scenario's choice
    #[arg(long, value_enum)]
    pub record: Option<RecordChoice>,
    /// Draw utilisation and frequency over time of one phase as SVG or PNG; keeps every event of it
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    pub figure: Option<PathBuf>,
    /// A run directory with events to draw in the same figure; repeatable
    #[arg(long, value_name = "DIR", requires = "figure")]
    pub beside: Vec<PathBuf>,
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
