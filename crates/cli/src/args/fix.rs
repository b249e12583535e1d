//! Arguments of `flyball fix`.

use super::CheckFormat;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/fix.txt").trim_ascii_end();

/// `flyball fix`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct FixArgs {
    /// An experiment with one workload and one condition, the baseline: a TOML file
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: Option<String>,
    /// What to reach: [response|execution|lateness] median or pNN, <, a time; such as 'p99<2ms'
    #[arg(short, long, value_name = "GOAL")]
    pub goal: String,
    /// Folder of the runs; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Repeats of each stage instead of what the goal needs
    #[arg(long)]
    pub repeats: Option<std::num::NonZeroU32>,
    /// Measured time per change and repeat instead of what the goal needs, such as 2s
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Period instead of the experiment's, such as 10ms
    #[arg(long, value_name = "TIME")]
    pub period: Option<String>,
    /// Seed instead of the experiment's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print what would be tried here, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Format on stdout
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    /// Your own program and its arguments, run once per window
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<String>,
}
