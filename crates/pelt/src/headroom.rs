//! How far above the utilisation the frequency is chosen, and how fast it may rise.

use crate::approximate::{approximate_runtime, approximate_util_avg};
use crate::features::{Features, PeltMultiplier};

/// The stock headroom: a quarter on top.
#[inline]
#[must_use]
pub const fn headroom_quarter(util: u32) -> u32 {
    util.saturating_add(util >> 2)
}

/// What may delay the next update of the frequency (patch 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UpdateDelay {
    /// Runnable fair tasks of the CPU.
    pub runnable: u32,
    /// Slice of the running task, in us.
    pub slice_us: u64,
    /// Length of a tick, in us.
    pub tick_us: u64,
    /// The policy's rate limit, in us.
    pub rate_limit_us: u64,
}

impl UpdateDelay {
    /// The delay to be covered, in us: a tick, or a slice where that ends sooner for another task;
    /// never less than the rate limit.
    #[must_use]
    pub fn us(self) -> u64 {
        let update = if self.runnable > 1 { self.slice_us.min(self.tick_us) } else { self.tick_us };
        update.max(self.rate_limit_us)
    }
}

/// What headroom depends on besides the utilisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Headroom {
    /// Time until the next update (patch 5).
    pub delay: UpdateDelay,
    /// The root run queue's waiting average (patch 12).
    pub waiting: u32,
    /// Whether the utilisation is lower than when this was last asked (patch 14).
    pub falling: bool,
}

/// `util` with headroom: the stock quarter, or what `features` replace it by.
///
/// - Patch 5: what the utilisation will be at the next update.
/// - Patch 13: at least `util + waiting`.
/// - Patch 14: none while it falls.
#[must_use]
pub fn apply_headroom(util: u32, headroom: Headroom, features: &Features) -> u32 {
    if features.no_headroom_when_falling && headroom.falling {
        return util;
    }
    let ahead = if features.headroom_from_delay {
        approximate_util_avg(util, headroom.delay.us(), features.pelt_multiplier)
    } else {
        headroom_quarter(util)
    };
    if features.headroom_covers_waiting {
        ahead.max(util.saturating_add(headroom.waiting))
    } else {
        ahead
    }
}

/// The upper end of a policy's operating points, frequencies in any one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopPoints {
    /// Capacity of its CPUs at the highest frequency.
    pub capacity: u32,
    /// The highest frequency; 0 counts as equal to `second_highest`.
    pub highest: u64,
    /// The one below.
    pub second_highest: u64,
}

/// Patch 6: a policy's default `response_time_ms`, the time from 0 until the highest frequency is
/// asked for, that is until the utilisation passes the capacity at the second-highest operating
/// point.
#[must_use]
pub const fn default_response_time_ms(top: TopPoints, multiplier: PeltMultiplier) -> u32 {
    let TopPoints { capacity, highest, second_highest } = top;
    let below = match (second_highest as u128 * capacity as u128).checked_div(highest as u128) {
        Some(below) if below < capacity as u128 => below as u32,
        _ => capacity,
    };
    approximate_runtime(below.saturating_add(1), multiplier)
}

/// A policy's response time, in ms (patch 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseTime {
    /// See [`default_response_time_ms`].
    pub default_ms: u32,
    /// What it is to be: `response_time_ms`.
    pub wanted_ms: u32,
}

/// What utilisation is multiplied by, times 1024, for a policy to answer in the wanted time
/// instead of its default. 1024 where that would be 0 or not exist.
#[must_use]
pub const fn response_time_multiplier(time: ResponseTime) -> u32 {
    match (time.default_ms as u64 * 1024).checked_div(time.wanted_ms as u64) {
        None | Some(0) => 1024,
        Some(multiplier) if multiplier > u32::MAX as u64 => u32::MAX,
        Some(multiplier) => multiplier as u32,
    }
}

/// `util` times a [`response_time_multiplier`]; before the headroom.
#[inline]
#[must_use]
pub const fn apply_response_time(util: u32, multiplier: u32) -> u32 {
    let product = (util as u64 * multiplier as u64) >> 10;
    if product > u32::MAX as u64 { u32::MAX } else { product as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: UpdateDelay =
        UpdateDelay { runnable: 1, slice_us: 3000, tick_us: 4000, rate_limit_us: 70 };
    const BUSY: Headroom = Headroom { delay: DELAY, waiting: 300, falling: false };

    #[test]
    fn the_delay_is_the_longest_of_what_must_pass() {
        assert_eq!(DELAY.us(), 4000);
        assert_eq!(UpdateDelay { runnable: 2, ..DELAY }.us(), 3000);
        assert_eq!(UpdateDelay { runnable: 2, tick_us: 1000, ..DELAY }.us(), 1000);
        assert_eq!(UpdateDelay { rate_limit_us: 10_000, ..DELAY }.us(), 10_000);
    }

    #[test]
    fn each_patch_by_itself() {
        let stock = Features::STOCK;
        assert_eq!(apply_headroom(400, BUSY, &stock), 500);
        assert_eq!(apply_headroom(1, BUSY, &stock), 1);
        let delay = stock.headroom_from_delay(true);
        let ahead = apply_headroom(400, BUSY, &delay);
        assert_eq!(ahead, approximate_util_avg(400, 4000, PeltMultiplier::X1));
        assert!((440..460).contains(&ahead), "{ahead}");
        let waiting = stock.headroom_covers_waiting(true);
        assert_eq!(apply_headroom(400, BUSY, &waiting), 700);
        let falling = stock.no_headroom_when_falling(true);
        assert_eq!(apply_headroom(400, BUSY, &falling), 500);
        assert_eq!(apply_headroom(400, Headroom { falling: true, ..BUSY }, &falling), 400);
        assert_eq!(apply_headroom(400, Headroom { falling: true, ..BUSY }, &stock), 500);
    }

    #[test]
    fn response_time_is_that_of_the_second_highest_point() {
        let default_ms = |capacity, second_highest, highest| {
            let top = TopPoints { capacity, highest, second_highest };
            default_response_time_ms(top, PeltMultiplier::X1)
        };
        let runtime = |util| approximate_runtime(util, PeltMultiplier::X1);
        assert_eq!(default_ms(1024, 1024, 1024), runtime(1024));
        // An M1's large cores: 3144 of 3204 MHz is 1004.
        assert_eq!(default_ms(1024, 3144, 3204), runtime(1005));
        // Juno's, as a reviewer printed them: 527 and 884.
        assert_eq!(default_ms(578, 775_000, 850_000), 34);
        assert_eq!(default_ms(1024, 950_000, 1_100_000), 92);
    }

    #[test]
    fn the_multiplier_is_never_zero() {
        let multiplier = |default_ms, wanted_ms| {
            response_time_multiplier(ResponseTime { default_ms, wanted_ms })
        };
        assert_eq!(multiplier(200, 200), 1024);
        assert_eq!(multiplier(200, 100), 2048);
        assert_eq!(multiplier(200, 0), 1024);
        assert_eq!(multiplier(1, 2000), 1024);
        assert_eq!(apply_response_time(300, 2048), 600);
        assert_eq!(apply_response_time(u32::MAX, u32::MAX), u32::MAX);
    }
}
