//! `flyball replay tune`: a governor's tunables for a recorded load and a goal.

use super::choices;
use super::source::{Opened, open, prepare};
use crate::args::{CheckFormat, Talk, TuneArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::meter::Meter;
use crate::{machine, output};
use flyball_replay::goal::{Goal, Measure};
use flyball_replay::tune::{Plan, Tuned, axes, commands, tune};
use flyball_replay::{Outcome, Subject};
use flyball_sim::record::Unit;
use flyball_sim::text::value;
use flyball_units::{Mismatch, Nanos};
use serde_json::json;
use std::fmt::Write;

pub fn run(args: &TuneArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let goal: Goal = args.goal.parse().map_err(|slip: Mismatch| slip.at("--goal"))?;
    let opened = open(&args.what)?;
    let (searched, held_out) = parts(&opened, args)?;
    let mut choices = choices(args.governor.as_deref(), &searched)?;
    let (Some(start), true) = (choices.pop(), choices.is_empty()) else {
        return Err(Failure::new(Exit::Usage, "--governor: expected one governor, found several"));
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
    let commands = commands(&tuned, &plan.start.name);
    output::data(&match args.format {
        CheckFormat::Text => text(&plan, &searched, &tuned, &commands),
        CheckFormat::Json => {
            let json = json!({
                "schema": "flyball-tune/1",
                "recording": searched.name(),
                "platform": searched.platform().name,
                "kernel": searched.kernel().name,
                "goal": plan.goal,
                "tuned": tuned,
                "commands": commands,
                "notes": searched.notes(),
            });
            format!("{json:#}\n")
        }
    })?;
    Ok(if tuned.met && tuned.met_held_out != Some(false) { Exit::Ok } else { Exit::Finding })
}

/// What is searched, and what is held out: the last third of a recording, or another seed of a
/// scenario.
fn parts(opened: &Opened, args: &TuneArgs) -> Result<(Subject, Option<Subject>), Failure> {
    match opened {
        Opened::Work(work) => {
            let cut = Nanos(work.duration.0 / 3 * 2);
            let first = Opened::Work(work.between(Nanos::ZERO, cut));
            let last = work.between(cut, work.duration);
            let held_out = match last.items() {
                0 => None,
                _ => Some(prepare(&Opened::Work(last), &args.what)?),
            };
            Ok((prepare(&first, &args.what)?, held_out))
        }
        Opened::Scenario(scenario) => {
            let mut other = scenario.clone();
            other.seed = other.seed.wrapping_add(1);
            Ok((Subject::Scenario(scenario.clone()), Some(Subject::Scenario(other))))
        }
    }
}

fn text(plan: &Plan, subject: &Subject, tuned: &Tuned, commands: &[String]) -> String {
    let mut text = format!(
        "{} on {}, {}\ngoal {}, least energy; {} settings of {} tried\n\n",
        subject.name(),
        subject.platform().title,
        subject.kernel().name,
        plan.goal,
        tuned.tried,
        plan.start.name
    );
    for ((name, value), (_, axis)) in tuned.values.iter().zip(&plan.axes) {
        let _ = writeln!(text, "  {name:<24}{value:>10}   of {} to {}", axis.min, axis.max);
    }
    let _ = writeln!(text, "\n{:<34}{:>14}{:>14}", "", "before", "tuned");
    rows(&mut text, plan, "searched", &tuned.before, &tuned.outcome, tuned.met);
    match &tuned.held_out {
        Some((best, before)) => {
            let met = tuned.met_held_out == Some(true);
            rows(&mut text, plan, "held out", before, best, met);
        }
        None => {
            text.push_str("nothing was held out: the last third of the recording has no work\n")
        }
    }
    if !tuned.met {
        text.push_str("\nNo setting meets the goal; this one comes nearest.\n");
    } else if tuned.met_held_out == Some(false) {
        text.push_str("\nThe goal is met where it was searched, not on what was held out.\n");
    }
    if tuned.met && tuned.met_held_out != Some(false) && !commands.is_empty() {
        text.push_str("\nTo set it:\n");
        for command in commands {
            let _ = writeln!(text, "  {command}");
        }
    }
    for note in subject.notes() {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn rows(text: &mut String, plan: &Plan, part: &str, before: &Outcome, best: &Outcome, met: bool) {
    let shown = |outcome: &Outcome| match (plan.goal.of(outcome), plan.goal.measure) {
        (found, _) if found.is_infinite() => "not done".to_owned(),
        (found, Measure::Late) => value(Unit::Percent, found),
        (found, _) => value(Unit::Ns, found),
    };
    let measure = plan.goal.to_string();
    let measure = measure.split(' ').next().unwrap_or_default().to_owned();
    let verdict = if met { "met" } else { "missed" };
    let name = format!("{part}: {measure}");
    let _ = writeln!(text, "{name:<34}{:>14}{:>14}   {verdict}", shown(before), shown(best));
    let energy = |outcome: &Outcome| value(Unit::Mj, outcome.energy_mj);
    let name = format!("{part}: energy");
    let change = 100.0 * (best.energy_mj / before.energy_mj.max(1e-9) - 1.0);
    let _ = writeln!(text, "{name:<34}{:>14}{:>14}   {change:+.1} %", energy(before), energy(best));
}
