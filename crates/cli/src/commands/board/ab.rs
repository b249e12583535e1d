//! `flyball board ab`: one experiment on two kernels, alternately, and a verdict.

use crate::args::{BoardAbArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{experiments, machine, output, reporting, runs};
use flyball_host::Host;
use flyball_lab::experiment::Experiment;
use flyball_lab::protocol::windows::Context;
use flyball_lab::session::{Destination, Progress, Silent};
use flyball_lab::{Board, Machine};
use flyball_report::model::{Comparison, VerdictWord};
use flyball_run::pool::{Part, pool};
use flyball_run::{Run, RunState};
use flyball_units::BoardSpec;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runs of the boots, in the directory of their pool.
const ROUNDS: &str = "rounds";

/// A kernel to compare.
struct Side {
    label: String,
    board: Board,
}

pub fn run(args: &BoardAbArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let rules = reporting::rules(&args.output)?;
    let sides = sides(args)?;
    let (mut experiment, folder) = experiments::named_or_file(&args.experiment)?;
    if experiment.conditions.len() != 1 {
        let found = experiment.conditions.len();
        let text = format!("{}: expected one condition, found {found}", args.experiment);
        return Err(Failure::new(Exit::BadInput, text)
            .hint("what differs between kernels is compared under one condition at a time"));
    }
    let context = runs::context(folder.as_deref());
    // What either side lacks is found out before anything is made.
    for side in &sides {
        side.board.prepare(&host, experiment.clone(), &context)?;
    }
    let seconds = host.realtime().0 / 1_000_000_000;
    let dir = match &args.out {
        Some(dir) => flyball_run::empty_dir(dir)?,
        None => flyball_run::new_dir_below(Path::new(runs::RUNS), seconds, "ab")?,
    };
    let mut bar = Bar::new(talk.quiet);
    let mut runs = Vec::new();
    for round in 0..args.rounds {
        // Which one is first changes, so that a drift of this machine favours neither.
        let order: [usize; 2] = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for which in order {
            let Some(side) = sides.get(which) else { continue };
            bar.note(&format!("round {} of {}: {}", round + 1, args.rounds, side.label));
            let to = dir.join(ROUNDS).join(format!("{}-{}", round + 1, ["a", "b"][which]));
            boot(&host, side, &experiment, &context, &to)?;
            let run = Run::open(&to)?;
            same_work(&mut experiment, &run);
            runs.push((which, round, run));
        }
    }
    let parts: Vec<Part<'_>> = runs
        .iter()
        .filter_map(|(which, round, run)| {
            Some(Part { label: Some(&sides.get(*which)?.label), round: *round, run })
        })
        .collect();
    let mut pooled = pool(&parts)?;
    pooled.manifest.kind = "ab".to_owned();
    pooled.manifest.command = runs::command_line();
    pooled.write_into(&dir)?;
    let mut judged = args.output.clone();
    judged.baseline.get_or_insert_with(|| sides[0].label.clone());
    let (found, gates) =
        reporting::after_run(host.as_ref(), &dir, &judged, &rules, experiment.margin, talk)?;
    if pooled.manifest.state != RunState::Complete {
        return Err(Failure::new(Exit::InvalidRun, "a run of these is not valid: no verdict")
            .hint(format!("see the checks of the runs in {}", dir.join(ROUNDS).display())));
    }
    Ok(match gates {
        Exit::Ok => verdict(found.first(), &sides, talk),
        other => other,
    })
}

fn sides(args: &BoardAbArgs) -> Result<Vec<Side>, Failure> {
    let [a, b] = args.kernel.as_slice() else {
        let text = format!("--kernel: expected two, A and B, found {}", args.kernel.len());
        return Err(Failure::new(Exit::Usage, text)
            .hint("flyball board ab --kernel debian:6.12 --kernel arch/x86/boot/bzImage"));
    };
    [("A", a), ("B", b)]
        .into_iter()
        .enumerate()
        .map(|(at, (letter, kernel))| {
            let short = kernel.rsplit('/').next().unwrap_or(kernel);
            let target = BoardSpec {
                name: args.platform.clone(),
                kernel: Some(kernel.clone()),
                arch: args.arch.clone(),
                append: None,
            };
            let board = Board::of(&target, false)?.with_modules(args.modules.get(at).cloned());
            Ok(Side { label: format!("{letter} {short}"), board })
        })
        .collect()
}

/// One boot of one kernel, with its run in `to`.
fn boot(
    host: &Arc<dyn Host>,
    side: &Side,
    experiment: &Experiment,
    context: &Context<'_>,
    to: &Path,
) -> Result<(), Failure> {
    let prepared = side.board.prepare(host, experiment.clone(), context)?;
    let to = Destination::Dir(PathBuf::from(to));
    let outcome = prepared.run(host, &to, &mut Silent, None)?;
    match outcome.state {
        RunState::Interrupted => Err(Failure::new(Exit::Interrupted, "interrupted")),
        _ => Ok(()),
    }
}

/// What the first boot found to be enough work for a window, all others take.
fn same_work(experiment: &mut Experiment, run: &Run) {
    for (workload, record) in experiment.workloads.iter_mut().zip(&run.manifest.workloads) {
        let found = record.params.get("batch").and_then(|batch| batch.as_integer());
        let found = found.and_then(|batch| u32::try_from(batch).ok()).and_then(NonZeroU32::new);
        if workload.batch.is_none() {
            workload.batch = found.or(Some(NonZeroU32::MIN));
        }
    }
}

/// What the comparison of B with A says to `git bisect`.
fn verdict(found: Option<&Comparison>, sides: &[Side], talk: Talk) -> Exit {
    let names: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    let (exit, word) = match found {
        Some(found) => match (found.verdict, found.ratio.value > 1.0) {
            (VerdictWord::Equivalent, _) => (Exit::Ok, "equivalent to"),
            (VerdictWord::Effect, true) => (Exit::Finding, "slower than"),
            (VerdictWord::Effect, false) => (Exit::Ok, "faster than"),
            _ => (Exit::Own, "not to be told from"),
        },
        None => (Exit::Own, "not compared with"),
    };
    if !talk.quiet {
        let (a, b) = (names.first().unwrap_or(&"A"), names.last().unwrap_or(&"B"));
        output::talk(&format!("{b}: {word} {a}"));
    }
    exit
}
