//! Histograms on a logarithmic axis whose bins line up between cells.

use crate::model::Histogram;

/// Bins that the middle 99 % should fill, about.
const TARGET_BINS: f64 = 60.0;
/// Never more bins than this: what lies farther out is counted in the outermost bin.
const MAX_BINS: i64 = 400;
/// Latencies below this have no place on a logarithmic axis, microseconds.
const SMALLEST_US: f64 = 1e-3;

/// Histogram of an ascending sample, microseconds; empty for an empty sample.
///
/// Edges are `exp(k w)` with whole `k` and a width `w` that is a power of two: the edges of a
/// coarser histogram are edges of every finer one, so that two cells can be laid over another.
/// The first bin also counts everything below it, the last one everything above.
pub(super) fn histogram(sorted: &[f64]) -> Histogram {
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Histogram::default();
    };
    let ln = |value: f64| value.max(SMALLEST_US).ln();
    let at = |share: f64| sorted.get(((sorted.len() - 1) as f64 * share) as usize).copied();
    let middle = ln(at(0.995).unwrap_or(max)) - ln(at(0.005).unwrap_or(min));
    let width = (middle / TARGET_BINS).max(1e-3).log2().ceil().exp2();
    let bin = |value: f64| (ln(value) / width).floor() as i64;
    let mid = bin(at(0.5).unwrap_or(min));
    let first = bin(min).max(mid - MAX_BINS / 2);
    let last = bin(max).min(first + MAX_BINS - 1).max(first);
    let edges_us: Vec<f64> = (first..=last + 1).map(|k| (k as f64 * width).exp()).collect();
    let below: Vec<usize> =
        edges_us.iter().map(|edge| sorted.partition_point(|value| value < edge)).collect();
    let mut counts: Vec<u64> = below.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    if let (Some(front), Some(&under)) = (counts.first_mut(), below.first()) {
        *front += under as u64;
    }
    if let (Some(back), Some(&under)) = (counts.last_mut(), below.last()) {
        *back += (sorted.len() - under) as u64;
    }
    Histogram { edges_us, counts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_every_value(values in prop::collection::vec(-10.0_f64..1e7, 0..300)) {
            let mut values = values;
            values.sort_by(f64::total_cmp);
            let histogram = histogram(&values);
            prop_assert_eq!(histogram.counts.iter().sum::<u64>(), values.len() as u64);
            prop_assert!(histogram.counts.len() <= MAX_BINS as usize);
            prop_assert!(values.is_empty() || histogram.edges_us.len() == histogram.counts.len() + 1);
            prop_assert!(histogram.edges_us.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn edges_of_a_coarse_histogram_are_edges_of_a_fine_one() {
        let narrow: Vec<f64> = (0..1000).map(|i| 100.0 + f64::from(i) * 0.01).collect();
        let wide: Vec<f64> = (0..1000).map(|i| 50.0 + f64::from(i)).collect();
        let (fine, coarse) = (histogram(&narrow), histogram(&wide));
        let inside = coarse.edges_us.iter().filter(|edge| (101.0..109.0).contains(*edge));
        for edge in inside {
            assert!(fine.edges_us.iter().any(|other| (other / edge - 1.0).abs() < 1e-12));
        }
        assert!(fine.counts.len() > 20 && coarse.counts.len() > 20);
    }
}
