//! What a pooled median says when windows run on two kinds of core.
//!
//! CORTEX's governor validation compared medians of windows whose placement nobody recorded. Here every condition is
//! simulated on each kind of core by itself, and then mixed: at an E share of s %, s % of the
//! windows are those on the E core and the rest those on the P core. A pooled median jumps from
//! one core's time to the other's where s passes 50 %; so two conditions with different mixtures
//! differ although nothing else does.

use crate::experiment::{self, Experiment};
use crate::machine::MachineError;
use crate::machine::{Model, TrialRun};
use flyball_stats::{median_high, sort};
use flyball_units::Duration;
use std::collections::BTreeMap;

/// The experiment that is swept.
pub const CORTEX_GOVERNORS: &str = "cortex-governors";

/// The slow-down that CORTEX's governor validation calls the "Schedutil Trap": 762.84 us over 537.71 us.
pub const TRAP_RATIO: f64 = 762.84 / 537.71;

/// Windows in each pooled cell: as many as a cell of CORTEX's governor validation has, 5 repeats of 241.
const POOLED: usize = 1205;

/// A median that CORTEX's data give (microseconds; recomputed from its raw data).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Our name of the condition.
    pub condition: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// Median over all 1205 windows.
    pub median_us: f64,
}

const fn published(condition: &'static str, kernel: &'static str, median_us: f64) -> Published {
    Published { condition, kernel, median_us }
}

/// CORTEX's medians.
pub const PUBLISHED: &[Published] = &[
    published("powersave", "car", 68.54),
    published("powersave", "notch_iir", 178.99),
    published("powersave", "goertzel", 909.37),
    published("powersave", "bandpass_fir", 7493.18),
    published("performance", "car", 14.12),
    published("performance", "notch_iir", 37.96),
    published("performance", "goertzel", 496.27),
    published("performance", "bandpass_fir", 2968.44),
    published("schedutil", "car", 96.95),
    published("schedutil", "notch_iir", 199.12),
    published("schedutil", "goertzel", 1709.25),
    published("schedutil", "bandpass_fir", 10262.70),
    published("schedutil with load", "car", 96.83),
    published("schedutil with load", "notch_iir", 199.57),
    published("schedutil with load", "goertzel", 1713.16),
    published("schedutil with load", "bandpass_fir", 10282.02),
];

/// Pooled medians of one kernel under one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledMedian {
    /// The condition.
    pub condition: String,
    /// The kernel.
    pub kernel: String,
    /// In microseconds, one per share of [`ShareSweep::shares`].
    pub by_share_us: Vec<f64>,
}

/// The like-for-like ratio on one kind of core.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The kind of core.
    pub core_type: String,
    /// Geometric mean over the kernels of powersave's median over performance's.
    pub low_to_high: f64,
    /// The same of schedutil's median over powersave's: what is left of the "trap".
    pub schedutil_to_powersave: f64,
}

/// E shares at which a published median comes out.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRange {
    /// What was published.
    pub published: Published,
    /// First and last such share in percent; None where no mixture gives it.
    pub shares: Option<(u32, u32)>,
    /// Neighbouring shares between which the pooled median jumps over it. The model's windows
    /// have next to no spread, so it jumps; where windows spread, a mixture in between gives it.
    pub jump: Option<(u32, u32)>,
    /// The pooled median nearest to it, in microseconds.
    pub nearest_us: f64,
}

/// All mixtures of all conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareSweep {
    /// E shares in percent: 0 to 100.
    pub shares: Vec<u32>,
    /// One per condition and kernel.
    pub pooled: Vec<PooledMedian>,
    /// One per kind of core.
    pub like: Vec<Like>,
}

/// Sweeps the share of windows on E cores from 0 to 100 % in steps of `step_percent`, for every
/// condition of CORTEX's governor validation on `model`, which must have cores of the kinds E and P. Each cell is
/// simulated on each kind of core for `repeats` repeats of `duration`.
///
/// # Errors
/// A model that cannot run the experiment.
pub fn e_share_sweep(
    model: &Model,
    step_percent: u32,
    repeats: u32,
    duration: Duration,
) -> Result<ShareSweep, MachineError> {
    let mut experiment: Experiment = experiment::named(CORTEX_GOVERNORS)?;
    experiment.repeats = repeats.max(1);
    experiment.duration = duration;
    experiment.warmup = experiment.period;
    let run = model.plan(experiment)?;
    let cells = cells(run.simulate(0..run.plan().trials.len())?);
    let step = step_percent.clamp(1, 100) as usize;
    let mut shares: Vec<u32> = (0..=100).step_by(step).collect();
    if shares.last() != Some(&100) {
        shares.push(100);
    }
    let experiment = run.experiment();
    let mut pooled = Vec::new();
    for condition in &experiment.conditions {
        for workload in &experiment.workloads {
            let (condition, kernel) = (condition.label(), workload.label());
            let on = |core: &str| cell(&cells, &condition, core, &kernel);
            let (e_core, p_core) = (on("E"), on("P"));
            let by_share_us = shares.iter().map(|share| mixed(e_core, p_core, *share)).collect();
            pooled.push(PooledMedian { condition, kernel, by_share_us });
        }
    }
    let sweep = ShareSweep { shares, pooled, like: Vec::new() };
    let like = [("E", 100), ("P", 0)].map(|(core, share)| Like {
        core_type: core.to_owned(),
        low_to_high: sweep.ratio(("powersave", share), ("performance", share)),
        schedutil_to_powersave: sweep.ratio(("schedutil", share), ("powersave", share)),
    });
    Ok(ShareSweep { like: like.to_vec(), ..sweep })
}

