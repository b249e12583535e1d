//! From signals to the performance that schedutil asks for.

use crate::sched_avg::CAPACITY_SCALE;

/// What a CPU's run queues say, on the capacity scale. Starts as [`CpuDemand::IDLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CpuDemand {
    /// Utilisation by fair tasks, see [`cfs_utilization`].
    pub cfs: u32,
    /// util_avg of the real-time queue.
    pub rt: u32,
    /// util_avg of the deadline queue.
    pub dl: u32,
    /// Bandwidth reserved by deadline tasks.
    pub bw_dl: u32,
    /// util_avg of interrupts.
    pub irq: u32,
    /// Effective lower clamp of the queue.
    pub uclamp_min: u32,
    /// Effective upper clamp of the queue.
    pub uclamp_max: u32,
    /// Whether uclamp is in use on this system.
    pub uclamp_used: bool,
    /// Whether a real-time task is runnable.
    pub rt_runnable: bool,
}

setters!(CpuDemand {
    cfs: u32,
    rt: u32,
    dl: u32,
    bw_dl: u32,
    irq: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    uclamp_used: bool,
    rt_runnable: bool,
});

impl CpuDemand {
    /// An idle CPU without clamps.
    pub const IDLE: CpuDemand = CpuDemand {
        cfs: 0,
        rt: 0,
        dl: 0,
        bw_dl: 0,
        irq: 0,
        uclamp_min: 0,
        uclamp_max: CAPACITY_SCALE,
        uclamp_used: false,
        rt_runnable: false,
    };
}

impl CpuDemand {
    /// A utilisation within the clamps, where they are in use; the lower one wins.
    #[inline]
    #[must_use]
    pub const fn clamp(&self, util: u32) -> u32 {
        let CpuDemand { uclamp_min: min, uclamp_max: max, .. } = *self;
        if !self.uclamp_used || util > min && util < max {
            return util;
        }
        if min >= max || util <= min { min } else { max }
    }
}

impl Default for CpuDemand {
    fn default() -> CpuDemand {
        CpuDemand::IDLE
    }
}

/// Utilisation of a CPU and the bounds of the performance it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Effective {
    /// Utilisation by everything that runs there, at most the capacity.
    pub util: u32,
    /// Least performance; can exceed the capacity.
    pub min: u32,
    /// Performance above which none is needed.
    pub max: u32,
}

impl Effective {
    /// The performance to ask for: the utilisation `with_headroom`, at most `max`, but at least
    /// `min`, which gets no headroom, beats `max` and can exceed the capacity.
    #[inline]
    #[must_use]
    pub fn perf(self, with_headroom: u32) -> u32 {
        self.min.max(self.max.min(with_headroom))
    }
}

/// Signals of a fair run queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FairSignals {
    /// util_avg.
    pub util: u32,
    /// runnable_avg.
    pub runnable: u32,
    /// Sum of the util_est of its tasks.
    pub util_est: u32,
}

/// Utilisation of a CPU by fair tasks, boosted by contention:
/// min(max(util_avg, runnable_avg, sum of util_est), capacity).
#[inline]
#[must_use]
pub fn cfs_utilization(signals: FairSignals, capacity: u32) -> u32 {
    signals.util.max(signals.runnable).max(signals.util_est).min(capacity)
}

/// Utilisation of a CPU of `capacity` by everything, and the bounds.
///
/// ```text
///   irq >= capacity             util = min = max = capacity
///   U = cfs + rt + dl           util = capacity where U reaches it,
///                               else irq + U * (capacity - irq) / capacity
///   min = max(irq + bw_dl, uclamp_min), and the capacity for a runnable real-time task
///         where uclamp is not in use (where it is, such tasks have a uclamp_min of 1024)
///   max = min(capacity, uclamp_max)
/// ```
#[inline]
#[must_use]
pub fn effective_utilization(demand: &CpuDemand, capacity: u32) -> Effective {
    let irq = demand.irq;
    if irq >= capacity {
        return Effective { util: capacity, min: capacity, max: capacity };
    }
    let mut min = irq.saturating_add(demand.bw_dl).max(demand.uclamp_min);
    if demand.rt_runnable && !demand.uclamp_used {
        min = min.max(capacity);
    }
    let max = capacity.min(demand.uclamp_max);
    let demanded = u64::from(demand.cfs) + u64::from(demand.rt) + u64::from(demand.dl);
    let util = if demanded >= capacity.into() {
        capacity
    } else if irq == 0 {
        demanded as u32
    } else {
        // Both terms together are at most the capacity, which is above 0 here.
        let left = demanded * u64::from(capacity - irq) / u64::from(capacity);
        irq + left as u32
    };
    Effective { util, min, max }
}

/// The same up to Linux 6.7, where clamps bound the utilisation of fair and real-time tasks itself and
/// there are no other bounds: what schedutil adds its headroom to.
///
/// ```text
///   capacity                    where a real-time task is runnable and uclamp is not in use,
///                               irq >= capacity, or C + dl >= capacity
///   else irq + C * (capacity - irq) / capacity + bw_dl, at most the capacity
///   with C = cfs + rt, within the clamps where uclamp is in use
/// ```
#[inline]
#[must_use]
pub fn clamped_utilization(demand: &CpuDemand, capacity: u32) -> u32 {
    let irq = demand.irq;
    if (demand.rt_runnable && !demand.uclamp_used) || irq >= capacity {
        return capacity;
    }
    let clamped = demand.clamp(demand.cfs.saturating_add(demand.rt));
    if u64::from(clamped) + u64::from(demand.dl) >= capacity.into() {
        return capacity;
    }
    // Below the capacity, which is above 0 here.
    let left = u64::from(clamped) * u64::from(capacity - irq) / u64::from(capacity);
    irq.saturating_add(left as u32).saturating_add(demand.bw_dl).min(capacity)
}

