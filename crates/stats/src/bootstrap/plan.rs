//! What is drawn: whole repeats, or blocks within repeats where there are too few of them.

use super::Weight;
use crate::Cell;
use crate::autocorr::effective_of_series;
use crate::rng::Rng;

/// With this many repeats or more, whole repeats alone are resampled.
pub(crate) const ENOUGH_REPEATS: usize = 5;
/// At most this many blocks per repeat: finer ones cost time and add nothing to an interval.
const MAX_BLOCKS: usize = 64;

/// The units of resampling. A unit is a repeat, or a block of neighbouring windows in one.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Units of each repeat: the range of their numbers.
    repeats: Vec<std::ops::Range<usize>>,
    /// Windows per block in each repeat (its whole length where the repeat is the unit).
    lengths: Vec<usize>,
}

impl Plan {
    pub(crate) fn new(cell: &Cell) -> Plan {
        let few = cell.repeats().len() < ENOUGH_REPEATS;
        let mut plan = Plan { repeats: Vec::new(), lengths: Vec::new() };
        let mut next = 0;
        for repeat in cell.repeats() {
            let length = if few { block_length(repeat) } else { repeat.len() };
            let units = repeat.len().div_ceil(length);
            plan.repeats.push(next..next + units);
            plan.lengths.push(length);
            next += units;
        }
        plan
    }

    /// Repeats in the cell.
    pub(crate) fn repeat_count(&self) -> usize {
        self.repeats.len()
    }

    /// Units over all repeats.
    pub(crate) fn unit_count(&self) -> usize {
        self.repeats.last().map_or(0, |range| range.end)
    }

    /// Units of each repeat: all that a draw depends on.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.repeats.iter().map(ExactSizeIterator::len).collect()
    }

    /// Independent units at the top level: repeats, or the blocks of a single one.
    pub(crate) fn top_units(&self) -> usize {
        if self.repeat_count() == 1 { self.unit_count() } else { self.repeat_count() }
    }

    /// The unit of a window.
    pub(crate) fn unit(&self, repeat: usize, window: usize) -> usize {
        self.repeats[repeat].start + window / self.lengths[repeat]
    }

    /// How often each unit is drawn in one replicate.
    pub(crate) fn draw(&self, rng: &mut Rng, weights: &mut [Weight]) {
        weights.fill(0);
        for _ in 0..self.repeats.len() {
            let units = &self.repeats[rng.below(self.repeats.len())];
            for _ in units.clone() {
                weights[units.start + rng.below(units.len())] += 1;
            }
        }
    }

    /// What is resampled and why, in words.
    pub(crate) fn describe(&self) -> String {
        let repeats = self.repeat_count();
        let (shortest, longest) = (
            self.lengths.iter().min().copied().unwrap_or(0),
            self.lengths.iter().max().copied().unwrap_or(0),
        );
        let blocks = if shortest == longest {
            format!("blocks of {longest} windows")
        } else {
            format!("blocks of {shortest} to {longest} windows")
        };
        match repeats {
            1 => format!("{blocks}, since there is one repeat: nothing is known between repeats"),
            2..ENOUGH_REPEATS => {
                format!("{repeats} repeats, then {blocks} within, since repeats are fewer than 5")
            }
            _ => format!("{repeats} whole repeats"),
        }
    }
}

/// Windows per block: twice the autocorrelation time of log latency, at least n^(1/3) (the order
/// that minimises the error of a variance; Kunsch 1989, Lahiri 2003), at most a quarter of the
/// repeat, so that there is something to draw.
fn block_length(repeat: &[f64]) -> usize {
    let n = repeat.len();
    let logs: Vec<f64> = repeat.iter().map(|v| v.ln()).collect();
    let (effective, _) = effective_of_series(&logs);
    let time = n as f64 / effective;
    let wanted = (2.0 * time).max((n as f64).cbrt()).ceil() as usize;
    wanted.max(n.div_ceil(MAX_BLOCKS)).min(n.div_ceil(4)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_repeats_are_cut_into_blocks() {
        let cell = Cell::new(vec![(1..=100).map(f64::from).collect(); 2]).unwrap();
        let plan = Plan::new(&cell);
        // A line is as autocorrelated as can be: a quarter of the repeat each.
        assert_eq!(plan.unit_count(), 8);
        assert_eq!((plan.unit(0, 0), plan.unit(1, 99)), (0, 7));
        let mut weights = vec![0; 8];
        plan.draw(&mut Rng::new(1, 0), &mut weights);
        assert_eq!(weights.iter().sum::<Weight>(), 8);
        assert!(plan.describe().contains("2 repeats, then blocks of 25 windows"));
    }

    #[test]
    fn enough_repeats_stay_whole() {
        let cell = Cell::new(vec![vec![1.0, 2.0]; 6]).unwrap();
        let plan = Plan::new(&cell);
        assert_eq!((plan.unit_count(), plan.top_units()), (6, 6));
        assert_eq!(plan.describe(), "6 whole repeats");
    }
}
