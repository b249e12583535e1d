//! What may be inferred where nothing was recorded: machine states behind latency modes.
//!
//! A run that mixes two kinds of core shows two modes per kernel. Nothing in a latency says which
//! core made it; but several kernels together say something. **The same core at another speed
//! scales every kernel by nearly the same factor. Another kind of core does not**, because kernels
//! differ in what they gain from a wider one. So a mode of `a` and a mode of `b` are taken for one
//! state of the machine where the ratio of their locations is the same for all kernels.
//!
//! In CORTEX's data the right pairs have ratios that vary by 2 to 4 % over four kernels, the wrong
//! ones by 16 % and more. What follows is labelled inferred, and never makes a verdict.

mod pairing;

use crate::bootstrap::{Group, Index, Plan, Prepared, Term, product_of};
use crate::{
    BootstrapOptions, Cell, Estimate, ModeOptions, Modes, Statistic, StatsError, find_modes,
};
pub use pairing::PairingRule;
use pairing::{Pairing, TOLERANCE, pair_modes};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// One kernel measured under two conditions.
#[derive(Clone, Copy, Debug)]
pub struct KernelPair<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// Its windows under condition `a`.
    pub a: &'a Cell,
    /// Its windows under condition `b`.
    pub b: &'a Cell,
}

/// The same with the modes of both cells, for callers that have found them already.
#[derive(Clone, Copy, Debug)]
pub struct KernelModes<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// Its windows under condition `a`.
    pub a: &'a Cell,
    /// Its windows under condition `b`.
    pub b: &'a Cell,
    /// What [`crate::find_modes`] says of `a`.
    pub a_modes: &'a Modes,
    /// What [`crate::find_modes`] says of `b`.
    pub b_modes: &'a Modes,
}

/// One inferred state that both conditions show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatePair {
    /// For each kernel, the index of the mode of `a` and of `b`.
    pub modes: Vec<[usize; 2]>,
    /// For each kernel, the medians of these modes.
    pub medians: Vec<[f64; 2]>,
    /// Mean share of the windows of `a` and of `b` over kernels, 0 to 1.
    pub shares: [f64; 2],
    /// Standard deviation over kernels of the log ratio of locations; 0 for a single kernel.
    pub spread: f64,
    /// Ratio of medians per kernel, `a` over `b`.
    pub per_kernel: Vec<Estimate>,
    /// Geometric mean of the ratios over kernels.
    pub ratio: Estimate,
}

/// A like-for-like comparison over inferred states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LikeForLike {
    /// Always true: it rests on the latencies themselves.
    pub inferred: bool,
    /// Which rule paired the modes.
    pub rule: PairingRule,
    /// The largest spread that counts as constant.
    pub tolerance: f64,
    /// Kernels, in the order of all lists here.
    pub kernels: Vec<String>,
    /// States, the best supported first.
    pub states: Vec<StatePair>,
    /// Geometric mean over the states, weighted by the windows they hold; none without a state.
    pub pooled: Option<Estimate>,
    /// The smallest spread among the pairings of whole, large modes that were refused; none where
    /// there was no other.
    pub best_refused_spread: Option<f64>,
}

