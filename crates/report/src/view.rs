//! What several renderers ask of a [`Report`]: its groups (run and condition) and workloads in a
//! stable order, short labels, and which groups must not be compared naively.

use crate::model::{
    Cell, Comparison, ConditionSummary, Delivered, GeometricMean, Measure, Mode, Report, Side,
    VerdictWord,
};

/// A run and a condition: what a bar, a colour or a column of a chart stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Run's name.
    pub run: String,
    /// Condition's name.
    pub condition: String,
    /// The condition, with the run where the condition alone would be ambiguous.
    pub label: String,
}

/// Modes of a group that belong together over all workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct Stratum {
    /// Label of the modes, or `fast mode`, `slow mode` and so on.
    pub label: String,
    /// Geometric mean of the workloads' mode medians, microseconds.
    pub median_us: f64,
    /// Mean share of the windows.
    pub share: f64,
}

/// Groups in the order of the cells.
#[must_use]
pub fn groups(report: &Report) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for cell in &report.cells {
        if !found.iter().any(|g| g.run == cell.run && g.condition == cell.condition) {
            found.push(Group {
                run: cell.run.clone(),
                condition: cell.condition.clone(),
                label: cell.condition.clone(),
            });
        }
    }
    let conditions: Vec<String> = found.iter().map(|g| g.condition.clone()).collect();
    for group in &mut found {
        if conditions.iter().filter(|c| **c == group.condition).count() > 1 {
            group.label = format!("{} ({})", group.condition, group.run);
        }
    }
    found
}

/// Workloads in the order of the cells.
#[must_use]
pub fn workloads(report: &Report) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for cell in &report.cells {
        if !found.contains(&cell.workload) {
            found.push(cell.workload.clone());
        }
    }
    found
}

/// What the figures of these cells are of, as it stands inside a sentence.
pub fn measured<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> &'static str {
    let mut measures: Vec<Measure> = cells.into_iter().map(|cell| cell.measure).collect();
    measures.sort_unstable();
    measures.dedup();
    match measures.as_slice() {
        [] | [Measure::Execution] => "execution time",
        [Measure::WakeUp] => "wake-up latency",
        _ => "latency",
    }
}

/// The cell of a workload in a group.
#[must_use]
pub fn cell<'a>(report: &'a Report, workload: &str, group: &Group) -> Option<&'a Cell> {
    report
        .cells
        .iter()
        .find(|c| c.workload == workload && c.run == group.run && c.condition == group.condition)
}

/// All cells of a group.
pub fn cells_of<'a>(report: &'a Report, group: &'a Group) -> impl Iterator<Item = &'a Cell> {
    report.cells.iter().filter(|c| c.run == group.run && c.condition == group.condition)
}

/// The geometric mean of a group.
#[must_use]
pub fn geometric_mean<'a>(report: &'a Report, group: &Group) -> Option<&'a GeometricMean> {
    report.geometric_means.iter().find(|g| g.run == group.run && g.condition == group.condition)
}

/// The conditions as a whole, in the order of the cells.
#[must_use]
pub fn conditions(report: &Report) -> Vec<ConditionSummary> {
    let one = |group: &Group| {
        let cells: Vec<&Cell> = cells_of(report, group).collect();
        let late = cells.iter().filter_map(|cell| cell.lateness.as_ref());
        let mut delivered: Vec<&Delivered> =
            cells.iter().filter_map(|cell| cell.delivered.as_ref()).collect();
        delivered.sort_by(|a, b| a.median.total_cmp(&b.median));
        let ends = delivered.first().into_iter().chain(delivered.last());
        let mut places: Vec<&str> = cells.iter().map(|c| c.placement.summary.as_str()).collect();
        places.dedup();
        ConditionSummary {
            run: group.run.clone(),
            condition: group.condition.clone(),
            label: group.label.clone(),
            cells: cells.len() as u64,
            mixtures: cells.iter().filter(|cell| cell.modes.mixture).count() as u64,
            median_us: geometric_mean(report, group).map(|mean| mean.median_us),
            lateness_p99_us: late.map(|late| late.p99_us.value).reduce(f64::max),
            delivered: ends.map(|end| (*end).clone()).collect(),
            placement: match places.as_slice() {
                [one] => (*one).to_owned(),
                _ => "several".to_owned(),
            },
        }
    };
    groups(report).iter().map(one).collect()
}

