//! schedutil's boost for tasks that wait for I/O.

use crate::sched_avg::CAPACITY_SCALE;

/// First value of the boost.
pub const IOWAIT_BOOST_MIN: u32 = CAPACITY_SCALE / 8;

/// The boost of one CPU: 128 at the first wake-up from I/O, doubled with each request up to 1024,
/// halved with each look without a request, gone after more than a tick without updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IowaitBoost {
    boost: u32,
    pending: bool,
    last_update: u64,
}

impl IowaitBoost {
    /// A boost of which `last_update` was the CPU's last update, in ns.
    #[must_use]
    pub const fn from_state(boost: u32, pending: bool, last_update: u64) -> IowaitBoost {
        IowaitBoost { boost, pending, last_update }
    }

    /// The boost, 0 to 1024, not yet scaled by the capacity.
    #[inline]
    #[must_use]
    pub const fn boost(&self) -> u32 {
        self.boost
    }

    /// Whether it was requested since the last look.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.pending
    }

    /// Time of the CPU's last update, in ns.
    #[must_use]
    pub const fn last_update(&self) -> u64 {
        self.last_update
    }

    /// An update of the CPU at `now` (ns); `iowait` if a task that waited for I/O woke up.
    /// `tick` is the length of a tick in ns.
    #[inline]
    pub fn update(&mut self, now: u64, iowait: bool, tick: u64) {
        // Nearly always there is neither a boost nor a request.
        if self.boost != 0 || iowait {
            self.request(now, iowait, tick);
        }
        self.last_update = now;
    }

    fn request(&mut self, now: u64, iowait: bool, tick: u64) {
        if self.boost != 0 && self.idle_for_more_than(tick, now) {
            self.boost = if iowait { IOWAIT_BOOST_MIN } else { 0 };
            self.pending = iowait;
        } else if iowait && !self.pending {
            self.pending = true;
            self.boost = match self.boost {
                0 => IOWAIT_BOOST_MIN,
                boost => boost.saturating_mul(2).min(CAPACITY_SCALE),
            };
        }
    }

    /// The boost as utilisation of a CPU of `capacity`, for a decision at `now`; without a request
    /// since the last look it halves first. 0: none.
    #[inline]
    pub fn apply(&mut self, now: u64, capacity: u32, tick: u64) -> u32 {
        if self.boost == 0 { 0 } else { self.consume(now, capacity, tick) }
    }

    fn consume(&mut self, now: u64, capacity: u32, tick: u64) -> u32 {
        if self.idle_for_more_than(tick, now) {
            self.boost = 0;
            self.pending = false;
            return 0;
        }
        if !self.pending {
            self.boost /= 2;
            if self.boost < IOWAIT_BOOST_MIN {
                self.boost = 0;
                return 0;
            }
        }
        self.pending = false;
        // `boost` is at most 1024 unless its state came from outside: then the product is cut as in C.
        ((u64::from(self.boost) * u64::from(capacity)) >> 10) as u32
    }

    /// Strictly more than a tick; a clock that went backwards is none.
    fn idle_for_more_than(&self, tick: u64, now: u64) -> bool {
        let idle = now.wrapping_sub(self.last_update);
        idle >> 63 == 0 && idle > tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: u64 = 4_000_000;

    #[test]
    fn doubles_per_request_and_halves_without() {
        let mut boost = IowaitBoost::default();
        for expected in [128, 256, 512, 1024, 1024] {
            boost.update(0, true, TICK);
            assert_eq!(boost.apply(0, 1024, TICK), expected);
        }
        for expected in [512, 256, 128, 0, 0] {
            boost.update(0, false, TICK);
            assert_eq!(boost.apply(0, 1024, TICK), expected);
        }
    }

    #[test]
    fn doubles_once_per_look() {
        let mut boost = IowaitBoost::default();
        boost.update(0, true, TICK);
        boost.update(1, true, TICK);
        assert_eq!(boost.apply(1, 512, TICK), 64, "128 scaled by the capacity");
    }

    #[test]
    fn resets_after_strictly_more_than_a_tick() {
        let strong = IowaitBoost { boost: 512, pending: false, last_update: 100 };
        let mut boost = strong;
        boost.update(100 + TICK, true, TICK);
        assert_eq!(boost.boost, 1024);
        let mut boost = strong;
        boost.update(101 + TICK, true, TICK);
        assert_eq!((boost.boost, boost.pending), (128, true));
        let mut boost = strong;
        boost.update(101 + TICK, false, TICK);
        assert_eq!((boost.boost, boost.pending), (0, false));
        let mut boost = strong;
        assert_eq!(boost.apply(101 + TICK, 1024, TICK), 0);
    }

    #[test]
    fn a_clock_that_goes_backwards_resets_nothing() {
        let mut boost = IowaitBoost { boost: 512, pending: true, last_update: TICK * 9 };
        assert_eq!(boost.apply(0, 1024, TICK), 512);
    }
}
