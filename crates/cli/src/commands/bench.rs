//! `flyball bench`: from an experiment to a run directory and its report.

use super::ended;
use crate::args::{BenchArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{experiments, machine, output, reporting, runs, templates};
use flyball_capture::trace::Group;
use flyball_console::Bar;
use flyball_host::Host;
use flyball_lab::experiment::{self, Experiment};
use flyball_lab::job;
use flyball_lab::protocol::windows::beside;
use flyball_lab::session::{BLAME, Progress};
use flyball_lab::{CostTable, Machine};
use flyball_units::MachineSpec;
use std::path::PathBuf;
use std::sync::Arc;

pub fn run(args: BenchArgs, talk: Talk) -> Result<Exit, Failure> {
    if let Some(file) = args.init.as_ref().filter(|_| args.program.is_empty()) {
        return templates::experiment(file, args.experiment.as_deref(), talk);
    }
    let host = machine::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let rules = reporting::asked(&args.output)?;
    args.out.as_deref().map_or(Ok(()), flyball_run::check_empty)?;
    let groups = args.trace.as_deref().map(groups).transpose()?;
    let (mut experiment, folder) = experiment(&args, &host)?;
    if let Some(file) = &args.init {
        return templates::for_program(file, &experiment, talk);
    }
    let target = machine::to_measure(&args.machine)?;
    let machine = machine(&args, &target)?;
    // What somebody wrote down is done as it is written.
    let ours = args.experiment.is_none() && args.quiet.wait_quiet.is_none();
    let mut look = || beside(host.as_ref(), ours.then_some(&mut experiment));
    let others = (target == MachineSpec::Host).then(&mut look).flatten();
    let context = runs::context(folder.as_deref());
    let margin = experiment.margin;
    let prepared = machine.prepare(&host, experiment, &context)?;
    reporting::check_baseline(
        prepared.plan().conditions.iter().map(|condition| condition.name.as_str()),
        &args.output,
    )?;
    if args.dry_run {
        output::data(&prepared.plan().text(prepared.experiment()))?;
        return Ok(Exit::Ok);
    }
    let mut bar = Bar::new(talk.quiet);
    if prepared.experiment().name == "quick" && target == MachineSpec::Host && !talk.quiet {
        bar.note(
            "quick default: needs no privileges and changes nothing (yours: flyball bench --init)",
        );
    }
    prepared.announce(&mut bar);
    if !talk.quiet {
        args.quiet.advise(others, &mut bar);
    }
    let destination = runs::destination(args.out.as_deref());
    // A model and a board record their own events.
    let groups = groups.filter(|_| target == MachineSpec::Host).map(Some);
    let outcome = job::recorded(&host, &destination, groups, &mut bar, |progress, side| {
        prepared.run(&host, &destination, progress, side)
    })?;
    // What was measured is on the disk, and nothing is held any more.
    flyball_host::end_on_signals();
    if args.no_report {
        return ended::exit(&outcome, Ok(Exit::Ok));
    }
    let reported =
        reporting::after_run(host.as_ref(), &outcome.dir, &args.output, &rules, margin, talk);
    ended::exit(&outcome, reported.map(|(_, exit)| exit))
}

/// The groups that `--trace` names; those that blame needs where it names none.
fn groups(text: &str) -> Result<Vec<Group>, Failure> {
    if text.trim().is_empty() {
        return Ok(BLAME.to_vec());
    }
    let usage = |error: String| Failure::usage(format!("--trace: expected {error}"));
    Group::parse_list(text).map_err(usage)
}

/// The machine that `--machine` names.
fn machine(args: &BenchArgs, target: &MachineSpec) -> Result<Box<dyn Machine>, Failure> {
    let costs = match (&args.costs, target) {
        (None, _) => None,
        (Some(run), MachineSpec::Model { .. }) => Some(CostTable::measured(run)?),
        (Some(_), _) => {
            return Err(Failure::usage(format!(
                "--costs: expected a model (--machine model:NAME), found {target}"
            )));
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
        (None, false) => (experiments::for_program(&args.program, host, args.dry_run)?, None),
        (Some(name), true) => experiments::named_or_file(name)?,
        (Some(_), false) => {
            return Err(Failure::usage(
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
    args.quiet.apply(&mut experiment)?;
    experiment::check(&experiment, "command line")?;
    Ok((experiment, folder))
}
