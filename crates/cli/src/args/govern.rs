//! Arguments of `flyball govern`.

use super::CheckFormat;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/govern.txt").trim_ascii_end();

/// `flyball govern`.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct GovernArgs {
    /// The governor: NAME[:TUNABLE=VALUE,...], such as powerd:poll_ival=100; names: powerd,
    /// powerd-paper, powerd++, ondemand, conservative, tick, ...
    #[arg(value_name = "GOVERNOR", required = true)]
    pub governor: Option<String>,
    /// Only the clock domains of these CPUs, such as 0-3,8
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Where busy and idle times come from
    #[arg(long, value_enum, default_value_t = SourceChoice::Stat)]
    pub source: SourceChoice,
    /// Decide without writing, and compare with what the machine does
    #[arg(long)]
    pub shadow: bool,
    /// The rule itself inside of the kernel, at each tick or update of load tracking, by a program of ours (BPF,
    /// sched_ext; root): tick or threshold
    #[arg(long, conflicts_with_all = ["shadow", "log", "out", "socket", "dry_run"])]
    pub exact: bool,
    /// Write every decision here, a line of JSON each
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub log: Option<PathBuf>,
    /// Write decisions and frequencies into this run directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// End by itself after this time, such as 10s
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Socket for orders; by default /run/flyball/govern.sock as root, else none
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Polls that the loop may be late, a second at least, before the settings are restored without
    /// it
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub stall_polls: u32,
    /// Print what would be done, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Format of the outline, or of the result at the end
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    /// The machine: host; with --dry-run also record:DIR
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    #[command(subcommand)]
    pub what: Option<GovernCommand>,
}

#[derive(Debug, Subcommand)]
pub enum GovernCommand {
    /// Order a running daemon: status, switch POLICY, set NAME=VALUE, stop
    Ctl(CtlArgs),
    /// Feed a log to fresh governors and compare every decision
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
pub struct CtlArgs {
    /// status, switch POLICY, set NAME=VALUE or stop
    #[arg(value_name = "ORDER", required = true, num_args = 1..=2)]
    pub order: Vec<String>,
    /// The daemon's socket
    #[arg(long, value_name = "PATH", default_value = flyball_govern::SOCKET)]
    pub socket: PathBuf,
    /// Format of the status
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// What --log wrote
    #[arg(value_name = "FILE")]
    pub log: PathBuf,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// Where busy and idle times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceChoice {
    /// /proc/stat, in ticks of 10 ms
    Stat,
    /// The same, refined by the idle states' times
    Cpuidle,
    /// The same, refined by the tasks' run time
    Schedstat,
}
