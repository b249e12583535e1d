//! The clock that load tracking runs on: it slows down with the CPU, so that utilisation means
//! work and not time.

use crate::decay::{LOAD_AVG_MAX, MIN_DIVIDER};
use crate::features::PeltMultiplier;
use crate::sched_avg::CAPACITY_SCALE;

/// Sum of the queues' `util_sum` from which on a CPU counts as saturated when it goes idle.
pub const SATURATED: u32 = (MIN_DIVIDER << 10) - LOAD_AVG_MAX;

/// The clocks of one run queue, in ns. They wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClockPelt {
    clock_task: u64,
    clock_pelt: u64,
    lost_idle_time: u64,
    multiplier: PeltMultiplier,
}

/// How fast a CPU does its work: two factors on the scale of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuSpeed {
    /// Its capacity at its highest frequency, 1 to 1024.
    pub capacity: u32,
    /// Its frequency relative to its highest; see [`frequency_scale`].
    pub frequency_scale: u32,
}

impl CpuSpeed {
    /// The largest CPU at its highest frequency.
    pub const FULL: CpuSpeed =
        CpuSpeed { capacity: CAPACITY_SCALE, frequency_scale: CAPACITY_SCALE };
}

impl ClockPelt {
    /// All clocks at `now` (ns).
    #[must_use]
    pub const fn starting_at(now: u64, multiplier: PeltMultiplier) -> ClockPelt {
        ClockPelt { clock_task: now, clock_pelt: now, lost_idle_time: 0, multiplier }
    }

    /// Time, less what interrupts took.
    #[inline]
    #[must_use]
    pub const fn clock_task(&self) -> u64 {
        self.clock_task
    }

    /// Time as if all work had been done by the largest CPU at its highest frequency. Catches up
    /// with [`ClockPelt::clock_task`] while the CPU is idle.
    #[inline]
    #[must_use]
    pub const fn clock_pelt(&self) -> u64 {
        self.clock_pelt
    }

    /// Idle time that a saturated CPU only seemed to have.
    #[inline]
    #[must_use]
    pub const fn lost_idle_time(&self) -> u64 {
        self.lost_idle_time
    }

    /// Patch 7's boot parameter.
    #[inline]
    #[must_use]
    pub const fn multiplier(&self) -> PeltMultiplier {
        self.multiplier
    }

    /// `delta` ns passed in which the CPU executed tasks. `speed` is that at the *end*: the kernel
    /// scales the whole of the time since the last update by it.
    #[inline]
    pub fn advance(&mut self, delta: u64, speed: CpuSpeed) {
        self.clock_task = self.clock_task.wrapping_add(delta);
        self.clock_pelt = self.clock_pelt.wrapping_add(scale_time(delta, speed));
    }

    /// `delta` ns passed in which the CPU was idle.
    #[inline]
    pub fn advance_idle(&mut self, delta: u64) {
        self.clock_task = self.clock_task.wrapping_add(delta);
        self.clock_pelt = self.clock_task;
    }

    /// The last task leaves. `util_sum` is the sum of the fair, real-time and deadline queues'
    /// `util_sum`: where that says that the CPU had no idle time to give, the time by which
    /// `clock_pelt` is behind is lost, and no signal decays by it.
    pub fn enter_idle(&mut self, util_sum: u32) {
        if util_sum >= SATURATED {
            let behind = self.clock_task.wrapping_sub(self.clock_pelt);
            self.lost_idle_time = self.lost_idle_time.wrapping_add(behind);
        }
        self.clock_pelt = self.clock_task;
    }

    /// The time to give to [`crate::SchedAvg::update`], in ns, stretched by the multiplier.
    #[inline]
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.multiplier.stretch(self.clock_pelt.wrapping_sub(self.lost_idle_time))
    }
}

/// `delta` ns as time of the largest CPU at its highest frequency: scaled by capacity, then by
/// frequency, truncated after each.
#[inline]
#[must_use]
pub const fn scale_time(delta: u64, speed: CpuSpeed) -> u64 {
    scale(scale(delta, speed.capacity), speed.frequency_scale)
}

#[inline]
pub(crate) const fn scale(value: u64, by: u32) -> u64 {
    value.wrapping_mul(by as u64) >> 10
}

/// `frequency` relative to the CPU's highest, on the scale of 1024; both in the same unit. A
/// highest frequency of 0 counts as unknown: 1024.
#[must_use]
pub const fn frequency_scale(frequency: u64, highest: u64) -> u32 {
    match frequency.wrapping_mul(CAPACITY_SCALE as u64).checked_div(highest) {
        Some(scale) => scale as u32,
        None => CAPACITY_SCALE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: CpuSpeed = CpuSpeed { capacity: 512, ..CpuSpeed::FULL };

    #[test]
    fn a_full_cpu_runs_with_the_time() {
        let mut clock = ClockPelt::starting_at(5, PeltMultiplier::X1);
        clock.advance(1_000_000, CpuSpeed::FULL);
        assert_eq!(clock.now(), 1_000_005);
    }

    #[test]
    fn capacity_and_frequency_truncate_in_turn() {
        // 999 * 459 / 1024 = 447, * 297 / 1024 = 129.
        assert_eq!(scale_time(999, CpuSpeed { capacity: 459, frequency_scale: 297 }), 129);
        assert_eq!(frequency_scale(600_000, 2_064_000), 297);
        assert_eq!(frequency_scale(1, 0), 1024);
    }

    #[test]
    fn an_idle_cpu_catches_up() {
        let mut clock = ClockPelt::default();
        clock.advance(10_000, HALF);
        assert_eq!(clock.clock_pelt, 5000);
        clock.enter_idle(SATURATED - 1);
        assert_eq!((clock.clock_pelt, clock.lost_idle_time), (10_000, 0));
        clock.advance_idle(7);
        assert_eq!(clock.now(), 10_007);
    }

    #[test]
    fn a_saturated_cpu_has_no_idle_time_to_catch_up() {
        let mut clock = ClockPelt::default();
        clock.advance(10_000, HALF);
        clock.enter_idle(SATURATED);
        assert_eq!((clock.clock_pelt, clock.lost_idle_time), (10_000, 5000));
        assert_eq!(clock.now(), 5000);
        assert_eq!(SATURATED, 46718 * 1024 - 47742);
    }

    #[test]
    fn the_multiplier_stretches_all_time() {
        let mut clock = ClockPelt::starting_at(0, PeltMultiplier::X4);
        clock.advance(1000, CpuSpeed::FULL);
        assert_eq!(clock.now(), 4000);
    }
}
