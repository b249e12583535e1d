//! The guest's CLOCK_MONOTONIC against the board's.
//!
//! The guest reads its clock, asks for the board's, and reads again: the answer lies
//! between. Several such exchanges before and after the command bound the offset at two moments;
//! between these it is taken as a straight line, because an emulated clock may run a little fast
//! or slow.

/// One exchange, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The guest's clock before it asked.
    pub before: i64,
    /// The board's clock when the answer was made.
    pub board: i64,
    /// The guest's clock when it had the answer.
    pub after: i64,
}

/// The offset `board - guest` at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    board: i64,
    offset: i64,
    uncertainty: i64,
}

/// How to turn the board's times into the guest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestClock {
    first: Anchor,
    last: Anchor,
}

impl GuestClock {
    /// From the exchanges before the command and those after it; None where there were none. One
    /// group alone gives an offset without a drift.
    pub fn new(before: &[Exchange], after: &[Exchange]) -> Option<GuestClock> {
        match (anchor(before), anchor(after)) {
            (Some(first), Some(last)) => Some(GuestClock { first, last }),
            (Some(one), None) | (None, Some(one)) => Some(GuestClock { first: one, last: one }),
            (None, None) => None,
        }
    }

    /// The guest's time, in nanoseconds, when the board's was `board`.
    pub fn guest(&self, board: i64) -> i64 {
        let along = (board - self.first.board) as f64 / 1e9;
        board - self.first.offset - (along * self.drift()).round() as i64
    }

    /// The offset `board - guest` before the command, in nanoseconds.
    pub fn offset(&self) -> i64 {
        self.first.offset
    }

    /// How far a time may be off, in nanoseconds.
    pub fn uncertainty(&self) -> i64 {
        self.first.uncertainty.max(self.last.uncertainty)
    }

    /// By how many nanoseconds per second (parts per billion) the board's clock gains on the guest's.
    /// Differences that the uncertainty explains count as none.
    pub fn drift(&self) -> f64 {
        let (time, gain) =
            (self.last.board - self.first.board, self.last.offset - self.first.offset);
        if time <= 0 || gain.abs() <= self.first.uncertainty + self.last.uncertainty {
            return 0.0;
        }
        gain as f64 / (time as f64 / 1e9)
    }
}

/// What all exchanges together allow. Where they contradict each other, the shortest counts.
fn anchor(exchanges: &[Exchange]) -> Option<Anchor> {
    let lower = exchanges.iter().map(|one| one.board - one.after).max()?;
    let upper = exchanges.iter().map(|one| one.board - one.before).min()?;
    let shortest = exchanges.iter().min_by_key(|one| one.after - one.before)?;
    let (lower, upper) = match lower <= upper {
        true => (lower, upper),
        false => (shortest.board - shortest.after, shortest.board - shortest.before),
    };
    let (offset, uncertainty) = (lower + (upper - lower) / 2, (upper - lower + 1) / 2);
    Some(Anchor { board: shortest.board, offset, uncertainty })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_true_offset_is_inside_the_bounds(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            ways in prop::collection::vec((1_i64..5_000_000, 1_i64..5_000_000), 1..9),
        ) {
            let mut at = 5_000_000_000_i64; // the guest's time
            let exchanges: Vec<Exchange> = ways.iter().map(|(there, back)| {
                let before = at;
                at += there + back;
                Exchange { before, board: before + there + offset, after: at }
            }).collect();
            let clock = GuestClock::new(&exchanges, &[]).unwrap();
            prop_assert!((clock.offset() - offset).abs() <= clock.uncertainty());
            let shortest = ways.iter().map(|(there, back)| there + back).min().unwrap();
            prop_assert!(clock.uncertainty() <= shortest / 2 + 1);
            let board = 7_000_000_000 + offset;
            prop_assert!((clock.guest(board) - 7_000_000_000).abs() <= clock.uncertainty());
        }
    }

    #[test]
    fn a_drift_is_a_straight_line() {
        let at = |guest: i64, offset: i64| Exchange {
            before: guest - 1000,
            board: guest + offset,
            after: guest + 1000,
        };
        let clock = GuestClock::new(&[at(0, 500)], &[at(10_000_000_000, 1_000_500)]).unwrap();
        assert!((clock.drift() - 100_000.0).abs() < 20.0, "{}", clock.drift());
        assert!((clock.guest(5_000_500_500) - 5_000_000_000).abs() < 100);
        assert_eq!(GuestClock::new(&[], &[]), None);
    }
}
