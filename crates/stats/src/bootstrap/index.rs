//! Statistics of a resampled cell without resampling its windows.
//!
//! A replicate only changes how often each unit counts. So the windows are sorted once, each with
//! its unit's number, and a table holds how many windows of each unit lie below each of some 512
//! ranks. A replicate's quantile is then a search over that table (a dot product with the weights per
//! step) and a walk inside one bucket: microseconds instead of a sort. The search begins where the
//! quantile stands without weights, and goes on by how far that missed: two or three steps, mostly. Where
//! the counts fit 15 bits, as almost always, the dot product takes eight of them at a time.

use super::drawn::Drawn;
use super::{Statistic, Weight};
use crate::quantile::{QuantileType, interpolate, position};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Windows in ascending order with the unit of each.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    sorted: Vec<f64>,
    unit_of: Vec<u32>,
    /// `below[bucket * units + unit]`: windows of the unit before the bucket's first rank; behind the
    /// last bucket all of them.
    below: Counts,
    bucket_size: usize,
    units: usize,
    sizes: Vec<u32>,
    sums: Vec<f64>,
    /// What was asked before: a cell is compared with several others, by the same draws.
    known: Arc<Mutex<Vec<Replicates>>>,
}

/// The logarithms of a statistic over all replicates of one drawing.
#[derive(Debug)]
struct Replicates {
    statistic: Statistic,
    drawn: u64,
    logs: Arc<[f64]>,
}

/// Logarithms that an index keeps at most.
const KEPT: usize = 1 << 15;

const MAX_BUCKETS: usize = 512;
/// Steps of the search in proportion, before it halves.
const PROPORTIONAL_STEPS: u32 = 6;
/// Units that few repeats are cut into at most.
const FEW_UNITS: usize = 256;

#[derive(Clone, Debug)]
enum Counts {
    Narrow(Vec<i16>),
    Wide(Vec<u32>),
}

impl Index {
    /// From values with their units (each below `units`).
    pub(crate) fn new(values: Vec<(f64, u32)>, units: usize) -> Index {
        let values = sorted_pairs(values);
        let bucket_size = values.len().div_ceil(MAX_BUCKETS).max(16);
        let (mut sizes, mut sums) = (vec![0_u32; units], vec![0.0; units]);
        let mut below = Vec::with_capacity((values.len() / bucket_size + 2) * units);
        for (rank, &(value, unit)) in values.iter().enumerate() {
            if rank % bucket_size == 0 {
                below.extend_from_slice(&sizes);
            }
            sizes[unit as usize] += 1;
            sums[unit as usize] += value;
        }
        below.extend_from_slice(&sizes);
        let (sorted, unit_of) = values.into_iter().unzip();
        // A resampling draws as many units as there are (of few repeats, their blocks), so it holds at most
        // so many windows, which are to fit 31 bits.
        let longest = sizes.iter().max().copied().unwrap_or(0);
        let most = u64::from(longest) * units.max(FEW_UNITS) as u64;
        let is_narrow = i16::try_from(longest).is_ok() && i32::try_from(most).is_ok();
        let below = match is_narrow {
            true => Counts::Narrow(below.into_iter().map(|count: u32| count as i16).collect()),
            false => Counts::Wide(below),
        };
        let known = Arc::default();
        Index { sorted, unit_of, below, bucket_size, units, sizes, sums, known }
    }

    /// All values, ascending.
    pub(crate) fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The statistic when each unit counts as often as `weights` says; NaN when none counts.
    pub(crate) fn statistic(&self, statistic: Statistic, weights: &[Weight]) -> f64 {
        match statistic {
            Statistic::Median => self.quantile(0.5, weights),
            Statistic::Quantile(p) => self.quantile(p, weights),
            Statistic::Mean => {
                let sum: f64 = self.sums.iter().zip(weights).map(|(s, &w)| s * f64::from(w)).sum();
                sum / wide_dot(&self.sizes, weights) as f64
            }
        }
    }

