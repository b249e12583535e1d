//! Arguments of `flyball shadow`.

use super::CheckFormat;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  flyball shadow trace.txt --platform board-aarch64   does schedutil's rule explain the kernel?
  flyball shadow trace.txt                            domains and points as the trace shows them
  flyball shadow trace.txt --governor schedutil:rate_limit_us=2000   another rate limit
  flyball shadow flyball-runs/20261122T0412Z-import   an imported trace, or a simulation

What it needs is sched_switch, sched_wakeup, cpu_frequency and a probe on pelt_cfs_tp
(docs/traces.md). A prediction is the same operating point within the tolerance.";

/// `flyball shadow`.
#[derive(Debug, Args)]
pub struct ShadowArgs {
    /// The text of a trace, or a run directory with its events
    #[arg(value_name = "RUN|TRACE")]
    pub recording: PathBuf,
    /// The governor, with tunables: NAME[:TUNABLE=VALUE,...]
    #[arg(short, long, value_name = "GOVERNOR", default_value = "schedutil")]
    pub governor: String,
    /// The machine: a platform that ships, or a file; as the recording shows it where absent
    #[arg(short, long, value_name = "NAME|FILE")]
    pub platform: Option<String>,
    /// The kernel: one that ships, or a file; the platform's usual one where absent
    #[arg(short, long, value_name = "NAME|FILE")]
    pub kernel: Option<String>,
    /// How far a decision may lie from the kernel's change
    #[arg(long, value_name = "TIME", default_value = "500us")]
    pub tolerance: String,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}