/// Compares two conditions like for like, if their modes are states of the machine.
///
/// # Errors
/// No kernel, or options outside their range.
pub fn like_for_like(
    kernels: &[KernelPair<'_>],
    modes: &ModeOptions,
    options: &BootstrapOptions,
) -> Result<LikeForLike, StatsError> {
    let find = |cell: &Cell| find_modes(&cell.sorted(), modes);
    let found: Vec<[Modes; 2]> = (kernels.par_iter())
        .map(|kernel| Ok([find(kernel.a)?, find(kernel.b)?]))
        .collect::<Result<_, StatsError>>()?;
    let known = kernels.iter().zip(&found).map(|(&KernelPair { kernel, a, b }, modes)| {
        KernelModes { kernel, a, b, a_modes: &modes[0], b_modes: &modes[1] }
    });
    like_for_like_with_modes(&known.collect::<Vec<_>>(), options)
}

/// The same where the modes are known already.
///
/// # Errors
/// No kernel, or options outside their range.
pub fn like_for_like_with_modes(
    kernels: &[KernelModes<'_>],
    options: &BootstrapOptions,
) -> Result<LikeForLike, StatsError> {
    check(kernels, options)?;
    compare(kernels, pair_modes(kernels), options)
}

/// The same with a pairing of the caller's: for each state, the indices of the modes of `a` and
/// `b` for each kernel.
///
/// # Errors
/// No kernel, options outside their range, or a pairing of another shape.
pub fn like_for_like_given(
    kernels: &[KernelModes<'_>],
    pairing: &[Vec<[usize; 2]>],
    options: &BootstrapOptions,
) -> Result<LikeForLike, StatsError> {
    check(kernels, options)?;
    for state in pairing {
        if state.len() != kernels.len() {
            let (expected, found) = (kernels.len(), state.len());
            return Err(StatsError::Shape { what: "kernels of a pairing", expected, found });
        }
        for (kernel, [a, b]) in kernels.iter().zip(state) {
            for (&index, modes) in [(a, kernel.a_modes), (b, kernel.b_modes)] {
                if index >= modes.modes.len() {
                    let (name, expected) = ("mode", "the index of a mode of its cell");
                    return Err(StatsError::OutOfRange { name, expected, found: index as f64 });
                }
            }
        }
    }
    let pairing = Pairing { rule: PairingRule::Given, states: pairing.to_vec(), refused: None };
    compare(kernels, pairing, options)
}

fn check(kernels: &[KernelModes<'_>], options: &BootstrapOptions) -> Result<(), StatsError> {
    options.check()?;
    if kernels.is_empty() {
        return Err(StatsError::TooFew { what: "like for like", expected: 1, found: 0 });
    }
    Ok(())
}

/// One cell with an index per state.
struct Side {
    plan: Plan,
    states: Vec<Index>,
}

impl Side {
    fn new(cell: &Cell, modes: &Modes, of_state: impl Iterator<Item = usize>) -> Side {
        let plan = Plan::new(cell);
        let index = |mode: usize| {
            let keep =
                |repeat: usize, window: usize| modes.assign(cell.repeats()[repeat][window]) == mode;
            Prepared::index_of(cell, &plan, keep)
        };
        let states = of_state.map(index).collect();
        Side { plan, states }
    }

    /// The terms of the states with a power other than zero.
    fn group(&self, powers: &[f64], factor: f64) -> Group<'_> {
        let terms = self.states.iter().zip(powers).filter(|(_, power)| **power != 0.0);
        let terms = terms.map(|(index, power)| Term { index, power: power * factor }).collect();
        Group { plan: &self.plan, terms }
    }
}

fn compare(
    kernels: &[KernelModes<'_>],
    pairing: Pairing,
    options: &BootstrapOptions,
) -> Result<LikeForLike, StatsError> {
    let sides = kernels.par_iter().enumerate().map(|(k, kernel)| {
        [
            Side::new(kernel.a, kernel.a_modes, pairing.states.iter().map(|s| s[k][0])),
            Side::new(kernel.b, kernel.b_modes, pairing.states.iter().map(|s| s[k][1])),
        ]
    });
    let sides: Vec<[Side; 2]> = sides.collect();
    let estimate = |sides: &[[Side; 2]], powers: &[f64]| {
        let share = 1.0 / sides.len() as f64;
        let groups =
            sides.iter().flat_map(|[a, b]| [a.group(powers, share), b.group(powers, -share)]);
        let groups: Vec<Group<'_>> = groups.collect();
        Ok::<_, StatsError>(product_of(&groups, Statistic::Median, options)?.estimate)
    };
    let mut states = Vec::with_capacity(pairing.states.len());
    for (number, modes) in pairing.states.iter().enumerate() {
        let mut powers = vec![0.0; pairing.states.len()];
        powers[number] = 1.0;
        let per_kernel = sides.chunks(1).map(|side| estimate(side, &powers));
        states.push(StatePair {
            medians: pairing::medians(kernels, modes),
            shares: pairing::mean_shares(kernels, modes),
            spread: pairing::spread(kernels, modes),
            per_kernel: per_kernel.collect::<Result<_, _>>()?,
            ratio: estimate(&sides, &powers)?,
            modes: modes.clone(),
        });
    }
    let pooled = match weights(&states) {
        Some(weights) => Some(estimate(&sides, &weights)?),
        None => None,
    };
    Ok(LikeForLike {
        inferred: true,
        rule: pairing.rule,
        tolerance: TOLERANCE,
        kernels: kernels.iter().map(|kernel| kernel.kernel.to_owned()).collect(),
        states,
        pooled,
        best_refused_spread: pairing.refused,
    })
}

/// Mantel and Haenszel's weights on shares, a b / (a + b), summing to 1; none without a state.
fn weights(states: &[StatePair]) -> Option<Vec<f64>> {
    let raw: Vec<f64> =
        states.iter().map(|state| state.shares).map(|[a, b]| a * b / (a + b)).collect();
    let total: f64 = raw.iter().sum();
    (total > 0.0).then(|| raw.iter().map(|weight| weight / total).collect())
}
