//! The grid of releases: absolute times that no overrun can shift.

use flyball_units::Nanos;

/// Releases at `origin + index * period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    origin: Nanos,
    period: Nanos,
}

impl Grid {
    /// A grid; a period of zero counts as one nanosecond.
    pub fn new(origin: Nanos, period: Nanos) -> Grid {
        Grid { origin, period: period.max(Nanos(1)) }
    }

    /// The time of release `index`.
    pub fn release(self, index: u64) -> Nanos {
        self.origin + Nanos(self.period.0.saturating_mul(index))
    }

    /// The release that follows window `index` when the thread is free again at `now`: the next
    /// one, unless it has been due for a whole period or more. Such releases are skipped, as a
    /// sampled system drops samples that it has no time for; one that is due for less is run at
    /// once, and its lateness is measured.
    pub fn next(self, index: u64, now: Nanos) -> u64 {
        // The youngest release that is due: floor((now - origin) / period).
        let due = now.since(self.origin).0 / self.period.0;
        due.max(index.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GRID: Grid = Grid { origin: Nanos(1_000), period: Nanos(100) };

    #[test]
    fn in_time_the_next_release_follows() {
        assert_eq!(GRID.next(0, Nanos(1_050)), 1);
        assert_eq!(GRID.release(1), Nanos(1_100));
    }

    #[test]
    fn a_release_due_for_less_than_a_period_is_run_late() {
        assert_eq!(GRID.next(0, Nanos(1_199)), 1);
    }

    #[test]
    fn releases_due_for_longer_are_skipped() {
        assert_eq!(GRID.next(0, Nanos(1_200)), 2);
        assert_eq!(GRID.next(0, Nanos(1_555)), 5);
    }

    proptest! {
        #[test]
        fn the_next_release_is_never_late_by_a_period(
            origin in 0u64..1 << 50, period in 1u64..1 << 40, index in 0u64..1_000, late in 0u64..1 << 45,
        ) {
            let grid = Grid::new(Nanos(origin), Nanos(period));
            let now = grid.release(index) + Nanos(late);
            let next = grid.next(index, now);
            prop_assert!(next > index);
            prop_assert!(now.since(grid.release(next)).0 < period);
            // Never skipped without need: the one before was due for a period or is past.
            prop_assert!(next == index + 1 || now.since(grid.release(next - 1)).0 >= period);
        }
    }
}
