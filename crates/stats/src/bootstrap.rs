//! Intervals by resampling.
//!
//! Windows of one repeat share its luck (placement, temperature, other work), so the repeat is the
//! unit that is drawn. `plan` says what is drawn, `index` evaluates a draw without sorting,
//! `interval` turns replicates into an interval.
//!
//! Two further ones are for values that have no repeats: `percentile`, of any figure of several
//! samples, and `exact`, of a quantile, without replicates.

mod difference;
mod drawn;
mod exact;
mod index;
mod interval;
mod percentile;
mod plan;

use crate::{Cell, LEVEL, Resampled, StatsError, Summary};
pub use difference::difference;
use drawn::{drawn, replicate_of};
pub use exact::{Distribution, quantile_estimate};
pub(crate) use index::Index;
use interval::{Part, interval};
pub use percentile::percentile_bootstrap;
pub(crate) use plan::{ENOUGH_REPEATS, Plan};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootstrapOptions {
    /// Number of replicates, 200 to 1,000,000.
    pub replicates: u32,
    /// Coverage of the interval, such as 0.95.
    pub level: f64,
    /// Seed of the resampling.
    pub seed: u64,
}

impl BootstrapOptions {
    /// Refuses what has no interval.
    pub(crate) fn check(&self) -> Result<(), StatsError> {
        if !(200..=1_000_000).contains(&self.replicates) {
            let (name, expected) = ("replicates", "200 to 1,000,000");
            let found = f64::from(self.replicates);
            return Err(StatsError::OutOfRange { name, expected, found });
        }
        if self.level > 0.0 && self.level < 1.0 {
            return Ok(());
        }
        let (name, expected) = ("level", "above 0 and below 1");
        Err(StatsError::OutOfRange { name, expected, found: self.level })
    }
}

impl Statistic {
    fn check(self) -> Result<(), StatsError> {
        match self {
            Statistic::Quantile(p) if !(0.0..=1.0).contains(&p) => {
                let (name, expected) = ("quantile", "0 to 1");
                Err(StatsError::OutOfRange { name, expected, found: p })
            }
            _ => Ok(()),
        }
    }
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        BootstrapOptions { replicates: 2000, level: LEVEL, seed: 1 }
    }
}

/// How often a unit is drawn in one replicate. Narrow, so that eight of them are multiplied at once.
pub type Weight = i16;

/// What is estimated of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The median.
    Median,
    /// The arithmetic mean.
    Mean,
    /// A quantile (0 to 1) by Hyndman and Fan's type 7.
    Quantile(f64),
}

/// A cell made ready: sorted once, with each window's place in the resampling.
#[derive(Clone, Debug)]
pub struct Prepared {
    plan: Plan,
    index: Index,
}

impl Prepared {
    /// Sorts the cell; O(n log n).
    pub fn new(cell: &Cell) -> Prepared {
        let plan = Plan::new(cell);
        let index = Prepared::index_of(cell, &plan, |_, _| true);
        Prepared { plan, index }
    }

    /// An index of the windows for which `keep(repeat, window)` holds, with the units of the
    /// whole cell, so that all parts of a cell are resampled together.
    pub(crate) fn index_of(cell: &Cell, plan: &Plan, keep: impl Fn(usize, usize) -> bool) -> Index {
        let mut values = Vec::with_capacity(cell.windows());
        for (repeat, windows) in cell.repeats().iter().enumerate() {
            let kept = windows.iter().enumerate().filter(|&(window, _)| keep(repeat, window));
            values.extend(kept.map(|(window, &v)| (v, plan.unit(repeat, window) as u32)));
        }
        Index::new(values, plan.unit_count())
    }

    /// All values, ascending.
    pub fn sorted(&self) -> &[f64] {
        self.index.sorted()
    }

    /// Number of repeats.
    pub fn repeats(&self) -> usize {
        self.plan.repeat_count()
    }

    /// Summary of all values.
    ///
    /// # Errors
    /// None in practice: a cell is never empty.
    pub fn summary(&self) -> Result<Summary, StatsError> {
        Summary::of_sorted(self.sorted())
    }
}

/// One term of an estimate: part of a cell, and the power to which it enters.
pub(crate) struct Term<'a> {
    pub index: &'a Index,
    pub power: f64,
}

/// Terms that are resampled together, since they are parts of one cell.
pub(crate) struct Group<'a> {
    pub plan: &'a Plan,
    pub terms: Vec<Term<'a>>,
}

