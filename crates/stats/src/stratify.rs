//! Like for like over recorded strata: core type, clock domain, delivered frequency.

use crate::bootstrap::{ENOUGH_REPEATS, Group, Index, Plan, Prepared, Term, product_of};
use crate::{BootstrapOptions, Cell, Draws, Estimate, Statistic, StatsError};
use serde::{Deserialize, Serialize};

/// A cell with a stratum per window.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedCell {
    cell: Cell,
    tags: Vec<Vec<u32>>,
}

impl TaggedCell {
    /// A cell, and tags of the same shape as its repeats: indices into the caller's labels.
    ///
    /// # Errors
    /// Tags of another shape.
    pub fn new(cell: Cell, tags: Vec<Vec<u32>>) -> Result<TaggedCell, StatsError> {
        let expected = cell.repeats().len();
        if tags.len() != expected {
            return Err(StatsError::Shape { what: "repeats of tags", expected, found: tags.len() });
        }
        for (values, tags) in cell.repeats().iter().zip(&tags) {
            if values.len() != tags.len() {
                let (expected, found) = (values.len(), tags.len());
                return Err(StatsError::Shape { what: "tags of a repeat", expected, found });
            }
        }
        Ok(TaggedCell { cell, tags })
    }

    /// The latencies.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// Windows of each of `strata` tags.
    fn counts(&self, strata: usize) -> Vec<usize> {
        let mut counts = vec![0; strata];
        for &tag in self.tags.iter().flatten() {
            if let Some(count) = counts.get_mut(tag as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// One index per stratum, with the units of the whole cell.
    fn indices(&self, plan: &Plan, strata: &[usize]) -> Vec<Index> {
        let of = |&stratum: &usize| {
            let keep = |repeat: usize, window: usize| self.tags[repeat][window] as usize == stratum;
            Prepared::index_of(&self.cell, plan, keep)
        };
        strata.iter().map(of).collect()
    }
}

/// One stratum that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumRatio {
    /// Its label.
    pub label: String,
    /// Windows of `a` and of `b` in it.
    pub windows: [usize; 2],
    /// Its share of the windows of `a` and of `b`, 0 to 1.
    pub shares: [f64; 2],
    /// Ratio of medians, `a` over `b`.
    pub ratio: Estimate,
}

/// A comparison like for like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stratified {
    /// The strata that both sides have, in the order of their tags.
    pub strata: Vec<StratumRatio>,
    /// Geometric mean of the strata's ratios, weighted as Mantel and Haenszel: n_a n_b / (n_a +
    /// n_b). None where no stratum is common.
    pub pooled: Option<Estimate>,
    /// Share of each side's windows that is in no common stratum and was left out.
    pub left_out: [f64; 2],
    /// Strata were inferred from the latencies themselves, not recorded.
    pub inferred: bool,
}

/// Compares two tagged cells stratum by stratum; `labels[tag]` names a stratum, and windows with a
/// tag beyond the labels belong to none. `inferred` is passed on into the result: say true where
/// the tags come from the latencies themselves.
///
/// Both strata of a cell are resampled by the same draw of repeats. A stratum counts as common
/// from 2 windows on each side.
///
/// # Errors
/// Options outside their range.
pub fn stratified_ratio(
    a: &TaggedCell,
    b: &TaggedCell,
    labels: &[String],
    inferred: bool,
    options: &BootstrapOptions,
) -> Result<Stratified, StatsError> {
    options.check()?;
    let counts = [a.counts(labels.len()), b.counts(labels.len())];
    let common: Vec<usize> =
        (0..labels.len()).filter(|&s| counts[0][s] >= 2 && counts[1][s] >= 2).collect();
    let plans = [Plan::new(&a.cell), Plan::new(&b.cell)];
    let indices = [a.indices(&plans[0], &common), b.indices(&plans[1], &common)];
    let totals = [a.cell.windows() as f64, b.cell.windows() as f64];
    let estimate = |powers: &[f64]| {
        let group = |side: usize, sign: f64| Group {
            plan: &plans[side],
            terms: (indices[side].iter().zip(powers))
                .filter(|(_, power)| **power != 0.0)
                .map(|(index, power)| Term { index, power: sign * power })
                .collect(),
        };
        let groups = [group(0, 1.0), group(1, -1.0)];
        Ok::<_, StatsError>(product_of(&groups, Statistic::Median, options)?.estimate)
    };
    let mut strata = Vec::with_capacity(common.len());
    for (position, &stratum) in common.iter().enumerate() {
        let mut powers = vec![0.0; common.len()];
        powers[position] = 1.0;
        let windows = [counts[0][stratum], counts[1][stratum]];
        strata.push(StratumRatio {
            label: labels[stratum].clone(),
            windows,
            shares: [windows[0] as f64 / totals[0], windows[1] as f64 / totals[1]],
            ratio: estimate(&powers)?,
        });
    }
    let pooled = if strata.is_empty() { None } else { Some(estimate(&weights(&strata))?) };
    let left_out = [0, 1].map(|side| {
        let used: usize = strata.iter().map(|stratum| stratum.windows[side]).sum();
        1.0 - used as f64 / totals[side]
    });
    Ok(Stratified { strata, pooled, left_out, inferred })
}

/// The weights of Mantel and Haenszel (1959), n_a n_b / (n_a + n_b), summing to 1: a stratum
/// counts as much as its rarer side allows.
fn weights(strata: &[StratumRatio]) -> Vec<f64> {
    mantel_haenszel(strata.iter().map(|stratum| stratum.windows))
}

fn mantel_haenszel(windows: impl Iterator<Item = [usize; 2]>) -> Vec<f64> {
    let raw = windows.map(|windows| {
        let [a, b] = windows.map(|n| n as f64);
        a * b / (a + b)
    });
    let raw: Vec<f64> = raw.collect();
    let total: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / total).collect()
}

