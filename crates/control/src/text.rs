//! What a hold says, a line or lines for people.

use crate::{Change, ControlError, Ended, Foreign, Plan, Recovered, Step};
use std::fmt::Write;

/// The plan: every file, what is written and what is there.
pub fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for step in plan.all() {
        let _ = writeln!(text, "{}", line(step));
    }
    for tuning in &plan.tunables {
        let (policy, governor, name) = (tuning.policy, &tuning.governor, &tuning.name);
        let _ = writeln!(text, "policy{policy}, {governor}: {name} = {}", tuning.value);
    }
    if let Some(limit) = plan.idle_latency {
        let _ = writeln!(text, "/dev/cpu_dma_latency: held open with {} us", limit.0 / 1_000);
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn line(step: &Step) -> String {
    let path = step.path.display();
    match (step.is_change(), step.old.as_str()) {
        (false, _) => format!("{path}: {}, already", step.new),
        (true, "") => format!("{path}: {}", step.new),
        (true, old) => format!("{path}: {old} -> {}", step.new),
    }
}

/// What is held: how much, or every file.
pub fn held(plan: &Plan, verbose: bool) -> Vec<String> {
    let changes = plan.all().filter(|step| step.is_change()).count();
    let settings = if changes == 1 { "setting" } else { "settings" };
    let domains = match plan.domains.len() {
        1 => "1 clock domain".to_owned(),
        count => format!("{count} clock domains"),
    };
    let mut lines = vec![format!("held: {changes} {settings} changed, {domains}")];
    if verbose {
        lines.extend(plan.all().map(line));
    }
    if let Some(limit) = plan.idle_latency {
        lines.push(format!("held: idle states that wake within {} us", limit.0 / 1_000));
    }
    lines.extend(plan.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// A hold as JSON: its plan, what had been left before it, how it ended, what is not as it was.
pub fn json(
    begun: &Option<(Plan, Recovered)>,
    ended: &Result<Option<Ended>, ControlError>,
) -> serde_json::Value {
    let left = match ended {
        Err(ControlError::Restore { left, .. }) => left.as_slice(),
        _ => &[],
    };
    let (plan, recovered) = begun.as_ref().map(|(plan, recovered)| (plan, recovered)).unzip();
    let ended = ended.as_ref().ok();
    serde_json::json!({ "plan": plan, "recovered": recovered, "ended": ended, "left": left })
}

/// What a killed hold had left; `quiet` leaves out what is as it should be.
pub fn recovered(recovered: &Recovered, quiet: bool) -> Vec<String> {
    match recovered {
        Recovered::Nothing => Vec::new(),
        Recovered::EarlierBoot { owner } => vec![format!(
            "note: the hold of {owner} ended with an earlier boot: its settings went with that; \
             its journal is removed"
        )],
        Recovered::Restored { owner, files, foreign: others, gone } => {
            let settings = if *files == 1 { "setting" } else { "settings" };
            let restored = format!("restored {files} {settings} of {owner}, which was killed");
            let mut lines = if quiet { Vec::new() } else { vec![restored] };
            lines.extend(others.iter().map(foreign));
            lines.extend(gone.iter().map(|path| self::gone(path)));
            lines
        }
    }
}

/// What somebody else had written.
pub fn foreign(foreign: &Foreign) -> String {
    let Foreign { path, found, restored } = foreign;
    format!(
        "warning: {} had {found}, neither the hold's value nor the one before; it is {restored} \
         again",
        path.display()
    )
}

/// A setting that could not be restored because it is no more.
pub fn gone(path: &std::path::Path) -> String {
    format!("note: {} went with its CPUs", path.display())
}

/// What changed while it was held.
pub fn changed(change: &Change) -> String {
    let Change { path, expected, found, .. } = change;
    format!("warning: {}: expected {expected} while it is held, found {found}", path.display())
}
