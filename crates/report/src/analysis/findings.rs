//! What disturbed the measurement.

use flyball_run::manifest::{CheckOutcome, CheckRecord};

use super::cell::CellData;
use super::source::Context;
use super::words;
use crate::model::{Cell, Disturbed, Finding};

/// A cause of disturbance, and how it reads.
struct Cause {
    object: &'static str,
    what: &'static str,
    of: fn(&Disturbed) -> Option<u64>,
    /// What to do about it, as the end of a sentence.
    remedy: &'static str,
}

const CAUSES: [Cause; 6] = [
    Cause {
        object: "preemption",
        what: "preempted",
        of: |disturbed| disturbed.preempted,
        remedy: "; scheduling = \"fifo:80\" in the experiment keeps others away",
    },
    Cause {
        object: "migration",
        what: "moved to another CPU",
        of: |disturbed| disturbed.migrated,
        remedy: "; placement = \"cpu1\" in the experiment keeps it there",
    },
    Cause {
        object: "steal",
        what: "interrupted by the hypervisor (steal)",
        of: |disturbed| disturbed.steal,
        remedy: "",
    },
    Cause {
        object: "page faults",
        what: "hit by a page fault",
        of: |disturbed| disturbed.faults,
        remedy: "; lock_memory = true in the experiment avoids them",
    },
    Cause {
        object: "frequency probe",
        what: "without an undisturbed frequency probe",
        of: |disturbed| disturbed.probe,
        remedy: "",
    },
    Cause {
        object: "input",
        what: "with input samples that were not a number and were replaced",
        of: |disturbed| disturbed.nan,
        remedy: "",
    },
];

/// One finding per cause and run, then the checks that failed and the run's own remarks.
pub(super) fn disturbances(contexts: &[Context<'_>], cells: &[CellData]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for context in contexts {
        let cells: Vec<&Cell> = (cells.iter())
            .filter(|cell| cell.run == context.index)
            .map(|cell| &cell.model)
            .collect();
        let prefix = prefix(contexts, context);
        for cause in &CAUSES {
            findings.extend(one_cause(cause, &cells, &prefix));
        }
        findings.extend(failed_checks(context, &prefix));
        findings.extend(notes(context, &prefix));
    }
    findings
}

/// Names the run where there are several.
fn prefix(contexts: &[Context<'_>], context: &Context<'_>) -> String {
    if contexts.len() > 1 { format!("{}: ", context.name) } else { String::new() }
}

fn one_cause(cause: &Cause, cells: &[&Cell], prefix: &str) -> Option<Finding> {
    let of = |cell: &Cell| (cause.of)(&cell.disturbed);
    let known = || cells.iter().filter(|cell| of(cell).is_some());
    let windows: u64 = known().map(|cell| cell.n).sum();
    let hit: u64 = known().filter_map(|cell| of(cell)).sum();
    if hit == 0 {
        return None;
    }
    let share = |cell: &Cell| of(cell).unwrap_or(0) as f64 / cell.n.max(1) as f64;
    let overall = hit as f64 / windows as f64;
    let worst = known()
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .filter(|cell| cells.len() > 1 && share(cell) > 2.0 * overall)
        .map(|cell| {
            format!(
                ", most in {} under {} ({})",
                cell.workload,
                cell.condition,
                words::share(share(cell))
            )
        });
    Some(Finding {
        object: cause.object.to_owned(),
        text: format!(
            "{prefix}{} of windows {}, kept and marked{}{}",
            words::share(overall),
            cause.what,
            worst.unwrap_or_default(),
            cause.remedy
        ),
        hint: None,
    })
}

fn failed_checks(context: &Context<'_>, prefix: &str) -> Vec<Finding> {
    let checks = context.run.manifest.checks.iter();
    checks
        .filter(|check| check.outcome == CheckOutcome::Failed)
        .map(|check| Finding {
            object: check.name.clone(),
            text: format!("{prefix}{}", expected_and_found(check)),
            hint: check.hint.clone(),
        })
        .collect()
}

/// `cpu1: expected ..., found ...`, as far as it is known.
pub(super) fn expected_and_found(check: &CheckRecord) -> String {
    let text = match (check.expected.is_empty(), check.found.is_empty()) {
        (false, false) => format!("expected {}, found {}", check.expected, check.found),
        (true, false) => check.found.clone(),
        (false, true) => format!("expected {}", check.expected),
        (true, true) => "no details were recorded".to_owned(),
    };
    // The finding is headed by the check's name: an object that only repeats it says nothing.
    match check.object.is_empty() || check.object == check.name {
        true => text,
        false => format!("{}: {text}", check.object),
    }
}

/// Remarks of the run that are more than information and that its reader has not made too.
fn notes(context: &Context<'_>, prefix: &str) -> Vec<Finding> {
    let notes = &context.run.tables.notes;
    (0..notes.len())
        .filter(|&row| notes.severity.get(row).is_some_and(|severity| severity != "info"))
        .filter(|&row| {
            let message = notes.message.get(row).unwrap_or_default();
            !context.run.warnings.iter().any(|warning| warning.contains(message))
        })
        .map(|row| Finding {
            object: notes.object.get(row).unwrap_or_default().to_owned(),
            text: format!("{prefix}{}", notes.message.get(row).unwrap_or_default()),
            hint: notes.hint.get(row).map(str::to_owned),
        })
        .collect()
}
