//! Rows by what was measured.

use flyball_run::SwitchTrial;
use std::collections::{BTreeMap, BTreeSet};

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub method: String,
    pub setup: Option<String>,
    pub domain: Option<String>,
    pub from: u64,
    pub to: u64,
    /// In nanoseconds; of the windowed method alone.
    pub window: Option<u64>,
}

/// The rows of each, in their order.
pub(super) fn group(trials: &[SwitchTrial]) -> BTreeMap<Key, Vec<&SwitchTrial>> {
    let mut groups: BTreeMap<Key, Vec<&SwitchTrial>> = BTreeMap::new();
    for trial in trials {
        let key = Key {
            method: trial.method.clone(),
            setup: trial.setup.clone(),
            domain: trial.domain.clone(),
            from: trial.from_khz,
            to: trial.to_khz,
            window: trial.window_ns.filter(|_| trial.method == "windowed"),
        };
        groups.entry(key).or_default().push(trial);
    }
    groups
}

/// Levels of each set-up and domain, ascending.
pub(super) type Levels = BTreeMap<(Option<String>, Option<String>), BTreeSet<u64>>;

/// The levels that occur.
pub(super) fn levels(trials: &[SwitchTrial]) -> Levels {
    let mut levels = Levels::new();
    for trial in trials {
        let key = (trial.setup.clone(), trial.domain.clone());
        levels.entry(key).or_default().extend([trial.from_khz, trial.to_khz]);
    }
    levels
}

/// Steps from one level to another; negative downwards.
pub(super) fn steps(levels: &BTreeSet<u64>, from: u64, to: u64) -> i64 {
    let position = |khz: u64| levels.range(..khz).count() as i64;
    position(to) - position(from)
}
