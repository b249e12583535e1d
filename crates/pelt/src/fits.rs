//! Whether a task fits a CPU, clamps considered.

use crate::margin::FitRule;
use crate::sched_avg::CAPACITY_SCALE;

/// Capacities of one CPU, 0 to 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuCapacity {
    /// At its highest frequency, without any pressure.
    pub original: u32,
    /// What thermal and frequency limits leave of it.
    pub actual: u32,
    /// What interrupts, real-time and deadline tasks leave of that, for fair tasks.
    pub available: u32,
}

impl CpuCapacity {
    /// A CPU without any pressure.
    #[must_use]
    pub const fn free(capacity: u32) -> CpuCapacity {
        CpuCapacity { original: capacity, actual: capacity, available: capacity }
    }
}

/// Effective utilisation clamps of a task (uclamp), 0 to 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uclamp {
    /// Lower clamp (`uclamp_min`).
    pub min: u32,
    /// Upper clamp (`uclamp_max`).
    pub max: u32,
}

impl Uclamp {
    /// Uclamp that change nothing.
    pub const NONE: Uclamp = Uclamp { min: 0, max: CAPACITY_SCALE };
}

/// How well a task fits a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It does not.
    No,
    /// Its utilisation does, but the CPU cannot give it the performance of its lower clamp: a worse match than
    /// another CPU's, from which it is moved as a misfit, but which is not overutilised by it.
    Almost,
    /// It does.
    Yes,
}

impl Fit {
    /// The kernel's answer: 1, 0 or, where it almost fits, -1.
    #[must_use]
    pub const fn raw(self) -> i32 {
        match self {
            Fit::No => 0,
            Fit::Almost => -1,
            Fit::Yes => 1,
        }
    }
}

/// How well a task of `util` fits a CPU. `clamps` are None where uclamp is not in use.
///
/// - An upper clamp at or below the CPU's original capacity always fits, as the task asks for no
///   more; not so 1024 on a CPU of 1024, which is no clamp at all.
/// - A lower clamp above both the utilisation and what the CPU can still give almost fits.
#[inline]
#[must_use]
pub fn util_fits_cpu(
    util: u32,
    clamps: Option<Uclamp>,
    capacity: CpuCapacity,
    rule: FitRule,
) -> Fit {
    let within = rule.fits(util, capacity.available);
    let Some(Uclamp { min, max }) = clamps else {
        return if within { Fit::Yes } else { Fit::No };
    };
    let unlimited = capacity.original == CAPACITY_SCALE && max == CAPACITY_SCALE;
    let capped = !unlimited && max <= capacity.original;
    if !within && !capped {
        return Fit::No;
    }
    let min = min.min(max);
    if util < min && min > capacity.actual { Fit::Almost } else { Fit::Yes }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: CpuCapacity = CpuCapacity::free(459);
    const BIG: CpuCapacity = CpuCapacity::free(1024);

    fn fit(util: u32, min: u32, max: u32, capacity: CpuCapacity) -> Fit {
        util_fits_cpu(util, Some(Uclamp { min, max }), capacity, FitRule::Fixed)
    }

    #[test]
    fn without_uclamp_only_utilisation_counts() {
        assert_eq!(util_fits_cpu(367, None, LITTLE, FitRule::Fixed), Fit::Yes);
        assert_eq!(util_fits_cpu(368, None, LITTLE, FitRule::Fixed), Fit::No);
    }

    #[test]
    fn an_upper_clamp_below_the_capacity_always_fits() {
        assert_eq!(fit(1000, 0, 459, LITTLE), Fit::Yes);
        assert_eq!(fit(1000, 0, 460, LITTLE), Fit::No);
        assert_eq!(fit(1000, 0, 0, LITTLE), Fit::Yes, "uclampset -M 0");
        assert_eq!(fit(1000, 0, 1024, BIG), Fit::No, "no clamp at all");
        assert_eq!(fit(1000, 0, 1023, BIG), Fit::Yes);
    }

    #[test]
    fn a_lower_clamp_above_the_capacity_almost_fits() {
        assert_eq!(fit(100, 1024, 1024, LITTLE), Fit::Almost, "uclampset -m 1024");
        assert_eq!(fit(100, 1024, 1024, BIG), Fit::Yes);
        assert_eq!(fit(400, 1024, 1024, LITTLE), Fit::No, "utilisation itself does not fit");
        assert_eq!(fit(100, 459, 1024, LITTLE), Fit::Yes);
        let hot = CpuCapacity { original: 459, actual: 300, available: 300 };
        assert_eq!(fit(100, 400, 1024, hot), Fit::Almost, "thermal pressure");
        assert_eq!(fit(1000, 1024, 400, hot), Fit::Yes, "the lower clamp is limited by the upper");
        assert_eq!(fit(399, 1024, 400, hot), Fit::Almost);
    }

    #[test]
    fn kernel_numbers() {
        assert_eq!([Fit::No.raw(), Fit::Almost.raw(), Fit::Yes.raw()], [0, -1, 1]);
    }
}