/// One ratio over common strata and several kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonRatio {
    /// Geometric mean over the kernels of each one's pooled ratio, `a` over `b`.
    pub ratio: Estimate,
    /// Windows of `a` and of `b` in common strata, over all kernels.
    pub windows: [usize; 2],
    /// Share of each side's windows that is in no common stratum and was left out.
    pub left_out: [f64; 2],
}

/// The ratio of medians inside common strata, pooled as [`stratified_ratio`] does, geometric mean
/// over kernels. Tags below `strata` count; a stratum is common to a kernel from `least` windows on
/// each side (2 at least). None where a kernel has no common stratum: a mean over the others
/// would be one of fewer kernels than the pooled ratio's.
///
/// # Errors
/// Options outside their range.
pub fn common_ratio(
    pairs: &[(&TaggedCell, &TaggedCell)],
    strata: usize,
    least: usize,
    draws: Draws,
    options: &BootstrapOptions,
) -> Result<Option<CommonRatio>, StatsError> {
    options.check()?;
    let kernels: Vec<Kernel> =
        pairs.iter().map(|(a, b)| Kernel::new([a, b], strata, least.max(2))).collect();
    if kernels.is_empty() || kernels.iter().any(|kernel| kernel.weights.is_empty()) {
        return Ok(None);
    }
    let power = 1.0 / kernels.len() as f64;
    let groups = match draws == Draws::Blocks && blocks_match(&kernels) {
        true => vec![Group {
            plan: &kernels[0].plans[0],
            terms: (kernels.iter())
                .flat_map(|k| [k.terms(0, power), k.terms(1, -power)])
                .flatten()
                .collect(),
        }],
        false => (kernels.iter())
            .flat_map(|k| [(k, 0, power), (k, 1, -power)])
            .map(|(k, side, power)| Group { plan: &k.plans[side], terms: k.terms(side, power) })
            .collect(),
    };
    let ratio = product_of(&groups, Statistic::Median, options)?.estimate;
    let used = |side: usize| kernels.iter().map(|kernel| kernel.windows[side]).sum::<usize>();
    let all = |side: usize| pairs.iter().map(|p| [p.0, p.1][side].cell.windows()).sum::<usize>();
    let left_out = [0, 1].map(|side| 1.0 - used(side) as f64 / all(side) as f64);
    Ok(Some(CommonRatio { ratio, windows: [used(0), used(1)], left_out }))
}

/// The common strata of one kernel.
struct Kernel {
    plans: [Plan; 2],
    /// Per side one index per common stratum.
    indices: [Vec<Index>; 2],
    weights: Vec<f64>,
    windows: [usize; 2],
}

impl Kernel {
    fn new(sides: [&TaggedCell; 2], strata: usize, least: usize) -> Kernel {
        let counts = sides.map(|side| side.counts(strata));
        let is_common = |&stratum: &usize| counts.iter().all(|of| of[stratum] >= least);
        let common: Vec<usize> = (0..strata).filter(is_common).collect();
        let plans = sides.map(|side| Plan::new(&side.cell));
        let indices = [0, 1].map(|side| sides[side].indices(&plans[side], &common));
        let windows = |stratum: &usize| [counts[0][*stratum], counts[1][*stratum]];
        let weights = mantel_haenszel(common.iter().map(windows));
        let windows = [0, 1].map(|side| common.iter().map(|s| counts[side][*s]).sum());
        Kernel { plans, indices, weights, windows }
    }

