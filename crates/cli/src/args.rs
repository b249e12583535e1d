//! The one definition of the command line: help, man pages and completions come from it.

mod ab;
mod board;
mod capture;
mod fix;
mod govern;
mod hold;
mod install;
mod model;
mod qos;
mod rampup;
mod replay;
mod reproduce;
mod transition;

pub use ab::AbArgs;
pub use board::{
    BoardAbArgs, BoardArgs, BoardCommand, BoardCompareArgs, BoardRunArgs, BoardSetupArgs,
};
pub use capture::{CaptureArgs, CaptureCommand, CaptureLoadArgs, CaptureTraceArgs};
pub use fix::FixArgs;
pub use govern::{CtlArgs, GovernArgs, GovernCommand, ReplayArgs, SourceChoice};
pub use hold::HoldArgs;
pub use install::InstallArgs;
pub use model::{RecordChoice, SimArgs};
pub use qos::{MeasureArgs, QosArgs, QosCommand, RampArgs};
pub use rampup::RampupArgs;
pub use replay::{ReplayCommand, ReplayLoadArgs, ReplayWhat, ScenarioArgs, ShadowArgs, TuneArgs};
pub use reproduce::{ReproduceArgs, ReproduceFormat};
pub use transition::TransitionArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Shows what CPU frequency scaling does to latency, proves it, and fixes it.
#[derive(Debug, Parser)]
#[command(
    name = "flyball",
    version,
    about = "Flyball shows what CPU frequency scaling does to latency, and proves it.",
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub talk: Talk,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// How much Flyball says, on stderr.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Talk {
    /// Say nothing but errors and the result
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more, and show every table of a report
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What distorts measurements here, and the fix for each
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Latency of signal kernels or of your program, idle and under load
    #[command(after_long_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// Which program or commit is faster: in random blocks until it is decided
    #[command(after_long_help = ab::EXAMPLES)]
    Ab(AbArgs),
    /// Time until a sudden demand gets its frequency
    #[command(after_long_help = rampup::EXAMPLES)]
    Rampup(RampupArgs),
    /// What a frequency switch costs: write, stall, transition
    #[command(after_long_help = transition::EXAMPLES)]
    Transition(TransitionArgs),
    /// Run a program with settings or a load held, then restore them
    #[command(after_long_help = hold::EXAMPLES)]
    Hold(HoldArgs),
    /// The smallest change of settings that meets a latency goal
    #[command(after_long_help = fix::EXAMPLES)]
    Fix(FixArgs),
    /// Run one of the model's governors on this machine
    #[command(after_long_help = govern::EXAMPLES)]
    Govern(GovernArgs),
    /// Answer a program's demand faster: a ramp of its own while it runs
    #[command(after_long_help = qos::EXAMPLES)]
    Qos(QosArgs),
    /// Simulate a scenario of tasks, sweep its keys, or play it on this machine
    #[command(after_long_help = model::SIM_EXAMPLES)]
    Sim(SimArgs),
    /// Recorded work under other governors and on other machines
    #[command(after_long_help = replay::EXAMPLES)]
    Replay(ReplayLoadArgs),
    /// A real kernel on an emulated machine with cpufreq
    #[command(after_long_help = board::EXAMPLES)]
    Board(BoardArgs),
    /// Record this machine's scheduler events, or its load
    #[command(after_long_help = capture::EXAMPLES)]
    Capture(CaptureArgs),
    /// Do a job, which the guest of a board is handed as a file, and leave its run directory
    #[command(hide = true)]
    Job(JobArgs),
    /// Read, compare, plot and export runs and other tools' data
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Published numbers beside ours: reproduced, refuted or not decidable
    #[command(after_long_help = reproduce::EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Write man pages, shell completions and systemd units
    #[command(after_long_help = install::EXAMPLES)]
    Install(InstallArgs),
    /// Help on a command, a topic, or a name of a topic's list
    Help {
        /// A command, a topic, or a name such as apple-m1
        topic: Option<String>,
    },
}

impl Command {
    /// Whether it changes, measures and starts nothing: it may be ended at any moment.
    pub fn only_computes(&self) -> bool {
        let model = |machine: &str| machine.starts_with("model:");
        match self {
            Command::Check(_) | Command::Report(_) | Command::Replay(_) | Command::Reproduce(_) => {
                true
            }
            Command::Sim(args) => args.machine.as_deref().is_none_or(model),
            Command::Bench(args) => model(&args.machine),
            Command::Transition(args) => model(&args.machine),
            Command::Rampup(args) => args.machine.iter().all(|text| model(text)),
            _ => false,
        }
    }
}

/// The commands by what people come for, as the first screen lists them.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["check", "bench", "ab", "rampup", "transition"]),
    ("Control", &["hold", "fix", "govern", "qos"]),
    ("Predict", &["sim", "replay", "board"]),
    ("Read", &["capture", "report", "reproduce"]),
    ("Set up", &["install", "help"]),
];

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Copy what is known about this machine into a folder, for tests and bug reports (no host
    /// name, serial numbers or addresses)
    #[arg(long, value_name = "DIR")]
    pub snapshot: Option<PathBuf>,
    /// What to look at: host, or record:DIR, a machine recorded with --snapshot
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// Leave the frequency probe out: nothing is measured, only read
    #[arg(long)]
    pub no_probe: bool,
    /// Exit with 1 where something at least this bad is found
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Bad)]
    pub fail_on: FailOn,
    /// Format of the findings (schema of the JSON: docs/reference/check.schema.json)
    #[arg(short, long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A warning, or worse
    Warn,
    /// What makes figures mislead
    Bad,
    /// Nothing
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

