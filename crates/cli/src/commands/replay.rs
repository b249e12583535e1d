//! `flyball replay`: recorded work through governors, side by side.

mod scenario;
mod shadow;
mod source;
mod tune;

use crate::args::{ReplayCommand, ReplayLoadArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{figure, machine, output};
use flyball_replay::shadow::create;
use flyball_replay::{Played, Subject, keep, play, text};
use flyball_report::figures::{Size, TradeoffPoint, tradeoff};
use flyball_units::{GovernorSpec, Nanos};

use source::Source;

pub fn run(args: &ReplayLoadArgs, talk: Talk) -> Result<Exit, Failure> {
    match &args.command {
        Some(ReplayCommand::Tune(args)) => return tune::run(args, talk),
        Some(ReplayCommand::Scenario(args)) => return scenario::run(args),
        Some(ReplayCommand::Shadow(args)) => return shadow::run(args, talk),
        None => {}
    }
    let host = machine::real();
    host.catch_interrupts()?;
    let figure = figure::target(args.figure.as_deref())?;
    let subject = Source::of(&args.what)?.subject()?;
    let governors = (!args.governor.is_empty()).then(|| args.governor.join(","));
    let choices = choices(governors.as_deref(), &subject)?;
    if let Some(out) = &args.out {
        crate::runs::check_out(Some(out))?;
    }
    let stop = || host.interrupted() > 0;
    let mut played = Vec::with_capacity(choices.len());
    for choice in &choices {
        let began = host.now();
        let outcome = play(&subject, choice, None, &stop)?;
        let took = Nanos(host.now().since(began).0);
        let dir = match &args.out {
            Some(out) => Some(keep(&subject, choice, out, &stop)?),
            None => None,
        };
        played.push(Played { outcome, took, dir });
    }
    if let Some(figure) = figure {
        let point = |played: &Played| TradeoffPoint {
            label: played.outcome.governor.clone(),
            latency_ns: played.outcome.latency.p99_ns as f64,
            energy_mj: played.outcome.energy_mj,
        };
        let points: Vec<TradeoffPoint> = played.iter().map(point).collect();
        let title = format!("{} on {}", subject.name(), subject.platform().name);
        let scene = tradeoff(&title, &points, None, Size::default()).scene;
        figure::draw(&figure, &scene, talk)?;
    }
    output::result(
        args.format,
        || text::text(&subject, &played, talk.verbose),
        || text::json(&subject, &played),
    )?;
    Ok(Exit::Ok)
}

/// The governors of a list, each once; the kernel's usual one where there is none.
pub fn choices(text: Option<&str>, subject: &Subject) -> Result<Vec<GovernorSpec>, Failure> {
    let text = text.unwrap_or(&subject.kernel().default_governor);
    let specs = GovernorSpec::list(text).map_err(|slip| slip.at("--governor"))?;
    for spec in &specs {
        create(spec)?;
    }
    Ok(specs)
}