    fn terms(&self, side: usize, power: f64) -> Vec<Term<'_>> {
        let terms = self.indices[side].iter().zip(&self.weights);
        terms.map(|(index, weight)| Term { index, power: power * weight }).collect()
    }
}

/// Whether whole repeats are drawn, and every cell has as many.
fn blocks_match(kernels: &[Kernel]) -> bool {
    let mut plans = kernels.iter().flat_map(|kernel| &kernel.plans);
    let repeats = kernels.first().map_or(0, |kernel| kernel.plans[0].repeat_count());
    repeats >= ENOUGH_REPEATS
        && plans.all(|plan| plan.unit_count() == repeats && plan.repeat_count() == repeats)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's paradox: each stratum is equal on both sides, the mixture differs.
    fn side(fast: usize, slow: usize) -> TaggedCell {
        let repeat = |r: usize| -> (Vec<f64>, Vec<u32>) {
            let jitter = |i: usize| 1.0 + 0.001 * ((i * 7 + r * 3) % 11) as f64;
            let fast = (0..fast).map(|i| (10.0 * jitter(i), 0));
            fast.chain((0..slow).map(|i| (30.0 * jitter(i), 1))).unzip()
        };
        let (values, tags) = (0..6).map(repeat).unzip();
        TaggedCell::new(Cell::new(values).unwrap(), tags).unwrap()
    }

    #[test]
    fn a_difference_of_placement_disappears() {
        let labels = ["P".to_owned(), "E".to_owned(), "unused".to_owned()];
        let (a, b) = (side(80, 20), side(20, 80));
        let found = stratified_ratio(&a, &b, &labels, false, &Default::default()).unwrap();
        assert_eq!(found.strata.len(), 2);
        for stratum in &found.strata {
            assert!((stratum.ratio.value - 1.0).abs() < 0.005, "{stratum:?}");
        }
        let pooled = found.pooled.unwrap();
        assert!((pooled.value - 1.0).abs() < 0.005 && pooled.covers(1.0));
        assert!((found.strata[0].shares[0] - 0.8).abs() < 1e-12);
        assert!(found.left_out[0].abs() < 1e-12);
    }

    #[test]
    fn without_a_common_stratum_there_is_no_ratio() {
        let labels = ["P".to_owned(), "E".to_owned()];
        let (a, b) = (side(10, 0), side(0, 10));
        let found = stratified_ratio(&a, &b, &labels, true, &Default::default()).unwrap();
        assert!(found.pooled.is_none() && found.inferred);
        assert_eq!(found.left_out, [1.0, 1.0]);
    }

    #[test]
    fn common_strata_pool_over_kernels() {
        let (a, b) = (side(80, 20), side(20, 80));
        let of = |draws| {
            let pairs = [(&a, &b), (&a, &b)];
            common_ratio(&pairs, 2, 10, draws, &Default::default()).unwrap().unwrap()
        };
        for draws in [Draws::Independent, Draws::Blocks] {
            let found = of(draws);
            assert!((found.ratio.value - 1.0).abs() < 0.005, "{found:?}");
            assert_eq!((found.windows, found.left_out), ([1200, 1200], [0.0, 0.0]));
        }
        let whole =
            stratified_ratio(&a, &b, &["P".to_owned(), "E".to_owned()], false, &Default::default());
        let pooled = whole.unwrap().pooled.unwrap();
        assert!((of(Draws::Independent).ratio.value / pooled.value - 1.0).abs() < 1e-9);
        // A kernel without a common stratum has no ratio, and a mean without it is another mean.
        let (only_a, only_b) = (side(10, 0), side(0, 10));
        let pairs = [(&a, &b), (&only_a, &only_b)];
        let none = common_ratio(&pairs, 2, 2, Draws::Independent, &Default::default());
        assert_eq!(none.unwrap(), None);
    }

    #[test]
    fn tags_must_have_the_shape_of_the_cell() {
        let cell = Cell::new(vec![vec![1.0, 2.0]]).unwrap();
        assert!(TaggedCell::new(cell.clone(), vec![vec![0]]).is_err());
        assert!(TaggedCell::new(cell, vec![]).is_err());
    }
}
