//! `flyball board ab`: one experiment on two kernels, in random order, and a verdict.

use crate::args::{BoardAbArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{experiments, machine, output, reporting, runs};
use flyball_console::Bar;
use flyball_lab::kernels::{ROUNDS, Side, alternate};
use flyball_lab::{Board, Machine};
use flyball_report::model::{Comparison, Relation};
use flyball_run::RunState;
use flyball_units::{BoardSpec, MachineSpec};

pub fn run(args: &BoardAbArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let rules = reporting::asked(&args.output)?;
    let sides = sides(args)?;
    let (mut experiment, folder) = experiments::named_or_file(&args.experiment)?;
    if experiment.conditions.len() != 1 {
        let found = experiment.conditions.len();
        let text = format!("{}: expected one condition, found {found}", args.experiment);
        return Err(Failure::input(text)
            .hint("what differs between kernels is compared under one condition at a time"));
    }
    let context = runs::context(folder.as_deref());
    // What either side lacks is found out before anything is made.
    for side in &sides {
        side.board.prepare(&host, experiment.clone(), &context)?;
    }
    let dir = runs::destination(args.out.as_deref()).empty(host.as_ref(), "ab")?;
    let (rounds, mut bar) = (args.rounds, Bar::new(talk.quiet));
    let state = alternate(&host, &sides, &mut experiment, &context, rounds, &dir, &mut bar)?;
    let state = state.ok_or_else(|| Failure::new(Exit::Interrupted, "interrupted"))?;
    let mut judged = args.output.clone();
    judged.baseline.get_or_insert_with(|| sides[0].label.clone());
    let (found, gates) =
        reporting::after_run(host.as_ref(), &dir, &judged, &rules, experiment.margin, talk)?;
    if state != RunState::Complete {
        return Err(Failure::new(Exit::InvalidRun, "a run of these is not valid: no verdict")
            .hint(format!("see the checks of the runs in {}", dir.join(ROUNDS).display())));
    }
    Ok(match gates {
        Exit::Ok => verdict(found.first(), &sides, talk),
        other => other,
    })
}

/// A and B: the boards that are named, one with two kernels or two.
fn sides(args: &BoardAbArgs) -> Result<[Side; 2], Failure> {
    let side = |at: usize, text: &String| -> Result<Side, Failure> {
        let MachineSpec::Board(target) = machine::target(text)? else {
            return Err(machine::expected("board:NAME,kernel=K", text));
        };
        let BoardSpec { kernel: Some(kernel), .. } = &target else {
            return Err(machine::expected("a board with its kernel, board:NAME,kernel=K", text));
        };
        let letter = ["A", "B"][at];
        let label = format!("{letter} {}", kernel.rsplit('/').next().unwrap_or(kernel));
        let board = Board::of(&target, false)?.with_modules(args.modules.get(at).cloned());
        Ok(Side { label, board })
    };
    match args.machine.as_slice() {
        [a, b] => Ok([side(0, a)?, side(1, b)?]),
        more => {
            let found = more.len().to_string();
            Err(machine::expected("two boards, A and B", &found).hint(
                "flyball board ab -m board:x86_64,kernel=debian:6.12 \
                 -m board:x86_64,kernel=arch/x86/boot/bzImage",
            ))
        }
    }
}

/// What the comparison of B with A says to `git bisect`.
fn verdict(found: Option<&Comparison>, sides: &[Side; 2], talk: Talk) -> Exit {
    let found = found.map(Comparison::relation);
    let words = found.map_or("not compared with", Relation::words);
    let [a, b] = sides;
    output::unless_quiet(talk.quiet, &format!("{}: {words} {}", b.label, a.label));
    match found {
        Some(Relation::Slower) => Exit::Finding,
        Some(Relation::Faster | Relation::Equivalent | Relation::EqualMedians) => Exit::Ok,
        Some(Relation::Undecided) | None => Exit::Own,
    }
}
