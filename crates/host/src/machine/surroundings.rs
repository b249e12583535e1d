//! What surrounds a measurement and may change from one moment to the next: tunables, watchdogs,
//! interrupts, heat, limits of power, programs that meddle. [`Topology`](crate::Topology) holds
//! what stays.

pub(crate) mod clocks;
pub(crate) mod heat;
pub(crate) mod interrupts;
pub(crate) mod kernel_work;
pub(crate) mod memory;
pub(crate) mod power;
pub(crate) mod processes;
pub(crate) mod quota;
mod tolerant;

use crate::{Errno, Host, HostError};
use clocks::{EnergyBias, IntelLimits, LatencyBound, PolicyDetail};
use flyball_units::{CpuId, CpuSet};
use heat::{CoolingDevice, ThermalZone, Throttled};
use interrupts::Interrupt;
use kernel_work::KernelWork;
use memory::Memory;
use power::{PowerLimit, Supply};
use processes::{IdleLatencyHolders, Process};
use quota::CpuQuota;
use std::collections::BTreeMap;
use tolerant::Tolerant;

/// What surrounds a measurement, read once. Every file may be absent, refused or nonsense: what
/// could not be read is in `unreadable`, what made no sense in `malformed`, and the rest stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Per cpufreq policy, what [`Policy`](crate::Policy) leaves out.
    pub policies: Vec<PolicyDetail>,
    /// intel_pstate's own limits; none without it.
    pub intel: Option<IntelLimits>,
    /// Energy-performance bias (EPB), per group of CPUs with the same value.
    pub energy_bias: Vec<EnergyBias>,
    /// Bounds of the idle exit latency set for single CPUs.
    pub latency_bounds: Vec<LatencyBound>,
    /// `smt/control`: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// Interrupts and the CPUs that may get them.
    pub interrupts: Vec<Interrupt>,
    /// Watchdogs and other work of the kernel.
    pub kernel: KernelWork,
    /// Memory management.
    pub memory: Memory,
    /// Thermal zones.
    pub zones: Vec<ThermalZone>,
    /// Cooling devices.
    pub cooling: Vec<CoolingDevice>,
    /// Throttle counters of x86, per CPU that has any above zero; none where nothing counts.
    pub throttled: Option<Vec<Throttled>>,
    /// Limits of power (powercap).
    pub power_limits: Vec<PowerLimit>,
    /// Mains, battery and the firmware's profile.
    pub supply: Supply,
    /// Programs of [`WATCHED`](processes::WATCHED) that run.
    pub processes: Vec<Process>,
    /// System services that set the frequency once at boot, and are enabled.
    pub services: Vec<String>,
    /// Who holds the idle latency down through `/dev/cpu_dma_latency`.
    pub holders: IdleLatencyHolders,
    /// The CPU limit of this program's control group; none without one.
    pub quota: Option<CpuQuota>,
    /// Load average of the last minute, in thousandths of a task.
    pub load_permille: Option<u64>,
    /// What was there and could not be read: path to reason.
    pub unreadable: BTreeMap<String, Errno>,
    /// Files whose content makes no sense.
    pub malformed: Vec<HostError>,
}

impl Surroundings {
    /// Reads it for the CPUs `online`. Takes some milliseconds; walks the open files of all
    /// processes that this one may look into.
    pub fn read(host: &dyn Host, online: &CpuSet) -> Surroundings {
        let files = Tolerant::new(host);
        let cpus: Vec<CpuId> = online.iter().collect();
        Surroundings {
            policies: clocks::policies(&files),
            intel: clocks::intel(&files),
            energy_bias: clocks::energy_bias(&files, &cpus),
            latency_bounds: clocks::latency_bounds(&files, &cpus),
            smt_control: files.name("/sys/devices/system/cpu/smt/control"),
            interrupts: interrupts::interrupts(&files),
            kernel: kernel_work::kernel_work(&files),
            memory: memory::memory(&files),
            zones: heat::zones(&files),
            cooling: heat::cooling(&files),
            throttled: heat::throttled(&files, &cpus),
            power_limits: power::limits(&files),
            supply: power::supply(&files),
            processes: processes::watched(host),
            services: processes::services(host),
            holders: processes::holders(host),
            quota: quota::quota(&files),
            load_permille: kernel_work::load_permille(&files),
            malformed: files.take_malformed(),
            unreadable: files.into_unreadable(),
        }
    }
}
