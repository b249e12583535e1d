//! Programs against each other: from their command lines to an experiment in interleaved blocks.
//!
//! Every block runs each program for a while, in random order, so that whatever the machine does
//! meanwhile falls on all of them alike. A short program is run several times in its trial:
//! what changing over costs then weighs little.

mod command;

pub use command::command;

use crate::experiment::{Experiment, Placement, ProbeTiming, Workload, quick};
use crate::program::{ProgramError, succeed};
use crate::protocol::windows::crowded;
use flyball_host::{Exit, Host, ProcessIdentity, ProcessSpec, ProcessTimes};
use flyball_units::{Duration, Mismatch, Nanos};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// A program's trial in a block lasts at least so long, however short the program is.
const TRIAL: Nanos = Nanos::from_millis(40);
/// Runs in a trial; more would make few and long blocks of a program that takes no time.
const MOST_RUNS: u64 = 100;
/// Blocks beyond which an answer gains nothing.
const MOST_BLOCKS: u64 = 5_000;
/// Blocks that there are in any case: fewer decide nothing.
const LEAST_BLOCKS: u64 = 6;
/// What a change of programs costs: a thread, its settings, a page of telemetry.
const CHANGE: Nanos = Nanos::from_millis(2);
/// Of so many blocks one may be done again because others disturbed it.
const RETRY_ONE_OF: u64 = 5;
/// For how long others are looked at before the first block, at least.
const LOOK: Nanos = Nanos::from_millis(300);
/// Runs of each program before the first block, to fill caches and to know how long it takes; fewer where
/// one takes longer than a second.
pub const WARM_UP: u32 = 3;
const WARM_UP_TIME: Nanos = Nanos::from_secs(1);

/// One of the programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its name in the report.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Folder to run it in; the present one where absent.
    pub folder: Option<PathBuf>,
    /// Run once before anything of it is measured.
    pub setup: Option<Vec<String>>,
    /// Run before each measured run, not timed.
    pub prepare: Option<Vec<String>>,
}

/// Gives programs of one name different ones: a program against itself is a fair question, too.
pub fn tell_apart(programs: &mut [Program]) {
    for at in 1..programs.len() {
        let (before, rest) = programs.split_at_mut(at);
        let alike = |known: &&Program| rest.iter().take(1).any(|own| own.name == known.name);
        if let (true, Some(own)) = (before.iter().any(|known| alike(&known)), rest.first_mut()) {
            own.name = format!("{} ({})", own.name, at + 1);
        }
    }
}

/// How long to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Until every program is decided against the first one, at most this long.
    UntilDecided(Nanos),
    /// This many blocks.
    Blocks(u32),
}

/// Programs that are ready to be compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How.
    pub experiment: Experiment,
    /// That the time which was asked for is too short to decide anything.
    pub too_short: Option<String>,
    /// That the CPUs do not suffice, and who else uses them.
    pub crowded: Option<String>,
}

