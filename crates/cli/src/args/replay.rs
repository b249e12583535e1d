//! Arguments of `flyball replay` and `flyball tune`.

use super::CheckFormat;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  flyball replay RUN --governor schedutil,ondemand,powersave --platform laptop-x86
  flyball replay RUN --governor schedutil,schedutil:rate_limit_us=500 --figure tradeoff.svg
  flyball replay loadrec.load --governor powerd,powerd++ --platform laptop-x86
  flyball replay trace.txt --governor schedutil,performance --platform phone-160-512-1024 --free
  flyball replay workload.json --platform imx8qm    an rt-app program

RUN is what `flyball capture load` or `capture trace` left, a load file of powerd++'s loadrec, the
text of a trace, an rt-app program (.json) or a scenario (.toml). Governors are separated by commas;
tunables follow a colon: NAME:TUNABLE=VALUE,TUNABLE=VALUE.";

pub const TUNE_EXAMPLES: &str = "\
Examples:
  flyball tune RUN --governor ondemand --platform laptop-x86 --goal 'p99<15ms'
  flyball tune RUN --governor schedutil --goal 'late<1%' --tunable rate_limit_us=0..20000
  flyball tune RUN --governor powerd++ --goal 'p99<30ms' --tunable poll=10..500 --tunable samples

The search sees the first two thirds of the recording; the rest shows whether it generalises.
Exit code 1 where the goal is not met.";

/// What is replayed where.
#[derive(Debug, Args)]
pub struct ReplayWhat {
    /// A recording: a run directory, or a file of another tool
    #[arg(value_name = "RUN")]
    pub recording: PathBuf,
    /// The machine: a platform that ships, or a file (default laptop-x86)
    #[arg(short, long, value_name = "NAME|FILE")]
    pub platform: Option<String>,
    /// The kernel: one that ships, or a file; the platform's usual one where absent
    #[arg(short, long, value_name = "NAME|FILE")]
    pub kernel: Option<String>,
    /// Work becomes due as long after the end of the work before as it did in the recording (a user
    /// who waits for the answer), not at its recorded time
    #[arg(long)]
    pub closed_loop: bool,
    /// Let the model's scheduler place tasks; else each stays on its recorded CPU
    #[arg(long)]
    pub free: bool,
    /// Frequency to assume where none was recorded, such as 2GHz; the platform's highest where absent
    #[arg(long, value_name = "FREQUENCY")]
    pub assume: Option<String>,
    /// Multiply all work with this, such as 0.5
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,
}

/// `flyball replay`.
#[derive(Debug, Args)]
pub struct ReplayLoadArgs {
    #[command(flatten)]
    pub what: ReplayWhat,
    /// Governors, with tunables; the kernel's usual one where absent
    #[arg(short, long, value_name = "GOVERNORS")]
    pub governor: Option<String>,
    /// Keep every item and change of frequency: a run directory per governor below this one
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw energy against p99 as SVG or PNG
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// `flyball tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    #[command(flatten)]
    pub what: ReplayWhat,
    /// The governor, with the tunables to begin with; the kernel's usual one where absent
    #[arg(short, long, value_name = "GOVERNOR")]
    pub governor: Option<String>,
    /// What is to be met with the least energy: median, p90, p99, p99.9, max, mean or late, such as
    /// p99<5ms or late<1%
    #[arg(long, value_name = "GOAL")]
    pub goal: String,
    /// A tunable to vary, with its range: NAME or NAME=FROM..TO; the governor's usual ones where
    /// absent; repeatable
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
