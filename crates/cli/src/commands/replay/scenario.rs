//! `flyball replay scenario`: a recorded load as a scenario.

use super::source::Source;
use crate::args::ScenarioArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_replay::{Subject, scenario};
use flyball_units::Pattern;

pub fn run(args: &ScenarioArgs) -> Result<Exit, Failure> {
    let source = Source::of(&args.what)?;
    let Subject::Recorded { load, .. } = source.subject()? else {
        let object = args.what.recording().display();
        let hint = "a scenario is played as it is";
        return Err(
            Failure::usage(format!("{object}: expected a recording, found a scenario")).hint(hint)
        );
    };
    let tasks: Vec<Pattern> = args.tasks.iter().cloned().map(Pattern).collect();
    let (platform, kernel) = source.named();
    output::data(&scenario(&load, platform, kernel, &tasks)?)?;
    Ok(Exit::Ok)
}