/// Sets the programs up, runs each up to [`WARM_UP`] times (or as often as `warm_up` says), and lays out the
/// experiment. The first program is the one that the others are judged against.
///
/// # Errors
/// A program that cannot be started or fails.
pub fn experiment(
    host: &dyn Host,
    programs: &[Program],
    length: Length,
    warm_up: Option<u32>,
) -> Result<Comparison, ProgramError> {
    let mut longest = Nanos::ZERO;
    let mut total = Nanos::ZERO;
    // The largest share of the CPUs, and whose it is.
    let mut wanted = (0.0, String::new());
    let before = ProcessTimes::read(host).ok();
    for program in programs {
        if let Some(setup) = &program.setup {
            once(host, program, setup, "setup")?;
        }
        let mut shortest: Option<Nanos> = None;
        let begun = host.now();
        for run in 0..warm_up.unwrap_or(WARM_UP).max(1) {
            if warm_up.is_none() && run > 0 && host.now().since(begun) >= WARM_UP_TIME {
                break;
            }
            if let Some(prepare) = &program.prepare {
                once(host, program, prepare, "preparation")?;
            }
            let exit = once(host, program, &program.command, "run")?;
            let elapsed = exit.elapsed;
            let cpus = exit.usage.cpu_time.0 as f64 / elapsed.0.max(1) as f64;
            if cpus > wanted.0 {
                wanted = (cpus, program.name.clone());
            }
            shortest = Some(shortest.map_or(elapsed, |known| known.min(elapsed)));
        }
        let one = shortest.unwrap_or_default().max(Nanos(1));
        (longest, total) = (longest.max(one), total + one);
    }
    let usage = before.and_then(|before| {
        // Accounts are in ticks of 10 ms: a shorter look tells nothing.
        let _ = host.sleep_until(before.at() + LOOK);
        let root = ProcessIdentity::this(host).ok()?.pid;
        Some(ProcessTimes::read(host).ok()?.since(&before, root))
    });
    let crowded = usage.and_then(|usage| crowded(&wanted.1, wanted.0, &usage));
    // The same number for all: every block then has as many windows of each.
    let runs = TRIAL.0.div_ceil(longest.0.max(1)).clamp(1, MOST_RUNS);
    let block = total.0.saturating_mul(runs) + CHANGE.0.saturating_mul(programs.len() as u64);
    let blocks = match length {
        Length::Blocks(blocks) => u64::from(blocks),
        Length::UntilDecided(within) => (within.0 / block.max(1)).clamp(LEAST_BLOCKS, MOST_BLOCKS),
    };
    let least = Nanos(block.saturating_mul(LEAST_BLOCKS));
    let too_short = match length {
        Length::UntilDecided(within) if least > within => Some(format!(
            "{LEAST_BLOCKS} blocks, the fewest that decide anything, take about {}: longer than the {} that \
             were asked for",
            Duration(rounded(least)),
            Duration(within)
        )),
        _ => None,
    };
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let mut experiment = quick()?;
    experiment.name = "ab".to_owned();
    experiment.question = Some(format!("Which of these is faster: {}?", names.join(", ")));
    experiment.repeats = u32::try_from(blocks).unwrap_or(u32::MAX);
    experiment.runs = NonZeroU32::new(u32::try_from(runs).unwrap_or(u32::MAX));
    experiment.retry = u32::try_from(blocks.div_ceil(RETRY_ONE_OF)).unwrap_or(u32::MAX);
    experiment.within = match length {
        Length::UntilDecided(within) => Some(Duration(within)),
        Length::Blocks(_) => None,
    };
    // What a trial is expected to take.
    experiment.duration = Duration(Nanos(longest.0.saturating_mul(runs)));
    experiment.warmup = Duration(Nanos::ZERO);
    experiment.probe = ProbeTiming::Off;
    experiment.workloads = programs.iter().map(Program::workload).collect();
    experiment.conditions.truncate(1);
    for condition in &mut experiment.conditions {
        condition.name = Some("as found".to_owned());
        condition.placement = Placement::Any;
    }
    Ok(Comparison { experiment, too_short, crowded })
}

impl Program {
    fn workload(&self) -> Workload {
        Workload {
            name: Some(self.name.clone()),
            command: Some(self.command.clone()),
            folder: self.folder.as_ref().map(|folder| folder.display().to_string()),
            prepare: self.prepare.clone(),
            ..Workload::default()
        }
    }
}

/// One command line for each of `programs`: given once for all of them, or one by one; run by `sh -c`, or split
/// as [`command`] does.
///
/// # Errors
/// As many as neither, and those of [`command`].
pub fn each(
    texts: &[String],
    programs: usize,
    shell: bool,
) -> Result<Vec<Option<Vec<String>>>, Mismatch> {
    match texts {
        [] => Ok(vec![None; programs]),
        [one] => Ok(vec![Some(words(one, shell)?); programs]),
        several if several.len() == programs => {
            several.iter().map(|text| words(text, shell).map(Some)).collect()
        }
        several => Err(Mismatch::value(format!("1 or {programs}"), several.len())),
    }
}

/// A command line in words, for `sh -c` or as [`command`] splits it.
///
/// # Errors
/// As [`command`].
pub fn words(text: &str, shell: bool) -> Result<Vec<String>, Mismatch> {
    if shell { Ok(["sh", "-c", text].map(str::to_owned).to_vec()) } else { command(text) }
}

/// Runs the command that clears up behind all programs.
///
/// # Errors
/// As [`experiment`] of a program that fails.
pub fn clean_up(host: &dyn Host, command: &[String]) -> Result<(), ProgramError> {
    let all = Program { name: "all programs".to_owned(), ..Program::default() };
    once(host, &all, command, "cleanup").map(|_| ())
}

/// Up to whole seconds above one, to whole milliseconds below.
fn rounded(time: Nanos) -> Nanos {
    let step = if time < Nanos::from_secs(1) { 1_000_000 } else { 1_000_000_000 };
    Nanos(time.0.div_ceil(step) * step)
}

/// Runs a command of a program once.
fn once(
    host: &dyn Host,
    program: &Program,
    command: &[String],
    what: &'static str,
) -> Result<Exit, ProgramError> {
    let (name, arguments) = command.split_first().map_or(("", command), |(n, a)| (n.as_str(), a));
    let spec = ProcessSpec { folder: program.folder.clone(), ..ProcessSpec::new(name, arguments) };
    succeed(host, &program.name, what, spec)
}
