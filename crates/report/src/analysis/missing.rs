//! What could not be checked, and the command that would.

use flyball_run::manifest::{CheckOutcome, ClockRecord};

use super::cell::CellData;
use super::events;
use super::findings::{self, expected_and_found};
use super::schedule::Releases;
use super::source::Context;
use super::{device, words};
use crate::model::{Finding, Measure};

/// The checks that the runs could not make, and what their tables do not hold. What is missing
/// in all runs is said once; otherwise the runs are named.
pub(super) fn not_checked(contexts: &[Context<'_>], cells: &[CellData]) -> Vec<Finding> {
    let mut findings: Vec<(Finding, Vec<String>)> = Vec::new();
    for context in contexts {
        for finding in of_run(context, cells) {
            match findings.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, runs)) => runs.push(context.name.clone()),
                None => findings.push((finding, vec![context.name.clone()])),
            }
        }
    }
    let named = |(mut finding, runs): (Finding, Vec<String>)| {
        if runs.len() < contexts.len() {
            finding.text = format!("{}: {}", words::list(&runs), finding.text);
        }
        finding
    };
    findings.into_iter().map(named).collect()
}

fn of_run(context: &Context<'_>, cells: &[CellData]) -> Vec<Finding> {
    // What a run of events lacks is said table by table; nothing was to be measured.
    if events::only_events(context) || events::is_told_otherwise(context) {
        return Vec::new();
    }
    let own: Vec<&CellData> = cells.iter().filter(|cell| cell.run == context.index).collect();
    let mut findings: Vec<Finding> = placement(&own).into_iter().collect();
    findings.extend(execution(&own));
    findings.extend(frequency(context, &own));
    findings.extend(lateness(&own));
    findings.extend(preemption(&own));
    findings.extend(steal(context, &own));
    findings.extend(clocks(context));
    if context.imported() {
        for found in &mut findings {
            found.text += "; a bench of Flyball records it";
        }
    }
    findings.splice(0..0, unavailable(context));
    findings.dedup();
    findings
}

fn finding(object: &str, text: impl Into<String>) -> Finding {
    Finding { object: object.to_owned(), text: text.into(), hint: None }
}

fn unavailable(context: &Context<'_>) -> Vec<Finding> {
    let checks = context.run.manifest.checks.iter();
    checks
        .filter(|check| check.outcome == CheckOutcome::Unavailable)
        .map(|check| {
            findings::finding(&check.name, expected_and_found(check), check.hint.as_deref())
        })
        .collect()
}

fn placement(cells: &[&CellData]) -> Option<Finding> {
    let missing = cells.iter().filter(|cell| !cell.model.placement.recorded).count();
    let text = match missing {
        0 => return None,
        missing if missing == cells.len() => "the CPU of the windows was not recorded".to_owned(),
        missing => format!("the CPU was not recorded in {missing} of {} cells", cells.len()),
    };
    let text = match device::placement(cells) {
        Some(inferred) => format!("{inferred}; {text}"),
        None => text,
    };
    Some(finding("placement", text))
}

/// A tool that measures wake-ups runs nothing.
fn execution(cells: &[&CellData]) -> Option<Finding> {
    let wake_ups = cells.iter().filter(|cell| cell.model.measure == Measure::WakeUp).count();
    let text = match wake_ups {
        0 => return None,
        all if all == cells.len() => {
            "execution time was not recorded: figures are wake-up latency".to_owned()
        }
        some => format!(
            "execution time was not recorded in {some} of {} cells: their figures are wake-up \
             latency",
            cells.len()
        ),
    };
    Some(finding("execution time", text))
}

fn frequency(context: &Context<'_>, cells: &[&CellData]) -> Option<Finding> {
    if cells.is_empty() || cells.iter().any(|cell| cell.model.delivered.is_some()) {
        return None;
    }
    let text = if context.run.tables.frequency.claimed_khz.is_all_null() {
        "no frequency was recorded"
    } else {
        "the frequency log holds what the system claims; what the windows got was not measured"
    };
    Some(finding("delivered frequency", text))
}

fn lateness(cells: &[&CellData]) -> Option<Finding> {
    let found = cells.iter().filter(|cell| cell.releases == Releases::AtDispatch).count();
    (found > 0).then(|| {
        finding(
            "lateness",
            "releases were not on a schedule but taken just before dispatch: lateness and \
             response time leave out every delay before that",
        )
    })
}

fn preemption(cells: &[&CellData]) -> Option<Finding> {
    let unknown = |cell: &&CellData| cell.model.disturbed.preempted.is_none();
    (!cells.is_empty() && cells.iter().all(unknown))
        .then(|| finding("contention", "preemptions and steal were not recorded"))
}

/// In a virtual machine stolen time is known per second at best: the kernel accounts it per tick.
fn steal(context: &Context<'_>, cells: &[&CellData]) -> Option<Finding> {
    let machine = context.run.manifest.machine.as_ref()?;
    let guest = machine.virtualisation.as_deref().filter(|name| !matches!(*name, "" | "none"))?;
    let known = |cell: &&CellData| cell.model.disturbed.steal.is_some();
    if cells.is_empty() || cells.iter().any(known) {
        return None;
    }
    let text = format!("steal per window is not recorded, and this is a {guest} guest");
    Some(findings::finding("steal", text, None))
}

fn clocks(context: &Context<'_>) -> Vec<Finding> {
    let unlinked = |clock: &&ClockRecord| clock.offset_to.is_some() && clock.offset_ns.is_none();
    let text = |clock: &ClockRecord| {
        format!(
            "the {} table is on the {} clock, its offset to the {} clock unknown: not joined \
             with the windows on time",
            clock.table,
            clock.clock,
            clock.offset_to.as_deref().unwrap_or("windows'")
        )
    };
    let clocks = context.run.manifest.clocks.iter().filter(unlinked);
    clocks
        .filter(|clock| clock.table != "windows")
        .map(|clock| finding("clocks", text(clock)))
        .collect()
}
