//! A set of durations in a few figures.

use flyball_stats::nearest_rank;
use serde::Serialize;

/// Durations: every quantile is one of them (nearest rank: the smallest that at least this share
/// does not exceed).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_ns: u64,
    /// Half are no longer.
    pub p50_ns: u64,
    /// 90 % are no longer.
    pub p90_ns: u64,
    /// 99 % are no longer.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Counts by size: each bucket holds what is below its bound and not below the one before;
    /// bounds double from 1 us.
    pub buckets: Vec<Bucket>,
}

/// How many durations lie below a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// The bound, excluded.
    pub below_ns: u64,
    /// Number of durations.
    pub count: u64,
}

impl Distribution {
    /// Of at least one duration; none of none.
    pub fn of(mut durations: Vec<u64>) -> Option<Distribution> {
        durations.sort_unstable();
        let (&min_ns, &max_ns) = (durations.first()?, durations.last()?);
        let rank = |share| nearest_rank(&durations, share).unwrap_or(max_ns);
        let sum: u128 = durations.iter().map(|&d| u128::from(d)).sum();
        Some(Distribution {
            count: durations.len() as u64,
            min_ns,
            p50_ns: rank(0.5),
            p90_ns: rank(0.9),
            p99_ns: rank(0.99),
            max_ns,
            mean_ns: sum as f64 / durations.len() as f64,
            buckets: buckets(&durations),
        })
    }
}

/// From the bucket of the shortest to that of the longest, empty ones between them included.
fn buckets(sorted: &[u64]) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let (mut below_ns, mut done) = (1_000_u64, 0);
    while done < sorted.len() {
        let upto = sorted.partition_point(|&d| d < below_ns);
        // The last doubling would not fit: what is left goes into one bucket without a bound.
        let upto = if below_ns == u64::MAX { sorted.len() } else { upto };
        if upto > 0 {
            buckets.push(Bucket { below_ns, count: (upto - done) as u64 });
        }
        done = upto;
        below_ns = below_ns.saturating_mul(2);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let d = Distribution::of((1..=100).map(|n| n * 1000).collect()).unwrap();
        assert_eq!((d.count, d.min_ns, d.max_ns), (100, 1_000, 100_000));
        assert_eq!((d.p50_ns, d.p90_ns, d.p99_ns), (50_000, 90_000, 99_000));
        assert!((d.mean_ns - 50_500.0).abs() < 1e-9);
        assert_eq!(Distribution::of(Vec::new()), None);
        assert_eq!(Distribution::of(vec![7]).unwrap().p99_ns, 7);
    }

    #[test]
    fn buckets_hold_everything_once() {
        let d = Distribution::of(vec![0, 999, 1_000, 5_000, u64::MAX]).unwrap();
        assert_eq!(d.buckets[0], Bucket { below_ns: 1_000, count: 2 });
        assert_eq!(d.buckets[1], Bucket { below_ns: 2_000, count: 1 });
        assert_eq!(d.buckets.iter().map(|b| b.count).sum::<u64>(), 5);
    }
}
