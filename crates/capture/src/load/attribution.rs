//! From a counter that is brought up to date late to time per interval.

use std::collections::VecDeque;

/// An interval of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Its end, in nanoseconds.
    pub end_ns: u64,
    /// Its length, in nanoseconds.
    pub length_ns: u64,
    /// How much of it was counted, in nanoseconds; at most its length.
    pub counted_ns: u64,
    /// Frequency claimed at its end, in kHz.
    pub khz: Option<u64>,
    /// Time that tasks waited, in nanoseconds.
    pub waiting_ns: Option<u64>,
    /// Runnable tasks at its end.
    pub runnable: Option<u32>,
}

/// Known intervals that are held back: where earlier stays were booked late, a later one may find no
/// room in its own intervals, and has it in one of these.
const KEPT: usize = 64;

/// Intervals of one CPU whose counted time is not known yet.
///
/// A stay (idle, or of a task) is counted whole when it ends. What the counter grew by therefore
/// belongs to the interval in which it grew, as far as that has room, and then to those before it:
/// ```text
///   counter grew by   0     0    23 ms         intervals of 10 ms
///   counted           3    10    10
/// ```
/// All that lies well before an interval in which the counter grew is thereby known. A stay over the
/// boundary of two intervals in the second of which there is room for all of it counts to the second:
/// sums are exact, and what is counted up to a boundary is late by less than an interval, never early.
///
/// A counter may have a part that is read now and then only: what that grew by since the last time is
/// spread over the open intervals.
#[derive(Clone, Debug, Default)]
pub struct Attribution {
    open: VecDeque<Interval>,
    /// Open intervals up to and with the last one in which the counter grew.
    moved: usize,
    /// What found no room: counted before the recording began, or rounded up.
    excess_ns: u64,
}

impl Attribution {
    /// An interval ended in which the counter grew by `grown_ns`. `rest_ns`: what its other part grew
    /// by, where that was read as well; only then are intervals known, and `sink` gets them in order
    /// of time.
    pub fn add(
        &mut self,
        interval: Interval,
        grown_ns: u64,
        rest_ns: Option<u64>,
        sink: &mut dyn FnMut(Interval),
    ) {
        self.open.push_back(Interval { counted_ns: 0, ..interval });
        if grown_ns > 0 {
            self.fill(grown_ns);
            self.moved = self.open.len();
        }
        let Some(rest_ns) = rest_ns else { return };
        if rest_ns > 0 {
            self.spread(rest_ns);
            self.moved = self.open.len();
        }
        let known = self.moved.saturating_sub(1 + KEPT);
        self.open.drain(..known.min(self.open.len())).for_each(sink);
        self.moved -= known;
    }

    /// From the last interval back, as far as there is room.
    fn fill(&mut self, mut left: u64) {
        for interval in self.open.iter_mut().rev() {
            if left == 0 {
                return;
            }
            let taken = left.min(interval.length_ns - interval.counted_ns);
            interval.counted_ns += taken;
            left -= taken;
        }
        self.excess_ns += left;
    }

    /// Evenly, and what has no room there from the last one back.
    fn spread(&mut self, rest: u64) {
        let share = rest / self.open.len().max(1) as u64;
        let mut left = rest;
        for interval in &mut self.open {
            let taken = share.min(interval.length_ns - interval.counted_ns);
            interval.counted_ns += taken;
            left -= taken;
        }
        self.fill(left);
    }

    /// The recording is over, and the counter up to date.
    pub fn end(&mut self, sink: &mut dyn FnMut(Interval)) {
        self.open.drain(..).for_each(sink);
    }

    /// Time that was counted and found no room.
    pub fn excess_ns(&self) -> u64 {
        self.excess_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(grown: &[u64]) -> Vec<u64> {
        let (mut attribution, mut counted) = (Attribution::default(), Vec::new());
        for grown_ns in grown {
            let interval = Interval { length_ns: 10, ..Interval::default() };
            attribution
                .add(interval, *grown_ns, Some(0), &mut |done| counted.push(done.counted_ns));
        }
        attribution.end(&mut |done| counted.push(done.counted_ns));
        counted
    }

    #[test]
    fn a_long_stay_fills_the_intervals_before() {
        assert_eq!(counted(&[0, 0, 23]), [3, 10, 10]);
        assert_eq!(counted(&[4, 0, 0, 25, 3]), [4, 5, 10, 10, 3]);
        assert_eq!(counted(&[0, 0, 0]), [0, 0, 0]);
    }

    #[test]
    fn a_part_that_is_read_rarely_is_spread() {
        let (mut attribution, mut counted) = (Attribution::default(), Vec::new());
        for (grown, rest) in [(4, None), (9, None), (0, None), (2, Some(8)), (5, Some(0))] {
            let interval = Interval { length_ns: 10, ..Interval::default() };
            attribution.add(interval, grown, rest, &mut |done| counted.push(done.counted_ns));
        }
        attribution.end(&mut |done| counted.push(done.counted_ns));
        // 2 each, and the 1 for which there was no room at the end.
        assert_eq!((counted.as_slice(), attribution.excess_ns()), (&[6, 10, 2, 5, 5][..], 0));
    }

    #[test]
    fn what_is_too_much_is_told() {
        let mut attribution = Attribution::default();
        let interval = Interval { length_ns: 10, ..Interval::default() };
        attribution.add(interval, 12, Some(0), &mut |_| {});
        assert_eq!(attribution.excess_ns(), 2);
    }

    /// A CPU that is in a stay or not, in turns.
    fn turns() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((1_u64..40, 1_u64..40), 1..60)
    }

    proptest! {
        /// What the counter says in all is what the intervals say in all; and no interval is off by
        /// more than the stay over its boundaries.
        #[test]
        fn the_sum_is_the_truth(turns in turns()) {
            let total: u64 = turns.iter().map(|(on, off)| on + off).sum();
            let intervals = total.div_ceil(10) as usize;
            let (mut truth, mut grown) = (vec![0_u64; intervals], vec![0_u64; intervals]);
            let mut now = 0;
            for (on, off) in &turns {
                for _ in 0..*on {
                    truth[(now / 10) as usize] += 1;
                    now += 1;
                }
                // The stay ends now: in the interval of its last moment, if just at the boundary.
                grown[((now - 1) / 10) as usize] += on;
                now += off;
            }
            let found = counted(&grown);
            prop_assert_eq!(found.len(), intervals);
            prop_assert_eq!(found.iter().sum::<u64>(), truth.iter().sum::<u64>());
            prop_assert!(found.iter().all(|counted| *counted <= 10));
            let (mut ours, mut theirs) = (0_i64, 0_i64);
            for (found, truth) in found.iter().zip(&truth) {
                ours += *found as i64;
                theirs += *truth as i64;
                // Late by no more than what one interval holds, never early.
                prop_assert!((0..=10).contains(&(theirs - ours)), "{} {}", theirs, ours);
            }
        }
    }
}
