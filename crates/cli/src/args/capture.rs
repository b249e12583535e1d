//! Arguments of `flyball capture`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  sudo flyball capture trace -- ./my-program   every switch, wake-up and change of frequency
  flyball capture load --duration 30s          how busy each CPU is, to be replayed
  sudo flyball capture --recover               after a crash or kill -9";

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

const LOAD_EXAMPLES: &str = "\
Examples:
  flyball capture load --duration 30s          what this machine does in 30 s
  flyball capture load --out mine -- ./my-program
  flyball replay mine --governor schedutil,ondemand --machine model:laptop-x86

Needs no privileges; as root it costs less, and is exact. CMD gets no standard input; the exit code
is CMD's.";

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
    /// Record for this long instead of running CMD, such as 30s
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

const TRACE_EXAMPLES: &str = "\
Groups of --events:
  sched      who ran where, who was woken, who moved
  frequency  changes of frequency
  idle       idle states
  util       load tracking of tasks and run queues (Linux 6.5 or newer with BTF)
  capacity   capacities of the CPUs (the same)
  governor   what schedutil was given and what it answered (the same)
  irq        interrupts and softirqs; not among the default ones

Examples:
  sudo flyball capture trace -- ./my-program
  sudo flyball capture trace --duration 5s --out trace5
  sudo flyball capture trace --events sched,frequency -- sudo -u \"$USER\" ./my-program
  flyball report                      what ran, frequencies, time lines: of the newest run

CMD gets no standard input; SIGINT and SIGTERM are passed on to it. The exit code is CMD's.";

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
    /// Capture for this long instead of running CMD, such as 5s
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