    /// The logarithm of the statistic in each replicate.
    pub(crate) fn logs(&self, statistic: Statistic, drawn: &Drawn, replicates: u32) -> Arc<[f64]> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&Replicates| one.statistic == statistic && one.drawn == drawn.number;
        if let Some(one) = known().iter().find(same) {
            return Arc::clone(&one.logs);
        }
        let each = (0..replicates).into_par_iter().with_min_len(64);
        let log = |replicate| self.statistic(statistic, drawn.replicate(replicate)).ln();
        let logs: Arc<[f64]> = each.map(log).collect::<Vec<f64>>().into();
        let mut known = known();
        if known.iter().map(|one| one.logs.len()).sum::<usize>() + logs.len() <= KEPT {
            let (logs, drawn) = (Arc::clone(&logs), drawn.number);
            known.push(Replicates { statistic, drawn, logs });
        }
        logs
    }

    fn quantile(&self, p: f64, weights: &[Weight]) -> f64 {
        let total = self.weight_before(self.buckets(), weights);
        if total == 0 {
            return f64::NAN;
        }
        let (rank, fraction) = position(total as usize, p, QuantileType::Type7);
        self.neighbours(rank as u64, fraction, total, weights)
    }

    fn buckets(&self) -> usize {
        self.sorted.len().div_ceil(self.bucket_size)
    }

    /// The last bucket that starts at or before the rank, and the weight before it. `total` is that of
    /// all.
    fn bucket(&self, rank: u64, total: u64, weights: &[Weight]) -> (usize, u64) {
        let (mut first, mut before) = (0, 0);
        let (mut end, mut after) = (self.buckets(), total);
        let mut steps = 0;
        while end - first > 1 {
            // In proportion between the ends; where that does not close in, the middle.
            let (part, whole) = (rank - before, (after - before).max(1));
            let middle = match steps < PROPORTIONAL_STEPS {
                true => (first as u64 + part * (end - first) as u64 / whole) as usize,
                false => (first + end) / 2,
            };
            let middle = middle.clamp(first + 1, end - 1);
            let weight = self.weight_before(middle, weights);
            match weight <= rank {
                true => (first, before) = (middle, weight),
                false => (end, after) = (middle, weight),
            }
            steps += 1;
        }
        (first, before)
    }

    /// Between the weighted order statistics `rank` and `rank + 1`.
    fn neighbours(&self, rank: u64, fraction: f64, total: u64, weights: &[Weight]) -> f64 {
        let (first, mut seen) = self.bucket(rank, total, weights);
        let mut lower = None;
        for at in first * self.bucket_size..self.sorted.len() {
            seen += weights[self.unit_of[at] as usize] as u64;
            if lower.is_none() && seen > rank {
                lower = Some(self.sorted[at]);
            }
            if let Some(lower) = lower
                && (fraction == 0.0 || seen > rank + 1)
            {
                return interpolate(lower, self.sorted[at], fraction);
            }
        }
        lower.unwrap_or(f64::NAN)
    }

    fn weight_before(&self, bucket: usize, weights: &[Weight]) -> u64 {
        let range = bucket * self.units..(bucket + 1) * self.units;
        match &self.below {
            Counts::Narrow(below) => narrow_dot(&below[range], weights),
            Counts::Wide(below) => wide_dot(&below[range], weights),
        }
    }
}

/// Ascending by value, then unit. The bits of a positive float order as the float does, those of a
/// negative one the other way round, so each pair is sorted as one integer: without branches, twice
/// as fast.
fn sorted_pairs(values: Vec<(f64, u32)>) -> Vec<(f64, u32)> {
    const SIGN: u64 = 1 << 63;
    let ordered = |bits: u64| if bits & SIGN == 0 { bits | SIGN } else { !bits };
    let back = |key: u64| if key & SIGN == 0 { !key } else { key & !SIGN };
    let key =
        |(value, unit): (f64, u32)| u128::from(ordered(value.to_bits())) << 32 | u128::from(unit);
    let mut keys: Vec<u128> = values.into_iter().map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| (f64::from_bits(back((key >> 32) as u64)), key as u32)).collect()
}

/// Weights are never below zero.
fn wide_dot(counts: &[u32], weights: &[Weight]) -> u64 {
    counts.iter().zip(weights).map(|(&c, &w)| u64::from(c) * w as u64).sum()
}

/// The same in 32 bits, where the sum fits them.
fn narrow_dot(counts: &[i16], weights: &[Weight]) -> u64 {
    let sum: i32 = counts.iter().zip(weights).map(|(&c, &w)| i32::from(c) * i32::from(w)).sum();
    sum as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::quantile;
    use crate::rng::Rng;

    #[test]
    fn equals_sorting_the_resampled_windows() {
        let mut rng = Rng::new(5, 0);
        for round in 0..200 {
            let units = 1 + rng.below(9);
            let n = 1 + rng.below(if round % 10 == 0 { 20_000 } else { 300 });
            let values: Vec<(f64, u32)> =
                (0..n).map(|_| (1.0 + rng.below(50) as f64, rng.below(units) as u32)).collect();
            let index = Index::new(values.clone(), units);
            let weights: Vec<Weight> = (0..units).map(|_| rng.below(4) as Weight).collect();
            let mut plain: Vec<f64> = (values.iter())
                .flat_map(|&(v, u)| std::iter::repeat_n(v, weights[u as usize] as usize))
                .collect();
            plain.sort_by(f64::total_cmp);
            for p in [0.0, 0.01, 0.5, 0.99, 1.0] {
                let want = quantile(&plain, p);
                let found = index.statistic(Statistic::Quantile(p), &weights);
                assert!(found == want || (found.is_nan() && want.is_nan()), "{found} {want}");
            }
            let found = index.statistic(Statistic::Mean, &weights);
            let want = plain.iter().sum::<f64>() / plain.len() as f64;
            assert!((found - want).abs() < 1e-9 || (found.is_nan() && want.is_nan()));
        }
    }
}
