//! What modes seem to be. Everything here is inferred and says so.

use std::collections::BTreeMap;

use super::cell::CellData;
use super::compare::Compared;
use crate::model::Side;

/// Two modes whose ratio is within this of 1 are the same state of the machine.
const SAME_STATE: f64 = 0.05;

/// A mode of a cell: run, condition, workload, index.
type Key = (String, String, String, usize);

/// Labels the modes of all cells from the states that the comparisons recognised, and then those
/// that a comparison shows to be the same state as a labelled one.
pub(super) fn label_modes(cells: &mut [CellData], comparisons: &mut [Compared]) {
    let mut labels = recognised(comparisons);
    // A label travels one comparison per round; with n conditions n rounds reach all.
    for _ in 0..comparisons.len() {
        let before = labels.len();
        spread(&mut labels, comparisons);
        if labels.len() == before {
            break;
        }
    }
    for compared in comparisons {
        name_strata(&labels, compared);
    }
    for cell in cells {
        let model = &mut cell.model;
        for (index, mode) in model.modes.modes.iter_mut().enumerate() {
            let key = (model.run.clone(), model.condition.clone(), model.workload.clone(), index);
            mode.label = labels.get(&key).map(|label| format!("{label} (inferred)"));
        }
    }
}

/// Names the inferred strata that no clock domain gave a name, where both sides have a label now.
fn name_strata(labels: &BTreeMap<Key, String>, compared: &mut Compared) {
    for (state, keys) in states(compared) {
        if compared.like.recognised.get(state).is_none_or(Option::is_some) {
            continue;
        }
        let label = |side: usize| keys.first().and_then(|key| labels.get(&key[side]));
        let (Some(subject), Some(baseline)) = (label(0), label(1)) else { continue };
        let name = match subject.strip_prefix("as ").unwrap_or(subject) == baseline {
            true => baseline.clone(),
            false => format!("{subject} against {baseline}"),
        };
        let comparison = &mut compared.comparison;
        let workloads = comparison.workloads.iter_mut().map(|found| &mut found.like_for_like);
        for strata in workloads.chain([&mut comparison.like_for_like]) {
            if let Some(stratum) = strata.get_mut(state) {
                stratum.stratum.clone_from(&name);
            }
        }
    }
}

/// Labels of the modes in states that move as a clock domain does.
fn recognised(comparisons: &[Compared]) -> BTreeMap<Key, String> {
    let mut labels = BTreeMap::new();
    for compared in comparisons {
        for (state, keys) in states(compared) {
            let Some(Some(found)) = compared.like.recognised.get(state) else { continue };
            for [subject, baseline] in keys {
                let label = |mhz: f64| format!("{} at {mhz:.0} MHz", found.domain);
                labels.insert(subject, label(found.subject_mhz));
                labels.insert(baseline, label(found.baseline_mhz));
            }
        }
    }
    labels
}

/// Copies labels over states whose two sides are equally fast.
fn spread(labels: &mut BTreeMap<Key, String>, comparisons: &[Compared]) {
    for compared in comparisons {
        let Some(inferred) = &compared.like.inferred else { continue };
        for (state, keys) in states(compared) {
            let ratio = inferred.states.get(state).map_or(f64::NAN, |state| state.ratio.value);
            if (ratio - 1.0).abs() > SAME_STATE {
                continue;
            }
            for [subject, baseline] in keys {
                match (labels.get(&subject).cloned(), labels.get(&baseline).cloned()) {
                    (None, Some(label)) => labels.insert(subject, like(label)),
                    (Some(label), None) => labels.insert(baseline, like(label)),
                    _ => None,
                };
            }
        }
    }
}

fn like(label: String) -> String {
    if label.starts_with("as ") { label } else { format!("as {label}") }
}

/// Per inferred state: its index, and the modes of the subject and of the baseline per workload.
fn states(compared: &Compared) -> Vec<(usize, Vec<[Key; 2]>)> {
    let Some(inferred) = &compared.like.inferred else { return Vec::new() };
    let key = |side: &Side, workload: &str, mode: usize| {
        (side.run.clone(), side.condition.clone(), workload.to_owned(), mode)
    };
    let comparison = &compared.comparison;
    inferred
        .states
        .iter()
        .enumerate()
        .map(|(at, state)| {
            let modes = inferred.kernels.iter().zip(&state.modes);
            let keys = modes.map(|(workload, [a, b])| {
                [key(&comparison.subject, workload, *a), key(&comparison.baseline, workload, *b)]
            });
            (at, keys.collect())
        })
        .collect()
}
