//! Arguments of `flyball hold`.

use super::CheckFormat;
use clap::Args;

pub const EXAMPLES: &str = "\
Examples:
  sudo flyball hold --governor performance -- sudo -u \"$USER\" ./my-program
  sudo flyball hold --frequency 2.4GHz --boost off -- ./bench.sh
  sudo flyball hold --min 1GHz --max 2GHz --cpus 4-7 -- taskset -c 4 ./my-program
  sudo flyball hold --governor ondemand:up_threshold=60 -- ./server-test
  sudo flyball hold --epp performance --idle-latency 0 -- ./audio-test
  flyball hold --load heavy --duration 10s    background load with proof that it ran; needs no root
  flyball hold --load 2x50% -- ./my-program
  flyball hold --frequency max --dry-run      what would be written; nothing is
  sudo flyball hold --recover                 after a crash or kill -9; the next hold does it, too

Loads: idle, medium (half of the CPUs at 50 %), heavy (all at 90 %), or groups joined with +:
  2x50%                               2 CPUs' worth at 50 %, not pinned
  cpus=0-3,percent=90,pinned          CPUs 0 to 3 at 90 %, one thread pinned to each
  1x30%,kind=memory,period=10ms       memory traffic in periods of 10 ms
  heavy,stress-ng                     made by stress-ng instead of Flyball

Exit code: that of CMD, 128 + N where signal N ended it. 125 where Flyball failed before or after
it, 4 where the machine or a permission does not allow it, 6 where a setting was not restored.
SIGINT, SIGTERM and SIGHUP are passed on to CMD. It gets standard input unless that is a terminal.";

/// `flyball hold`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct HoldArgs {
    /// Governor of every clock domain, with tunables by their upstream names: NAME[:TUNABLE=VALUE,...];
    /// :TUNABLE=VALUE for the governor that is set
    #[arg(short, long, value_name = "GOVERNOR")]
    pub governor: Option<String>,
    /// One frequency, such as 2.4GHz, or min or max of the hardware
    #[arg(short, long, value_name = "FREQUENCY", conflicts_with_all = ["min", "max"])]
    pub frequency: Option<String>,
    /// Lower limit, as --frequency
    #[arg(long, value_name = "FREQUENCY")]
    pub min: Option<String>,
    /// Upper limit, as --frequency
    #[arg(long, value_name = "FREQUENCY")]
    pub max: Option<String>,
    /// Frequencies above the nominal one (boost, turbo)
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"])]
    pub boost: Option<String>,
    /// Energy performance preference, where the hardware chooses the frequency
    #[arg(long, value_name = "PREFERENCE")]
    pub epp: Option<String>,
    /// Only idle states that wake within this many microseconds; 0 allows none
    #[arg(long, value_name = "US")]
    pub idle_latency: Option<u32>,
    /// Only the clock domains of these CPUs, such as 0-3,8
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Run a background load meanwhile, and prove that it ran; see below
    #[arg(short, long, value_name = "PROFILE")]
    pub load: Option<String>,
    /// Without CMD: how long a load is held, such as 10s; by default until Ctrl-C
    #[arg(short, long, value_name = "TIME", conflicts_with = "program", requires = "load")]
    pub duration: Option<String>,
    /// Do not measure the delivered frequency before CMD runs
    #[arg(long)]
    pub no_verify: bool,
    /// Print what would be written, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Restore what a killed hold left, and stop
    #[arg(long, conflicts_with_all = ["dry_run", "program", "load"])]
    pub recover: bool,
    /// Format of the plan or the result; with CMD, the result is one line on stderr
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// With --dry-run: the machine to plan for, host or record:DIR
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    /// The program to run, and its arguments
    #[arg(
        last = true,
        value_name = "CMD",
        required_unless_present_any = ["dry_run", "recover", "load"]
    )]
    pub program: Vec<String>,
}
