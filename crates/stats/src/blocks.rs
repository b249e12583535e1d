//! Contrasts within randomised blocks, with intervals that hold together.
//!
//! Where the order of conditions was drawn at random within each block, the condition alone decides
//! by chance which windows it got. So what differs between the conditions is the condition's *total
//! effect*, whatever the path (a mediator is no confounder; Imai, Keele and Tingley 2010). The block
//! is the unit that is resampled, and one draw of blocks serves every quantity of every cell: what a
//! block did to all of them cancels, and what quantities have in common is not counted twice.
//!
//! Whoever looks at many quantities finds something: [`together`] widens all intervals so that in 95
//! of 100 experiments *all* of them hold what they should (the single-step max-t method: Hothorn,
//! Bretz and Westfall, "Simultaneous inference in general parametric models", Biometrical Journal
//! 50(3), 2008; here the joint distribution is the bootstrap's).

use crate::bootstrap::Index;
use crate::quantile::quantile;
use crate::rng::Rng;
use crate::summary::mean;
use crate::{BootstrapOptions, Estimate, Statistic, Verdict, Weight};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Fewer blocks decide nothing: an interval would rest on one or two differences.
pub const LEAST_BLOCKS: usize = 3;

/// Windows beyond a quantile that each side needs before it is judged: of fewer it is one window's.
const BEYOND: f64 = 2.0;
/// The quantiles that are judged of a latency.
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// The quantiles of a latency that so many windows carry: the median, p99 from 200 on, p99.9 from 2,000.
pub fn quantiles_judged(windows: usize) -> Vec<f64> {
    let carried = |q: &f64| *q == 0.5 || windows as f64 * (1.0 - q) >= BEYOND - 1e-9;
    QUANTILES.into_iter().filter(carried).collect()
}

/// What the interval of a contrast says when everything from `-margin` to `margin` counts as equal:
/// `Effect`, `Equivalent` or `Undecided`. An effect is also one that chance seldom shows: `by_chance`, where
/// [`share_of_orders`](crate::share_of_orders) gives it, is at most `1 - level`.
pub fn judge_contrast(
    contrast: &Estimate,
    margin: f64,
    by_chance: Option<f64>,
    level: f64,
) -> Verdict {
    let seldom = by_chance.is_none_or(|share| share <= 1.0 - level);
    match contrast.interval() {
        Some((low, high)) if low >= -margin && high <= margin => Verdict::Equivalent,
        Some(_) if contrast.excludes(0.0) && seldom => Verdict::Effect,
        _ => Verdict::Undecided,
    }
}

/// Values of one quantity of one cell, by block.
#[derive(Clone, Debug)]
pub struct BlockValues(Index);

impl BlockValues {
    /// From the values of each block; they may have any sign, and are finite.
    pub fn new(blocks: &[Vec<f64>]) -> BlockValues {
        let pairs = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, values)| values.iter().map(move |&value| (value, block as u32)));
        BlockValues(Index::new(pairs.collect(), blocks.len()))
    }

    /// All values, ascending.
    pub fn sorted(&self) -> &[f64] {
        self.0.sorted()
    }
}

/// How often each block counts, per replicate: the same for all cells of an experiment.
#[derive(Clone, Debug)]
pub struct BlockDraws {
    weights: Vec<Vec<Weight>>,
    blocks: usize,
}

impl BlockDraws {
    /// Draws of `blocks` blocks with replacement, as many as the options say.
    pub fn new(blocks: usize, options: &BootstrapOptions) -> BlockDraws {
        let draw = |replicate: u32| {
            let mut rng = Rng::new(options.seed, u64::from(replicate));
            let mut weights = vec![0; blocks];
            for _ in 0..blocks {
                weights[rng.below(blocks)] += 1;
            }
            weights
        };
        BlockDraws { weights: (0..options.replicates).map(draw).collect(), blocks }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Any figures of the weights: of all blocks once each, and of each draw.
    pub fn replicate<const N: usize>(
        &self,
        figures: impl Fn(&[Weight]) -> [f64; N] + Sync,
    ) -> [Replicated; N] {
        let whole = figures(&vec![1; self.blocks]);
        let rows: Vec<[f64; N]> = self.weights.par_iter().map(|weights| figures(weights)).collect();
        std::array::from_fn(|at| Replicated {
            value: whole[at],
            draws: rows.iter().map(|row| row[at]).collect(),
            blocks: Vec::new(),
        })
    }

    /// A statistic of a cell's values, of each block alone as well.
    pub fn statistic(&self, values: &BlockValues, statistic: Statistic) -> Replicated {
        let [found] = self.replicate(|weights| [values.0.statistic(statistic, weights)]);
        let mut weights = vec![0; self.blocks];
        let alone = (0..self.blocks).map(|block| {
            weights[block] = 1;
            let figure = values.0.statistic(statistic, &weights);
            weights[block] = 0;
            figure
        });
        Replicated { blocks: alone.collect(), ..found }
    }
}

/// A figure and its replicates, draw by draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicated {
    /// Of all blocks.
    pub value: f64,
    /// Of each draw.
    pub draws: Vec<f64>,
    /// Of each block alone, where it is judged; empty where it only splits what was.
    pub blocks: Vec<f64>,
}

