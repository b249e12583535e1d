//! The signals of an entity or a run queue, and how time changes them.

use crate::decay::{Divider, Fading, MIN_DIVIDER, PERIOD, divider, segments};

/// Scale of capacities and utilisations: the largest CPU at its highest frequency.
pub const CAPACITY_SCALE: u32 = 1024;

/// Load, runnable and utilisation signals of one entity (a task) or one run queue: the kernel's
/// `struct sched_avg`.
///
/// ```text
///   sum(now)  = sum(last) * y^p + contribution        p period boundaries crossed since last
///   average   = sum / (LOAD_AVG_MAX - 1024 + contrib) recomputed only where p >= 1
/// ```
///
/// Widths are the kernel's, and so is what happens when a number overflows: it wraps.
/// [`SchedAvg::state`] shows all of it, [`SchedAvg::from_state`] takes it: for tests, and to go on
/// where a recording ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SchedAvg {
    pub(crate) last_update: u64,
    pub(crate) load_sum: u64,
    pub(crate) runnable_sum: u64,
    pub(crate) util_sum: u32,
    pub(crate) period_contrib: u32,
    pub(crate) load_avg: u64,
    pub(crate) runnable_avg: u64,
    pub(crate) util_avg: u32,
}

/// Every number of a [`SchedAvg`], under the kernel's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SchedAvgState {
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

/// What a run queue held in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueLoad {
    /// Sum of its tasks' weights (nice 0 is 1024). 0 makes the others count as nothing.
    pub load: u64,
    /// Its runnable tasks, the running one included.
    pub runnable: u64,
    /// Whether one of them ran.
    pub running: bool,
}

impl QueueLoad {
    /// An empty queue.
    pub const NONE: QueueLoad = QueueLoad { load: 0, runnable: 0, running: false };

    /// One task of weight 1 that ran, or none.
    #[inline]
    pub(crate) const fn one_if(running: bool) -> QueueLoad {
        QueueLoad { load: running as u64, runnable: running as u64, running }
    }
}

/// What a task did in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityState {
    /// It was on no run queue.
    Blocked,
    /// It waited on a run queue.
    Waiting,
    /// It ran.
    Running,
}

