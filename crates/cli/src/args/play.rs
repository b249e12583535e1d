//! Arguments of `flyball play`.

use super::CheckFormat;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  flyball play mine.toml                     the tasks of a scenario, on this machine
  sudo flyball play mine.toml --trace        with the scheduler's events; then: flyball report
  flyball play mine.toml --set task.audio.work=4ms
  flyball board run -- flyball play board-x86 on a virtual board

The machine's own governor and settings hold; the scenario's are the model's. Work is executed as
multiplications: 2ms of it is what this machine's fastest CPU does in 2 ms at its best.";

/// `flyball play`.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// A TOML file, or the name of a scenario that ships
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The run directory; a new one under flyball-runs where absent
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a key of the scenario, such as task.audio.work=4ms; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Play it several times, each into a run directory of its own: DIR/1, DIR/2, ...
    #[arg(long, value_name = "N", requires = "out")]
    pub repeats: Option<std::num::NonZeroU32>,
    /// Capture the scheduler's events meanwhile: all groups that the kernel has, or those named
    #[arg(long, value_name = "GROUPS", num_args = 0..=1, default_missing_value = "")]
    pub trace: Option<String>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}
