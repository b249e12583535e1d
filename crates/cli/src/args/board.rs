//! Arguments of `flyball board`.

use super::{CheckFormat, OutputArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/board.txt").trim_ascii_end();

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

const RUN_NOTES: &str = include_str!("../../help/board-run.txt").trim_ascii_end();

const AB_NOTES: &str = include_str!("../../help/board-ab.txt").trim_ascii_end();

const COMPARE_NOTES: &str = include_str!("../../help/board-compare.txt").trim_ascii_end();

/// `flyball board compare`.
#[derive(Debug, Args)]
pub struct BoardCompareArgs {
    /// A TOML file, or the name of a scenario that ships
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The guest's kernel: an image, or debian:SERIES
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Playings on the board; 10 where absent, and none beside --again
    #[arg(long, value_name = "N")]
    pub repeats: Option<std::num::NonZeroU32>,
    /// Judge the playings of an earlier comparison of this scenario instead of booting; with
    /// --repeats, add as many as are missing; that directory has to stay
    #[arg(long, value_name = "DIR")]
    pub again: Option<PathBuf>,
    /// Give the model what an earlier comparison measured on the board, and nothing of this one's
    /// playings: a prediction of what a change brings
    #[arg(long, value_name = "DIR")]
    pub given: Option<PathBuf>,
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

const SETUP_NOTES: &str = include_str!("../../help/board-setup.txt").trim_ascii_end();

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
    /// How often each kernel boots; which one is first is drawn for each round
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=1000))]
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