/// Whether `side` names `group`.
#[must_use]
pub fn is_side(side: &Side, group: &Group) -> bool {
    side.run == group.run && side.condition == group.condition
}

/// The group that most comparisons take as their baseline; the first one where there are none.
#[must_use]
pub fn baseline(report: &Report, groups: &[Group]) -> Option<usize> {
    let uses = |g: &Group| report.comparisons.iter().filter(|c| is_side(&c.baseline, g)).count();
    // max_by_key returns the last of equals; the first is wanted, hence the reversal.
    (0..groups.len()).rev().max_by_key(|&i| uses(&groups[i]))
}

/// The comparison of `subject` against `baseline`.
#[must_use]
pub fn comparison<'a>(
    report: &'a Report,
    subject: &Group,
    baseline: &Group,
) -> Option<&'a Comparison> {
    report
        .comparisons
        .iter()
        .find(|c| is_side(&c.subject, subject) && is_side(&c.baseline, baseline))
}

/// Why a bar of this group misleads if it is read alone; `None` where nothing is known against it.
#[must_use]
pub fn caveat(report: &Report, group: &Group) -> Option<String> {
    let total = cells_of(report, group).count();
    let mixtures = cells_of(report, group).filter(|c| c.modes.mixture).count();
    if mixtures > 0 {
        return Some(format!("mixture in {mixtures} of {total}"));
    }
    doubt(report, group)
}

/// What speaks against a group as a whole: its load, or the verdict of its comparison.
#[must_use]
pub fn doubt(report: &Report, group: &Group) -> Option<String> {
    let unproven = report
        .loads
        .iter()
        .any(|l| l.run == group.run && l.condition == group.condition && !l.proven);
    if unproven {
        return Some("load unproven".to_owned());
    }
    report.comparisons.iter().filter(|c| is_side(&c.subject, group)).find_map(|c| match c.verdict {
        VerdictWord::Confounded => Some("confounded".to_owned()),
        VerdictWord::Unproven => Some("unproven".to_owned()),
        _ => None,
    })
}

/// Strata of a group over all of its workloads, the fastest first; empty where no cell is a mixture.
///
/// Modes are matched by label; where they have none, by rank if every mixed cell has as many modes.
#[must_use]
pub fn strata(report: &Report, group: &Group) -> Vec<Stratum> {
    let mixed: Vec<&Cell> = cells_of(report, group).filter(|c| c.modes.mixture).collect();
    let total = cells_of(report, group).count();
    // A stratum's mean over fewer workloads than the pooled bar's would not be comparable with it.
    if mixed.is_empty() || mixed.len() != total {
        return Vec::new();
    }
    let first = &mixed[0].modes.modes;
    let labelled = mixed.iter().all(|c| c.modes.modes.iter().all(|m| m.label.is_some()));
    let same_count = mixed.iter().all(|c| c.modes.modes.len() == first.len());
    let pick = |cell: &Cell, rank: usize| -> Option<Mode> {
        let modes = &cell.modes.modes;
        let wanted = first[rank].label.as_deref();
        if labelled {
            modes.iter().find(|m| m.label.as_deref() == wanted).cloned()
        } else if same_count {
            modes.get(rank).cloned()
        } else {
            None
        }
    };
    (0..first.len())
        .filter_map(|rank| {
            let modes: Vec<Mode> = mixed.iter().filter_map(|c| pick(c, rank)).collect();
            (modes.len() == total).then(|| Stratum {
                label: first[rank]
                    .label
                    .clone()
                    .filter(|_| labelled)
                    .unwrap_or_else(|| ordinal(rank, first.len())),
                median_us: geometric(&modes),
                share: modes.iter().map(|m| m.share).sum::<f64>() / modes.len() as f64,
            })
        })
        .collect()
}

fn ordinal(rank: usize, of: usize) -> String {
    match (rank, of) {
        (0, _) => "fast mode".to_owned(),
        (r, n) if r + 1 == n => "slow mode".to_owned(),
        (r, _) => format!("mode {}", r + 1),
    }
}

fn geometric(modes: &[Mode]) -> f64 {
    (modes.iter().map(|m| m.median_us.ln()).sum::<f64>() / modes.len() as f64).exp()
}
