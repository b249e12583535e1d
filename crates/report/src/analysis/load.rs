//! Proof of load: what was asked, what ran.

use flyball_run::manifest::{ConditionRecord, LoadRecord};

use super::source::Context;
use crate::model::LoadSummary;

/// A load counts as achieved within this of what was asked, percentage points.
const TOLERANCE_POINTS: f64 = 5.0;

/// What the load table says of one condition.
#[derive(Debug, Default)]
struct Recorded {
    n: u64,
    wanted: f64,
    achieved: f64,
    steal_max_percent: Option<f64>,
}

/// One summary per condition for which a load was asked or recorded.
pub(super) fn summarise(context: &Context<'_>) -> Vec<LoadSummary> {
    let conditions = context.run.manifest.conditions.iter();
    conditions.filter_map(|condition| one(context, condition)).collect()
}

/// The summary of one condition of a run.
pub(super) fn of<'a>(
    loads: &'a [LoadSummary],
    run: &str,
    condition: &str,
) -> Option<&'a LoadSummary> {
    loads.iter().find(|load| load.run == run && load.condition == condition)
}

/// Whether a profile asks for any load.
pub(super) fn asks_for_load(profile: &str) -> bool {
    !matches!(profile, "" | "idle" | "none")
}

fn one(context: &Context<'_>, condition: &ConditionRecord) -> Option<LoadSummary> {
    let recorded = recorded(context, &condition.name);
    let record = match (&condition.load, recorded.n) {
        (None, 0) => return None,
        (load, _) => load.clone().unwrap_or_default(),
    };
    let wanted = record.wanted_percent.or_else(|| mean(recorded.wanted, recorded.n));
    let achieved = record.achieved_percent.or_else(|| mean(recorded.achieved, recorded.n));
    let (proven, why) = proof(&record, wanted, achieved);
    Some(LoadSummary {
        run: context.name.clone(),
        condition: condition.name.clone(),
        profile: if record.profile.is_empty() { "unknown".into() } else { record.profile },
        wanted_percent: wanted,
        achieved_percent: achieved,
        proven,
        why,
        steal_max_percent: recorded.steal_max_percent,
    })
}

/// Sums over the intervals of the loaded CPUs; steal over all CPUs.
fn recorded(context: &Context<'_>, condition: &str) -> Recorded {
    let load = &context.run.tables.load;
    let mut found = Recorded::default();
    for (row, name) in load.condition.iter().enumerate() {
        if name != condition {
            continue;
        }
        if let Some(steal) = load.steal_percent.get(row) {
            found.steal_max_percent = Some(found.steal_max_percent.unwrap_or(0.0).max(steal));
        }
        let wanted = load.wanted_percent.get(row).copied().unwrap_or(0.0);
        if wanted > 0.0 {
            found.n += 1;
            found.wanted += wanted;
            found.achieved += load.achieved_percent.get(row).copied().unwrap_or(0.0);
        }
    }
    found
}

fn mean(sum: f64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum / n as f64)
}

/// Whether the load is proven, and why. What the run itself decided stands.
fn proof(record: &LoadRecord, wanted: Option<f64>, achieved: Option<f64>) -> (bool, String) {
    let said = |default: String| if record.why.is_empty() { default } else { record.why.clone() };
    if !asks_for_load(&record.profile) && wanted.unwrap_or(0.0) == 0.0 {
        return (record.proven.unwrap_or(true), said("no load was asked for".to_owned()));
    }
    match (record.proven, wanted, achieved) {
        (Some(proven), _, None) => {
            (proven, said("nothing in the data shows that the load ran".to_owned()))
        }
        (None, _, None) => (false, said("nothing in the data shows that the load ran".to_owned())),
        (proven, Some(wanted), Some(achieved)) => (
            proven.unwrap_or((achieved - wanted).abs() <= TOLERANCE_POINTS),
            said(format!("{achieved:.0} % achieved of {wanted:.0} % asked per loaded CPU")),
        ),
        (proven, None, Some(achieved)) => {
            (proven.unwrap_or(achieved > 0.0), said(format!("{achieved:.0} % per loaded CPU")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_recorded_proves_nothing() {
        let record = LoadRecord { profile: "medium".into(), ..LoadRecord::default() };
        assert!(!proof(&record, None, None).0);
        assert!(!proof(&record, Some(90.0), Some(60.0)).0);
        assert!(proof(&record, Some(50.0), Some(49.0)).0);
        let idle = LoadRecord { profile: "idle".into(), ..LoadRecord::default() };
        assert!(proof(&idle, None, None).0);
    }
}
