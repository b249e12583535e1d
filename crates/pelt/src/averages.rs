//! The signals of an entity or a run queue, and how time changes them.

use crate::decay::{Divider, PERIOD, decay, segments};

/// Scale of capacities and utilisations: the largest CPU at its highest frequency.
pub const CAPACITY_SCALE: u32 = 1024;

/// Load, runnable and utilisation signals of one entity or one run queue.
///
/// ```text
///   sum(now)  = sum(last) * y^p + contribution        p period boundaries crossed since last
///   average   = sum / (LOAD_AVG_MAX - 1024 + contrib) recomputed only where p >= 1
/// ```
///
/// Field widths are the kernel's (`struct sched_avg`), and so is what happens when they overflow:
/// they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Averages {
    /// Time of the last update, in ns of the clock given to it. A remainder below 1024 ns is not
    /// accounted yet, so this lies up to 1023 ns before the last call.
    pub last_update: u64,
    /// Decayed sum of load, in units of 1024 ns times load.
    pub load_sum: u64,
    /// Decayed sum of runnable time, in units of 1024 ns, times 1024.
    pub runnable_sum: u64,
    /// Decayed sum of running time, in units of 1024 ns, times 1024.
    pub util_sum: u32,
    /// Position in the present period, 0 to 1023 units.
    pub period_contrib: u32,
    /// Load, on the scale of weights (nice 0 is 1024).
    pub load_avg: u64,
    /// Runnable tasks, times 1024.
    pub runnable_avg: u64,
    /// Utilisation, 0 to 1024; certain patterns of updates reach 1025.
    pub util_avg: u32,
}

impl Averages {
    /// Nothing ever ran; accounting starts at `now` (ns).
    #[must_use]
    pub const fn starting_at(now: u64) -> Averages {
        Averages {
            last_update: now,
            load_sum: 0,
            runnable_sum: 0,
            util_sum: 0,
            period_contrib: 0,
            load_avg: 0,
            runnable_avg: 0,
            util_avg: 0,
        }
    }

    /// Signals that have been constant for ever: each sum is its average times the divider at the
    /// start of a period. `load` is the load average per unit of `weight`.
    #[must_use]
    pub fn steady(now: u64, util: u32, runnable: u32, load: u32) -> Averages {
        let divider = u64::from(crate::MIN_DIVIDER);
        Averages {
            last_update: now,
            load_sum: u64::from(load) * divider,
            runnable_sum: u64::from(runnable) * divider,
            util_sum: util.wrapping_mul(crate::MIN_DIVIDER),
            period_contrib: 0,
            load_avg: load.into(),
            runnable_avg: runnable.into(),
            util_avg: util,
        }
    }

    /// Accounts the time up to `now` (ns), in which `load` (the sum of weights), `runnable` tasks
    /// and `running` were constant: the update of a run queue. Whether a period boundary was
    /// crossed, which is when the averages are recomputed.
    ///
    /// A clock that went backwards sets `last_update` and changes nothing else. `load` 0 makes
    /// `runnable` and `running` count as nothing.
    #[inline]
    pub fn update(&mut self, now: u64, load: u64, runnable: u64, running: bool) -> bool {
        let crossed = self.update_sums(now, load, runnable, running);
        if crossed {
            self.recompute(1);
        }
        crossed
    }

    /// The same for a task of `weight` (1024 at nice 0) that is on a run queue or not, `running`
    /// or not. A task that blocks decays by a later update with both false.
    #[inline]
    pub fn update_entity(&mut self, now: u64, weight: u64, on_rq: bool, running: bool) -> bool {
        let on = u64::from(on_rq);
        let crossed = self.update_sums(now, on, on, running);
        if crossed {
            self.recompute(weight);
        }
        crossed
    }

    /// The first half of an update: the sums. Averages stay as they are.
    #[inline]
    pub fn update_sums(&mut self, now: u64, load: u64, runnable: u64, running: bool) -> bool {
        let elapsed = now.wrapping_sub(self.last_update);
        // As a signed number it is negative where the clock went back: one comparison keeps both
        // that and less than a unit apart from the rest.
        if (elapsed as i64) < 1024 {
            if elapsed >> 63 != 0 {
                self.last_update = now;
            }
            return false;
        }
        let units = elapsed >> 10;
        self.last_update = self.last_update.wrapping_add(units << 10);
        if load == 0 {
            self.accumulate(units, 0, 0, false)
        } else {
            self.accumulate(units, load, runnable, running)
        }
    }

    /// The second half: the averages from the sums. `weight` multiplies the load; 1 for a run
    /// queue, whose sum holds the weights already.
    #[inline]
    pub fn recompute(&mut self, weight: u64) {
        let by = Divider::new(self.period_contrib);
        self.load_avg = by.divide(weight.wrapping_mul(self.load_sum));
        self.runnable_avg = by.divide(self.runnable_sum);
        // A quotient of 32 bits.
        self.util_avg = by.divide(self.util_sum.into()) as u32;
    }

    /// Adds `units` of 1024 ns to the sums. Whether a period boundary was crossed.
    #[inline]
    pub fn accumulate(&mut self, units: u64, load: u64, runnable: u64, running: bool) -> bool {
        let from = self.period_contrib;
        let position = units.wrapping_add(from.into());
        let periods = position / u64::from(PERIOD);
        let rest = (position % u64::from(PERIOD)) as u32;
        let mut contribution = units as u32;
        if periods > 0 {
            self.load_sum = decay(self.load_sum, periods);
            self.runnable_sum = decay(self.runnable_sum, periods);
            // A decayed value is no larger than before.
            self.util_sum = decay(self.util_sum.into(), periods) as u32;
            if load != 0 {
                contribution = segments(periods, PERIOD.wrapping_sub(from), rest);
            }
        }
        // Without a boundary, `rest` is the old position and the units; 32 bits hold both, as
        // fewer than 1024 units can have passed.
        self.period_contrib = rest;
        let contribution = u64::from(contribution);
        if load != 0 {
            self.load_sum = self.load_sum.wrapping_add(load.wrapping_mul(contribution));
        }
        if runnable != 0 {
            let grown = runnable.wrapping_mul(contribution) << 10;
            self.runnable_sum = self.runnable_sum.wrapping_add(grown);
        }
        if running {
            self.util_sum = self.util_sum.wrapping_add((contribution << 10) as u32);
        }
        periods > 0
    }
}
