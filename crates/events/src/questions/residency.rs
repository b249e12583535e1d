//! Time spent at each value of a quantity.

use std::collections::BTreeMap;

use serde::Serialize;

/// How long a quantity had a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share<V> {
    /// The value.
    pub value: V,
    /// Time at it.
    pub residency_ns: u64,
    /// Stretches of time at it without a break.
    pub visits: u64,
}

/// Adds up stretches of time by value.
#[derive(Debug)]
pub(super) struct Tally<V> {
    shares: BTreeMap<V, (u64, u64)>,
    last: Option<(V, u64)>,
}

impl<V: Copy + Ord> Default for Tally<V> {
    fn default() -> Self {
        Tally { shares: BTreeMap::new(), last: None }
    }
}

impl<V: Copy + Ord> Tally<V> {
    /// Adds a stretch; one that continues the last at the same value is not a new visit.
    pub fn add(&mut self, value: V, from_ns: u64, to_ns: u64) {
        if from_ns >= to_ns {
            return;
        }
        let share = self.shares.entry(value).or_default();
        share.0 = share.0.saturating_add(to_ns - from_ns);
        if self.last != Some((value, from_ns)) {
            share.1 += 1;
        }
        self.last = Some((value, to_ns));
    }

    /// The shares, ascending in value.
    pub fn shares(self) -> Vec<Share<V>> {
        let share = |(value, (residency_ns, visits))| Share { value, residency_ns, visits };
        self.shares.into_iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_that_goes_on_is_one_visit() {
        let mut tally = Tally::default();
        for (value, from, to) in [(7, 0, 10), (7, 10, 15), (9, 15, 16), (7, 16, 20), (7, 30, 30)] {
            tally.add(value, from, to);
        }
        assert_eq!(
            tally.shares(),
            [
                Share { value: 7, residency_ns: 19, visits: 2 },
                Share { value: 9, residency_ns: 1, visits: 1 },
            ]
        );
    }
}
