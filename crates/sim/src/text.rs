//! The result of a scenario for people and as JSON: figures with their range over the phases.

use crate::engine::{DomainSummary, FrequencyResidency};
use crate::record::{Metric, Outcome, Spread, Unit, spread};
use crate::scenario::{Scenario, Workload};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Width of a bar of residency.
const BAR: usize = 30;

/// What people read; `dir` is the run directory that was kept.
pub fn text(scenario: &Scenario, outcomes: &[Outcome], dir: Option<&Path>) -> String {
    let mut text = String::new();
    if let Some((done, missing)) = unfinished(scenario, outcomes) {
        let phases = scenario.phases;
        let _ = writeln!(
            text,
            "Not whole: {done} of {phases} phases were done, {missing} are missing\n"
        );
    }
    text.push_str(&heading(scenario));
    let _ = writeln!(text, "\n{:<34}{:>12}    1 to 99 % of the phases", "", "median");
    let mut subject = "";
    let Some(first) = outcomes.first() else { return text };
    for (index, metric) in first.metrics.iter().enumerate() {
        let Some(found) = spread_of(outcomes, index).filter(|found| worth_a_line(metric, found))
        else {
            continue;
        };
        if metric.subject != subject {
            let _ = writeln!(text, "{}", metric.subject);
            subject = &metric.subject;
        }
        let _ = writeln!(text, "  {}", line(metric, &found, outcomes.len()));
    }
    text.push_str(&residencies(outcomes));
    if let Some(dir) = dir {
        let _ = writeln!(text, "\nRun   {}", dir.display());
    }
    text
}

/// Phases that were done, and those that are missing, where some are.
fn unfinished(scenario: &Scenario, outcomes: &[Outcome]) -> Option<(usize, usize)> {
    let missing = (scenario.phases as usize).saturating_sub(outcomes.len());
    (missing > 0).then_some((outcomes.len(), missing))
}

/// Who and what.
fn heading(scenario: &Scenario) -> String {
    let mut text = scenario.name.clone();
    if let Some(question) = &scenario.question {
        let _ = write!(text, ": {question}");
    }
    let tasks: Vec<&str> = scenario.tasks.iter().map(|task| task.name.as_str()).collect();
    let _ = write!(
        text,
        "\n{}, {}, HZ={}, {}\ntasks {}; {} phases of {} s, seed {}\n",
        scenario.platform.title,
        scenario.kernel.name,
        scenario.kernel.hz,
        governors(scenario),
        tasks.join(", "),
        scenario.phases,
        scenario.duration.as_secs_f64(),
        scenario.seed
    );
    for note in notes(scenario) {
        let _ = writeln!(text, "approximated: {note}");
    }
    text
}

/// What the scenario's workloads have that is approximated.
fn notes(scenario: &Scenario) -> Vec<&'static str> {
    let programs = scenario.tasks.iter().filter_map(|task| match &task.workload {
        Workload::RtApp(program) => Some(program),
        _ => None,
    });
    programs.flat_map(|program| program.notes.iter().copied()).collect()
}

/// The governors with the tunables that were set, each once.
pub fn governors(scenario: &Scenario) -> String {
    let mut governors: Vec<String> = Vec::new();
    for spec in &scenario.governors {
        let tunables: Vec<String> =
            spec.tunables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let governor = [vec![spec.name.clone()], tunables].concat().join(" ");
        if !governors.contains(&governor) {
            governors.push(governor);
        }
    }
    governors.join(" and ")
}

/// The spread of metric number `index`.
fn spread_of(outcomes: &[Outcome], index: usize) -> Option<Spread> {
    spread(outcomes.iter().filter_map(|o| o.metrics.get(index).and_then(|metric| metric.value)))
}

/// What never happened needs no line; a machine's figures are told even where they are 0.
fn worth_a_line(metric: &Metric, found: &Spread) -> bool {
    let nothing = if metric.unit == Unit::Percent { 0.0005 } else { 0.0 };
    found.max > nothing || matches!(metric.name.as_str(), "missed_percent" | "energy_mj")
}

fn line(metric: &Metric, found: &Spread, phases: usize) -> String {
    let stem = metric.name.strip_suffix(metric.unit.suffix()).unwrap_or(&metric.name);
    let name = stem.replace('_', " ");
    let mut line = format!("{name:<32}{:>12}", value(metric.unit, found.median));
    if found.min != found.max {
        let _ = write!(
            line,
            "    {} to {}",
            value(metric.unit, found.p1),
            value(metric.unit, found.p99)
        );
    }
    if found.n < phases {
        let _ = write!(line, "    (in {} of {phases} phases)", found.n);
    }
    line
}

