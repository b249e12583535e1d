//! Arguments of `flyball qos`.

use super::{BlockArgs, CheckFormat};
use clap::{Args, Subcommand, value_parser};
use flyball_qos::By;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/qos.txt").trim_ascii_end();

const MEASURE_EXAMPLES: &str = include_str!("../../help/qos-measure.txt").trim_ascii_end();

/// `flyball qos`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct QosArgs {
    #[command(flatten)]
    pub ramp: RampArgs,
    /// A quarter on top, as schedutil adds it to utilisation, but not to this
    #[arg(long)]
    pub headroom: bool,
    /// What each thread gets, by its name: rules in a TOML file; without --pid, --name, --thread or CMD,
    /// for all processes that they name, until Ctrl-C
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ramp", "reach", "headroom", "class"])]
    pub rules: Option<PathBuf>,
    /// All threads get this: ui, audio, render or background
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["ramp", "reach", "headroom"])]
    pub class: Option<String>,
    /// By what: clamps (of threads), limits (the lowest frequency of the CPU that a thread is on; root), or sched_ext
    /// (a program in the kernel, by frequency alone; root); clamps where the machine heeds them, else limits
    #[arg(long, value_name = "WAY")]
    pub by: Option<By>,
    /// Take in the processes that they start, too
    #[arg(long)]
    pub children: bool,
    /// All threads of this process; repeatable
    #[arg(short, long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// All threads of the processes that run now and have this name (ps -o comm); repeatable
    #[arg(short, long, value_name = "NAME")]
    pub name: Vec<String>,
    /// This thread alone, by its number (ps -L); repeatable
    #[arg(short, long, value_name = "TID")]
    pub thread: Vec<u32>,
    /// All processes of this cgroup (v2) and those below it, also those that come later, until Ctrl-C
    #[arg(long, value_name = "PATH", conflicts_with_all = ["pid", "name", "thread", "program"])]
    pub cgroup: Option<String>,
    /// All processes of this user, by name or number, also those that come later, until Ctrl-C
    #[arg(long, value_name = "USER", conflicts_with_all = ["pid", "name", "thread", "program"])]
    pub user: Option<String>,
    /// Let programs ask for their own threads at a socket: PATH, by default in the journal's folder
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    pub socket: Option<Option<PathBuf>>,
    /// Remove what a killed one left, and stop
    #[arg(long, exclusive = true)]
    pub recover: bool,
    #[command(subcommand)]
    pub what: Option<QosCommand>,
    /// The program to run, and its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["pid", "name", "thread"])]
    pub program: Vec<String>,
}

/// How fast.
#[derive(Clone, Debug, Args)]
pub struct RampArgs {
    /// How many times as fast as load tracking demand grows while a thread runs; 4 by default
    #[arg(short, long, value_name = "M", value_parser = value_parser!(u32).range(1..=64))]
    pub ramp: Option<u32>,
    /// Instead: the share of the highest frequency, such as 80%, that a run is to reach
    #[arg(long, value_name = "SHARE", requires = "within", conflicts_with = "ramp")]
    pub reach: Option<String>,
    /// ... within this time from its begin, such as 20ms
    #[arg(long, value_name = "TIME", requires = "reach")]
    pub within: Option<String>,
}

/// `flyball qos measure`.
#[derive(Debug, Args)]
#[command(after_help = MEASURE_EXAMPLES)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub ramp: RampArgs,
    /// Blocks in which runs with and without take turns, and spins of each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..=10_000))]
    pub repeats: u32,
    /// Time for which CMD is run again and again in a turn, such as 2s; by default ten runs, of slow programs fewer
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Simulate the spins first, on model:NAME[,kernel=K], with clamps that follow the same ramp
    #[arg(long, value_name = "MACHINE")]
    pub predict: Option<String>,
    /// Capture the scheduler's events beside the runs of CMD, for what others wait (root)
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub turns: BlockArgs,
    /// The run directories go below this one; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// The program to run, and its arguments; without one, spins alone
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum QosCommand {
    /// What a ramp brings and costs, in random blocks with and without it
    Measure(Box<MeasureArgs>),
    /// How it is done on this machine, and whether it is being done
    Status {
        /// Format on stdout
        #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
        format: CheckFormat,
    },
    /// Wait for the controller's end, then remove what it left
    #[command(hide = true)]
    Guard,
}
