//! `flyball bench`: from an experiment to a run directory and its report.

use super::{ended, report};
use crate::args::{BenchArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{hosts, input, output};
use flyball_capture::trace::Group;
use flyball_host::{Host, ProcessSpec};
use flyball_lab::experiment::{self, Condition, Experiment, Workload};
use flyball_lab::job;
use flyball_lab::protocol::windows::Context;
use flyball_lab::session::{BLAME, Destination, Progress};
use flyball_lab::{CostTable, Machine, MachineError, Prepared, Target};
use flyball_units::{Duration, Mismatch, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: BenchArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let rules = report::rules(&args.output)?;
    let groups = args.trace.as_deref().map(groups).transpose()?;
    let (experiment, folder) = experiment(&args, &host)?;
    let context = context(folder.as_deref());
    let margin = experiment.margin;
    let target: Target = args.machine.parse().map_err(MachineError::from)?;
    let machine = machine(&args, &target)?;
    let prepared = machine.prepare(&host, experiment, &context)?;
    report::check_baseline(
        prepared.plan().conditions.iter().map(|condition| condition.name.as_str()),
        &args.output,
    )?;
    if args.dry_run {
        output::data(&describe(prepared.as_ref()))?;
        return Ok(Exit::Ok);
    }
    let mut bar = Bar::new(talk.quiet);
    let (plan, experiment) = (prepared.plan(), prepared.experiment());
    if experiment.name == "quick" && target == Target::Host && !talk.quiet {
        bar.note("quick default: needs no privileges and changes nothing (yours: flyball init)");
    }
    match target {
        Target::Model { .. } => {
            bar.planned_in_virtual_time(plan.trials.len(), "trials", plan.duration(experiment));
        }
        _ => bar.planned(plan.trials.len(), "trials", plan.duration(experiment), &plan.order()),
    }
    let destination = match &args.out {
        Some(dir) => Destination::Dir(dir.clone()),
        None => Destination::Below(PathBuf::from(report::RUNS)),
    };
    // A model and a board record their own events.
    let groups = groups.filter(|_| target == Target::Host).map(Some);
    let outcome = job::recorded(&host, &destination, groups, &mut bar, |progress, side| {
        prepared.run(&host, &destination, progress, side)
    })?;
    if args.no_report {
        return ended::exit(&outcome, Ok(Exit::Ok));
    }
    let reported =
        report::after_run(host.as_ref(), &outcome.dir, &args.output, &rules, margin, talk);
    ended::exit(&outcome, reported.map(|(_, exit)| exit))
}

/// Who asks, for the manifest; the experiment's paths are relative to `folder`.
pub fn context(folder: Option<&Path>) -> Context<'_> {
    Context { folder, origin: crate::origin() }
}

/// The groups that `--trace` names; those that blame needs where it names none.
fn groups(text: &str) -> Result<Vec<Group>, Failure> {
    if text.trim().is_empty() {
        return Ok(BLAME.to_vec());
    }
    let usage = |error: String| Failure::new(Exit::Usage, format!("--trace: expected {error}"));
    Group::parse_list(text).map_err(usage)
}

/// The machine that `--machine` names.
fn machine(args: &BenchArgs, target: &Target) -> Result<Box<dyn Machine>, Failure> {
    let costs = match (&args.costs, target) {
        (None, _) => None,
        (Some(run), Target::Model { .. }) => Some(CostTable::measured(run)?),
        (Some(_), _) => {
            return Err(Failure::new(
                Exit::Usage,
                format!("--costs: expected a model (--machine model:NAME), found {target}"),
            ));
        }
    };
    Ok(flyball_lab::open_recording(target, costs, args.trace.is_some())?)
}

