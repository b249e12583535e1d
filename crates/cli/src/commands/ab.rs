//! `flyball ab`: programs, or two commits, against each other in interleaved blocks.

use super::ended;
use crate::args::{AbArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{machine, reporting, runs};
use flyball_console::Bar;
use flyball_lab::ab::{self, Length, Program};
use flyball_lab::commits::WorkTrees;
use flyball_lab::session::Progress;
use flyball_units::{MachineSpec, Nanos};

pub fn run(args: AbArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(None)?;
    host.catch_interrupts()?;
    let rules = reporting::asked(&args.output)?;
    args.out.as_deref().map_or(Ok(()), flyball_run::check_empty)?;
    let margin = args.turns.margin()?;
    let length = match args.blocks {
        Some(blocks) => Length::Blocks(blocks),
        None => Length::UntilDecided(time("--within", &args.within)?.0),
    };
    // Removed when this ends, however it ends.
    let trees = match args.commits.as_slice() {
        [base, head] => Some(WorkTrees::of(host.as_ref(), [base, head], args.build.as_deref())?),
        _ => None,
    };
    let programs = programs(&args, trees.as_ref())?;
    let ab::Comparison { mut experiment, too_short, crowded } =
        ab::experiment(host.as_ref(), &programs, length, args.warmup)?;
    args.turns.apply(&mut experiment)?;
    if let Some(wanted) = &args.output.baseline
        && !programs.iter().any(|program| program.name == *wanted)
    {
        return Err(Failure::usage(format!(
            "--baseline: expected one of the programs, found \"{wanted}\""
        )));
    }
    let machine = flyball_lab::open(&MachineSpec::Host, None)?;
    let prepared = machine.prepare(&host, experiment, &runs::context(None))?;
    let mut bar = Bar::new(talk.quiet);
    too_short.iter().for_each(|remark| bar.note(remark));
    args.turns.quiet.advise(crowded, &mut bar);
    let (plan, experiment) = (prepared.plan(), prepared.experiment());
    bar.planned(
        plan.trials.len() + plan.spare.len(),
        "trials at most",
        experiment.within.map_or(Nanos(u64::MAX), |within| within.0).min(plan.duration(experiment)),
        "random in each block",
    );
    let destination = runs::destination(args.out.as_deref());
    let outcome = prepared.run(&host, &destination, &mut bar, None);
    drop(bar);
    if let Some(cleanup) = &args.cleanup {
        let command = ab::words(cleanup, args.shell);
        ab::clean_up(host.as_ref(), &command.map_err(|slip| slip.at("--cleanup"))?)?;
    }
    let outcome = outcome?;
    let reported =
        reporting::after_run(host.as_ref(), &outcome.dir, &args.output, &rules, margin, talk);
    ended::exit(&outcome, reported.map(|(_, exit)| exit))
}

/// The programs with their names.
fn programs(args: &AbArgs, trees: Option<&WorkTrees>) -> Result<Vec<Program>, Failure> {
    let mut programs = match trees {
        Some(trees) => trees.programs(&args.program),
        None => {
            let program = |text: &String| {
                Ok(Program {
                    name: text.clone(),
                    command: ab::words(text, args.shell).map_err(|slip| slip.at("program"))?,
                    ..Program::default()
                })
            };
            args.programs.iter().map(program).collect::<Result<_, Failure>>()?
        }
    };
    if programs.len() < 2 {
        return Err(Failure::usage(format!(
            "expected at least two programs, found {}",
            programs.len()
        ))
        .hint("one text each: flyball ab './old --once' './new --once'"));
    }
    if args.name.len() > programs.len() {
        return Err(Failure::usage(format!(
            "--name: expected at most {}, found {}",
            programs.len(),
            args.name.len()
        )));
    }
    for (program, name) in programs.iter_mut().zip(&args.name) {
        program.name.clone_from(name);
    }
    ab::tell_apart(&mut programs);
    let each = |flag: &str, texts: &[String]| {
        ab::each(texts, programs.len(), args.shell).map_err(|slip| slip.at(flag))
    };
    let (setups, prepares) = (each("--setup", &args.setup)?, each("--prepare", &args.prepare)?);
    for ((program, setup), prepare) in programs.iter_mut().zip(setups).zip(prepares) {
        (program.setup, program.prepare) = (setup, prepare);
    }
    // A set-up for all is run once.
    if args.setup.len() == 1 {
        programs.iter_mut().skip(1).for_each(|program| program.setup = None);
    }
    Ok(programs)
}
