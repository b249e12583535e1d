//! Figures from the rows of one kind.

use super::groups::Key;
use super::{GridFinding, Switch};
use crate::kinds::switches::grid;
use crate::kinds::switches::split::split;
use crate::kinds::switches::windowed::{Scores, Windowed, check_scaling};
use flyball_run::SwitchTrial;
use flyball_stats::{Distribution, Estimate, median_of};
use std::collections::BTreeMap;

/// The way to the driver alone, per set-up and domain: the median write of the level that is set
/// already, in microseconds.
pub(super) type Paths = BTreeMap<(Option<String>, Option<String>), f64>;

pub(super) fn paths(groups: &BTreeMap<Key, Vec<&SwitchTrial>>) -> Paths {
    let mut writes: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (key, trials) in
        groups.iter().filter(|(key, _)| key.method == "direct" && key.from == key.to)
    {
        let times = trials.iter().filter_map(|trial| trial.write_ns).map(micros);
        writes.entry((key.setup.clone(), key.domain.clone())).or_default().extend(times);
    }
    writes.into_iter().filter_map(|(key, times)| Some((key, median_of(times)?))).collect()
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

pub(super) fn scores(trials: &[&SwitchTrial]) -> Vec<f64> {
    let counts = trials.iter().filter(|trial| trial.rejected.is_none());
    counts.filter_map(|trial| trial.score).collect()
}

pub(super) fn switch(
    key: &Key,
    trials: &[&SwitchTrial],
    levels: i64,
    path: Option<f64>,
    period: Option<f64>,
) -> Switch {
    let mut rejected = BTreeMap::new();
    for why in trials.iter().filter_map(|trial| trial.rejected.clone()) {
        *rejected.entry(why).or_insert(0) += 1;
    }
    let valid: Vec<&&SwitchTrial> = trials.iter().filter(|t| t.rejected.is_none()).collect();
    let times = |field: fn(&SwitchTrial) -> Option<u64>| -> Vec<f64> {
        valid.iter().filter_map(|trial| field(trial)).map(micros).collect()
    };
    let transitions = times(|trial| trial.transition_ns);
    let writes = times(|trial| trial.write_ns);
    let transition_us = Distribution::of(&transitions);
    let mut corrected_us = None;
    let mut taken_off = None;
    if let Some(whole) = &transition_us {
        // Without a measured path, each transition less its own write.
        let after: Vec<f64> = valid
            .iter()
            .filter_map(|trial| Some(micros(trial.transition_ns?.saturating_sub(trial.write_ns?))))
            .collect();
        match path {
            Some(path) => {
                corrected_us = Some(whole.median.shifted(-path));
                taken_off = Some(path);
            }
            None => {
                corrected_us = Distribution::of(&after).map(|after| after.median);
                taken_off = Distribution::of(&writes).map(|writes| writes.median.value);
            }
        }
    }
    let loops = times(|trial| trial.loop_ns);
    let stalls = times(|trial| trial.stall_ns);
    // An interrupt looks like a stall, and is rare; a stall is in most switches.
    let stall_us = Distribution::of(&stalls).filter(|stalls| 2 * stalls.n > valid.len());
    Switch {
        method: key.method.clone(),
        setup: key.setup.clone(),
        domain: key.domain.clone(),
        from_khz: key.from,
        to_khz: key.to,
        levels,
        trials: trials.len(),
        valid: valid.len(),
        rejected,
        write_us: Distribution::of(&writes),
        stall_us,
        split: period.and_then(|period| split(&transitions, period)),
        transition_us,
        corrected_us,
        path_us: taken_off,
        loop_us: Distribution::of(&loops).map(|loops| loops.median.value),
    }
}

/// One grid per set-up and domain, from all directions together.
pub(super) fn grids(groups: &BTreeMap<Key, Vec<&SwitchTrial>>) -> Vec<GridFinding> {
    let mut series: BTreeMap<_, (Vec<grid::Series>, f64)> = BTreeMap::new();
    for (key, trials) in groups.iter().filter(|(key, _)| key.method == "detect") {
        let (all, coarsest) = series.entry((key.setup.clone(), key.domain.clone())).or_default();
        let mut times: Vec<(f64, f64)> = trials
            .iter()
            .filter(|trial| trial.rejected.is_none())
            .filter_map(|trial| {
                let write = trial.t_ns? as f64;
                Some((write + trial.transition_ns? as f64, write))
            })
            .collect();
        times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (effects, writes) = times.into_iter().unzip();
        all.push(grid::Series { effects, writes });
        let longest = trials.iter().filter_map(|trial| trial.loop_ns).max().unwrap_or_default();
        *coarsest = coarsest.max(longest as f64);
    }
    /// Loops that a period must be longer than.
    const LOOPS: f64 = 4.0;
    series
        .into_iter()
        .map(|((setup, domain), (series, coarsest))| {
            let found = grid::find(&series, LOOPS * coarsest, grid::LONGEST_NS);
            GridFinding { setup, domain, grid: found.ok(), none: found.err() }
        })
        .collect()
}

pub(super) fn windowed(
    groups: &BTreeMap<Key, Vec<&SwitchTrial>>,
    paths: &Paths,
    seed: u64,
) -> Vec<Windowed> {
    let alone = |key: &Key, khz: u64| {
        let fixed =
            Key { method: "fixed".to_owned(), from: khz, to: khz, window: None, ..key.clone() };
        groups.get(&fixed).map(|trials| scores(trials)).unwrap_or_default()
    };
    let mut all: Vec<Windowed> = Vec::new();
    for (key, trials) in groups.iter().filter(|(key, _)| key.method == "windowed") {
        let (first, second) = (alone(key, key.from), alone(key, key.to));
        let reached = scores(trials);
        let (Some(window), false) = (key.window, reached.is_empty()) else { continue };
        let path = paths.get(&(key.setup.clone(), key.domain.clone())).copied();
        let named = Windowed {
            setup: key.setup.clone(),
            domain: key.domain.clone(),
            from_khz: key.from,
            to_khz: key.to,
            window_us: micros(window),
            runs: reached.len(),
            mean_us: Estimate::bare(f64::NAN),
            median_us: Estimate::bare(f64::NAN),
            corrected_us: None,
            refused: None,
        };
        if first.is_empty() || second.is_empty() {
            continue;
        }
        let scores = Scores { reached: &reached, first: &first, second: &second };
        let mut found = Windowed::of(named, scores, seed);
        found.corrected_us = path.map(|path| found.median_us.shifted(-path));
        all.push(found);
    }
    check_scaling(&mut all);
    all
}
