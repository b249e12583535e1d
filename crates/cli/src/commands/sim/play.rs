//! `flyball sim --machine host`: a scenario's tasks as real threads on this machine.

use crate::args::{CheckFormat, SimArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{flags, machine, output, runs};
use flyball_lab::job::recorded;
use flyball_lab::protocol::score::{PlayError, PreparedScore, text};
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
            return Err(Failure::new(Exit::Usage, text));
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
    output::data(&match args.format {
        CheckFormat::Text => text::text(score.scenario(), &played),
        CheckFormat::Json => format!("{:#}\n", text::json(score.scenario(), &played)),
    })?;
    let interrupted = played.iter().any(|(_, played)| played.interrupted);
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Failure {
        let exit = match &error {
            PlayError::Unplayable { .. } => Exit::BadInput,
            PlayError::Host { .. } | PlayError::NoCpu => Exit::Unsupported,
        };
        Failure::new(exit, &error).maybe_hint(error.hint())
    }
}
