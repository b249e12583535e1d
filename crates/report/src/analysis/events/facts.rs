//! What was run, in names and values: from the scenario that the run carries, else from its
//! manifest.

use flyball_run::manifest::ConditionRecord;

use super::Context;
use crate::analysis::summary;
use crate::model::{Fact, PointResults};

/// What begins the scenario of each variant of a ramp.
const VARIANT: &str = "# variant: ";

/// Settings of a scenario that say what was run, in the order of the report.
const TOLD: [&str; 6] = ["question", "platform", "kernel", "hz", "load", "duration"];

/// The facts of a run.
pub(super) fn of(context: &Context<'_>, points: &[PointResults]) -> Vec<Fact> {
    let manifest = &context.run.manifest;
    let mut facts = Vec::new();
    let mut say = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push(Fact { name: name.to_owned(), value });
        }
    };
    let text = manifest.experiment.as_deref().unwrap_or_default();
    let variants: Vec<&str> = text.split(VARIANT).filter(|part| !part.trim().is_empty()).collect();
    // All variants run on one machine; the name of a variant is its first line, and no TOML.
    let first = variants.first().copied().unwrap_or_default();
    let body = match text.starts_with(VARIANT) {
        true => first.split_once('\n').map_or("", |(_, body)| body),
        false => text,
    };
    let scenario: toml::Table = body.parse().unwrap_or_default();
    for key in TOLD {
        let told = scenario.get(key).map(in_words).unwrap_or_default();
        say(key, if key == "duration" { seconds(&told).unwrap_or(told) } else { told });
    }
    let governor = scenario.get("governor").map(in_words);
    say(
        "governor",
        match manifest.conditions.as_slice() {
            [] => governor.unwrap_or_default(),
            [only] => governor.or_else(|| only.governor.clone()).unwrap_or_default(),
            several => several.iter().map(variant).collect::<Vec<_>>().join(", "),
        },
    );
    let tasks: Vec<&str> = manifest.workloads.iter().map(|w| w.name.as_str()).collect();
    say("tasks", tasks.join(", "));
    if let Some(point) = points.first() {
        say("phases", point.phases.to_string());
        if points.len() > 1 {
            say("points", points.len().to_string());
        }
    }
    say("seed", manifest.seed.map(|seed| seed.to_string()).unwrap_or_default());
    say("machine", manifest.machine.as_ref().map(summary::in_one_line).unwrap_or_default());
    say("made by", manifest.source.as_ref().map(|source| source.tool.clone()).unwrap_or_default());
    facts
}

/// `70 us (schedutil)`.
fn variant(condition: &ConditionRecord) -> String {
    match &condition.governor {
        Some(governor) => format!("{} ({governor})", condition.name),
        None => condition.name.clone(),
    }
}

/// A time in whole nanoseconds, as ramps write it, in seconds.
fn seconds(told: &str) -> Option<String> {
    let ns: u64 = told.strip_suffix("ns")?.parse().ok()?;
    Some(format!("{} s", ns as f64 / 1e9))
}

/// A setting as a person writes it: `schedutil rate_limit_us=70`.
fn in_words(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(" and "),
        toml::Value::Table(table) => {
            let name = table.get("name").map(in_words);
            let rest = table.iter().filter(|(key, _)| *key != "name");
            let rest = rest.map(|(key, value)| format!("{key}={}", in_words(value)));
            name.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}
