//! The percentile bootstrap of any figure: for values that are independent and belong to no repeat.

use crate::quantile::{quantile, sort};
use crate::rng::Rng;
use crate::{Estimate, LEVEL};

/// Fewer values have no interval.
pub(super) const LEAST: usize = 5;

/// A figure of several samples with its percentile interval of 95 %, each sample resampled by
/// itself; `figure` sees them ascending. No interval where a sample has fewer than 5 values.
///
/// Against [`crate::estimate`]: each value is drawn by itself, nothing is widened for few of them,
/// and the figure may be any function of the samples.
pub fn percentile_bootstrap(
    samples: &[&[f64]],
    replicates: u32,
    seed: u64,
    figure: impl Fn(&[Vec<f64>]) -> f64,
) -> Estimate {
    let mut drawn: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
    drawn.iter_mut().for_each(|values| sort(values));
    let value = figure(&drawn);
    if samples.iter().any(|sample| sample.len() < LEAST) {
        return Estimate::bare(value);
    }
    let mut rng = Rng::of_seed(seed);
    let mut figures = Vec::with_capacity(replicates as usize);
    for _ in 0..replicates {
        for (sample, drawn) in samples.iter().zip(&mut drawn) {
            drawn.clear();
            drawn.extend(sample.iter().filter_map(|_| sample.get(rng.below(sample.len()))));
            sort(drawn);
        }
        figures.push(figure(&drawn));
    }
    sort(&mut figures);
    let tail = (1.0 - LEVEL) / 2.0;
    let at = |p| quantile(&figures, p);
    Estimate::between(value, at(tail).min(value), at(1.0 - tail).max(value))
}
