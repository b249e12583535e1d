//! The response-time series' ramp (patches 8 and 11), as one rule for whoever follows it: how much a task
//! that has been running for a while is to count for.
//!
//! ```text
//! demand(t) = 1024 (1 - 2^(-m t / 32 ms))        m: the task's multiplier
//! ```

use flyball_pelt::{PeltMultiplier, approximate_util_avg, headroom_quarter};
use flyball_units::Nanos;

/// The whole scale.
const FULL: u32 = 1024;
/// From here on it is the whole: the last percent takes as long as the first half did five times.
const NEARLY_FULL: u32 = 1016;

/// A task's ramp. With multiplier 1 it is the growth of load tracking on the largest CPU at its highest
/// frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseRamp {
    multiplier: u32,
    headroom: bool,
}

impl ResponseRamp {
    /// The largest multiplier: with it, the whole is reached after 3.6 ms.
    pub const LARGEST: u32 = 64;

    /// The ramp of a multiplier, 1 to [`ResponseRamp::LARGEST`].
    #[must_use]
    pub const fn new(multiplier: u32) -> ResponseRamp {
        let multiplier = match multiplier {
            0 => 1,
            _ if multiplier > ResponseRamp::LARGEST => ResponseRamp::LARGEST,
            _ => multiplier,
        };
        ResponseRamp { multiplier, headroom: false }
    }

    /// The slowest ramp whose demand is at least `level` (of 1024) after `time` of running.
    #[must_use]
    pub fn reaching(level: u32, time: Nanos) -> Option<ResponseRamp> {
        let ramps = (1..=ResponseRamp::LARGEST).map(ResponseRamp::new);
        ramps.into_iter().find(|ramp| ramp.demand(time) >= level)
    }

    /// The same with the quarter on top that schedutil adds to utilisation, but not to a clamp.
    #[must_use]
    pub const fn with_headroom(self, headroom: bool) -> ResponseRamp {
        ResponseRamp { headroom, ..self }
    }

    /// The multiplier.
    #[must_use]
    pub const fn multiplier(self) -> u32 {
        self.multiplier
    }

    /// What a task counts for, 0 to 1024, after running for `time` without a sleep.
    #[must_use]
    pub const fn demand(self, time: Nanos) -> u32 {
        // 100 s are far beyond the whole, and cannot overflow.
        let micros = time.0 / 1000;
        let micros = if micros > 100_000_000 { 100_000_000 } else { micros };
        let plain = approximate_util_avg(0, micros * self.multiplier as u64, PeltMultiplier::X1);
        let demand = if self.headroom { headroom_quarter(plain) } else { plain };
        if demand >= NEARLY_FULL { FULL } else { demand }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_formula() {
        for multiplier in [1, 2, 4, 8, 16] {
            let ramp = ResponseRamp::new(multiplier);
            for ms in 1..200 {
                // The kernel's millisecond is 1.024 ms.
                let halves = f64::from(multiplier * ms) / 1.024 / 32.0;
                let ideal = 1024.0 * (1.0 - 0.5_f64.powf(halves));
                let found = f64::from(ramp.demand(Nanos::from_millis(ms.into())));
                let whole = ideal >= f64::from(NEARLY_FULL) - 3.0 && found == 1024.0;
                assert!(whole || (found - ideal).abs() < 3.0, "{multiplier} {ms}: {found} {ideal}");
            }
        }
    }

    #[test]
    fn the_slowest_that_is_fast_enough() {
        let multiplier = |level, ms| {
            ResponseRamp::reaching(level, Nanos::from_millis(ms)).map(ResponseRamp::multiplier)
        };
        assert_eq!(multiplier(819, 77), Some(1));
        assert_eq!(multiplier(819, 20), Some(4));
        assert_eq!(multiplier(819, 13), Some(6));
        assert_eq!(multiplier(1024, 1000), Some(1));
        assert_eq!(multiplier(819, 1), None);
        assert_eq!(multiplier(819, 0), None);
    }

    #[test]
    fn odd_multipliers_are_taken_into_the_range() {
        assert_eq!(ResponseRamp::new(0).multiplier(), 1);
        assert_eq!(ResponseRamp::new(u32::MAX).multiplier(), ResponseRamp::LARGEST);
    }

    proptest! {
        #[test]
        fn it_grows_and_stays_on_the_scale(m in 1_u32..=64, a in any::<u64>(), b in any::<u64>()) {
            let (early, late) = (Nanos(a.min(b)), Nanos(a.max(b)));
            for ramp in [ResponseRamp::new(m), ResponseRamp::new(m).with_headroom(true)] {
                prop_assert!(ramp.demand(early) <= ramp.demand(late) && ramp.demand(late) <= 1024);
            }
            let ramp = ResponseRamp::new(m);
            prop_assert!(ramp.demand(early) <= ramp.with_headroom(true).demand(early));
        }
    }
}
