//! Quantiles in bounded memory: exact for few values, then a histogram whose buckets are 1/128 of
//! their value wide, so that a quantile is at most 0.4 % off.

use flyball_stats::{nearest_rank, rank};

/// Values up to which everything is kept.
const EXACT: usize = 4096;

/// Buckets per doubling.
const PER_OCTAVE: u32 = 128;

/// A growing set of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantiles {
    exact: Vec<u64>,
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Quantiles {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        if self.buckets.is_empty() && self.exact.len() < EXACT {
            return self.exact.push(value);
        }
        for value in std::mem::take(&mut self.exact) {
            self.fold(value);
        }
        self.fold(value);
    }

    fn fold(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean; None of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Smallest value; None of nothing.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest value; None of nothing.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The smallest value that at least `q` (0 to 1) of the values do not exceed; None of nothing.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.buckets.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return nearest_rank(&sorted, q);
        }
        let rank = rank(self.count, q);
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        bucket.map(|bucket| middle_of(bucket).clamp(self.min, self.max))
    }
}

/// Below 2 * PER_OCTAVE every value has its own bucket; above, each doubling has PER_OCTAVE.
fn bucket_of(value: u64) -> usize {
    let octave = (64 - value.leading_zeros()).saturating_sub(PER_OCTAVE.trailing_zeros() + 1);
    (octave * PER_OCTAVE) as usize + (value >> octave) as usize
}

fn middle_of(bucket: usize) -> u64 {
    let per_octave = PER_OCTAVE as usize;
    let octave = (bucket / per_octave).saturating_sub(1);
    let within = (bucket - octave * per_octave) as u64;
    (within << octave) + ((1_u64 << octave) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let mut values = Quantiles::default();
        assert_eq!(values.quantile(0.5), None);
        (1..=100).for_each(|value| values.add(value));
        assert_eq!(values.quantile(0.5), Some(50));
        assert_eq!(values.quantile(0.99), Some(99));
        assert_eq!((values.quantile(0.0), values.quantile(1.0)), (Some(1), Some(100)));
        assert_eq!(values.mean(), Some(50.5));
    }

    #[test]
    fn many_values_are_near() {
        let mut values = Quantiles::default();
        (1..=1_000_000_u64).for_each(|value| values.add(value * 1000));
        for q in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let found = values.quantile(q).unwrap() as f64;
            assert!((found / (q * 1e9) - 1.0).abs() < 0.005, "{q}: {found}");
        }
        assert_eq!(values.max(), Some(1_000_000_000));
    }

    #[test]
    fn buckets_hold_every_value() {
        for value in (0..2000).chain([u64::MAX, u64::MAX / 3, 1 << 40]) {
            let middle = middle_of(bucket_of(value));
            let off = middle.abs_diff(value) as f64;
            assert!(off <= value as f64 / 200.0, "{value}: {middle}");
        }
    }
}
