//! Text of a search for people.

use crate::change::Candidate;
use crate::goal::{Goal, Milliseconds, Standing};
use crate::ladder::{Ladder, Rung, Unavailable};
use crate::search::{Outcome, Report, Tried};
use flyball_host::Topology;
use flyball_units::CpuId;
use serde_json::{Value, json};
use std::fmt::Write;

/// What would be tried, the smallest first.
pub fn planned(ladder: &Ladder, goal: Goal, home: &str) -> String {
    let mut text = format!("Goal {goal}; for work that runs on {home}, the smallest first:\n");
    for rung in &ladder.rungs {
        let levels: Vec<String> = rung.levels.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  {:<18} {}", rung.kind.name(), levels.join(", "));
    }
    unavailable(&mut text, &ladder.unavailable);
    text
}

/// The same as JSON.
pub fn planned_json(ladder: &Ladder, goal: Goal, home: CpuId) -> Value {
    let rung = |rung: &Rung| json!({ "kind": rung.kind, "levels": rung.levels });
    let rungs: Vec<Value> = ladder.rungs.iter().map(rung).collect();
    json!({ "goal": goal, "home": home, "try": rungs, "unavailable": ladder.unavailable })
}

fn unavailable(text: &mut String, all: &[Unavailable]) {
    for one in all {
        let _ = writeln!(text, "  not here: {}: {}", one.kind.name(), one.why);
    }
}

/// What was found, and what makes it stay, as JSON.
pub fn json(found: &Report, topology: &Topology) -> Value {
    let persistent = match &found.outcome {
        Outcome::Found { changes, .. } => changes.persistent(topology),
        _ => Vec::new(),
    };
    json!({ "report": found, "persistent": persistent })
}

/// What was found: the verdict, every stage, and what makes the changes stay.
pub fn found(found: &Report, topology: &Topology) -> String {
    let mut text = verdict(found);
    for stage in &found.stages {
        let _ = writeln!(text, "\n{} ({})", stage.name, stage.run.display());
        for tried in &stage.tried {
            let _ = writeln!(text, "  {:<7} {}", word(tried.standing), line(tried));
        }
    }
    if !found.unavailable.is_empty() {
        text.push('\n');
        unavailable(&mut text, &found.unavailable);
    }
    if let Outcome::Found { changes, .. } = &found.outcome {
        text.push_str("\nTo make it stay (nothing was left changed):\n");
        for line in changes.persistent(topology) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn verdict(found: &Report) -> String {
    let goal = found.goal;
    match &found.outcome {
        Outcome::AlreadyMet => format!("{goal}: met already; nothing has to change\n"),
        Outcome::Found { changes, confirmed, baseline } => {
            let mut text = format!("{goal}: met by {changes}, confirmed in fresh windows\n");
            let _ = writeln!(text, "  with it     {}", interval(confirmed));
            let _ = writeln!(text, "  without     {}", interval(baseline));
            for change in &changes.changes {
                let _ = writeln!(text, "  its cost    {}", change.kind().cost());
            }
            let _ = writeln!(text, "  power       {}", power(confirmed, baseline));
            text
        }
        Outcome::Unreachable { closest } => format!(
            "{goal}: out of reach on this machine; closest was {} with {}\n",
            closest.candidate,
            interval(closest)
        ),
        Outcome::NotProven { closest, why } => format!(
            "{goal}: not proven; closest was {} with {}\n{why}\n",
            closest.candidate,
            interval(closest)
        ),
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Met => "met",
        Standing::Missed => "missed",
        Standing::Open => "open",
    }
}

fn line(tried: &Tried) -> String {
    let name = match tried.candidate == Candidate::BASELINE {
        true => "baseline".to_owned(),
        false => tried.candidate.to_string(),
    };
    let power = tried.power_w.map(|watts| format!(", {watts:.2} W")).unwrap_or_default();
    format!("{:<44} {}{power}", name, interval(tried))
}

fn interval(tried: &Tried) -> String {
    let estimate = &tried.found.estimate;
    let bounds = match estimate.interval() {
        Some((low, high)) => format!("[{}, {}]", Milliseconds(low), Milliseconds(high)),
        None => "[no interval]".to_owned(),
    };
    format!("{} {bounds}, {} windows", Milliseconds(estimate.value), tried.windows)
}

fn power(confirmed: &Tried, baseline: &Tried) -> String {
    match (confirmed.power_w, baseline.power_w) {
        (Some(with), Some(without)) => {
            format!("{with:.2} W with it, {without:.2} W without (packages, one mean each)")
        }
        _ => "not known: no energy counter that may be read here".to_owned(),
    }
}
