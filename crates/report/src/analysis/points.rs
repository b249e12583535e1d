//! A few hundred windows of a cell that still show what all of them show.

use super::cell::Sample;
use super::source::Context;
use crate::model::Point;

/// Stretches that a cell is cut into; each gives its first window and its slowest.
const STRETCHES: usize = 200;

/// Evenly thinned windows in order of execution, with the maximum of every stretch kept.
pub(super) fn thin(
    context: &Context<'_>,
    samples: &[Sample],
    mode_of: impl Fn(f64) -> Option<u32>,
) -> Vec<Point> {
    let point = |sample: &Sample| Point {
        t_s: context.seconds(sample.release_ns),
        execution_us: sample.execution_us,
        delivered_mhz: sample.delivered.map(f64::from),
        cpu: sample.cpu,
        mode: mode_of(sample.execution_us),
        disturbed: sample.marks.any(),
    };
    if samples.len() <= 2 * STRETCHES {
        return samples.iter().map(point).collect();
    }
    (0..STRETCHES)
        .filter_map(|stretch| {
            let bound = |at: usize| at * samples.len() / STRETCHES;
            samples.get(bound(stretch)..bound(stretch + 1))
        })
        .flat_map(|stretch| first_and_slowest(stretch).map(point))
        .collect()
}

/// The first window of a stretch and its slowest, in order of execution, once if they are one.
fn first_and_slowest(stretch: &[Sample]) -> impl Iterator<Item = &Sample> {
    let slowest = stretch
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.execution_us.total_cmp(&b.1.execution_us))
        .filter(|(at, _)| *at > 0);
    stretch.first().into_iter().chain(slowest.map(|(_, sample)| sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::source::{AnalysisOptions, RunData, contexts};

    #[test]
    fn the_maximum_survives() {
        let samples: Vec<Sample> = (0..10_000_u32)
            .map(|i| Sample {
                release_ns: u64::from(i),
                execution_us: if i == 7777 { 99.0 } else { 1.0 + f64::from(i % 7) },
                ..Sample::default()
            })
            .collect();
        let (runs, options) = ([RunData::default()], AnalysisOptions::default());
        let points = thin(&contexts(&runs, &options)[0], &samples, |_| None);
        assert!(points.len() <= 2 * STRETCHES);
        assert!(points.iter().any(|point| point.execution_us == 99.0));
        assert!(points.windows(2).all(|pair| pair[0].t_s <= pair[1].t_s));
    }
}