impl Replicated {
    /// Combines figures of the same draws.
    pub fn combine(of: &[&Replicated], how: impl Fn(&[f64]) -> f64) -> Replicated {
        let values: Vec<f64> = of.iter().map(|figure| figure.value).collect();
        let mut row = vec![0.0; of.len()];
        let mut each = |series: fn(&Replicated) -> &[f64]| -> Vec<f64> {
            let count = of.iter().map(|figure| series(figure).len()).min().unwrap_or(0);
            let combined = (0..count).map(|at| {
                for (cell, figure) in row.iter_mut().zip(of) {
                    *cell = series(figure)[at];
                }
                how(&row)
            });
            combined.collect()
        };
        let (draws, blocks) = (each(|figure| &figure.draws), each(|figure| &figure.blocks));
        Replicated { value: how(&values), draws, blocks }
    }

    /// Logarithm of the ratio of two figures, which must be above zero.
    pub fn log_ratio(subject: &Replicated, baseline: &Replicated) -> Replicated {
        Replicated::combine(&[subject, baseline], |row| (row[0] / row[1]).ln())
    }

    /// Difference of two figures.
    pub fn difference(subject: &Replicated, baseline: &Replicated) -> Replicated {
        Replicated::combine(&[subject, baseline], |row| row[0] - row[1])
    }

    /// Mean of several figures; none of none.
    pub fn mean_of(figures: &[&Replicated]) -> Option<Replicated> {
        (!figures.is_empty()).then(|| Replicated::combine(figures, mean))
    }

    /// Whether the figure, and each of its replicates, is a number.
    fn is_known(&self) -> bool {
        self.value.is_finite() && self.draws.iter().all(|draw| draw.is_finite())
    }

    fn standard_error(&self) -> f64 {
        let centre = mean(&self.draws);
        let squares: f64 = self.draws.iter().map(|draw| (draw - centre).powi(2)).sum();
        (squares / self.draws.len().max(1) as f64).sqrt()
    }
}

/// Intervals of a family of contrasts, each of the same draws, that hold all at once with the
/// probability `level`: `value -+ t standard errors`, with n / (n - 1) for the variance and
/// Student's t of n - 1 degrees of freedom, at the level at which the largest of the bootstrap's
/// deviations stays inside. No interval with fewer than [`LEAST_BLOCKS`] blocks, or where a
/// replicate is no number.
///
/// A family of one has Student's t interval with the bootstrap's standard error.
pub fn together(family: &[Replicated], blocks: usize, level: f64) -> Vec<Estimate> {
    let bare = |contrast: &Replicated| Estimate::bare(contrast.value);
    if blocks < LEAST_BLOCKS {
        return family.iter().map(bare).collect();
    }
    let errors: Vec<Option<f64>> =
        family.iter().map(|c| c.is_known().then(|| c.standard_error())).collect();
    let critical = critical(family, &errors, blocks, level);
    let inflation = (blocks as f64 / (blocks as f64 - 1.0)).sqrt();
    let with = |(contrast, error): (&Replicated, &Option<f64>)| match error {
        Some(error) => Estimate::around(contrast.value, Some(critical * error * inflation)),
        None => bare(contrast),
    };
    family.iter().zip(&errors).map(with).collect()
}

/// Student's quantile at the level that a single contrast needs for all to hold.
fn critical(family: &[Replicated], errors: &[Option<f64>], blocks: usize, level: f64) -> f64 {
    let varying: Vec<(&Replicated, f64, f64)> = family
        .iter()
        .zip(errors)
        .filter_map(|(contrast, error)| {
            let error = error.filter(|error| *error > 0.0)?;
            Some((contrast, mean(&contrast.draws), error))
        })
        .collect();
    let draws = varying.iter().map(|(contrast, ..)| contrast.draws.len()).min().unwrap_or(0);
    let mut largest: Vec<f64> = (0..draws)
        .map(|draw| {
            let deviations =
                varying.iter().map(|(c, centre, error)| ((c.draws[draw] - centre) / error).abs());
            deviations.fold(0.0, f64::max)
        })
        .collect();
    largest.sort_unstable_by(f64::total_cmp);
    let single = (1.0 - level) / 2.0;
    let joint = match largest.is_empty() {
        true => single,
        false => 1.0 - normal_cdf(quantile(&largest, level)),
    };
    // Never narrower than a family of one: few blocks bound what a draw can deviate by. Never wider
    // than Bonferroni's, which needs no joint distribution.
    let tail = joint.min(single).max(single / varying.len().max(1) as f64);
    let freedom = blocks as f64 - 1.0;
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - tail))
}

