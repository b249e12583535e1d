//! What is known about one side of a comparison.

use flyball_run::manifest::CpuLimitRecord;
use flyball_stats::{
    Drift, LoadEvidence, SchedulingEvidence, SideEvidence, StratumShare, ThrottledEvidence,
};

use super::cell::CellData;
use super::load;
use super::source::Context;
use crate::model::{LoadSummary, Measure};

/// Evidence over the given cells, which are one condition of one run.
pub(super) fn side(
    context: &Context<'_>,
    condition: &str,
    cells: &[&CellData],
    loads: &[LoadSummary],
) -> SideEvidence {
    let record = context.run.manifest.condition(condition);
    SideEvidence {
        name: condition.to_owned(),
        repeats: cells.iter().map(|cell| cell.cell.repeats().len()).min().unwrap_or(0),
        runs: context.run.pooled.max(1),
        placement_recorded: cells.iter().all(|cell| cell.model.placement.recorded),
        strata_shares: strata_shares(cells),
        modes_per_kernel: cells.iter().map(|cell| cell.model.modes.modes.len()).collect(),
        load: load_evidence(load::of(loads, &context.name, condition)),
        scheduling: record.and_then(|record| {
            let asked = record.scheduling_asked.clone();
            let applied = record.scheduling_applied.clone();
            (asked.is_some() || applied.is_some()).then(|| SchedulingEvidence {
                asked: asked.or_else(|| applied.clone()).unwrap_or_default(),
                applied,
            })
        }),
        frequency_known: cells.iter().all(|cell| cell.model.delivered.is_some()),
        contention_share: mean(cells.iter().map(|cell| cell.contention.any)),
        preempted_share: mean(cells.iter().map(|cell| cell.contention.preempted)),
        outranked_load_share: mean(cells.iter().map(|cell| cell.contention.outranked)),
        beside_load_share: mean(cells.iter().map(|cell| cell.contention.beside_load())),
        throttled: record.and_then(|record| throttled(record.cpu_limit.as_ref()?)),
        // The worst cell: one program that fails must not hide behind three that work.
        failed_share: cells.iter().map(|cell| cell.failed_share).fold(0.0, f64::max),
        not_applied: record.map(|record| record.degraded.clone()).unwrap_or_default(),
        drift: worst_drift(cells).filter(|_| in_order(context, cells)),
    }
}

/// Whether the windows stand in order of execution: wake-ups without times come from histograms,
/// which keep none and would seem to drift from their least value to their largest.
fn in_order(context: &Context<'_>, cells: &[&CellData]) -> bool {
    !(timeless(context) && cells.iter().any(|cell| cell.model.measure == Measure::WakeUp))
}

/// Whether the source records no times: the files of benchmark programs.
pub(super) fn timeless(context: &Context<'_>) -> bool {
    let clocks = &context.run.manifest.clocks;
    clocks.iter().any(|clock| clock.table == "windows" && clock.clock == "none")
}

/// Mean over the cells of their shares per stratum.
fn strata_shares(cells: &[&CellData]) -> Vec<StratumShare> {
    let Some(names) = cells.first().map(|cell| &cell.stratum_names) else { return Vec::new() };
    let mut shares = vec![0.0; names.len()];
    for cell in cells {
        let Some(strata) = &cell.strata else { return Vec::new() };
        let weight = 1.0 / (cell.cell.windows() * cells.len()) as f64;
        for &tag in strata.iter().flatten() {
            if let Some(share) = shares.get_mut(tag as usize) {
                *share += weight;
            }
        }
    }
    names
        .iter()
        .zip(shares)
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| StratumShare { stratum: name.clone(), share })
        .collect()
}

fn load_evidence(load: Option<&LoadSummary>) -> Option<LoadEvidence> {
    let load = load.filter(|load| {
        load::asks_for_load(&load.profile) || load.wanted_percent.is_some_and(|wanted| wanted > 0.0)
    })?;
    Some(LoadEvidence {
        asked: load.profile.clone(),
        recorded: load.achieved_percent.is_some() || load.proven,
        achieved: load.proven,
        asked_percent: load.wanted_percent,
        achieved_percent: load.achieved_percent,
    })
}

fn throttled(limit: &CpuLimitRecord) -> Option<ThrottledEvidence> {
    let share = limit.throttled as f64 / limit.periods.max(1) as f64;
    (limit.throttled > 0).then(|| ThrottledEvidence { limit: cpu_limit(limit), share })
}

/// A limit in words.
pub(super) fn cpu_limit(limit: &CpuLimitRecord) -> String {
    let ms = |us: u64| us as f64 / 1000.0;
    format!(
        "the CPU limit of {} ({} of {} ms)",
        limit.file,
        ms(limit.quota_us),
        ms(limit.period_us)
    )
}

/// Mean of what is known; none where any is unknown.
pub(super) fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The flagged drift that moves most, else the one that moves most.
fn worst_drift(cells: &[&CellData]) -> Option<Drift> {
    let size = |drift: &Drift| (drift.flagged, drift.total_change.abs());
    cells
        .iter()
        .map(|cell| &cell.drift)
        .max_by(|a, b| size(a).0.cmp(&size(b).0).then(size(a).1.total_cmp(&size(b).1)))
        .cloned()
}
