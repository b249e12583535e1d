//! Which conditions are compared with which.
//!
//! Two rules, in this order of importance:
//! - across runs: a condition in a later run against the same condition in the first one;
//! - within a run: every condition against the baseline, and, with at most four conditions, every
//!   other pair too, the earlier condition as the baseline.
//!
//! Conditions that were split by core type (`idle on P`, `idle on E`) are compared within a type
//! and across types, but never with both load and type changed at once.

use super::cell::CellData;
use super::source::{AnalysisOptions, Context};
use flyball_run::Manifest;
use std::collections::BTreeSet;

/// With at most this many conditions, all pairs are compared.
const ALL_PAIRS_UP_TO: usize = 4;

/// Names of conditions against which the others are judged, if there is one.
const BASELINES: [&str; 4] = ["baseline", "idle", "performance", "none"];

/// One side: a run and one of its conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PairSide {
    pub run: usize,
    pub condition: String,
    /// The workload, where workloads are compared and not conditions.
    pub workload: Option<String>,
}

impl PairSide {
    fn of(run: usize, condition: &str) -> PairSide {
        PairSide { run, condition: condition.to_owned(), workload: None }
    }
}

/// Two sides to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub subject: PairSide,
    pub baseline: PairSide,
}

/// Conditions of a run that have cells, in the manifest's order and then as they appear.
pub(super) fn conditions(context: &Context<'_>, cells: &[CellData]) -> Vec<String> {
    let mut present: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.run == context.index) {
        if !present.contains(&cell.model.condition.as_str()) {
            present.push(&cell.model.condition);
        }
    }
    let order = |name: &str| {
        let conditions = &context.run.manifest.conditions;
        conditions.iter().position(|condition| condition.name == name).unwrap_or(usize::MAX)
    };
    present.sort_by_key(|name| order(name));
    present.into_iter().map(str::to_owned).collect()
}

/// All pairs, the most important first.
pub(super) fn choose(
    contexts: &[Context<'_>],
    cells: &[CellData],
    options: &AnalysisOptions,
) -> Vec<Pair> {
    let runs: Vec<(usize, Vec<String>)> =
        contexts.iter().map(|context| (context.index, conditions(context, cells))).collect();
    let mut pairs = across(&runs);
    for (run, conditions) in &runs {
        let context = contexts.iter().find(|context| context.index == *run);
        let types = context.map(|context| split_types(&context.run.manifest)).unwrap_or_default();
        pairs.extend(within(*run, conditions, &types, options.baseline.as_deref()));
        if let [condition] = conditions.as_slice() {
            let programs = programs(*run, contexts, cells);
            pairs.extend(between(*run, condition, &programs, options.baseline.as_deref()));
        }
    }
    pairs
}

/// Pairs between runs. Runs of one condition each are compared whatever its name is.
fn across(runs: &[(usize, Vec<String>)]) -> Vec<Pair> {
    let Some(((first, baseline), later)) = runs.split_first() else { return Vec::new() };
    let mut pairs = Vec::new();
    for (run, conditions) in later {
        for condition in conditions {
            let same = match (baseline.as_slice(), conditions.len()) {
                ([only], 1) => Some(only),
                _ => baseline.iter().find(|name| *name == condition),
            };
            pairs.extend(same.map(|same| Pair {
                subject: PairSide::of(*run, condition),
                baseline: PairSide::of(*first, same),
            }));
        }
    }
    pairs
}

/// The programs of a run, in the manifest's order: what else there is to compare under a single
/// condition. Signal kernels do different work, so that none is the slower one.
fn programs(run: usize, contexts: &[Context<'_>], cells: &[CellData]) -> Vec<String> {
    let Some(context) = contexts.iter().find(|context| context.index == run) else {
        return Vec::new();
    };
    let is_program = |name: &String| {
        context.run.manifest.workload(name).is_some_and(|record| record.kernel == "command")
    };
    let of_run = cells.iter().filter(|cell| cell.run == run);
    of_run.map(|cell| cell.model.workload.clone()).filter(is_program).collect()
}

/// Pairs of workloads under one condition: every one against the baseline or the first, and, with
/// few of them, every other pair too.
fn between(run: usize, condition: &str, names: &[String], wanted: Option<&str>) -> Vec<Pair> {
    let mut ordered: Vec<&String> = names.iter().collect();
    ordered.sort_by_key(|name| Some(name.as_str()) != wanted);
    let side = |workload: &String| PairSide {
        workload: Some(workload.clone()),
        ..PairSide::of(run, condition)
    };
    let mut pairs = Vec::new();
    for (at, baseline) in ordered.iter().enumerate() {
        if at == 0 || ordered.len() <= ALL_PAIRS_UP_TO {
            let later = ordered.iter().skip(at + 1);
            pairs.extend(later.map(|name| Pair { subject: side(name), baseline: side(baseline) }));
        }
    }
    pairs
}

/// Pairs within one run.
fn within(
    run: usize,
    conditions: &[String],
    types: &BTreeSet<&str>,
    wanted: Option<&str>,
) -> Vec<Pair> {
    let split = |name| split(name, types);
    let ordered = baseline_first(conditions, types, wanted);
    let mut pairs = Vec::new();
    for (at, baseline) in ordered.iter().enumerate() {
        for subject in ordered.iter().skip(at + 1) {
            let judged = at == 0
                || ordered.len() <= ALL_PAIRS_UP_TO
                || is_baseline(split(baseline).0, wanted);
            if judged && is_comparable(split(baseline), split(subject)) {
                pairs.push(Pair {
                    subject: PairSide::of(run, subject),
                    baseline: PairSide::of(run, baseline),
                });
            }
        }
    }
    pairs
}

/// The conditions with the baseline (or the baselines, one per core type) in front.
fn baseline_first<'a>(
    conditions: &'a [String],
    types: &BTreeSet<&str>,
    wanted: Option<&str>,
) -> Vec<&'a str> {
    let split = |name| split(name, types);
    let names = || conditions.iter().map(String::as_str);
    let chosen = wanted
        .filter(|wanted| names().any(|name| name == *wanted || split(name).0 == *wanted))
        .or_else(|| BASELINES.into_iter().find(|known| names().any(|name| split(name).0 == *known)))
        .or_else(|| conditions.first().map(String::as_str));
    let mut ordered: Vec<&str> = names().collect();
    ordered.sort_by_key(|name| !is_baseline(name, chosen) && !is_baseline(split(name).0, chosen));
    ordered
}

