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
use flyball_lab::protocol::rampup::Ask;
use flyball_lab::{Model, Order};
use flyball_report::timeline::Options;
use flyball_run::{Columns, Run, RunState};
use flyball_units::MachineSpec;
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
    let (cases, simulated) = model.rampup(host.as_ref(), ask, &to, &mut bar)?;
    if simulated.outcome.state == RunState::Interrupted {
        let dir = &simulated.outcome.dir;
        let told = Run::open_with(dir, Columns::Only(&[]))?.unfinished;
        let told = told.map_or("interrupted".to_owned(), |unfinished| unfinished.to_string());
        output::talk(&format!("{}: {told}", dir.display()));
        return Ok(Exit::Interrupted);
    }
    let answer = model.answer(cases, simulated)?;
    if let Some(figure) = figure {
        figure::over_time(&figure, &answer.views, talk)?;
    }
    output::data(&match args.format {
        CheckFormat::Text => {
            let options = Options {
                width: Some(output::width(host.as_ref())),
                color: output::color(host.as_ref()),
                charset: output::charset(host.as_ref()),
                ..Options::default()
            };
            // The answer within one screen; what needs more lines is asked for.
            let (lines, more) =
                if talk.verbose { (None, "") } else { (Some(SCREEN), "More  --verbose\n") };
            answer.text(asked::spin(args, false), lines, &options) + more
        }
        CheckFormat::Json => format!("{:#}\n", answer.json()),
    })?;
    Ok(Exit::Ok)
}

/// Lines of the short form, those of the run's place left out.
const SCREEN: usize = 42;
