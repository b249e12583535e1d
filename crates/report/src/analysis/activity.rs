//! What the CPUs did while their load was recorded.

use std::collections::BTreeMap;

use super::source::Context;
use crate::model::ActivitySummary;

/// Sums over the intervals of one CPU; wide, as a file of others may say anything.
#[derive(Default)]
struct Sums {
    n: u64,
    length: u128,
    busy: u128,
    busiest: f64,
    /// Time of the intervals whose frequency is known, and the sum of kHz over it.
    clocked: u128,
    kilohertz: u128,
    span: Option<(u64, u64)>,
    waiting: Option<u128>,
}

/// One summary per CPU of a run that has the table `activity`, in order of the CPUs.
pub(super) fn summarise(context: &Context<'_>) -> Vec<ActivitySummary> {
    let mut found = BTreeMap::<u32, Sums>::new();
    let rows = &context.run.tables.activity;
    for row in (0..rows.len()).filter_map(|at| rows.row(at)) {
        let sums = found.entry(row.cpu).or_default();
        sums.n += 1;
        sums.length += u128::from(row.interval_ns);
        sums.busy += u128::from(row.busy_ns);
        if row.interval_ns > 0 {
            sums.busiest = sums.busiest.max(row.busy_ns as f64 / row.interval_ns as f64);
        }
        if let Some(khz) = row.claimed_khz {
            sums.clocked += u128::from(row.interval_ns);
            sums.kilohertz =
                sums.kilohertz.saturating_add(u128::from(khz) * u128::from(row.interval_ns));
            let (low, high) = sums.span.unwrap_or((khz, khz));
            sums.span = Some((low.min(khz), high.max(khz)));
        }
        if let Some(waiting) = row.waiting_ns {
            sums.waiting = Some(sums.waiting.unwrap_or(0) + u128::from(waiting));
        }
    }
    let share = |part: u128, whole: u128| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let mhz = |khz: u64| khz as f64 / 1e3;
    let summary = |(cpu, sums): (u32, Sums)| ActivitySummary {
        run: context.name.clone(),
        cpu,
        n: sums.n,
        seconds: sums.length as f64 / 1e9,
        busy: share(sums.busy, sums.length),
        busiest: sums.busiest,
        claimed_mean_mhz: (sums.clocked > 0)
            .then(|| sums.kilohertz as f64 / sums.clocked as f64 / 1e3),
        claimed_low_mhz: sums.span.map(|(low, _)| mhz(low)),
        claimed_high_mhz: sums.span.map(|(_, high)| mhz(high)),
        waiting_tasks: sums.waiting.map(|waiting| share(waiting, sums.length)),
    };
    found.into_iter().map(summary).collect()
}
