//! Which mode of one condition is the same state as which mode of the other.

use super::KernelModes;
use serde::{Deserialize, Serialize};

/// Largest standard deviation over kernels of the log ratio that counts as one speed: kernels that
/// wait for memory or start-up costs bend the ratio by a few percent (CORTEX: 2 to 4 %).
pub(super) const TOLERANCE: f64 = 0.06;
/// With fewer kernels a constant ratio is too easily met by chance.
const LEAST_KERNELS: usize = 3;
/// A state holds at least this share of the windows (geometric mean of both sides).
const LEAST_COVERAGE: f64 = 0.1;

/// Which rule paired the modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairingRule {
    /// The ratio of locations is the same for all kernels: the same kind of core at two speeds.
    ConstantRatio,
    /// As many modes on both sides of every kernel, and too few kernels (or modes) for the rule
    /// above: in order of location. Weaker.
    Order,
    /// Given by the caller.
    Given,
    /// No pairing is defensible.
    None,
}

/// A pairing: for each state, the modes of `a` and `b` for each kernel.
pub(super) struct Pairing {
    pub rule: PairingRule,
    pub states: Vec<Vec<[usize; 2]>>,
    pub refused: Option<f64>,
}

/// One way to pick a pair of modes per kernel.
struct Candidate {
    modes: Vec<[usize; 2]>,
    spread: f64,
    coverage: f64,
}

impl Candidate {
    /// How well it is supported: windows explained, less the more the ratio varies.
    fn score(&self) -> f64 {
        self.coverage * (1.0 - self.spread / TOLERANCE)
    }
}

pub(super) fn pair_modes(kernels: &[KernelModes<'_>]) -> Pairing {
    let (states, refused) =
        if kernels.len() >= LEAST_KERNELS { constant_ratio(kernels) } else { (vec![], None) };
    if !states.is_empty() {
        return Pairing { rule: PairingRule::ConstantRatio, states, refused };
    }
    let counts = kernels.iter().map(|k| (k.a_modes.modes.len(), k.b_modes.modes.len()));
    let fewest = counts.clone().map(|(a, _)| a).min().unwrap_or(0);
    let same = counts.clone().all(|(a, b)| a == b && a == fewest);
    if same && (kernels.len() < LEAST_KERNELS || fewest == 1) {
        let states = (0..fewest).map(|mode| vec![[mode, mode]; kernels.len()]).collect();
        return Pairing { rule: PairingRule::Order, states, refused };
    }
    Pairing { rule: PairingRule::None, states: vec![], refused }
}

/// Picks the best supported candidate, removes its modes, and starts again. Also the smallest
/// spread among refused candidates that explain as much as a state must.
fn constant_ratio(kernels: &[KernelModes<'_>]) -> (Vec<Vec<[usize; 2]>>, Option<f64>) {
    let mut free: Vec<Vec<[usize; 2]>> = kernels.iter().map(all_pairs).collect();
    let mut states = Vec::new();
    let mut refused: Option<f64> = None;
    while let candidates = candidates(kernels, &free)
        && !candidates.is_empty()
    {
        let best = candidates
            .iter()
            .filter(|c| c.spread <= TOLERANCE)
            .max_by(|a, b| a.score().total_cmp(&b.score()));
        if states.is_empty() {
            let spreads = candidates.iter().map(|c| c.spread).filter(|&s| s > TOLERANCE);
            refused = spreads.min_by(f64::total_cmp);
        }
        let Some(best) = best else { break };
        for (pairs, [a, b]) in free.iter_mut().zip(&best.modes) {
            pairs.retain(|[i, j]| i != a && j != b);
        }
        states.push(best.modes.clone());
    }
    (states, refused)
}

fn all_pairs(kernel: &KernelModes<'_>) -> Vec<[usize; 2]> {
    let (a, b) = (kernel.a_modes.modes.len(), kernel.b_modes.modes.len());
    (0..a).flat_map(|i| (0..b).map(move |j| [i, j])).collect()
}

/// One candidate per possible ratio: for each kernel the pair that holds most windows among those
/// near that ratio, or the nearest.
fn candidates(kernels: &[KernelModes<'_>], free: &[Vec<[usize; 2]>]) -> Vec<Candidate> {
    if free.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let anchors = kernels
        .iter()
        .zip(free)
        .flat_map(|(kernel, pairs)| pairs.iter().map(move |&pair| log_ratio(kernel, pair)));
    let at = |anchor: f64| {
        let chosen = kernels.iter().zip(free).map(|(kernel, pairs)| pick(kernel, pairs, anchor));
        let modes: Vec<[usize; 2]> = chosen.collect();
        let coverage = kernels.iter().zip(&modes).map(|(k, &pair)| coverage(k, pair)).sum::<f64>()
            / kernels.len() as f64;
        Candidate { spread: spread(kernels, &modes), coverage, modes }
    };
    anchors.map(at).filter(|candidate| candidate.coverage >= LEAST_COVERAGE).collect()
}

/// The pair of one kernel for a wanted log ratio; `pairs` is not empty.
fn pick(kernel: &KernelModes<'_>, pairs: &[[usize; 2]], anchor: f64) -> [usize; 2] {
    let distance = |&pair: &[usize; 2]| (log_ratio(kernel, pair) - anchor).abs();
    let near = pairs.iter().filter(|pair| distance(pair) <= TOLERANCE);
    let largest = near.max_by(|x, y| coverage(kernel, **x).total_cmp(&coverage(kernel, **y)));
    let nearest = || pairs.iter().min_by(|x, y| distance(x).total_cmp(&distance(y)));
    largest.or_else(nearest).copied().unwrap_or([0, 0])
}

fn log_ratio(kernel: &KernelModes<'_>, [a, b]: [usize; 2]) -> f64 {
    (kernel.a_modes.modes[a].median / kernel.b_modes.modes[b].median).ln()
}

fn coverage(kernel: &KernelModes<'_>, [a, b]: [usize; 2]) -> f64 {
    (kernel.a_modes.modes[a].share * kernel.b_modes.modes[b].share).sqrt()
}

/// Standard deviation (n - 1) over kernels of the log ratio of locations; 0 for one kernel.
pub(super) fn spread(kernels: &[KernelModes<'_>], modes: &[[usize; 2]]) -> f64 {
    let logs: Vec<f64> = kernels.iter().zip(modes).map(|(k, &pair)| log_ratio(k, pair)).collect();
    crate::summary::sample_sd(&logs, crate::mean(&logs)).unwrap_or(0.0)
}

/// Medians of the paired modes, per kernel.
pub(super) fn medians(kernels: &[KernelModes<'_>], modes: &[[usize; 2]]) -> Vec<[f64; 2]> {
    let of = |(kernel, &[a, b]): (&KernelModes<'_>, &[usize; 2])| {
        [kernel.a_modes.modes[a].median, kernel.b_modes.modes[b].median]
    };
    kernels.iter().zip(modes).map(of).collect()
}

/// Mean shares of the paired modes over kernels, of `a` and of `b`.
pub(super) fn mean_shares(kernels: &[KernelModes<'_>], modes: &[[usize; 2]]) -> [f64; 2] {
    let count = kernels.len() as f64;
    let mut shares = [0.0; 2];
    for (kernel, &[a, b]) in kernels.iter().zip(modes) {
        shares[0] += kernel.a_modes.modes[a].share / count;
        shares[1] += kernel.b_modes.modes[b].share / count;
    }
    shares
}
