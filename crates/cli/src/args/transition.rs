//! Arguments of `flyball transition`.

use super::CheckFormat;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/transition.txt").trim_ascii_end();

/// `flyball transition`.
#[derive(Debug, Args)]
pub struct TransitionArgs {
    /// What to measure: host, board:NAME, or model:NAME, whose costs are known
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// Methods: direct, windowed, detect; by default all
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub method: Vec<String>,
    /// Levels to switch between, such as 600MHz,1.2GHz; by default all that the driver offers
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub levels: Vec<String>,
    /// Only the clock domain of this CPU, and on it; by default one CPU per domain
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u32>,
    /// Measurements per direction
    #[arg(long, default_value_t = 80, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub trials: u32,
    /// Runs per pair of the windowed method
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Time that the windowed method gives each level in turn; twice as much is tried, too
    #[arg(long, default_value = "1ms", value_name = "TIME")]
    pub window: String,
    /// Waits before a write are random, from 0 to this
    #[arg(long, default_value = "10ms", value_name = "TIME")]
    pub wait: String,
    /// Seed of the waits
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the figures as SVG, PNG and PDF into this folder
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Write a page with figures and tables here
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Format of the findings
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Print what would be written, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
}
