//! `flyball ab`: programs, or two commits, against each other in interleaved blocks.

use super::ended;
use crate::args::{AbArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::progress::Bar;
use crate::{machine, reporting, runs};
use flyball_host::{Host, ProcessSpec};
use flyball_lab::ab::{self, Length, Program};
use flyball_lab::commits::WorkTrees;
use flyball_lab::session::Progress;
use flyball_units::{MachineSpec, Mismatch, Nanos, Share};

pub fn run(args: AbArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::with_faults(None)?;
    host.catch_interrupts()?;
    let rules = reporting::rules(&args.output)?;
    args.out.as_deref().map_or(Ok(()), flyball_run::check_empty)?;
    let Share(margin) = args.margin.parse().map_err(|slip: Mismatch| slip.at("--margin"))?;
    let length = match args.runs {
        Some(blocks) => Length::Blocks(blocks),
        None => Length::UntilDecided(time("--within", &args.within)?.0),
    };
    // Removed when this ends, however it ends.
    let trees = match args.commits.as_slice() {
        [base, head] => Some(WorkTrees::of(host.as_ref(), [base, head], args.build.as_deref())?),
        _ => None,
    };
    let programs = programs(&args, trees.as_ref())?;
    let ab::Comparison { mut experiment, remark } =
        ab::experiment(host.as_ref(), &programs, length, args.warmup)?;
    experiment.seed = args.seed;
    experiment.margin = margin;
    args.quiet.apply(&mut experiment)?;
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
    if let Some(remark) = &remark {
        bar.note(remark);
    }
    let (plan, experiment) = (prepared.plan(), prepared.experiment());
    bar.planned(
        plan.trials.len() + plan.spare.len(),
        "turns at most",
        experiment.within.map_or(Nanos(u64::MAX), |within| within.0).min(plan.duration(experiment)),
        "random in each block",
    );
    let destination = runs::destination(args.out.as_deref());
    let outcome = prepared.run(&host, &destination, &mut bar, None);
    drop(bar);
    if let Some(cleanup) = &args.cleanup {
        clean_up(host.as_ref(), &words("--cleanup", cleanup, args.shell)?)?;
    }
    let outcome = outcome?;
    let reported =
        reporting::after_run(host.as_ref(), &outcome.dir, &args.output, &rules, margin, talk);
    ended::exit(&outcome, reported.map(|(_, exit)| exit))
}

/// The programs with their names.
fn programs(args: &AbArgs, trees: Option<&WorkTrees>) -> Result<Vec<Program>, Failure> {
    let mut programs = match trees {
        Some(trees) => trees
            .commits()
            .map(|(name, folder)| Program {
                name: name.to_owned(),
                command: args.program.clone(),
                folder: Some(folder.to_owned()),
                ..Program::default()
            })
            .collect::<Vec<_>>(),
        None => {
            let program = |text: &String| {
                Ok(Program {
                    name: text.clone(),
                    command: words("program", text, args.shell)?,
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
    let setups = each("--setup", &args.setup, programs.len(), args.shell)?;
    let prepares = each("--prepare", &args.prepare, programs.len(), args.shell)?;
    for ((program, setup), prepare) in programs.iter_mut().zip(setups).zip(prepares) {
        (program.setup, program.prepare) = (setup, prepare);
    }
    // A set-up for all is run once.
    if args.setup.len() == 1 {
        programs.iter_mut().skip(1).for_each(|program| program.setup = None);
    }
    Ok(programs)
}

/// One command for each program: given once for all, or one by one.
fn each(
    flag: &str,
    texts: &[String],
    programs: usize,
    shell: bool,
) -> Result<Vec<Option<Vec<String>>>, Failure> {
    match texts {
        [] => Ok(vec![None; programs]),
        [one] => Ok(vec![Some(words(flag, one, shell)?); programs]),
        several if several.len() == programs => {
            several.iter().map(|text| words(flag, text, shell).map(Some)).collect()
        }
        several => Err(Failure::usage(format!(
            "{flag}: expected 1 or {programs}, found {}",
            several.len()
        ))),
    }
}

/// A command line in words, as a shell would split it; or for the shell.
fn words(flag: &str, text: &str, shell: bool) -> Result<Vec<String>, Failure> {
    if shell {
        return Ok(vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()]);
    }
    ab::command(text).map_err(|slip| {
        let hint = "pipes, redirections and variables are a shell's: add --shell, or quote them";
        Failure::from(slip.at(flag)).hint(hint)
    })
}

fn clean_up(host: &dyn Host, command: &[String]) -> Result<(), Failure> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let exit = host.spawn(&ProcessSpec::new(program, arguments))?.wait(None)?;
    match exit {
        Some(exit) if !exit.is_success() => Err(Failure::input(format!(
            "--cleanup: expected exit status 0, found {:?}",
            exit.status
        ))),
        _ => Ok(()),
    }
}