fn normal_cdf(z: f64) -> f64 {
    Normal::new(0.0, 1.0).map_or(1.0, |normal| normal.cdf(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(replicates: u32) -> BootstrapOptions {
        BootstrapOptions { replicates, ..BootstrapOptions::default() }
    }

    /// Blocks of windows with a common shift per block.
    fn cell(rng: &mut Rng, shifts: &[f64], windows: usize, factor: f64) -> Vec<Vec<f64>> {
        let window = |shift: f64, rng: &mut Rng| factor * (10.0 + shift - rng.uniform().ln());
        shifts.iter().map(|&shift| (0..windows).map(|_| window(shift, rng)).collect()).collect()
    }

    fn contrasts(
        a: &[Vec<f64>],
        b: &[Vec<f64>],
        draws: &BlockDraws,
        statistics: &[Statistic],
    ) -> Vec<Replicated> {
        let (a, b) = (BlockValues::new(a), BlockValues::new(b));
        let of = |statistic: &Statistic| {
            Replicated::log_ratio(
                &draws.statistic(&a, *statistic),
                &draws.statistic(&b, *statistic),
            )
        };
        statistics.iter().map(of).collect()
    }

    #[test]
    fn values_of_any_sign_are_ranked() {
        let values = BlockValues::new(&[vec![-3.0, 2.0], vec![-1.0, 0.0]]);
        assert_eq!(values.sorted(), [-3.0, -1.0, 0.0, 2.0]);
        let draws = BlockDraws::new(2, &options(200));
        assert_eq!(draws.statistic(&values, Statistic::Median).value, -0.5);
    }

    #[test]
    fn what_a_block_does_to_both_sides_cancels() {
        let a = vec![vec![1.0], vec![10.0], vec![100.0], vec![1000.0]];
        let b: Vec<Vec<f64>> = a.iter().map(|block| vec![block[0] * 2.0]).collect();
        let draws = BlockDraws::new(4, &options(400));
        let found = together(&contrasts(&b, &a, &draws, &[Statistic::Mean]), 4, 0.95);
        let (low, high) = found[0].interval().unwrap();
        assert!((low - 2_f64.ln()).abs() < 1e-9 && (high - 2_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn two_blocks_have_no_interval_and_many_quantities_wider_ones() {
        let mut rng = Rng::of_seed(3);
        let shifts = [0.0; 8];
        let (a, b) = (cell(&mut rng, &shifts, 40, 1.0), cell(&mut rng, &shifts, 40, 1.0));
        let draws = BlockDraws::new(8, &options(1000));
        let statistics = [Statistic::Median, Statistic::Mean, Statistic::Quantile(0.9)];
        let family = contrasts(&a, &b, &draws, &statistics);
        let width =
            |estimate: &Estimate| estimate.interval().map(|(low, high)| high - low).unwrap();
        let (alone, all) = (together(&family[..1], 8, 0.95), together(&family, 8, 0.95));
        assert!(width(&all[0]) > 1.05 * width(&alone[0]), "{alone:?} {all:?}");
        assert!(together(&family, 2, 0.95).iter().all(|found| found.interval().is_none()));
        // The same quantity twice is looked at once.
        let twice = together(&[family[0].clone(), family[0].clone()], 8, 0.95);
        assert!((width(&twice[0]) / width(&alone[0]) - 1.0).abs() < 0.02);
    }

    /// Of experiments without any difference at most about 5 in 100 find one, whatever is looked at:
    /// the tail of blocks that drift, too.
    #[test]
    fn families_hold_what_they_promise() {
        for (blocks, seed) in [(5, 1_u64), (8, 2), (20, 3)] {
            let mut rng = Rng::of_seed(seed);
            let draws = BlockDraws::new(blocks, &options(400));
            let statistics = [Statistic::Median, Statistic::Mean, Statistic::Quantile(0.98)];
            let experiments = 300;
            let wrong = (0..experiments).filter(|_| {
                let shifts: Vec<f64> = (0..blocks).map(|_| 3.0 * rng.uniform().powi(4)).collect();
                let (a, b) = (cell(&mut rng, &shifts, 50, 1.0), cell(&mut rng, &shifts, 50, 1.0));
                let found = together(&contrasts(&a, &b, &draws, &statistics), blocks, 0.95);
                found.iter().any(|estimate| estimate.excludes(0.0))
            });
            let wrong = wrong.count();
            assert!(wrong <= 25, "{wrong} of {experiments} with {blocks} blocks");
        }
    }
}
