//! Like for like over recorded strata: core type, clock domain, delivered frequency.

use crate::bootstrap::{Group, Index, Plan, Prepared, Term, product_of};
use crate::{BootstrapOptions, Cell, Estimate, Statistic, StatsError};
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
        product_of(&[group(0, 1.0), group(1, -1.0)], Statistic::Median, options)
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
    let raw = strata.iter().map(|stratum| {
        let [a, b] = stratum.windows.map(|n| n as f64);
        a * b / (a + b)
    });
    let raw: Vec<f64> = raw.collect();
    let total: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / total).collect()
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
        assert!((pooled.value - 1.0).abs() < 0.005 && pooled.low <= 1.0 && pooled.high >= 1.0);
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
    fn tags_must_have_the_shape_of_the_cell() {
        let cell = Cell::new(vec![vec![1.0, 2.0]]).unwrap();
        assert!(TaggedCell::new(cell.clone(), vec![vec![0]]).is_err());
        assert!(TaggedCell::new(cell, vec![]).is_err());
    }
}
