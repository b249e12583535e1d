//! Where a sample is dense: Gaussian kernel density estimates.
//!
//! [`density`] is exact and for drawing; [`Density`] is binned, and finds the valleys between the
//! modes of a million values.

use crate::quantile::quantile;

/// The Gaussian kernel at `z` standard deviations, 1 in its middle.
fn gaussian(z: f64) -> f64 {
    (-0.5 * z * z).exp()
}

/// Points of a drawn density.
const POINTS: usize = 96;
/// Values that enter a drawn density; of more every n-th is taken.
const VALUES: usize = 4000;
/// What lies further out is not drawn, and widens no kernel.
const OUTER: f64 = 0.005;
/// Quartiles of the normal distribution are this many standard deviations apart.
const QUARTILES: f64 = 1.349;

/// The density of an ascending sample at even steps between its outer half percents, as (value,
/// share of the densest). The bandwidth is Silverman's rule ("Density Estimation", 1986, 3.4.2:
/// 0.9 A n^(-1/5)) with A from the quartiles, but at least a twentieth of the range drawn.
pub fn density(sorted: &[f64]) -> Vec<(f64, f64)> {
    let at = |p| quantile(sorted, p);
    let (low, high) = (at(OUTER), at(1.0 - OUTER));
    let every = sorted.len().div_ceil(VALUES).max(1);
    let thin: Vec<f64> = sorted.iter().step_by(every).copied().collect();
    let spread = ((at(0.75) - at(0.25)) / QUARTILES).max((high - low) / 20.0);
    let width = (0.9 * spread * (thin.len() as f64).powf(-0.2)).max(f64::MIN_POSITIVE);
    let points: Vec<(f64, f64)> = (0..POINTS)
        .map(|k| low + (high - low) * k as f64 / (POINTS - 1) as f64)
        .map(|at| (at, thin.iter().map(|v| gaussian((at - v) / width)).sum::<f64>()))
        .collect();
    let densest = points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
    points.into_iter().map(|(at, density)| (at, density / densest)).collect()
}

/// A density on an even grid over the logarithm. Heights are windows per grid step.
pub(crate) struct Density {
    start: f64,
    step: f64,
    heights: Vec<f64>,
}

/// A place between two peaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valley {
    /// Its place on the logarithm.
    pub at: f64,
    /// Density there over that of the lower of the two peaks, 0 to 1.
    pub depth: f64,
    /// How far the lower of the two peaks rises above it, in windows per grid step.
    pub prominence: f64,
}

/// Grid steps per standard deviation of the smoothing kernel.
const STEPS_PER_SD: f64 = 3.0;
/// Beyond it (a factor of e^300) no grid is worth its memory; such a sample gets wider steps.
const MAX_STEPS: f64 = 50_000.0;

impl Density {
    /// Of ascending logarithms, smoothed by a Gaussian of standard deviation `sd`.
    pub(crate) fn new(logs: &[f64], sd: f64) -> Density {
        let (first, last) = (logs[0], logs[logs.len() - 1]);
        let step = (sd / STEPS_PER_SD).max((last - first) / MAX_STEPS);
        let reach = (3.5 * sd / step).ceil() as usize;
        let bins = ((last - first) / step) as usize + 1;
        let start = first - reach as f64 * step;
        let mut histogram = vec![0.0; bins + 2 * reach];
        for &log in logs {
            let bin = ((log - start) / step) as usize;
            if let Some(count) = histogram.get_mut(bin) {
                *count += 1.0;
            }
        }
        let heights = smooth(&histogram, sd / step, reach);
        Density { start, step, heights }
    }

    /// All valleys between `from` and `to` on the logarithm: one between each two neighbouring
    /// peaks, at the middle of its floor.
    pub(crate) fn valleys(&self, from: f64, to: f64) -> Vec<Valley> {
        let (first, last) = (self.bin(from), self.bin(to));
        let heights = &self.heights[first..=last];
        let highest_left = running_max(heights.iter());
        let mut highest_right = running_max(heights.iter().rev());
        highest_right.reverse();
        let mut valleys = Vec::new();
        let mut i = 1;
        while i + 1 < heights.len() {
            let mut end = i;
            while end + 1 < heights.len() && heights[end + 1] == heights[i] {
                end += 1;
            }
            let falls_into = heights[i - 1] > heights[i];
            let rises_out = end + 1 < heights.len() && heights[end + 1] > heights[i];
            if falls_into && rises_out {
                let peak = highest_left[i].min(highest_right[end]);
                let middle = (i + end) as f64 / 2.0 + first as f64 + 0.5;
                valleys.push(Valley {
                    at: self.start + middle * self.step,
                    depth: heights[i] / peak,
                    prominence: peak - heights[i],
                });
            }
            i = end + 1;
        }
        valleys
    }

    fn bin(&self, log: f64) -> usize {
        (((log - self.start) / self.step).max(0.0) as usize).min(self.heights.len() - 1)
    }
}

fn running_max<'a>(heights: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    heights
        .scan(0.0_f64, |highest, &height| {
            *highest = highest.max(height);
            Some(*highest)
        })
        .collect()
}

/// Convolution with a Gaussian cut off at `reach` steps.
fn smooth(histogram: &[f64], sd_steps: f64, reach: usize) -> Vec<f64> {
    let kernel: Vec<f64> =
        (0..=2 * reach).map(|i| gaussian((i as f64 - reach as f64) / sd_steps)).collect();
    let total: f64 = kernel.iter().sum();
    let mut heights = vec![0.0; histogram.len()];
    for (i, &count) in histogram.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        for (k, weight) in kernel.iter().enumerate() {
            // The histogram has `reach` empty bins on both sides.
            if let Some(height) = (i + k).checked_sub(reach).and_then(|j| heights.get_mut(j)) {
                *height += count * weight / total;
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_valley_between_two_lumps() {
        let mut logs: Vec<f64> = (0..100).map(|i| f64::from(i) * 1e-4).collect();
        logs.extend((0..50).map(|i| 1.0 + f64::from(i) * 1e-4));
        let density = Density::new(&logs, 0.02);
        let valleys = density.valleys(logs[0], 1.005);
        assert_eq!(valleys.len(), 1);
        assert!((valleys[0].at - 0.5).abs() < 0.02 && valleys[0].depth < 1e-9);
        let total: f64 = density.heights.iter().sum();
        assert!((total - 150.0).abs() < 1e-9);
    }

    #[test]
    fn a_drawn_density_is_highest_where_most_values_are() {
        let mut values: Vec<f64> = (0..200).map(|i| 10.0 + f64::from(i % 20) / 20.0).collect();
        values.extend((0..50).map(|i| 12.0 + f64::from(i % 10) / 20.0));
        crate::quantile::sort(&mut values);
        let drawn = density(&values);
        let densest = drawn.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!((10.0..11.0).contains(&densest.0) && densest.1 == 1.0, "{densest:?}");
        assert!(density(&[3.0, 3.0]).iter().all(|point| point.1 == 1.0));
    }

    #[test]
    fn a_single_value_has_none() {
        assert!(Density::new(&[0.0], 0.02).valleys(0.0, 0.0).is_empty());
    }
}
