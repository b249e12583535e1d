//! One repetition: its rate over time.

use crate::kinds::Rows;
use flyball_stats::median_of;
use std::collections::HashMap;

/// A repetition as the rows have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The condition.
    pub condition: String,
    /// Length of the sleeps.
    pub gap_ns: u64,
    /// How many.
    pub sleeps: u32,
    /// Begin of the spin.
    pub begin_ns: u64,
    /// Length of the run's shortest spin: a thread that had to wait at the end of its own made it
    /// longer, and had no samples there.
    pub spin_ns: u64,
    /// The thread; none on a model.
    pub tid: Option<u32>,
    /// The trial of its events.
    pub trial: Option<u32>,
    /// Time that the hypervisor took.
    pub steal_ns: u64,
    /// When its samples began, since the begin.
    pub begun: Vec<u64>,
    /// How many of them were disturbed.
    pub disturbed: usize,
    /// Undisturbed samples: time since the begin, rate.
    pub rates: Vec<(u64, f64)>,
    /// The CPUs: from when on, since the begin, which.
    pub cpus: Vec<(u64, u32)>,
    /// Median rate of the last quarter of the spin.
    pub settled: Option<f64>,
    /// The same as a frequency.
    pub settled_khz: Option<f64>,
}

/// Fewer samples have no settled rate.
const LEAST_SETTLED: usize = 5;

/// Edges of the stretches in which the rate is looked at, in nanoseconds: three per decade, from the
/// first samples on.
const EDGES: [u64; 10] = [
    0,
    30_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
    300_000_000,
];

/// The edges up to the last quarter of a spin of this length, which is what the rest is compared
/// with.
pub fn edges(spin_ns: u64) -> Vec<u64> {
    let end = spin_ns / 4 * 3;
    EDGES.into_iter().filter(|edge| *edge < end).chain([end]).collect()
}

/// The repetitions of a run, in its order.
pub fn series(run: &Rows<'_>) -> Vec<Series> {
    let rows = &run.tables.rampups;
    let lengths = rows.begin_ns.iter().zip(&rows.end_ns);
    let spin_ns = lengths.map(|(begin, end)| end.saturating_sub(*begin)).min().unwrap_or(0);
    let mut all: Vec<Series> = Vec::with_capacity(rows.len());
    let mut places: HashMap<u64, usize> = HashMap::new();
    for row in (0..rows.len()).filter_map(|row| rows.row(row)) {
        places.insert(row.seq, all.len());
        all.push(Series {
            condition: row.condition,
            gap_ns: row.gap_ns,
            sleeps: row.sleeps,
            begin_ns: row.begin_ns,
            spin_ns,
            tid: row.tid,
            trial: row.trial,
            steal_ns: row.steal_ns.unwrap_or(0),
            ..Series::default()
        });
    }
    let mut last: HashMap<usize, Vec<(f64, Option<u64>)>> = HashMap::new();
    let samples = &run.tables.rampup_samples;
    for sample in (0..samples.len()).filter_map(|row| samples.row(row)) {
        let Some(&place) = places.get(&sample.rampup) else { continue };
        let Some(one) = all.get_mut(place) else { continue };
        one.begun.push(sample.after_ns);
        if let Some(cpu) = sample.cpu
            && one.cpus.last().is_none_or(|(_, last)| *last != cpu)
        {
            one.cpus.push((sample.after_ns, cpu));
        }
        if sample.disturbed {
            one.disturbed += 1;
            continue;
        }
        one.rates.push((sample.after_ns, sample.rate_per_us));
        if sample.after_ns >= one.spin_ns / 4 * 3 {
            let khz = sample.delivered_khz;
            last.entry(place).or_default().push((sample.rate_per_us, khz));
        }
    }
    for (place, rates) in last {
        let Some(one) = all.get_mut(place).filter(|_| rates.len() >= LEAST_SETTLED) else {
            continue;
        };
        one.settled = median_of(rates.iter().map(|(rate, _)| *rate));
        one.settled_khz = median_of(rates.iter().filter_map(|(_, khz)| *khz).map(|khz| khz as f64));
    }
    all
}

impl Series {
    /// Time until two samples in a row have at least this rate, from the begin to the first of them;
    /// none where that never is.
    pub fn time_to(&self, rate: f64) -> Option<f64> {
        let pairs = self.rates.windows(2);
        let both = |pair: &&[(u64, f64)]| pair.iter().all(|(_, found)| *found >= rate);
        let pair = pairs.into_iter().find(both)?;
        pair.first().map(|(after_ns, _)| *after_ns as f64)
    }

    /// Median rate in a stretch of time since the begin, as a share of the settled one. A stretch in which
    /// no sample began has the rate of the one that lasted through it: else a short stretch would know
    /// the quick repetitions only.
    pub fn share_between(&self, from_ns: u64, to_ns: u64) -> Option<f64> {
        let inside = self.rates.iter().filter(|(at, _)| (from_ns..to_ns).contains(at));
        let rate = median_of(inside.map(|(_, rate)| *rate)).or_else(|| {
            let begun = self.begun.partition_point(|at| *at < to_ns).checked_sub(1)?;
            let through = *self.begun.get(begun)?;
            self.rates.iter().find(|(at, _)| *at == through).map(|(_, rate)| *rate)
        })?;
        Some(rate / self.settled.filter(|rate| *rate > 0.0)?)
    }
}
