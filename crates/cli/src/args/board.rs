//! Arguments of `flyball board`.

use super::{CheckFormat, OutputArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  flyball board setup                                        once: emulator and kernel
  flyball board run -- flyball check                         this machine's flyball, on the board
  flyball board run --writes p-states.log -- ./my-program
  flyball board run -m board:aarch64 --share out -- sh -c 'uname -a >/run/share/uname'
  flyball board compare board-aarch64                        the model beside the real kernel
  flyball board ab -m board:x86_64,kernel=debian:6.12 -m board:x86_64,kernel=debian:7
  flyball board run -m board:x86_64,kernel=arch/x86/boot/bzImage --modules inst -- dmesg";

#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct BoardArgs {
    #[command(subcommand)]
    pub command: BoardCommand,
}

#[derive(Debug, Subcommand)]
pub enum BoardCommand {
    /// Run CMD on a real kernel on a described machine; its output and status are CMD's
    #[command(after_long_help = RUN_NOTES)]
    Run(Box<BoardRunArgs>),
    /// Compare two kernels: the same experiment on both, alternately; exit code for git bisect
    #[command(after_long_help = AB_NOTES)]
    Ab(Box<BoardAbArgs>),
    /// A scenario on a model beside the same on a real kernel: where they differ
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(Box<BoardCompareArgs>),
    /// Get what boards need: kernels, and an emulator where the system's is too old
    #[command(after_long_help = SETUP_NOTES)]
    Setup(BoardSetupArgs),
}

const RUN_NOTES: &str = "\
Exit code: that of CMD; 124 after --timeout; 125 where the board itself failed; 130 interrupted.
CMD is root in the guest and has no network. An x86_64 guest sees this machine's files at their
own paths; what it changes there is gone afterwards. Files come and go through --share.";

const AB_NOTES: &str = "\
Exit code: 0 where B is equivalent to A or faster, 1 where it is slower, 125 where that cannot be
said: a board that failed, a run that is not valid, an interval too wide. So it can be given to
git bisect run, with -m board:x86_64,kernel=GOOD -m board:x86_64,kernel=arch/x86/boot/bzImage.";

const COMPARE_NOTES: &str = "\
Played on the board: the tasks as threads of a guest, under the scenario's governor, with the
scheduler's events captured. The model is given what was measured there and does not depend on
scheduling: what an item of a periodic task cost, and what else ran on each CPU (as random wake-ups
of the same rate and work). The model without these is shown beside it. Compared: the time until
each utilisation of the scenario is reached (the model's median within the board's range, widened
by a tick), and the share of the time at each operating point and on each kind of core (means
within 5 points).
Exit code: 0 where all agree, 1 where something differs, 125 where the board itself failed, 5 where
the host was too slow for all playings.";

/// `flyball board compare`.
#[derive(Debug, Args)]
pub struct BoardCompareArgs {
    /// A TOML file, or the name of a scenario that ships
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The guest's kernel: an image, or debian:SERIES
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Playings on the board
    #[arg(long, value_name = "N", default_value = "10")]
    pub repeats: std::num::NonZeroU32,
    /// Judge the playings of an earlier comparison of this scenario instead of booting
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kernel", "repeats"])]
    pub again: Option<PathBuf>,
    /// Change a key of the scenario, such as task.audio.work=4ms; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The directory of the runs; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

const SETUP_NOTES: &str = "\
Packages are Debian's, fetched and checked by apt and unpacked, not installed, into
~/.cache/flyball/board (or FLYBALL_BOARD_DIR). On other distributions install QEMU 10 or newer and
a static busybox, and boot your own kernel: flyball board run -m board:x86_64,kernel=FILE
--modules DIR.";

#[derive(Debug, Args)]
pub struct BoardRunArgs {
    /// The machine: board:NAME[,kernel=K,arch=A,append=ARGS]; NAME is a platform that ships, a TOML
    /// file, or x86_64 or aarch64; K is a bzImage or Image, or debian:6.12, debian:7
    #[arg(short, long, value_name = "MACHINE", default_value = "board:x86_64")]
    pub machine: String,
    /// Modules of the kernel: the folder of its release, or one with lib/modules in it
    #[arg(long, value_name = "DIR")]
    pub modules: Option<PathBuf>,
    /// Configuration of the kernel, to check it before the boot; found by itself in a build tree
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A folder that the guest sees, and may write, as /run/share
    #[arg(long, value_name = "DIR")]
    pub share: Option<PathBuf>,
    /// Write the P-state writes seen from outside here, on the guest's clock
    #[arg(long, value_name = "FILE")]
    pub writes: Option<PathBuf>,
    /// Give up after this long, such as 90s
    #[arg(long, value_name = "TIME", default_value = "600s")]
    pub timeout: String,
    /// The guest's root folder, or `none` for busybox alone
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Memory of the guest in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(128..=3072))]
    pub memory: u64,
    /// Guest instructions per cycle of a CPU whose work per cycle is 1; by default what fits
    #[arg(long, value_name = "N")]
    pub ipc: Option<f64>,
    /// Guest instructions after which a CPU's speed is set right
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub step: u64,
    /// Let P-states be switched as usual, but change no speed
    #[arg(long)]
    pub full_speed: bool,
    /// A flyball for the guest; by default this one, if it fits
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A static busybox for the guest
    #[arg(long, value_name = "FILE")]
    pub busybox: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub struct BoardAbArgs {
    /// A TOML file, or the name of an experiment that ships, with one condition
    #[arg(value_name = "EXPERIMENT", default_value = "kernels")]
    pub experiment: String,
    /// Twice: A, the one to judge against, then B; board:NAME,kernel=K[,arch=A], as in board run
    #[arg(short, long, value_name = "MACHINE", required = true)]
    pub machine: Vec<String>,
    /// Modules of A, then of B, where they are kernels of your own
    #[arg(long, value_name = "DIR")]
    pub modules: Vec<PathBuf>,
    /// How often each kernel boots; which one is first changes from round to round
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub rounds: u32,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct BoardSetupArgs {
    /// Get what boards of this architecture need
    #[arg(long, value_name = "ARCH", default_value = "x86_64")]
    pub arch: String,
    /// Get this kernel, such as debian:7; repeatable
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Vec<String>,
    /// Look for newer packages of what is there
    #[arg(long)]
    pub update: bool,
    /// Keep this flyball for guests of the architecture: static, or with no more than they have
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}
