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

pub const RAMPUP_EXAMPLES: &str = "\
Examples:
  flyball rampup                             an M1 under schedutil, as Linux drives it
  flyball rampup --set rate_limit_us=70 --series
  flyball rampup --machine model:pentium-m --governor tick
  flyball rampup --variant 'stock:' --variant 'series: series' \\
      --variant 'series x2: series rampup_multiplier=2 rate_limit_us=70'

A variant is NAME: SETTINGS, separated by spaces: series, hz=, kernel=, governor=, uclamp_min=,
uclamp_max=, rampup_multiplier=, sleeps=, gap=, cpus=, a patch (headroom_from_delay=true), or a
tunable of the governor (rate_limit_us=70). It starts from the options of the command line.";

/// `flyball rampup`.
#[derive(Debug, Args)]
pub struct RampupArgs {
    /// The machine: model:NAME or model:NAME,kernel=K
    #[arg(short, long, value_name = "MACHINE", default_value = "model:apple-m1")]
    pub machine: String,
    /// The kernel; the platform's default where absent
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// The governor; the kernel's default where absent, unless the hardware chooses by itself
    #[arg(long, value_name = "NAME")]
    pub governor: Option<String>,
    /// A tunable of the governor, such as rate_limit_us=70; repeatable
    #[arg(long, value_name = "TUNABLE=VALUE")]
    pub set: Vec<String>,
    /// Lower utilisation clamp, 0 to 1024
    #[arg(long, value_name = "UTIL")]
    pub uclamp_min: Option<u32>,
    /// Upper utilisation clamp, 0 to 1024
    #[arg(long, value_name = "UTIL")]
    pub uclamp_max: Option<u32>,
    /// Apply the whole response-time series
    #[arg(long)]
    pub series: bool,
    /// One patch of it, such as headroom_from_delay=true; repeatable
    #[arg(long, value_name = "PATCH=VALUE")]
    pub feature: Vec<String>,
    /// The series' ramp-up multiplier of the task
    #[arg(long, value_name = "N")]
    pub multiplier: Option<u32>,
    /// Ticks per second instead of the kernel's
    #[arg(long)]
    pub hz: Option<u32>,
    /// Phases of tick and poll
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub phases: u32,
    /// Simulated time after the sleeps, such as 500ms
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    pub duration: String,
    /// A further run beside the first, as NAME: SETTINGS; repeatable
    #[arg(long, value_name = "VARIANT")]
    pub variant: Vec<String>,
    /// The run directory with every event of one phase per variant; a new one where absent
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw utilisation and frequency over time, all runs on common axes, as SVG or PNG
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}
