//! Arguments of `flyball rampup`.

use super::CheckFormat;
use clap::Args;
use std::num::NonZeroU32;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/rampup.txt").trim_ascii_end();

/// `flyball rampup`.
#[derive(Clone, Debug, Args)]
pub struct RampupArgs {
    /// The machine: host, model:NAME[,kernel=K] or board:NAME[,kernel=K]; repeatable, side by side
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: Vec<String>,
    /// Governors, NAME[:TUNABLE=VALUE,...], several side by side, or :TUNABLE=VALUE for the one that
    /// rules; by default the machine's, or on a model the kernel's
    #[arg(short, long, value_name = "GOVERNORS")]
    pub governor: Vec<String>,
    /// Lower utilisation clamp, 0 to 1024
    #[arg(long, value_name = "UTIL")]
    pub uclamp_min: Option<u32>,
    /// Upper utilisation clamp, 0 to 1024
    #[arg(long, value_name = "UTIL")]
    pub uclamp_max: Option<u32>,
    /// Apply the whole response-time series (models)
    #[arg(long)]
    pub series: bool,
    /// One patch of it, such as headroom_from_delay=true; repeatable (models)
    #[arg(long, value_name = "PATCH=VALUE")]
    pub feature: Vec<String>,
    /// The series' ramp-up multiplier of the task (models)
    #[arg(long, value_name = "N")]
    pub multiplier: Option<u32>,
    /// Ticks per second instead of the kernel's (models)
    #[arg(long)]
    pub hz: Option<u32>,
    /// Phases of tick and poll (models)
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub phases: u32,
    /// Length of the spin, such as 500ms; 200ms on this machine alone, else 500ms
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Lengths of the sleeps before a spin, as 1ms,10ms,1s; 1ms to 1s in 7 steps on this machine alone,
    /// else 10ms
    #[arg(long, value_name = "TIMES", value_delimiter = ',')]
    pub gap: Vec<String>,
    /// Sleeps before a spin; 1 on this machine alone, else 100: the kernel's utilisation is then
    /// forgotten
    #[arg(long, value_name = "N")]
    pub sleeps: Option<u32>,
    /// Repetitions per gap and variant, at random phases (machines and boards)
    #[arg(long, value_name = "N", default_value = "20")]
    pub repeats: NonZeroU32,
    /// Seed of order and phases (machines and boards)
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Capture the scheduler's events meanwhile (machines and boards, root): all groups that the
    /// kernel has, or those named
    #[arg(long, value_name = "GROUPS", num_args = 0..=1, default_missing_value = "")]
    pub trace: Option<String>,
    /// A further run beside the first, as NAME: SETTINGS; repeatable
    #[arg(long, value_name = "VARIANT")]
    pub variant: Vec<String>,
    /// The run directory, by default a new one; of several machines a folder with one for each
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw utilisation and frequency over time, all runs on common axes, as SVG, PNG or PDF (one model)
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Measure only; read it later with: flyball report (machines and boards)
    #[arg(long)]
    pub no_report: bool,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

impl RampupArgs {
    /// Length of the spin on models, and wherever machines stand side by side.
    pub const SPIN: &str = "500ms";
}
