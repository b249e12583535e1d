//! `flyball rampup`: how long a machine takes to answer a sudden demand. Each machine leaves a run
//! directory of its own, and all are shown beside each other; one model, with the figures that only a
//! model knows.

mod asked;

use super::ended;
use crate::args::{CheckFormat, RampupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporting::{self, Wanted};
use crate::runs;
use crate::{figure, machine, output};
use flyball_console::Bar;
use flyball_events::Recording;
use flyball_lab::protocol::rampup::model::{Case, Simulated};
use flyball_lab::protocol::rampup::{Ask, Variant, text};
use flyball_lab::{Model, Order};
use flyball_report::timeline::{self, Options, RunView};
use flyball_run::name::RAMPUP_TASK;
use flyball_run::{Columns, Run, RunState};
use flyball_sim::text::json as sim_json;
use flyball_sim::workload::SPIN;
use flyball_units::MachineSpec;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

pub fn run(args: &RampupArgs, talk: Talk) -> Result<Exit, Failure> {
    let targets = args.machine.iter().map(|text| machine::to_measure(text));
    let targets = targets.collect::<Result<Vec<MachineSpec>, _>>()?;
    let ask = asked::asked(args, targets == [MachineSpec::Host])?;
    let asked_of_gaps = !args.gap.is_empty() || args.sleeps.is_some() || args.trace.is_some();
    let plain = !asked_of_gaps && ask.variants.iter().all(|variant| variant.gaps.len() == 1);
    if let ([MachineSpec::Model { name, kernel }], true) = (&targets[..], plain) {
        return model(args, &ask, &Model::named(name, kernel.as_deref())?, talk);
    }
    if args.figure.is_some() {
        let text = "--figure: expected one model, and nothing asked of its gaps";
        return Err(Failure::usage(text));
    }
    refuse_models_own(args, &targets)?;
    let host = machine::real();
    host.catch_interrupts()?;
    let whole = runs::destination(args.out.as_deref());
    let names: Vec<String> = targets.iter().map(MachineSpec::to_string).collect();
    let destinations = whole.split(host.as_ref(), "rampup", &names)?;
    let order = Order::Rampup(ask);
    let (mut dirs, mut interrupted) = (Vec::new(), false);
    for (target, destination) in targets.iter().zip(destinations) {
        let machine = flyball_lab::open(target, None)?;
        let mut bar = Bar::new(talk.quiet);
        let left = machine.run(&host, &order, &destination, &runs::origin(), &mut bar)?;
        dirs.push(left.dir);
        interrupted = left.state == RunState::Interrupted;
        if interrupted {
            break;
        }
    }
    if args.no_report {
        return Ok(if interrupted { Exit::Interrupted } else { Exit::Ok });
    }
    show(&dirs, args, talk)
}

/// Flags of models where a real kernel is among the machines.
fn refuse_models_own(args: &RampupArgs, targets: &[MachineSpec]) -> Result<(), Failure> {
    let flags = [
        (args.series, "--series"),
        (!args.feature.is_empty(), "--feature"),
        (args.multiplier.is_some(), "--multiplier"),
        (args.hz.is_some(), "--hz"),
    ];
    let real = targets.iter().any(|target| !matches!(target, MachineSpec::Model { .. }));
    match flags.iter().find(|(given, _)| *given && real) {
        None => Ok(()),
        Some((_, flag)) => {
            let text = format!("{flag}: expected a setting that a real machine has");
            Err(Failure::usage(text).hint("only models have it: --machine model:NAME by itself"))
        }
    }
}

/// The findings of runs, printed; an invalid run is no result.
fn show(dirs: &[PathBuf], args: &RampupArgs, talk: Talk) -> Result<Exit, Failure> {
    let wanted = Wanted { format: args.format.into(), ..Wanted::default() };
    reporting::after_runs(machine::real().as_ref(), dirs, &wanted, talk)?;
    let mut interrupted = false;
    for dir in dirs {
        match Run::open_with(dir, Columns::Only(&[]))?.manifest.state {
            RunState::Invalid => {
                let hint = "its checks say why: [[checks]] in run.toml";
                return Err(ended::invalid(dir.display(), hint));
            }
            state => interrupted |= state == RunState::Interrupted,
        }
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}

/// One model: variants side by side.
fn model(args: &RampupArgs, ask: &Ask, model: &Model, talk: Talk) -> Result<Exit, Failure> {
    let figure = figure::target(args.figure.as_deref())?;
    let host = machine::real();
    host.catch_interrupts()?;
    let to = runs::destination(args.out.as_deref());
    runs::check_out(args.out.as_deref())?;
    let mut bar = Bar::new(talk.quiet);
    let (cases, Simulated { outcome, phases }) = model.rampup(host.as_ref(), ask, &to, &mut bar)?;
    if outcome.state == RunState::Interrupted {
        let told = Run::open_with(&outcome.dir, Columns::Only(&[]))?.unfinished;
        let told = told.map_or("interrupted".to_owned(), |unfinished| unfinished.to_string());
        output::talk(&format!("{}: {told}", outcome.dir.display()));
        return Ok(Exit::Interrupted);
    }
    let names: Vec<String> = cases.iter().map(|case| name(case, model)).collect();
    let views = views(&Run::open(&outcome.dir)?, &names, &cases)?;
    if let Some(figure) = figure {
        figure::over_time(&figure, &views, talk)?;
    }
    let dir = outcome.dir.display();
    output::data(&match args.format {
        CheckFormat::Text => {
            let mut text = text::figures(&names, &cases, &phases, asked::spin(args, false));
            let _ = writeln!(text, "\nPhase 0 of each, from the start of the spin\n");
            // The answer within one screen; what needs more lines is asked for.
            let room = SCREEN.saturating_sub(text.lines().count());
            let options = Options {
                room: (!talk.verbose).then_some(room),
                width: Some(output::width(host.as_ref())),
                color: output::color(host.as_ref()),
                charset: output::charset(host.as_ref()),
                ..Options::default()
            };
            text.push_str(&timeline::render(&views, &options));
            let _ = writeln!(text, "\nRun   {dir}");
            if !talk.verbose {
                text.push_str("More  --verbose\n");
            }
            text
        }
        CheckFormat::Json => {
            let variant = |(number, case): (usize, &Case)| -> Value {
                let result = sim_json(&case.scenario, &phases[number], None);
                json!({ "name": names[number], "result": result, "timeline": views[number] })
            };
            let variants: Vec<Value> = cases.iter().enumerate().map(variant).collect();
            let json = json!({
                "schema": "flyball-rampup/1", "variants": variants, "run": dir.to_string(),
            });
            format!("{json:#}\n")
        }
    })?;
    Ok(Exit::Ok)
}

/// Lines of the short form, those of the run's place left out.
const SCREEN: usize = 42;

/// The variant's name, or what it is where none was named.
fn name(case: &Case, model: &Model) -> String {
    match case.scenario.governor_in_charge().filter(|_| case.condition == Variant::ONLY) {
        Some(governor) => format!("{} {governor}", model.platform().name),
        None => case.condition.clone(),
    }
}

/// Phase 0 of each.
fn views(run: &Run, names: &[String], cases: &[Case]) -> Result<Vec<RunView>, Failure> {
    let mut trial = 0;
    let view = |(name, case): (&String, &Case)| {
        let recording = Recording::of_trial(run, trial);
        trial += case.scenario.phases;
        figure::view(name.clone(), &recording, Some(RAMPUP_TASK), Some(SPIN))
    };
    names.iter().zip(cases).map(view).collect()
}
