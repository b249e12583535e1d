//! What the signal kernels cost on each kind of core: cycles, which take less time at a higher
//! frequency, and time for memory, which does not.
//!
//! ```text
//! t(f) = cycles / f + memory
//! ```
//!
//! Built in are the costs that CORTEX's data give ([`flyball_sim::workload::kernels`]); a run
//! on a real machine gives others ([`CostTable::measured`]).

mod measured;

pub use flyball_sim::workload::kernels::{Cost, Point, fit};

use flyball_platform::{Cpu, Platform};
use flyball_sim::behavior::Work;
use flyball_sim::workload::kernels::{COSTS, REFERENCE_CORE};
use flyball_units::Nanos;

/// Samples (window x channels) of the windows that the built-in costs were measured on.
const BUILT_IN_SAMPLES: f64 = 160.0 * 64.0;

/// Platforms whose cores the built-in costs were measured on.
const MEASURED_PLATFORM: &str = "apple-m1";

/// Costs of kernels on kinds of cores.
#[derive(Clone, Debug, PartialEq)]
pub struct CostTable {
    rows: Vec<Row>,
    /// Where they come from, for the run's notes.
    pub source: String,
    /// Beginning of the names of the platforms with the cores that were measured; any where None.
    platform: Option<&'static str>,
    /// Whether the kernels' parameters other than window and channels were the defaults.
    defaults_only: bool,
}

/// One kernel on one kind of core.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    kernel: String,
    /// None where the machine has one kind only.
    core_type: Option<String>,
    /// Samples per window that were measured.
    samples: f64,
    cost: Cost,
}

/// A kernel's cost on one CPU of a platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuCost {
    /// In cycles of the platform's reference kind of core, as the simulation counts.
    pub work: Work,
    /// Whether this kind of core was measured; otherwise another kind's cost was carried over by
    /// the platform's work per cycle.
    pub measured: bool,
    /// Largest misfit of the two-parameter cost to the measured times, as a fraction.
    pub residual: f64,
}

impl CostTable {
    /// Costs from the modes of CORTEX's data, on the Apple M1.
    pub fn built_in() -> CostTable {
        let rows = COSTS.iter().filter_map(|cost| {
            Some(Row {
                kernel: cost.kernel.to_owned(),
                core_type: Some(cost.core_type.to_owned()),
                samples: BUILT_IN_SAMPLES,
                cost: cost.cost()?,
            })
        });
        CostTable {
            rows: rows.collect(),
            source: "modes of CORTEX's execution times on an Apple M1 at the lowest and highest \
                     frequency of each kind of core"
                .to_owned(),
            platform: Some(MEASURED_PLATFORM),
            defaults_only: true,
        }
    }

    /// The kernels that have a cost.
    pub fn kernels(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.kernel.as_str()) {
                names.push(&row.kernel);
            }
        }
        names
    }

    /// Whether only the default parameters of a kernel have a known cost.
    pub fn defaults_only(&self) -> bool {
        self.defaults_only
    }

    /// The cost of `kernel` on each kind of core that was measured.
    pub fn of(&self, kernel: &str) -> impl Iterator<Item = (Option<&str>, Cost)> {
        let rows = self.rows.iter().filter(move |row| row.kernel == kernel);
        rows.map(|row| (row.core_type.as_deref(), row.cost))
    }

    /// The cost of windows of `samples` samples on each CPU of `platform`, in their order; None
    /// where nobody measured the kernel. Costs are taken as proportional to the samples.
    pub fn on(&self, kernel: &str, samples: f64, platform: &Platform) -> Option<Vec<CpuCost>> {
        platform.cpus.iter().map(|cpu| self.on_cpu(kernel, samples, platform, cpu)).collect()
    }

    fn on_cpu(
        &self,
        kernel: &str,
        samples: f64,
        platform: &Platform,
        cpu: &Cpu,
    ) -> Option<CpuCost> {
        let rows = || self.rows.iter().filter(|row| row.kernel == kernel);
        let same = self.platform.is_none_or(|name| platform.name.starts_with(name));
        let own = rows().find(|row| same && row.core_type.as_deref() == Some(&cpu.core_type));
        let other = || {
            let reference =
                rows().find(|row| row.core_type.as_deref().is_none_or(|t| t == REFERENCE_CORE));
            reference.or_else(|| rows().next())
        };
        let row = own.or_else(other)?;
        let scale = samples / row.samples;
        // The engine divides by the CPU's work per cycle: own cycles are multiplied by it first.
        let cycles =
            if own.is_some() { row.cost.cycles * cpu.work_per_cycle } else { row.cost.cycles };
        Some(CpuCost {
            work: Work {
                cycles: (cycles * scale).round() as u64,
                memory: Nanos((row.cost.memory_ns * scale).round() as u64),
            },
            measured: own.is_some(),
            residual: row.cost.residual,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_costs_give_the_modes_back() {
        let table = CostTable::built_in();
        for cost in COSTS {
            let found = table.of(cost.kernel).find(|(core, _)| *core == Some(cost.core_type));
            let (_, fitted) = found.unwrap();
            for (khz, time) in [cost.low, cost.high] {
                let model = fitted.time_ns(khz.0 as f64);
                let error = (model / time.0 as f64 - 1.0).abs();
                assert!(error <= fitted.residual + 1e-12, "{} {}", cost.kernel, cost.core_type);
                assert!(error < 0.002, "{} on {}: {error}", cost.kernel, cost.core_type);
            }
        }
        assert_eq!(table.kernels(), ["car", "notch_iir", "goertzel", "bandpass_fir"]);
    }
}
