//! The second look: longer and longer stretches, a sharper and sharper frequency.

use super::phase;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The phase counts as lost where a stretch twice as long has less than this share of its power.
const LOST: f64 = 0.6;
/// Frequencies tried on each side of the last one, over the width of its peak.
const SIDE: i32 = 12;
/// Parts of the record whose phases tell the frequency's uncertainty.
const BLOCKS: usize = 16;
/// Times in such a part at least.
const BLOCK_EVENTS: usize = 4;

/// A frequency as sharp as the record allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharp {
    /// Per nanosecond.
    pub frequency: f64,
    /// Half of its 95 % interval; none of too short a record.
    pub half_width: Option<f64>,
    /// Share of phase in common over `coherent_ns`.
    pub coherence: f64,
    /// Time over which the phase holds, in nanoseconds.
    pub coherent_ns: f64,
}

/// Sharpens a frequency that was found over stretches of `stretch_ns`.
pub fn refine(times: &[&[f64]], frequency: f64, stretch_ns: f64) -> Sharp {
    let longest = times.iter().map(|times| span(times)).fold(0.0, f64::max);
    let mut best = best_near(times, frequency, stretch_ns, stretch_ns);
    let mut length = stretch_ns;
    while length < longest {
        let longer = (2.0 * length).min(longest * 1.001);
        let next = best_near(times, best.0, length, longer);
        if next.1 < LOST * best.1 {
            break;
        }
        (best, length) = (next, longer);
    }
    let (frequency, half_width) = by_phases(times, best.0, length);
    Sharp {
        frequency,
        half_width,
        coherence: coherence(times, frequency, length),
        coherent_ns: length,
    }
}

/// Share of phase in common over stretches of a length, the root of its mean square.
pub fn coherence(times: &[&[f64]], frequency: f64, stretch_ns: f64) -> f64 {
    power(times, frequency, stretch_ns).sqrt()
}

/// Mean of R^2 over stretches of a length, by their numbers of times.
fn power(times: &[&[f64]], frequency: f64, stretch_ns: f64) -> f64 {
    let (mut sum, mut events) = (0.0, 0.0);
    for stretch in times.iter().flat_map(|times| stretches(times, stretch_ns)) {
        let n = stretch.len() as f64;
        // A mean of n random unit vectors has the square 1 / n: that is taken off.
        let square = phase(stretch, frequency).0.powi(2);
        let fair = if stretch.len() > 1 { (n * square - 1.0) / (n - 1.0) } else { 0.0 };
        sum += n * fair;
        events += n;
    }
    (sum / f64::max(events, 1.0)).max(0.0)
}

/// The frequency of most power over stretches of `longer`, near one found over stretches of
/// `length`; with that power.
fn best_near(times: &[&[f64]], around: f64, length: f64, longer: f64) -> (f64, f64) {
    let step = 1.0 / (length.max(1.0) * f64::from(SIDE));
    let tried = (-SIDE..=SIDE).map(|k| around + step * f64::from(k) * 0.7);
    let scored = tried.map(|frequency| (frequency, power(times, frequency, longer)));
    scored.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((around, 0.0))
}

/// Consecutive times that lie within `length` of their first.
fn stretches(times: &[f64], length: f64) -> Vec<&[f64]> {
    let mut stretches = Vec::new();
    let mut rest = times;
    while let Some(first) = rest.first() {
        let end = rest.partition_point(|time| time - first <= length);
        let (head, tail) = rest.split_at(end.max(1));
        stretches.push(head);
        rest = tail;
    }
    stretches
}

fn span(times: &[f64]) -> f64 {
    times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first)
}

/// The slope of the phase over parts of each series corrects the frequency; the scatter about that
/// slope is its uncertainty. Slow wander of either clock shows there, where a formula for
/// independent times would be far too narrow.
fn by_phases(times: &[&[f64]], frequency: f64, length: f64) -> (f64, Option<f64>) {
    let (mut tt, mut tp, mut pp, mut freedom) = (0.0, 0.0, 0.0, -1.0);
    for series in times {
        let blocks = BLOCKS.min(series.len() / BLOCK_EVENTS);
        if blocks < 3 {
            continue;
        }
        let size = series.len().div_ceil(blocks);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for block in series.chunks(size) {
            let middle = block.iter().map(|time| time - block[0]).sum::<f64>() / block.len() as f64;
            let found = phase(block, frequency).1;
            // The nearest turn to the one before: the frequency is nearly right already.
            let before = points.last().map_or(found, |(_, phase)| *phase);
            let turns = ((before - found) / std::f64::consts::TAU).round();
            points.push((block[0] + middle, found + turns * std::f64::consts::TAU));
        }
        let n = points.len() as f64;
        let mean_t = points.iter().map(|point| point.0).sum::<f64>() / n;
        let mean_p = points.iter().map(|point| point.1).sum::<f64>() / n;
        for (t, p) in &points {
            tt += (t - mean_t).powi(2);
            tp += (t - mean_t) * (p - mean_p);
            pp += (p - mean_p).powi(2);
        }
        freedom += n - 1.0;
    }
    if freedom < 2.0 || tt <= 0.0 {
        return (frequency, None);
    }
    let slope = tp / tt;
    let variance = (pp - slope * tp).max(0.0) / freedom;
    // Where the frequency is too low, the phase falls behind.
    let corrected = frequency - slope / std::f64::consts::TAU;
    let t = StudentsT::new(0.0, 1.0, freedom).map_or(1.96, |t| t.inverse_cdf(0.975));
    let half = t * (variance / tt).sqrt() / std::f64::consts::TAU;
    let moved = (corrected - frequency).abs() * length;
    // A correction of more than half a turn over the record is a wrong turn, not a correction.
    if moved > 0.5 { (frequency, None) } else { (corrected, Some(half)) }
}
