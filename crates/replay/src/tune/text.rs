//! What the search found, for people and as JSON.

use crate::goal::Measure;
use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::tune::{Plan, Tuned, commands};
use flyball_sim::record::Unit;
use flyball_sim::text::value;
use serde_json::{Value, json};
use std::fmt::Write;

/// The tunables, and what they are worth where it was searched and where nothing was.
pub fn text(plan: &Plan, subject: &Subject, tuned: &Tuned) -> String {
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
    let commands = commands(tuned, &plan.start.name);
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

/// The same as JSON (`flyball-tune/1`).
pub fn json(plan: &Plan, subject: &Subject, tuned: &Tuned) -> Value {
    json!({
        "schema": "flyball-tune/1",
        "recording": subject.name(),
        "platform": subject.platform().name,
        "kernel": subject.kernel().name,
        "goal": plan.goal,
        "tuned": tuned,
        "commands": commands(tuned, &plan.start.name),
        "notes": subject.notes(),
    })
}