/// A value with its unit, four digits.
pub fn value(unit: Unit, value: f64) -> String {
    let digits = |value: f64, unit: &str| {
        let places = match value.abs() {
            v if v >= 1000.0 => 0,
            v if v >= 100.0 => 1,
            v if v >= 10.0 => 2,
            _ => 3,
        };
        format!("{value:.places$} {unit}")
    };
    match unit {
        Unit::Ns if value.abs() < 1e6 => digits(value / 1e3, "us"),
        Unit::Ns if value.abs() < 1e10 => digits(value / 1e6, "ms"),
        Unit::Ns => digits(value / 1e9, "s"),
        Unit::Khz => digits(value / 1e3, "MHz"),
        Unit::Mj if value.abs() >= 1e4 => digits(value / 1e3, "J"),
        Unit::Mj => digits(value, "mJ"),
        Unit::Mw => digits(value, "mW"),
        Unit::Percent => digits(value, "%"),
        Unit::PerS => digits(value, "/s"),
        Unit::Celsius => digits(value, "C"),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
    }
}

/// Residency per frequency and per idle state, mean over the phases.
fn residencies(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let Some(first) = outcomes.first() else { return text };
    for (index, domain) in first.summary.domains.iter().enumerate() {
        let _ = writeln!(text, "residency of domain {} ({})", domain.name, domain.governor);
        for (point, share) in shares(outcomes, index, domain) {
            if share >= 0.0005 {
                let bar = "#".repeat((share * BAR as f64).round() as usize);
                let mhz = point as f64 / 1000.0;
                let _ = writeln!(text, "  {mhz:>8} MHz {:>7.1} %  {bar}", 100.0 * share);
            }
        }
    }
    text
}

/// Mean share of time at each operating point.
fn shares(outcomes: &[Outcome], index: usize, domain: &DomainSummary) -> Vec<(u64, f64)> {
    let share = |(position, point): (usize, &FrequencyResidency)| {
        let phases = outcomes.iter().filter_map(|outcome| {
            let time = outcome.summary.domains.get(index)?.residency.get(position)?.time;
            Some(time.0 as f64 / outcome.summary.elapsed.0.max(1) as f64)
        });
        (point.frequency.0, phases.sum::<f64>() / outcomes.len().max(1) as f64)
    };
    domain.residency.iter().enumerate().map(share).collect()
}

/// The same for programs.
pub fn json(scenario: &Scenario, outcomes: &[Outcome], dir: Option<&Path>) -> Value {
    let first = outcomes.first();
    let metrics = first.into_iter().flat_map(|first| first.metrics.iter().enumerate());
    let metrics = metrics.map(|(index, metric)| {
        json!({
            "subject": metric.subject,
            "name": metric.name,
            "unit": metric.unit,
            "spread": spread_of(outcomes, index),
        })
    });
    let residency = first.into_iter().flat_map(|first| first.summary.domains.iter().enumerate());
    let residency = residency.map(|(index, domain)| {
        let points = shares(outcomes, index, domain);
        let points = points.into_iter().map(|(khz, share)| json!({"khz": khz, "share": share}));
        json!({
            "domain": domain.name,
            "governor": domain.governor,
            "points": points.collect::<Vec<_>>(),
        })
    });
    let mut json = json!({
        "schema": "flyball-sim/1",
        "name": scenario.name,
        "platform": scenario.platform.name,
        "kernel": scenario.kernel.name,
        "hz": scenario.kernel.hz,
        "seed": scenario.seed,
        "duration_ns": scenario.duration,
        "phases": scenario.phases,
        "metrics": metrics.collect::<Vec<_>>(),
        "residency": residency.collect::<Vec<_>>(),
        "outcomes": outcomes,
        "run": dir.map(|dir| dir.display().to_string()),
    });
    if let (Some((done, missing)), Some(json)) =
        (unfinished(scenario, outcomes), json.as_object_mut())
    {
        let planned = scenario.phases;
        let told = json!({"what": "phases", "planned": planned, "done": done, "missing": missing});
        json.insert("unfinished".to_owned(), told);
    }
    let notes = notes(scenario);
    if let (false, Some(json)) = (notes.is_empty(), json.as_object_mut()) {
        json.insert("approximated".to_owned(), json!(notes));
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits_and_their_unit() {
        for (unit, number, text) in [
            (Unit::Ns, 97_500_000.0, "97.50 ms"),
            (Unit::Ns, 1_500.0, "1.500 us"),
            (Unit::Khz, 3_204_000.0, "3204 MHz"),
            (Unit::Mj, 12_345.0, "12.35 J"),
            (Unit::Count, 3.0, "3"),
        ] {
            assert_eq!(value(unit, number), text);
        }
    }
}