impl SchedAvg {
    /// Nothing ever ran; accounting starts at `now` (ns).
    #[must_use]
    pub const fn starting_at(now: u64) -> SchedAvg {
        SchedAvg {
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

    /// A task of which all three signals have been `util` for ever, at the start of a period.
    #[must_use]
    pub const fn steady(now: u64, util: u32) -> SchedAvg {
        let sum = util as u64 * MIN_DIVIDER as u64;
        SchedAvg {
            last_update: now,
            load_sum: sum,
            runnable_sum: sum,
            util_sum: util.wrapping_mul(MIN_DIVIDER),
            period_contrib: 0,
            load_avg: util as u64,
            runnable_avg: util as u64,
            util_avg: util,
        }
    }

    /// The same signals at another position in the period, 0 to 1023 units: where in a period a
    /// task starts is an accident, so whoever predicts a ramp-up sweeps it.
    #[must_use]
    pub const fn with_period_contrib(mut self, units: u32) -> SchedAvg {
        self.period_contrib = units;
        self
    }

    /// Signals in this state.
    #[must_use]
    pub const fn from_state(state: SchedAvgState) -> SchedAvg {
        let SchedAvgState {
            last_update,
            load_sum,
            runnable_sum,
            util_sum,
            period_contrib,
            load_avg,
            runnable_avg,
            util_avg,
        } = state;
        SchedAvg {
            last_update,
            load_sum,
            runnable_sum,
            util_sum,
            period_contrib,
            load_avg,
            runnable_avg,
            util_avg,
        }
    }

    /// The state of these signals.
    #[must_use]
    pub const fn state(self) -> SchedAvgState {
        let SchedAvg {
            last_update,
            load_sum,
            runnable_sum,
            util_sum,
            period_contrib,
            load_avg,
            runnable_avg,
            util_avg,
        } = self;
        SchedAvgState {
            last_update,
            load_sum,
            runnable_sum,
            util_sum,
            period_contrib,
            load_avg,
            runnable_avg,
            util_avg,
        }
    }

    /// Utilisation, 0 to 1024; certain patterns of updates reach 1025.
    #[inline]
    #[must_use]
    pub const fn util_avg(&self) -> u32 {
        self.util_avg
    }

    /// Runnable tasks, times 1024.
    #[inline]
    #[must_use]
    pub const fn runnable_avg(&self) -> u64 {
        self.runnable_avg
    }

    /// Load, on the scale of weights (nice 0 is 1024).
    #[inline]
    #[must_use]
    pub const fn load_avg(&self) -> u64 {
        self.load_avg
    }

    /// Decayed sum of running time, in units of 1024 ns, times 1024: what
    /// [`crate::ClockPelt::enter_idle`] asks for.
    #[inline]
    #[must_use]
    pub const fn util_sum(&self) -> u32 {
        self.util_sum
    }

    /// Time of the last update; see [`SchedAvgState::last_update`].
    #[inline]
    #[must_use]
    pub const fn last_update(&self) -> u64 {
        self.last_update
    }

    /// Whether an update at `now`, in ns, would cross the end of a period.
    #[inline]
    #[must_use]
    pub const fn crosses(&self, now: u64) -> bool {
        let units = now.saturating_sub(self.last_update) >> 10;
        units + self.period_contrib as u64 >= PERIOD as u64
    }

    /// Whether nothing was runnable in the time that the signals remember.
    #[inline]
    #[must_use]
    pub const fn was_never_runnable(&self) -> bool {
        self.runnable_sum == 0
    }

    /// Whether all signals are 0, so that time has nothing left to decay.
    #[inline]
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.util_sum == 0
            && self.runnable_sum == 0
            && self.load_sum == 0
            && self.util_avg == 0
            && self.runnable_avg == 0
            && self.load_avg == 0
    }

    /// Sets `runnable_avg`, and its sum to what it stands for at this position in the period: for
    /// a queue whose waiting tasks are known from elsewhere.
    pub const fn set_runnable_avg(&mut self, average: u64) {
        self.runnable_avg = average;
        self.runnable_sum = average.saturating_mul(divider(self.period_contrib) as u64);
    }

    /// The next `by` ns are no time to these signals: they neither grow nor decay in them, as those of a task whose
    /// control group has no time left.
    pub const fn postpone(&mut self, by: u64) {
        self.last_update = self.last_update.wrapping_add(by);
    }

    /// Accounts the time up to `now` (ns), in which the run queue held `queue`. Whether a period
    /// boundary was crossed, which is when the averages are recomputed.
    ///
    /// A clock that went backwards sets `last_update` and changes nothing else.
    #[inline]
    pub fn update(&mut self, now: u64, queue: QueueLoad) -> bool {
        let crossed = self.update_sums(now, queue);
        if crossed {
            self.recompute(1);
        }
        crossed
    }

    /// The same for a task of `weight` (1024 at nice 0) that was in `state`. A task that blocks
    /// decays by a later update.
    #[inline]
    pub fn update_entity(&mut self, now: u64, weight: u64, state: EntityState) -> bool {
        let on = u64::from(state != EntityState::Blocked);
        let running = state == EntityState::Running;
        let crossed = self.update_sums(now, QueueLoad { load: on, runnable: on, running });
        if crossed {
            self.recompute(weight);
        }
        crossed
    }

    /// The first half of an update: the sums. Averages stay as they are.
    #[inline]
    pub fn update_sums(&mut self, now: u64, queue: QueueLoad) -> bool {
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
        self.accumulate(units, if queue.load == 0 { QueueLoad::NONE } else { queue })
    }

    /// The second half: the averages from the sums. `weight` multiplies the load; 1 for a run
    /// queue, whose sum holds the weights already.
    #[inline]
    pub fn recompute(&mut self, weight: u64) {
        let by = Divider::new(self.period_contrib);
        let sums = [weight.wrapping_mul(self.load_sum), self.runnable_sum, self.util_sum.into()];
        let [load, runnable, util] = by.divide_all(sums);
        self.load_avg = load;
        self.runnable_avg = runnable;
        // A quotient of 32 bits.
        self.util_avg = util as u32;
    }

    /// Adds `units` of 1024 ns to the sums. Whether a period boundary was crossed.
    // The model's most frequent arithmetic: without calls to it that takes a fortieth fewer instructions.
    #[inline(always)]
    pub fn accumulate(&mut self, units: u64, queue: QueueLoad) -> bool {
        let QueueLoad { load, runnable, running } = queue;
        let from = self.period_contrib;
        let position = units.wrapping_add(from.into());
        let periods = position / u64::from(PERIOD);
        let rest = (position % u64::from(PERIOD)) as u32;
        let mut contribution = units as u32;
        if periods > 0 {
            let faded = Fading::over(periods);
            self.load_sum = faded.left_of(self.load_sum);
            self.runnable_sum = faded.left_of(self.runnable_sum);
            // A decayed value is no larger than before.
            self.util_sum = faded.left_of(self.util_sum.into()) as u32;
            if load != 0 {
                contribution = segments(faded, PERIOD.wrapping_sub(from), rest);
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