fn is_baseline(name: &str, wanted: Option<&str>) -> bool {
    wanted.map_or_else(|| BASELINES.contains(&name), |wanted| wanted == name)
}

/// The core types by which a run's conditions may have been split.
fn split_types(manifest: &Manifest) -> BTreeSet<&str> {
    let machine = manifest.machine.iter().flat_map(|machine| &machine.cpus);
    let split = manifest.conditions.iter().filter_map(|condition| {
        let by_type = condition.placement.as_deref() == Some("each-core-type");
        condition.name.rsplit_once(" on ").filter(|_| by_type).map(|(_, core_type)| core_type)
    });
    machine.filter_map(|cpu| cpu.core_type.as_deref()).chain(split).collect()
}

/// A condition's own name and the core type that it was split by. A person may write " on " into a name, too.
fn split<'a>(name: &'a str, types: &BTreeSet<&str>) -> (&'a str, Option<&'a str>) {
    match name.rsplit_once(" on ") {
        Some((base, core_type)) if types.contains(core_type) => (base, Some(core_type)),
        _ => (name, None),
    }
}

/// Whether two conditions differ in one respect only, as far as their names tell.
fn is_comparable(
    (base_a, type_a): (&str, Option<&str>),
    (base_b, type_b): (&str, Option<&str>),
) -> bool {
    type_a == type_b || base_a == base_b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn titles(pairs: &[Pair]) -> Vec<String> {
        let title = |p: &Pair| format!("{} / {}", p.subject.condition, p.baseline.condition);
        pairs.iter().map(title).collect()
    }

    #[test]
    fn four_conditions_give_all_pairs_with_the_named_baseline_first() {
        let conditions = names(&["powersave", "performance", "schedutil", "boosted"]);
        assert_eq!(
            titles(&within(0, &conditions, &BTreeSet::from(["P", "E"]), None)),
            [
                "powersave / performance",
                "schedutil / performance",
                "boosted / performance",
                "schedutil / powersave",
                "boosted / powersave",
                "boosted / schedutil",
            ]
        );
        let first =
            &titles(&within(0, &conditions, &BTreeSet::from(["P", "E"]), Some("schedutil")))[0];
        assert_eq!(first, "powersave / schedutil");
    }

    #[test]
    fn many_conditions_are_judged_against_the_baseline_only() {
        let conditions = names(&["a", "b", "c", "d", "idle"]);
        let found = titles(&within(0, &conditions, &BTreeSet::from(["P", "E"]), None));
        assert_eq!(found, ["a / idle", "b / idle", "c / idle", "d / idle"]);
    }

    #[test]
    fn core_types_are_not_crossed_with_loads() {
        let conditions = names(&["idle on E", "idle on P", "heavy on E", "heavy on P"]);
        let found = titles(&within(0, &conditions, &BTreeSet::from(["P", "E"]), None));
        assert!(found.contains(&"heavy on P / idle on P".to_owned()));
        assert!(found.contains(&"idle on P / idle on E".to_owned()));
        assert!(!found.contains(&"heavy on P / idle on E".to_owned()));
    }

    #[test]
    fn a_name_with_on_in_it_is_no_core_type() {
        let conditions = names(&["alone", "load on its CPU", "load on E"]);
        let none = titles(&within(0, &conditions, &BTreeSet::new(), None));
        assert_eq!(none.len(), 3, "{none:?}");
        let known = titles(&within(0, &conditions, &BTreeSet::from(["P", "E"]), None));
        assert_eq!(known, ["load on its CPU / alone"]);
    }

    #[test]
    fn runs_are_compared_by_condition() {
        let runs = [(0, names(&["idle", "heavy"])), (1, names(&["heavy", "other"]))];
        assert_eq!(titles(&across(&runs)), ["heavy / heavy"]);
        let single = [(0, names(&["powersave"])), (1, names(&["schedutil"]))];
        assert_eq!(titles(&across(&single)), ["schedutil / powersave"]);
    }
}