impl ShareSweep {
    /// Geometric mean over the kernels of the pooled medians of a condition at an E share (the
    /// next one swept at or above), in microseconds; NaN where the condition was not swept.
    pub fn geo_mean_us(&self, condition: &str, share: u32) -> f64 {
        let at = self.shares.partition_point(|swept| *swept < share);
        let medians = self.pooled.iter().filter(|pooled| pooled.condition == condition);
        let logs: Vec<f64> =
            medians.filter_map(|pooled| pooled.by_share_us.get(at)).map(|us| us.ln()).collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    }

    /// Ratio of two conditions' geometric means, each at its own E share.
    pub fn ratio(&self, subject: (&str, u32), baseline: (&str, u32)) -> f64 {
        self.geo_mean_us(subject.0, subject.1) / self.geo_mean_us(baseline.0, baseline.1)
    }

    /// The pairs of E shares (powersave's, schedutil's) at which schedutil looks slower than
    /// powersave by [`TRAP_RATIO`], within `tolerance` (a fraction).
    pub fn trap(&self, tolerance: f64) -> Vec<(u32, u32)> {
        let pairs = self.shares.iter().flat_map(|a| self.shares.iter().map(move |b| (*a, *b)));
        pairs
            .filter(|(powersave, schedutil)| {
                let ratio = self.ratio(("schedutil", *schedutil), ("powersave", *powersave));
                (ratio / TRAP_RATIO - 1.0).abs() <= tolerance
            })
            .collect()
    }

    /// For each published median the mixtures that give it within `tolerance` (a fraction).
    pub fn published(&self, tolerance: f64) -> Vec<ShareRange> {
        PUBLISHED.iter().map(|published| self.range(*published, tolerance)).collect()
    }

    fn range(&self, published: Published, tolerance: f64) -> ShareRange {
        let pooled = self.pooled.iter().find(|pooled| {
            pooled.condition == published.condition && pooled.kernel == published.kernel
        });
        let medians = pooled.map(|pooled| pooled.by_share_us.as_slice()).unwrap_or_default();
        let off = |us: &f64| (us / published.median_us - 1.0).abs();
        let hits: Vec<u32> = self
            .shares
            .iter()
            .zip(medians)
            .filter(|(_, us)| off(us) <= tolerance)
            .map(|(share, _)| *share)
            .collect();
        let over = |pair: &&[(u32, f64)]| match pair {
            [(_, a), (_, b)] => (a - published.median_us) * (b - published.median_us) < 0.0,
            _ => false,
        };
        let swept: Vec<(u32, f64)> =
            self.shares.iter().copied().zip(medians.iter().copied()).collect();
        let jump =
            swept.windows(2).find(over).and_then(|pair| Some((pair.first()?.0, pair.last()?.0)));
        let nearest = medians.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        ShareRange {
            published,
            shares: hits.first().copied().zip(hits.last().copied()),
            jump,
            nearest_us: nearest.copied().unwrap_or(f64::NAN),
        }
    }
}

/// Execution times in microseconds, sorted, by the trial's condition and workload.
type Cells = BTreeMap<(String, String), Vec<f64>>;

fn cells(trials: Vec<TrialRun>) -> Cells {
    let mut cells = Cells::new();
    for trial in trials {
        let times = cells.entry((trial.labels.condition, trial.labels.workload)).or_default();
        let measured = trial.windows.iter().filter(|window| !window.warmup);
        times.extend(measured.map(|window| window.exec_ns as f64 / 1e3));
    }
    cells.values_mut().for_each(|times| sort(times));
    cells
}

fn cell<'a>(cells: &'a Cells, condition: &str, core: &str, kernel: &str) -> &'a [f64] {
    let key = (format!("{condition} on {core}"), kernel.to_owned());
    cells.get(&key).map(Vec::as_slice).unwrap_or_default()
}

/// The median of [`POOLED`] windows of which `share` percent are from `e_core` (sorted) and the
/// rest from `p_core` (sorted), each part spread evenly over its distribution.
fn mixed(e_core: &[f64], p_core: &[f64], share: u32) -> f64 {
    let from_e = (POOLED * share as usize + 50) / 100;
    let mut pool: Vec<f64> =
        spread(e_core, from_e).chain(spread(p_core, POOLED - from_e)).collect();
    sort(&mut pool);
    median_high(&pool).unwrap_or(f64::NAN)
}

/// `n` values of a sorted list at evenly spaced ranks.
fn spread(sorted: &[f64], n: usize) -> impl Iterator<Item = f64> {
    (0..n).filter_map(move |k| sorted.get((2 * k + 1) * sorted.len() / (2 * n.max(1))).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_s_median_jumps_at_one_half() {
        let (e_core, p_core) = ([99.0, 100.0, 101.0], [49.0, 50.0, 51.0]);
        assert_eq!(mixed(&e_core, &p_core, 0), 50.0);
        assert!(mixed(&e_core, &p_core, 45) <= 51.0);
        assert!(mixed(&e_core, &p_core, 55) >= 99.0);
        assert_eq!(mixed(&e_core, &p_core, 100), 100.0);
        assert!(mixed(&[], &[], 50).is_nan());
    }
}