/// The experiment and the folder that its paths are relative to.
fn experiment(
    args: &BenchArgs,
    host: &Arc<dyn Host>,
) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let (mut experiment, folder) = match (&args.experiment, args.program.is_empty()) {
        (None, true) => (experiment::quick()?, None),
        (None, false) => (for_program(&args.program, host, args.dry_run)?, None),
        (Some(name), true) => named_or_file(name)?,
        (Some(_), false) => {
            return Err(Failure::new(
                Exit::Usage,
                "expected an experiment or a program after `--`, found both",
            )
            .hint("put the program into the experiment: [[workload]] command = [\"...\"]"));
        }
    };
    if let Some(seed) = args.seed {
        experiment.seed = seed;
    }
    if let Some(repeats) = args.repeats {
        experiment.repeats = repeats;
    }
    if let Some(text) = &args.duration {
        experiment.duration = time("--duration", text)?;
    }
    if let Some(text) = &args.period {
        experiment.period = time("--period", text)?;
    }
    experiment::check(&experiment, "command line")?;
    Ok((experiment, folder))
}

/// A duration on the command line.
pub fn time(flag: &str, text: &str) -> Result<Duration, Failure> {
    text.parse().map_err(|slip: Mismatch| slip.at(flag).into())
}

/// An experiment that ships or is in a file, and its folder.
pub fn named_or_file(name: &str) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let shipped = experiment::BUILT_IN.iter().map(|built_in| (built_in.name, built_in.text));
    let hint = "write one with: flyball init; those that ship: flyball help experiments; \
                read a run with: flyball report";
    let input = input::shipped_or_file(name, shipped, hint)?;
    Ok((experiment::read(&input.text, name)?, input.folder))
}

/// The user's own program under idle and heavy load. Three runs say how long it takes; the period
/// leaves it twice that, so that a slower condition does not run into the next release.
pub fn for_program(
    program: &[String],
    host: &Arc<dyn Host>,
    dry_run: bool,
) -> Result<Experiment, Failure> {
    // A dry run runs nothing: it shows the shortest period that there is.
    let pilots = if dry_run { 0 } else { 3 };
    let [name, arguments @ ..] = program else {
        return Err(Failure::new(Exit::Usage, "expected a program after `--`, found none"));
    };
    let mut longest = Nanos::ZERO;
    for _ in 0..pilots {
        let mut child = host.spawn(&ProcessSpec::new(name, arguments))?;
        let Some(exit) = child.wait(None)? else {
            return Err(Failure::new(Exit::Interrupted, "interrupted before the first window"));
        };
        if !exit.is_success() {
            return Err(Failure::new(
                Exit::BadInput,
                format!("{name}: expected exit status 0, found {:?}", exit.status),
            )
            .hint("a program that fails has no latency worth measuring; run it by hand first"));
        }
        longest = longest.max(exit.elapsed);
    }
    let period_ms = (2 * longest.0).div_ceil(1_000_000).max(20);
    let mut experiment = experiment::quick()?;
    experiment.name = "program".to_owned();
    experiment.question = Some(format!("Does background load change the latency of {name}?"));
    experiment.period = Duration::millis(period_ms);
    experiment.duration = Duration::millis((10 * period_ms).max(500));
    experiment.warmup = Duration::millis(period_ms);
    experiment.workloads =
        vec![Workload { command: Some(program.to_vec()), ..Workload::default() }];
    Ok(experiment)
}

fn describe(prepared: &dyn Prepared) -> String {
    let (experiment, plan) = (prepared.experiment(), prepared.plan());
    let mut text = format!(
        "{}: {} trials of {} + {} warm-up, about {:.0} s in all, seed {}\n",
        experiment.name,
        plan.trials.len(),
        experiment.duration,
        experiment.warmup,
        plan.duration(experiment).as_secs_f64(),
        experiment.seed
    );
    for condition in &plan.conditions {
        let cpus =
            condition.cpus.as_ref().map_or("any CPU".to_owned(), |cpus| format!("CPUs {cpus}"));
        let Condition { load, scheduling, .. } = &condition.asked;
        text.push_str(&format!(
            "  condition {:<12} load {load}, scheduling {scheduling}, on {cpus}\n",
            condition.name
        ));
    }
    for (number, trial) in plan.trials.iter().enumerate() {
        let workload = experiment.workloads.get(trial.workload).map(Workload::label);
        let condition = plan.conditions.get(trial.condition).map(|c| c.name.as_str());
        text.push_str(&format!(
            "  {number:>4}  repeat {:<3} {:<14} {}\n",
            trial.block + 1,
            workload.unwrap_or_default(),
            condition.unwrap_or_default()
        ));
    }
    text
}
