//! `flyball sim`: a scenario on a model, or a sweep over its parameters.

mod over_time;
mod play;
mod sweep;

use crate::args::{RecordChoice, SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::scenarios::{Input, set_keys};
use crate::{figure, machine, output, runs, scenarios, templates, topics};
use flyball_console::Meter;
use flyball_host::Host;
use flyball_run::RunWriter;
use flyball_sim::beside::beside;
use flyball_sim::scenario::{Node, Record, Scenario, ScenarioError, set};
use flyball_sim::sweep::{Ended, begun};
use flyball_sim::text;
use flyball_units::{GovernorSpec, MachineSpec};
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &SimArgs, talk: Talk) -> Result<Exit, Failure> {
    if let Some(file) = &args.init {
        return templates::scenario(file, args.scenario.as_deref(), talk);
    }
    if !args.merge.is_empty() {
        return sweep::merge(args);
    }
    let Some(name) = &args.scenario else {
        output::data(&topics::scenario_list())?;
        return Ok(Exit::Ok);
    };
    let input = Input::open(name)?;
    let mut root = input.tree()?;
    let target = args.machine.as_deref().map(machine::target).transpose()?;
    match &target {
        None | Some(MachineSpec::Host) => {}
        Some(MachineSpec::Model { name, kernel }) => {
            set(&mut root, "platform", name)?;
            kernel.iter().try_for_each(|kernel| set_kernel(&mut root, kernel))?;
        }
        Some(other) => {
            return Err(machine::expected("model:NAME[,kernel=K] or host", &other.to_string())
                .hint("on a real kernel, beside the model: flyball board compare SCENARIO"));
        }
    }
    apply(&mut root, args)?;
    args.kernel.first().map_or(Ok(()), |kernel| set_kernel(&mut root, kernel))?;
    if args.kernel.len() > 1
        && (args.out.is_some() || args.figure.is_some() || !args.sweep.is_empty())
        || args.kernel.len() > 2
    {
        return Err(Failure::usage("--kernel: expected two without --out, --figure, --sweep"));
    }
    if target == Some(MachineSpec::Host) {
        let scenario = scenarios::checked(&root, &input, name)?;
        return play::run(args, scenario, talk);
    }
    if args.repeats.is_some() || args.trace.is_some() {
        return Err(machine::expected("host for --repeats and --trace", "a model")
            .hint("phases are a model's repeats, and --record full keeps its events"));
    }
    let host = machine::real();
    let figure = figure::target(args.figure.as_deref())?;
    let runs_beside = over_time::open(&args.beside)?;
    if !args.sweep.is_empty() {
        return sweep::run(args, talk, &host, &root, &input);
    }
    let scenario = scenarios::checked(&root, &input, name)?;
    host.catch_interrupts()?;
    let stop = || host.interrupted() > 0;
    if let Some(other) = args.kernel.get(1) {
        set_kernel(&mut root, other)?;
        let other = scenarios::checked(&root, &input, name)?;
        let found = beside(&scenario, &other, &stop).map_err(|error| Failure::of(&error))?;
        let Some(found) = found else { return Ok(Exit::Interrupted) };
        output::result(args.format, || found.text(), || found.json())?;
        return Ok(Exit::Ok);
    }
    let writer = writer(&scenario, args.out.as_deref(), host.as_ref())?;
    let meter = Meter::new(&host, talk.quiet, scenario.phases as usize, "phases");
    let ended = flyball_sim::sweep::run(&scenario, writer, &stop, &|done| meter.at(done))?;
    meter.finish();
    let Ended { whole, outcomes, dir } = ended;
    if outcomes.is_empty() {
        output::talk("interrupted: no phase is complete, so there is no result");
        return Ok(Exit::Interrupted);
    }
    if let (Some(figure), Some(dir), true) = (figure, &dir, whole) {
        figure::over_time(&figure, &over_time::views(&scenario, dir, &runs_beside)?, talk)?;
    }
    output::result(
        args.format,
        || text::text(&scenario, &outcomes, dir.as_deref()),
        || text::json(&scenario, &outcomes, dir.as_deref()),
    )?;
    Ok(if whole { Exit::Ok } else { Exit::Interrupted })
}

/// Names the kernel; a bare version, which is a number to TOML, is a name as well.
fn set_kernel(root: &mut Node, name: &str) -> Result<(), ScenarioError> {
    set(root, "kernel", &format!("{name:?}"))
}

/// What the command line changes.
fn apply(root: &mut Node, args: &SimArgs) -> Result<(), Failure> {
    if let Some(text) = &args.governor {
        let (name, tunables) =
            GovernorSpec::name_and_tunables(text).map_err(|slip| match text.split_once(',') {
                Some(_) if !text.contains(':') => {
                    slip.at("--governor").hint(format!("for several: --sweep governor.name={text}"))
                }
                _ => slip.at("--governor"),
            })?;
        if let Some(name) = &name {
            set(root, "governor.name", name)?;
        }
        for (name, value) in &tunables {
            set(root, &format!("governor.{name}"), &value.to_string())?;
        }
    }
    set_keys(root, &args.set)?;
    let given = [
        ("phases", args.phases.map(|phases| phases.to_string())),
        ("seed", args.seed.map(|seed| seed.to_string())),
        ("record", args.record.map(|record| record.word().to_owned())),
    ];
    for (key, value) in given {
        value.iter().try_for_each(|value| set(root, key, value))?;
    }
    if args.figure.is_some() {
        if let Some(choice) = args.record.filter(|choice| *choice != RecordChoice::Full) {
            let text = format!("--figure: expected --record full, found {}", choice.word());
            return Err(Failure::usage(text));
        }
        set(root, "record", RecordChoice::Full.word())?;
    }
    if args.record == Some(RecordChoice::None) && args.out.is_some() {
        return Err(Failure::usage("--out: expected something to keep, found --record none"));
    }
    Ok(())
}

fn writer(
    scenario: &Scenario,
    out: Option<&Path>,
    host: &dyn Host,
) -> Result<Option<RunWriter>, Failure> {
    if scenario.record == Record::None && out.is_none() {
        return Ok(None);
    }
    Ok(Some(runs::create(out, host, &begun(scenario))?))
}

/// Shared with the sweep.
type SharedHost = Arc<dyn Host>;
