//! Coarse clocks: values that tie are spread over the clock's step.
//!
//! A clock that ticks in microseconds turns every latency into a spike, and the dip test would
//! find each spike a mode. Within a step nothing is known, so m equal values are laid evenly over
//! the step around them: the least that the data allow to be said, and deterministic.

/// Ascending values with ties spread over the smallest gap between distinct values.
pub(super) fn spread_ties(sorted: &[f64]) -> Vec<f64> {
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|&gap| gap > 0.0);
    let step = gaps.fold(f64::INFINITY, f64::min);
    if !step.is_finite() {
        return sorted.to_vec();
    }
    let mut values = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a == b) {
        let (value, count) = (group[0], group.len());
        if count == 1 {
            values.push(value);
            continue;
        }
        // A value below the step must stay above zero for its logarithm.
        let width = step.min(value);
        values.extend((0..count).map(|i| value + width * ((i as f64 + 0.5) / count as f64 - 0.5)));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_fill_the_step() {
        assert_eq!(spread_ties(&[1.0, 1.0, 2.0, 5.0, 5.0]), [0.75, 1.25, 2.0, 4.75, 5.25]);
        assert_eq!(spread_ties(&[3.0, 3.0]), [3.0, 3.0]);
        assert!(spread_ties(&[]).is_empty());
    }
}
