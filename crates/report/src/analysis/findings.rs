//! What disturbed the measurement.

use std::cmp::Reverse;

use flyball_run::Notes;
use flyball_run::manifest::{CheckOutcome, CheckRecord};

use super::cell::CellData;
use super::source::Context;
use super::{device, events, evidence, others, rows, words};
use crate::model::{Cell, Disturbed, Finding, Overrun};

/// What stolen time is called, whoever found it.
const STEAL: &str = "hypervisor steal";

/// Programs that a hint may begin with to be a command, and not advice in words.
const PROGRAMS: [&str; 8] =
    ["flyball", "sudo", "rm", "echo", "sysctl", "cpupower", "modprobe", "cyclictest"];

/// A finding whose hint is a command: advice in words goes to the text, since a hint is there to
/// be copied into a shell.
pub(super) fn finding(object: &str, text: String, hint: Option<&str>) -> Finding {
    let is_command =
        |hint: &&str| hint.split_whitespace().next().is_some_and(|first| PROGRAMS.contains(&first));
    let (command, advice) = (hint.filter(is_command), hint.filter(|hint| !is_command(hint)));
    Finding {
        object: object.to_owned(),
        text: advice.map_or(text.clone(), |advice| format!("{text}; {advice}")),
        hint: command.map(str::to_owned),
    }
}

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
        object: STEAL,
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
    for context in contexts.iter().filter(|context| !events::is_told_otherwise(context)) {
        let own: Vec<&CellData> = cells.iter().filter(|cell| cell.run == context.index).collect();
        let cells: Vec<&Cell> = own.iter().map(|cell| &cell.model).collect();
        let prefix = prefix(contexts, context);
        // Programs in turns have no conditions to be set: what those of an experiment could do is no help.
        let workloads = &context.run.manifest.workloads;
        let has_conditions = workloads.iter().any(|workload| workload.period_ns.is_some());
        findings.extend(failed_commands(context, &prefix));
        findings.extend(throttled(context, &prefix));
        findings.extend(others::users(context, &prefix));
        findings.extend(not_applied(context, &prefix));
        findings.extend(device::finding(&own, &prefix));
        for cause in &CAUSES {
            findings.extend(one_cause(cause, &cells, &prefix, has_conditions));
        }
        findings.extend(failed_checks(context, &prefix));
        findings.extend(stolen(context, &prefix));
        findings.extend(overrun(context, &prefix));
        findings.extend(notes(context, &prefix));
    }
    findings
}

/// Windows whose program failed: the first that a person must know of a run.
fn failed_commands(context: &Context<'_>, prefix: &str) -> Option<Finding> {
    let windows = &context.run.tables.windows;
    let failed =
        |row: &usize| rows::failed(windows, *row) && windows.warmup.get(*row) != Some(&true);
    let mut found = (0..windows.len()).filter(failed);
    let first = found.next()?;
    let status = windows.exit_status.get(first).unwrap_or(0);
    let count = words::count(1 + found.count() as u64, "window");
    let text = format!(
        "{prefix}{count} of a program that failed (first with exit status {status}), left out of \
         every figure"
    );
    Some(finding("command", text, None))
}

/// Conditions under which tasks waited for the control group's CPU limit: what is measured there is the limit, too.
fn throttled(context: &Context<'_>, prefix: &str) -> Option<Finding> {
    let conditions = context.run.manifest.conditions.iter();
    let limited = conditions
        .filter_map(|condition| Some((condition.name.as_str(), condition.cpu_limit.as_ref()?)));
    let mut limited: Vec<_> = limited.filter(|(_, limit)| limit.throttled > 0).collect();
    limited.sort_by_key(|(_, limit)| Reverse(limit.throttled));
    let (_, worst) = limited.first()?;
    let told = limited.iter().map(|(name, limit)| {
        format!("in {} of {} periods under {name}", limit.throttled, limit.periods)
    });
    let text = format!(
        "{prefix}tasks had to wait {} for {}; measure without it, or say that it is part of what was measured",
        told.collect::<Vec<_>>().join(", "),
        evidence::cpu_limit(worst)
    );
    Some(finding("CPU limit", text, None))
}

/// Settings that were asked for and not applied, one finding per condition.
fn not_applied(context: &Context<'_>, prefix: &str) -> Vec<Finding> {
    let conditions = context.run.manifest.conditions.iter();
    conditions
        .filter(|condition| !condition.degraded.is_empty())
        .map(|condition| {
            let remarks = condition.degraded.join("; ");
            let text = format!("{prefix}under {} not as asked: {remarks}", condition.name);
            finding("settings", text, None)
        })
        .collect()
}

