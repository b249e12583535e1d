//! `flyball replay tune`: a governor's tunables for a recorded load and a goal.

use super::choices;
use super::source::Source;
use crate::args::{Talk, TuneArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_console::Meter;
use flyball_replay::goal::Goal;
use flyball_replay::tune::{Plan, axes, json, text, tune};
use flyball_units::Mismatch;

pub fn run(args: &TuneArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let goal: Goal = args.goal.parse().map_err(|slip: Mismatch| slip.at("--goal"))?;
    let (searched, held_out) = Source::of(&args.what)?.parts()?;
    let mut choices = choices(args.governor.as_deref(), &searched)?;
    let (Some(start), true) = (choices.pop(), choices.is_empty()) else {
        return Err(Failure::usage("--governor: expected one governor, found several"));
    };
    let plan = Plan {
        axes: axes(&start, &args.tunable)?,
        start,
        goal,
        restarts: args.restarts,
        budget: args.budget.max(1),
    };
    let meter = Meter::new(&host, talk.quiet, plan.budget, "settings");
    let stop = || host.interrupted() > 0;
    let tuned = tune(&plan, &searched, held_out.as_ref(), &stop, &|done| meter.at(done));
    meter.finish();
    let tuned = tuned?;
    output::result(
        args.format,
        || text(&plan, &searched, &tuned),
        || json(&plan, &searched, &tuned),
    )?;
    Ok(if tuned.met && tuned.met_held_out != Some(false) { Exit::Ok } else { Exit::Finding })
}
