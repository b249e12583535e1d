//! Arguments of `flyball ab`.

use super::{BlockArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = include_str!("../../help/ab.txt").trim_ascii_end();

#[derive(Debug, Args)]
pub struct AbArgs {
    /// Programs with their arguments, one text each; the first is what the others are judged against
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// Name of a program in the report; repeatable, in the order of the programs
    #[arg(short, long, value_name = "NAME")]
    pub name: Vec<String>,
    /// Compare two commits of this repository: each is built in a work tree of its own, and the
    /// program after `--` is run there
    #[arg(long, num_args = 2, value_names = ["BASE", "HEAD"], requires = "program", conflicts_with = "programs")]
    pub commits: Vec<String>,
    /// Build command of the commits, run by the shell in each work tree
    #[arg(long, value_name = "CMD", requires = "commits")]
    pub build: Option<String>,
    /// Stop as soon as every program is decided against the first, at the latest after this time
    #[arg(long, value_name = "TIME", default_value = "1min")]
    pub within: String,
    /// Run exactly this many blocks instead, and do not stop at an answer
    #[arg(long, alias = "runs", value_name = "N", conflicts_with = "within", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// Runs of each program before the first block; by default 3, fewer of a slow program
    #[arg(short, long, value_name = "RUNS")]
    pub warmup: Option<u32>,
    /// Run once before the programs, such as a build; once for all, or one per program
    #[arg(long, value_name = "CMD")]
    pub setup: Vec<String>,
    /// Run before each run, not timed; once for all, or one per program
    #[arg(long, value_name = "CMD")]
    pub prepare: Vec<String>,
    /// Run when all is measured
    #[arg(long, value_name = "CMD")]
    pub cleanup: Option<String>,
    /// Run the programs by `sh -c`, whose start is then measured, too; without it no shell is started
    #[arg(long)]
    pub shell: bool,
    #[command(flatten)]
    pub turns: BlockArgs,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// The program of the commits, relative to the work tree
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<String>,
}
