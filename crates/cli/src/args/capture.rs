//! Arguments of `flyball capture`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/capture.txt").trim_ascii_end();

/// `flyball capture`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct CaptureArgs {
    /// Remove what a killed capture left in tracefs, and stop
    #[arg(long)]
    pub recover: bool,
    #[command(subcommand)]
    pub what: Option<CaptureCommand>,
}

#[derive(Debug, Subcommand)]
pub enum CaptureCommand {
    /// Scheduler and frequency events while CMD runs, into a run directory
    #[command(after_long_help = TRACE_EXAMPLES)]
    Trace(CaptureTraceArgs),
    /// Load of each CPU while CMD runs, to be replayed
    #[command(after_long_help = LOAD_EXAMPLES)]
    Load(CaptureLoadArgs),
}

const LOAD_EXAMPLES: &str = include_str!("../../help/capture-load.txt").trim_ascii_end();

/// `flyball capture load`.
#[derive(Debug, Args)]
pub struct CaptureLoadArgs {
    /// Length of an interval, 1ms to 1s
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    pub interval: String,
    /// What to count: events (of the scheduler, as root), cpuidle, schedstat or stat (/proc/stat, from
    /// 100ms on); by default the first of them that can be had
    #[arg(long, value_name = "COUNTER")]
    pub source: Option<String>,
    #[command(flatten)]
    pub during: During,
}

const TRACE_EXAMPLES: &str = include_str!("../../help/capture-trace.txt").trim_ascii_end();

/// `flyball capture trace`.
#[derive(Debug, Args)]
pub struct CaptureTraceArgs {
    /// Groups of events, see below; one that the kernel lacks is an error then. Where absent: all
    /// but irq that the kernel has
    #[arg(long, value_name = "GROUPS")]
    pub events: Option<String>,
    /// Buffer of each CPU, such as 16M; by default 4M (less on many CPUs: 256M in all)
    #[arg(long, value_name = "SIZE")]
    pub buffer: Option<String>,
    #[command(flatten)]
    pub during: During,
}

/// How long is recorded, and where it goes.
#[derive(Debug, Args)]
pub struct During {
    /// Record for this long instead of running CMD, such as 5s
    #[arg(short, long, value_name = "TIME", conflicts_with = "program")]
    pub duration: Option<String>,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    /// The program to run, and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "duration")]
    pub program: Vec<String>,
}