const CHECK_EXAMPLES: &str = include_str!("../help/check.txt").trim_ascii_end();

const BENCH_EXAMPLES: &str = include_str!("../help/bench.txt").trim_ascii_end();

/// What to do about other programs, shared by what measures here in blocks.
#[derive(Debug, Args)]
pub struct QuietArgs {
    /// Blocks that may be done again because other programs or the hypervisor disturbed them
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub retry: Option<u32>,
    /// Wait until other programs leave the CPUs alone (below 5 % for a second), at most TIME
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5min"
    )]
    pub wait_quiet: Option<String>,
}

/// How two sides are compared that take turns in random blocks.
#[derive(Debug, Args)]
pub struct BlockArgs {
    /// What differs by less than this is equal, such as 2%
    #[arg(long, value_name = "PERCENT", default_value = "3%")]
    pub margin: String,
    #[command(flatten)]
    pub quiet: QuietArgs,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// A TOML file, or the name of an experiment that ships; by default a quick one
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: Option<String>,
    /// What to run it on: host; model:NAME[,kernel=K], a simulated machine; or
    /// board:NAME[,kernel=K,arch=A,append=ARGS], a real kernel on an emulated one
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// On a model: take the kernels' costs from this run of a real machine
    #[arg(long, value_name = "RUN")]
    pub costs: Option<PathBuf>,
    /// The run directory; by default a new one under flyball-runs
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Record the scheduler's events beside the windows, to tell what made the slow ones slow
    /// (needs root, but not on a model). GROUPS: sched, frequency, idle, irq, ...
    #[arg(
        long,
        value_name = "GROUPS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub trace: Option<String>,
    /// Seed instead of the experiment's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Repeats instead of the experiment's
    #[arg(long)]
    pub repeats: Option<u32>,
    /// Measured time per trial instead of the experiment's, such as 2s
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Period instead of the experiment's, such as 10ms
    #[arg(long, value_name = "TIME")]
    pub period: Option<String>,
    #[command(flatten)]
    pub quiet: QuietArgs,
    /// Print what would run, in which order and for how long, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Write the named experiment, that of CMD, or a commented template, into a new file to edit, and stop
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "experiment.toml",
        conflicts_with = "dry_run"
    )]
    pub init: Option<PathBuf>,
    /// Measure only: the report can be made later, and elsewhere
    #[arg(long)]
    pub no_report: bool,
    /// Make some calls to the machine fail, to see what happens, such as
    /// `scheduling_set=EPERM` (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Your own program and its arguments, run once per window
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct JobArgs {
    /// The job, as TOML
    pub file: PathBuf,
    /// The run directory
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

const REPORT_EXAMPLES: &str = include_str!("../help/report.txt").trim_ascii_end();

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run directories, or files of another tool; by default the newest run
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Runs that the others are judged against; several runs on a side count as its repeats
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "runs")]
    pub against: Vec<PathBuf>,
    /// Which column of a CSV is which field: FIELD=COLUMN,...
    #[arg(long, value_name = "MAP")]
    pub map: Option<String>,
    /// Clock of a trace, as in trace_clock, such as mono; a trace does not say
    #[arg(long, value_name = "NAME")]
    pub clock: Option<String>,
    /// Log of frequency writes seen from outside, to be joined with a trace
    #[arg(long, value_name = "FILE")]
    pub writes: Option<PathBuf>,
    /// Rate of the counter that FTaLaT's files are in, such as 2.5GHz; they do not say
    #[arg(long, value_name = "RATE")]
    pub counter: Option<String>,
    /// Keep the other tool's data as a run directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Task to look at in runs with scheduler events: name, number or name-number; by default the
    /// one that ran longest
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Text of the mark at which its time line begins; by default the task's first one
    #[arg(long, value_name = "TEXT")]
    pub marker: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write the figures as SVG, PNG and PDF into this folder
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
    /// Write every event into this page, to zoom into, or for perfetto's tools into FILE.pftrace
    #[arg(long, value_name = "FILE.html")]
    pub timeline: Option<PathBuf>,
    /// Write runs and report into one file, without the host's name, command lines and paths
    #[arg(long, value_name = "FILE.tar.gz")]
    pub bundle: Option<PathBuf>,
    /// What to leave in the bundle: hostname, commands, paths
    #[arg(long, requires = "bundle", value_name = "KIND", value_delimiter = ',')]
    pub keep: Vec<flyball_report::bundle::Kind>,
}

/// What a report is compared with, checked for, and written to.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Format on stdout
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Condition that the others are compared with
    #[arg(long, value_name = "CONDITION")]
    pub baseline: Option<String>,
    /// Exit with 1 if this holds, such as 'p99 > +5%' or 'lateness.p99 > 200us'; repeatable, see `flyball help rules`
    #[arg(long, value_name = "RULE")]
    pub fail_if: Vec<String>,
    /// Write the HTML page here; by default beside the run
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Write no HTML page
    #[arg(long, conflicts_with = "page")]
    pub no_page: bool,
    /// Replicates of the bootstrap
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(200..=100_000))]
    pub replicates: u32,
}

impl From<CheckFormat> for ReportFormat {
    fn from(format: CheckFormat) -> ReportFormat {
        match format {
            CheckFormat::Text => ReportFormat::Text,
            CheckFormat::Json => ReportFormat::Json,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// The whole report (schema: docs/reference/report.schema.json)
    Json,
    /// The JSON Schema of that
    JsonSchema,
    /// One row per cell
    Csv,
    /// For a pull request
    Md,
    /// Test results as the kernel's tests print them: one per rule of --fail-if, or per comparison
    Ktap,
}
