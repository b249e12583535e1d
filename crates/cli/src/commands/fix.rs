//! `flyball fix`: the smallest change of settings that meets a latency goal.

use crate::args::{CheckFormat, FixArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{experiments, machine, output, runs};
use flyball_console::Bar;
use flyball_fix::{Bench, Goal, Outcome, Trier, Windows, fix, text};
use flyball_host::Host;
use flyball_lab::experiment::{self, Class, Condition, Experiment, Placement};
use flyball_units::Mismatch;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: &FixArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let goal: Goal = args.goal.parse().map_err(|slip: Mismatch| slip.at("--goal"))?;
    let (experiment, folder) = experiment(args, &host, &goal)?;
    let context = runs::context(folder.as_deref());
    let runs = match &args.out {
        Some(dir) => dir.clone(),
        None => new_folder(host.as_ref()),
    };
    let mut bar = Bar::new(talk.quiet || args.dry_run);
    let mut bench = Bench::new(&host, experiment, goal, context, &runs, &mut bar)?;
    if args.dry_run {
        return dry_run(&mut bench, goal, args.format);
    }
    let found = fix(goal, &mut bench)?;
    output::result(
        args.format,
        || text::found(&found, bench.topology()),
        || text::json(&found, bench.topology()),
    )?;
    Ok(match found.outcome {
        Outcome::AlreadyMet | Outcome::Found { .. } => Exit::Ok,
        Outcome::Unreachable { .. } | Outcome::NotProven { .. } => Exit::Finding,
    })
}

/// A new folder beside the runs of `bench`, named after the time.
fn new_folder(host: &dyn Host) -> PathBuf {
    Path::new(runs::RUNS).join(flyball_run::name::run_name(runs::seconds(host), "fix"))
}

/// The experiment with what the goal needs of windows, and the folder that its paths are relative to.
fn experiment(
    args: &FixArgs,
    host: &Arc<dyn Host>,
    goal: &Goal,
) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let (mut experiment, folder) = match (&args.experiment, args.program.is_empty()) {
        (Some(name), true) => experiments::named_or_file(name)?,
        (None, false) => {
            let mut experiment = experiments::for_program(&args.program, host, args.dry_run)?;
            experiment.conditions = vec![Condition {
                scheduling: Class::default(),
                placement: Placement::Any,
                ..Condition::default()
            }];
            (experiment, None)
        }
        _ => {
            return Err(Failure::usage(
                "expected an experiment, or a program after `--`: one of them",
            ));
        }
    };
    if let Some(text) = &args.period {
        experiment.period = time("--period", text)?;
        experiment.duration = experiment.duration.max(experiment.period);
    }
    if let Some(seed) = args.seed {
        experiment.seed = seed;
    }
    let needed = Windows::needed(goal, &experiment);
    experiment.repeats = args.repeats.map_or(needed.repeats, |repeats| repeats.get());
    experiment.duration = match &args.duration {
        Some(text) => time("--duration", text)?,
        None => needed.duration,
    };
    experiment::check(&experiment, "command line")?;
    Ok((experiment, folder))
}

/// What would be tried for work that the scheduler places where this program runs now.
fn dry_run(bench: &mut Bench<'_>, goal: Goal, format: CheckFormat) -> Result<Exit, Failure> {
    let home = bench.topology().online.iter().last().unwrap_or_default();
    let ladder = bench.ladder(home)?;
    output::result(
        format,
        || text::planned(&ladder, goal, &home.to_string()),
        || text::planned_json(&ladder, goal, home),
    )?;
    Ok(Exit::Ok)
}
