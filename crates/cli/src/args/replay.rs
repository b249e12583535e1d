//! Arguments of `flyball replay`, and of its search and its shadow.

use super::CheckFormat;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = include_str!("../../help/replay.txt").trim_ascii_end();

pub const TUNE_EXAMPLES: &str = include_str!("../../help/replay-tune.txt").trim_ascii_end();

pub const SCENARIO_EXAMPLES: &str = include_str!("../../help/replay-scenario.txt").trim_ascii_end();

pub const SHADOW_EXAMPLES: &str = include_str!("../../help/replay-shadow.txt").trim_ascii_end();

/// What is replayed where.
#[derive(Debug, Args)]
pub struct ReplayWhat {
    /// A recording: a run directory, or a file of another tool
    #[arg(value_name = "RUN", required = true)]
    pub recording: Option<PathBuf>,
    /// The machine: model:NAME[,kernel=K]; names that ship, or files; by default the model that left the
    /// recording, else model:laptop-x86
    #[arg(short, long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// Work becomes due as long after the end of the work before as it did in the recording (a user
    /// who waits for the answer), not at its recorded time
    #[arg(long)]
    pub closed_loop: bool,
    /// Let the model's scheduler place tasks; else each stays on its recorded CPU
    #[arg(long)]
    pub free: bool,
    /// Frequency to assume where none was recorded, such as 2GHz; by default the platform's highest
    #[arg(long, value_name = "FREQUENCY")]
    pub assume: Option<String>,
    /// Multiply all work by this, such as 0.5
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,
}

impl ReplayWhat {
    /// The recording; one is required wherever it is asked for.
    pub fn recording(&self) -> &Path {
        self.recording.as_deref().unwrap_or(Path::new(""))
    }
}

/// `flyball replay`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct ReplayLoadArgs {
    #[command(flatten)]
    pub what: ReplayWhat,
    /// Governors, with tunables; by default the kernel's usual one
    #[arg(short, long, value_name = "GOVERNORS")]
    pub governor: Vec<String>,
    /// Keep every item and change of frequency: a run directory per governor below this one
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw energy against p99 as SVG, PNG or PDF
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    #[command(subcommand)]
    pub command: Option<ReplayCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ReplayCommand {
    /// Search a governor's tunables for a recorded load and a goal
    #[command(after_long_help = TUNE_EXAMPLES)]
    Tune(TuneArgs),
    /// Write a recorded load as a scenario, which a model simulates and a board plays
    #[command(after_long_help = SCENARIO_EXAMPLES)]
    Scenario(ScenarioArgs),
    /// Feed a governor a recorded kernel's signals, and compare it with what the kernel did
    #[command(after_long_help = SHADOW_EXAMPLES)]
    Shadow(ShadowArgs),
}

/// `flyball replay tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    #[command(flatten)]
    pub what: ReplayWhat,
    /// The governor, with the tunables to begin with; by default the kernel's usual one
    #[arg(short, long, value_name = "GOVERNOR")]
    pub governor: Option<String>,
    /// What is to be met with the least energy: median, p90, p99, p99.9, max, mean or late, such as
    /// p99<5ms or late<1%
    #[arg(long, value_name = "GOAL")]
    pub goal: String,
    /// A tunable to vary, with its range: NAME or NAME=FROM..TO; by default the governor's
    /// usual ones; repeatable
    #[arg(long, value_name = "TUNABLE")]
    pub tunable: Vec<String>,
    /// Further starting points of the search
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub restarts: usize,
    /// Settings to try at most
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub budget: usize,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// `flyball replay scenario`.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    #[command(flatten)]
    pub what: ReplayWhat,
    /// Only tasks of this name, in which * stands for anything; repeatable; by default all
    #[arg(long = "task", value_name = "NAME")]
    pub tasks: Vec<String>,
}

/// `flyball replay shadow`.
#[derive(Debug, Args)]
pub struct ShadowArgs {
    /// The text of a trace, or a run directory with its events
    #[arg(value_name = "RUN|TRACE")]
    pub recording: PathBuf,
    /// The governor, with tunables: NAME[:TUNABLE=VALUE,...]
    #[arg(short, long, value_name = "GOVERNOR", default_value = "schedutil")]
    pub governor: String,
    /// The machine: model:NAME[,kernel=K]; names that ship, or files; by default what
    /// the recording shows
    #[arg(short, long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// How far a decision may lie from the kernel's change
    #[arg(long, value_name = "TIME", default_value = "500us")]
    pub tolerance: String,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}
