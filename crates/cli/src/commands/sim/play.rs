//! `flyball sim --machine host`: a scenario's tasks as real threads on this machine.

use crate::args::{SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{flags, machine, output, runs};
use flyball_console::Bar;
use flyball_lab::job::recorded;
use flyball_lab::protocol::score::{PreparedScore, text};
use flyball_lab::session::Destination;
use flyball_sim::scenario::Scenario;
use std::path::PathBuf;

pub fn run(args: &SimArgs, scenario: Scenario, talk: Talk) -> Result<Exit, Failure> {
    for (given, flag) in [
        (!args.sweep.is_empty(), "--sweep"),
        (args.phases.is_some(), "--phases"),
        (args.record.is_some(), "--record"),
        (args.figure.is_some(), "--figure"),
        (args.governor.is_some(), "--governor"),
    ] {
        if given {
            let text = format!("{flag}: expected a model, found --machine host");
            return Err(Failure::usage(text));
        }
    }
    let groups = args.trace.as_deref().map(flags::groups).transpose()?;
    let host = machine::real();
    host.catch_interrupts()?;
    let score = PreparedScore::new(&host, scenario, runs::origin())?;
    let mut played = Vec::new();
    for number in 0..args.repeats.map_or(1, u32::from) {
        let destination = match (&args.out, args.repeats) {
            (Some(dir), Some(_)) => Destination::Dir(dir.join((number + 1).to_string())),
            (Some(dir), None) => Destination::Dir(dir.clone()),
            (None, _) => Destination::Below(PathBuf::from(runs::RUNS)),
        };
        let mut bar = Bar::new(talk.quiet);
        let mut once = None;
        let outcome = recorded(&host, &destination, groups.clone(), &mut bar, |_, side| {
            let (outcome, played) = score.play(number, &destination, side)?;
            once = Some(played);
            Ok(outcome)
        })?;
        played.extend(once.map(|once| (outcome.dir, once)));
        if played.last().is_some_and(|(_, played)| played.interrupted) {
            break;
        }
    }
    output::result(
        args.format,
        || text::text(score.scenario(), &played),
        || text::json(score.scenario(), &played),
    )?;
    let interrupted = played.iter().any(|(_, played)| played.interrupted);
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}
