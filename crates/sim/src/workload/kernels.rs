//! What the signal kernels cost on each kind of core.
//!
//! Source: modes of the execution times in CORTEX's Linux data (Apple M1; windows of 160 samples
//! by 64 channels): each kernel ran on both kinds of core at the lowest and at the highest
//! frequency. Two times at two frequencies give cycles and time for memory of
//! `t = cycles / f + memory` ([`fit`]), neither of them negative.
//!
//! These are the only built-in costs; experiments on a model take theirs from here as well.

mod fit;

pub use fit::{Cost, Point, fit};

use crate::behavior::Work;
use flyball_units::{KiloHertz, Nanos};

/// Measured costs of one kernel on one kind of core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelCost {
    /// The kernel.
    pub kernel: &'static str,
    /// Kind of core, as the platforms name it.
    pub core_type: &'static str,
    /// Lowest frequency, and the time there.
    pub low: (KiloHertz, Nanos),
    /// Highest frequency, and the time there.
    pub high: (KiloHertz, Nanos),
}

/// The names of the kernels with a measured cost.
pub const KERNELS: &[&str] = &["car", "notch_iir", "goertzel", "bandpass_fir"];

/// Every measured cost. The E core's cycles are its own, not the P core's.
pub const COSTS: &[KernelCost] = &[
    p("car", 68_300, 13_400),
    p("notch_iir", 164_100, 33_300),
    p("goertzel", 904_800, 169_200),
    p("bandpass_fir", 7_459_000, 1_428_000),
    e("car", 97_000, 28_300),
    e("notch_iir", 199_100, 60_300),
    e("goertzel", 1_704_800, 497_100),
    e("bandpass_fir", 10_243_000, 2_973_000),
];

const fn p(kernel: &'static str, low_ns: u64, high_ns: u64) -> KernelCost {
    let low = (KiloHertz(600_000), Nanos(low_ns));
    KernelCost { kernel, core_type: "P", low, high: (KiloHertz(3_204_000), Nanos(high_ns)) }
}

const fn e(kernel: &'static str, low_ns: u64, high_ns: u64) -> KernelCost {
    let low = (KiloHertz(600_000), Nanos(low_ns));
    KernelCost { kernel, core_type: "E", low, high: (KiloHertz(2_064_000), Nanos(high_ns)) }
}

/// Kind of core whose cost is taken for kinds that were not measured.
pub const REFERENCE_CORE: &str = "P";

impl KernelCost {
    /// Cycles of this kind of core, and time for memory.
    pub fn cost(&self) -> Option<Cost> {
        let point =
            |(khz, time): (KiloHertz, Nanos)| Point { khz: khz.0 as f64, ns: time.0 as f64 };
        fit(&[point(self.low), point(self.high)])
    }

    /// The same as work, with `cycles_per_cycle` reference cycles in one of this kind of core.
    fn work(&self, cycles_per_cycle: f64) -> Option<Work> {
        let cost = self.cost()?;
        Some(Work {
            cycles: (cost.cycles * cycles_per_cycle).round() as u64,
            memory: Nanos(cost.memory_ns.round() as u64),
        })
    }
}

/// The cost of a kernel, in cycles of the reference kind of core.
///
/// `pinned_to` is the one kind of core that the task may run on, with its work per cycle. Measured
/// costs of that kind are then exact. A task that may run on several kinds, or on a kind that
/// was not measured, has the P core's cost, and the platform's work per cycle decides the rest.
pub fn cost(kernel: &str, pinned_to: Option<(&str, f64)>) -> Option<Work> {
    let of = |core_type: &str| {
        COSTS.iter().find(|cost| cost.kernel == kernel && cost.core_type == core_type)
    };
    if let Some((core_type, work_per_cycle)) = pinned_to
        && let Some(own) = of(core_type)
    {
        return own.work(work_per_cycle);
    }
    of(REFERENCE_CORE)?.work(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_give_the_measured_times_back() {
        for cost in COSTS {
            let work = cost.work(1.0).unwrap();
            for (frequency, measured) in [cost.low, cost.high] {
                let time = work.cycles as f64 * 1e6 / frequency.0 as f64 + work.memory.0 as f64;
                let error = time / measured.0 as f64 - 1.0;
                assert!(error.abs() < 0.01, "{} {}: {error}", cost.kernel, cost.core_type);
            }
        }
    }

    #[test]
    fn a_pinned_task_has_its_own_core_s_cost() {
        let e_core = cost("goertzel", Some(("E", 0.7))).unwrap();
        let p_core = cost("goertzel", None).unwrap();
        assert!((e_core.cycles as f64 / 0.7) > 1.5 * p_core.cycles as f64);
        assert_eq!(cost("goertzel", Some(("A53", 0.3))), Some(p_core));
        assert_eq!(cost("fft", None), None);
    }
}