/// Names the run where there are several.
fn prefix(contexts: &[Context<'_>], context: &Context<'_>) -> String {
    if contexts.len() > 1 { format!("{}: ", context.name) } else { String::new() }
}

fn one_cause(
    cause: &Cause,
    cells: &[&Cell],
    prefix: &str,
    has_conditions: bool,
) -> Option<Finding> {
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
            if has_conditions { cause.remedy } else { "" }
        ),
        hint: None,
    })
}

fn failed_checks(context: &Context<'_>, prefix: &str) -> Vec<Finding> {
    let checks = context.run.manifest.checks.iter();
    checks
        .filter(|check| check.outcome == CheckOutcome::Failed)
        .map(|check| {
            let text = format!("{prefix}{}", expected_and_found(check));
            finding(&check.name, text, check.hint.as_deref())
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

/// The run's remark on stolen time in `row` of its notes.
fn tells_of_steal(notes: &Notes, row: usize) -> bool {
    notes.message.get(row).is_some_and(|message| message.starts_with("steal"))
}

/// Rows of the notes that are more than information.
fn serious(notes: &Notes) -> impl Iterator<Item = usize> + '_ {
    (0..notes.len()).filter(|&row| notes.severity.get(row).is_some_and(|found| found != "info"))
}

/// The seconds from which the hypervisor took a notable part: one finding for all of them.
fn stolen(context: &Context<'_>, prefix: &str) -> Option<Finding> {
    let notes = &context.run.tables.notes;
    let mut rows = serious(notes).filter(|&row| tells_of_steal(notes, row));
    let message = notes.message.get(rows.next()?)?;
    let first = message.split_once(": ").map_or(message, |(_, rest)| rest);
    let text = match rows.count() {
        0 => format!("{prefix}{first}"),
        more => format!("{prefix}{first}, and so in {}", words::count(more as u64, "more second")),
    };
    Some(finding(STEAL, text, None))
}

/// How many releases the run's remark in `row` of its notes says were missed.
fn missed(notes: &Notes, row: usize) -> Option<u64> {
    notes.message.get(row)?.split_once(" releases missed")?.0.parse().ok()
}

/// The releases that were missed, per trial.
pub(super) fn overruns(contexts: &[Context<'_>]) -> Vec<Overrun> {
    let mut found: Vec<Overrun> = Vec::new();
    for context in contexts {
        let notes = &context.run.tables.notes;
        for (row, releases) in serious(notes).filter_map(|row| Some((row, missed(notes, row)?))) {
            let object = notes.object.get(row).unwrap_or_default();
            match found.last_mut().filter(|last| last.run == context.name && last.object == object)
            {
                Some(last) => {
                    last.releases += releases;
                    last.times += 1;
                }
                None => found.push(Overrun {
                    run: context.name.clone(),
                    object: object.to_owned(),
                    releases,
                    times: 1,
                }),
            }
        }
    }
    found
}

/// The same in one line.
fn overrun(context: &Context<'_>, prefix: &str) -> Option<Finding> {
    let notes = &context.run.tables.notes;
    let rows: Vec<(usize, u64)> =
        serious(notes).filter_map(|row| Some((row, missed(notes, row)?))).collect();
    let (first, _) = rows.first()?;
    let releases = words::count(rows.iter().map(|row| row.1).sum(), "release");
    let windows = words::count(rows.len() as u64, "window");
    let text = format!("{prefix}{releases} missed: {windows} overran their period");
    Some(finding("releases", text, notes.hint.get(*first)))
}

/// Remarks of the run that are more than information and that its reader has not made too.
fn notes(context: &Context<'_>, prefix: &str) -> Vec<Finding> {
    let notes = &context.run.tables.notes;
    serious(notes)
        .filter(|&row| !tells_of_steal(notes, row) && missed(notes, row).is_none())
        .filter(|&row| {
            let message = notes.message.get(row).unwrap_or_default();
            !context.run.warnings.iter().any(|warning| warning.contains(message))
        })
        .map(|row| {
            let text = format!("{prefix}{}", notes.message.get(row).unwrap_or_default());
            finding(notes.object.get(row).unwrap_or_default(), text, notes.hint.get(row))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_is_a_hint() {
        let found = finding("load", "missed".to_owned(), Some("sudo true"));
        assert_eq!((found.text.as_str(), found.hint.as_deref()), ("missed", Some("sudo true")));
        let found = finding("telemetry", "3 lost".to_owned(), Some("lengthen the period"));
        assert_eq!((found.text.as_str(), found.hint), ("3 lost; lengthen the period", None));
    }
}