/// exp(sum of power * ln(statistic)) over all terms of all groups, with its interval. Groups are
/// resampled independently, the terms of one group by the same draw.
pub(crate) fn product_of(
    groups: &[Group<'_>],
    statistic: Statistic,
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    options.check()?;
    statistic.check()?;
    let once = |group: &Group<'_>, weights: &[Weight]| -> f64 {
        let logs = group.terms.iter().map(|t| t.power * t.index.statistic(statistic, weights).ln());
        logs.sum()
    };
    let value = groups.iter().map(|group| once(group, &vec![1; group.plan.unit_count()]));
    let value = value.sum::<f64>().exp();
    let parts = groups.iter().enumerate().map(|(number, group)| {
        let logs = match drawn(group.plan, options.seed, number, options.replicates) {
            Some(drawn) => {
                let term =
                    |t: &Term<'_>| (t.power, t.index.logs(statistic, &drawn, options.replicates));
                let terms: Vec<(f64, Arc<[f64]>)> = group.terms.iter().map(term).collect();
                let once = |at: usize| terms.iter().map(|(power, logs)| power * logs[at]).sum();
                (0..options.replicates as usize).map(once).collect()
            }
            None => {
                let replicate = |weights: &mut Vec<Weight>, replicate: u32| {
                    group.plan.draw(&mut replicate_of(options.seed, number, replicate), weights);
                    once(group, weights)
                };
                let start = || vec![0; group.plan.unit_count()];
                let replicates = (0..options.replicates).into_par_iter().with_min_len(64);
                replicates.map_init(start, replicate).collect()
            }
        };
        Part {
            logs,
            units: group.plan.top_units(),
            repeats: group.plan.repeat_count(),
            scheme: group.plan.describe(),
        }
    });
    let parts: Vec<Part> = parts.collect();
    Ok(interval(value, &parts, options))
}

impl Prepared {
    fn term(&self, power: f64) -> Term<'_> {
        Term { index: &self.index, power }
    }

    fn group(&self, power: f64) -> Group<'_> {
        Group { plan: &self.plan, terms: vec![self.term(power)] }
    }
}

/// A statistic of one cell.
///
/// # Errors
/// Options outside their range.
pub fn estimate(
    cell: &Prepared,
    statistic: Statistic,
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    product_of(&[cell.group(1.0)], statistic, options)
}

/// What the repeats of several cells have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Nothing: each cell is resampled by itself.
    Independent,
    /// Repeat k of each cell ran in block k, close in time: blocks are resampled, and what a block
    /// did to all of its cells cancels in a ratio. Only whole repeats can be drawn so: with fewer
    /// than 5, or with unequal numbers, the cells are resampled independently after all.
    Blocks,
}

/// The ratio of a statistic, `a` over `b`.
///
/// # Errors
/// Options outside their range.
pub fn ratio(
    a: &Prepared,
    b: &Prepared,
    statistic: Statistic,
    draws: Draws,
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    geometric_mean_ratio(&[(a, b)], statistic, draws, options)
}

/// The geometric mean over cells (kernels) of a statistic.
///
/// # Errors
/// No cell, or options outside their range.
pub fn geometric_mean_of(
    cells: &[&Prepared],
    statistic: Statistic,
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    let power = share_of(cells.len(), "geometric mean over cells")?;
    let groups: Vec<Group<'_>> = cells.iter().map(|cell| cell.group(power)).collect();
    product_of(&groups, statistic, options)
}

/// The geometric mean over kernels of the ratio of a statistic, `a` over `b`.
///
/// # Errors
/// No pair, or options outside their range.
pub fn geometric_mean_ratio(
    pairs: &[(&Prepared, &Prepared)],
    statistic: Statistic,
    draws: Draws,
    options: &BootstrapOptions,
) -> Result<Resampled, StatsError> {
    let power = share_of(pairs.len(), "geometric mean of ratios")?;
    if let (Draws::Blocks, Some(plan)) = (draws, common_plan(pairs)) {
        let terms = pairs.iter().flat_map(|(a, b)| [a.term(power), b.term(-power)]).collect();
        return product_of(&[Group { plan, terms }], statistic, options);
    }
    let groups: Vec<Group<'_>> =
        pairs.iter().flat_map(|(a, b)| [a.group(power), b.group(-power)]).collect();
    product_of(&groups, statistic, options)
}

/// One plan for all cells, where whole repeats are drawn and all cells have as many.
fn common_plan<'a>(pairs: &[(&'a Prepared, &'a Prepared)]) -> Option<&'a Plan> {
    let plan = &pairs.first()?.0.plan;
    let alike = |cell: &Prepared| {
        let units = cell.plan.unit_count();
        units == cell.plan.repeat_count() && units == plan.unit_count()
    };
    let whole = plan.repeat_count() >= ENOUGH_REPEATS;
    (whole && pairs.iter().all(|(a, b)| alike(a) && alike(b))).then_some(plan)
}

/// The power of each of `count` terms in a geometric mean.
fn share_of(count: usize, what: &'static str) -> Result<f64, StatsError> {
    if count == 0 {
        return Err(StatsError::TooFew { what, expected: 1, found: 0 });
    }
    Ok(1.0 / count as f64)
}

#[cfg(test)]
mod tests;
