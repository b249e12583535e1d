//! What could not be checked, and the command that would.

use flyball_run::manifest::{CheckOutcome, ClockRecord};

use super::cell::CellData;
use super::findings::{expected_and_found, prefix};
use super::schedule::Releases;
use super::source::Context;
use crate::model::Finding;

/// The checks that the run could not make, and what its tables do not hold.
pub(super) fn not_checked(contexts: &[Context<'_>], cells: &[CellData]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for context in contexts {
        let own: Vec<&CellData> = cells.iter().filter(|cell| cell.run == context.index).collect();
        let run = findings.len();
        findings.extend(unavailable(context));
        findings.extend(placement(&own));
        findings.extend(frequency(context, &own));
        findings.extend(lateness(&own));
        findings.extend(preemption(&own));
        findings.extend(clocks(context));
        let prefix = prefix(contexts, context);
        for finding in findings.iter_mut().skip(run) {
            finding.text.insert_str(0, &prefix);
        }
    }
    findings
}

/// Whatever another tool's data lack, our own bench records: that is the command.
fn finding(object: &str, text: impl Into<String>) -> Finding {
    Finding { object: object.to_owned(), text: text.into(), hint: Some("flyball bench".to_owned()) }
}

fn unavailable(context: &Context<'_>) -> Vec<Finding> {
    let checks = context.run.manifest.checks.iter();
    checks
        .filter(|check| check.outcome == CheckOutcome::Unavailable)
        .map(|check| Finding {
            object: check.name.clone(),
            text: expected_and_found(check),
            hint: check.hint.clone(),
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
    Some(finding("placement", text))
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