/// A performance on the capacity scale, asked of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerfLevel {
    /// The performance.
    pub perf: u32,
    /// Capacity of the CPU.
    pub capacity: u32,
}

/// Frequency for a level, before it becomes an operating point: reference * perf / capacity, in
/// the unit of the [`reference_frequency`]; that itself for a capacity of 0.
#[inline]
#[must_use]
pub fn raw_frequency(reference: u64, level: PerfLevel) -> u64 {
    if level.capacity == 0 {
        return reference;
    }
    reference.wrapping_mul(level.perf.into()) / u64::from(level.capacity)
}

/// Frequencies of a clock domain, in any one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DomainFrequency {
    /// Its highest.
    pub highest: u64,
    /// Its current.
    pub current: u64,
    /// Whether utilisation is frequency-invariant there.
    pub invariant: bool,
}

/// The frequency that full utilisation stands for: the highest where utilisation is
/// frequency-invariant, else the current and a quarter (so that the headroom counts twice).
#[inline]
#[must_use]
pub fn reference_frequency(of: DomainFrequency) -> u64 {
    if of.invariant { of.highest } else { of.current.saturating_add(of.current >> 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headroom::headroom_quarter;

    const IDLE: CpuDemand = CpuDemand::IDLE;

    #[test]
    fn fair_utilisation_is_boosted_by_contention() {
        let cfs = |util, runnable, util_est| {
            cfs_utilization(FairSignals { util, runnable, util_est }, 459)
        };
        assert_eq!(cfs(100, 300, 200), 300);
        assert_eq!(cfs(100, 0, 200), 200);
        assert_eq!(cfs(500, 0, 200), 459);
    }

    #[test]
    fn interrupts_scale_the_rest() {
        let demand = CpuDemand { cfs: 300, rt: 50, dl: 50, irq: 256, bw_dl: 10, ..IDLE };
        let expected = Effective { util: 256 + 400 * 768 / 1024, min: 266, max: 1024 };
        assert_eq!(effective_utilization(&demand, 1024), expected);
        let flooded = CpuDemand { irq: 459, uclamp_max: 5, ..demand };
        let all = Effective { util: 459, min: 459, max: 459 };
        assert_eq!(effective_utilization(&flooded, 459), all);
        assert_eq!(effective_utilization(&IDLE, 0), Effective { util: 0, min: 0, max: 0 });
    }

    /// By hand, of a CPU of 1024 with irq 256: fair 300 and rt 50 are clamped to 200, of which the
    /// three quarters that interrupts leave are 150; 256 + 150 + 10 = 416. Without clamps 350 become
    /// 262.
    #[test]
    fn up_to_6_7_clamps_bound_the_utilisation_itself() {
        let demand = CpuDemand { cfs: 300, rt: 50, dl: 50, irq: 256, bw_dl: 10, ..IDLE };
        assert_eq!(clamped_utilization(&demand, 1024), 256 + 262 + 10);
        let clamped = CpuDemand { uclamp_used: true, uclamp_max: 200, ..demand };
        assert_eq!(clamped_utilization(&clamped, 1024), 416);
        let inverted = CpuDemand { uclamp_min: 700, ..clamped };
        assert_eq!(clamped_utilization(&inverted, 1024), 256 + 700 * 3 / 4 + 10);
        assert_eq!(clamped_utilization(&CpuDemand { cfs: 950, ..demand }, 1024), 1024);
        assert_eq!(clamped_utilization(&CpuDemand { irq: 1024, ..clamped }, 1024), 1024);
        let runs = CpuDemand { rt_runnable: true, ..demand };
        assert_eq!(clamped_utilization(&runs, 800), 800);
    }

    #[test]
    fn real_time_tasks_run_at_the_maximum() {
        let demand = CpuDemand { rt_runnable: true, ..IDLE };
        assert_eq!(effective_utilization(&demand, 800).min, 800);
        let clamped = CpuDemand { uclamp_used: true, uclamp_min: 1024, ..demand };
        assert_eq!(effective_utilization(&clamped, 800).min, 1024);
        let lowered = CpuDemand { uclamp_used: true, uclamp_min: 100, ..demand };
        assert_eq!(effective_utilization(&lowered, 800).min, 100);
    }

    #[test]
    fn the_minimum_beats_the_maximum() {
        let perf = |min, max| Effective { util: 400, min, max }.perf(headroom_quarter(400));
        assert_eq!([perf(0, 1024), perf(0, 450), perf(1024, 450)], [500, 450, 1024]);
    }

    #[test]
    fn without_invariance_the_quarter_counts_twice() {
        // The first step up of a core at 600 MHz needs more than 655 of utilisation.
        let raw = |util| {
            let of = DomainFrequency { highest: 3_200_000, current: 600_000, invariant: false };
            let level = PerfLevel { perf: headroom_quarter(util), capacity: 1024 };
            raw_frequency(reference_frequency(of), level)
        };
        assert_eq!(raw(655), 599_121);
        assert_eq!(raw(656), 600_585);
        assert_eq!(raw_frequency(3_200_000, PerfLevel { perf: 512, capacity: 1024 }), 1_600_000);
        assert_eq!(raw_frequency(5, PerfLevel { perf: 1, capacity: 0 }), 5);
    }
}
