//! What the kernel itself does beside a measurement: watchdogs, other schedulers; and how busy
//! the machine is.

use super::tolerant::Tolerant;
use crate::HostError;
use flyball_units::CpuSet;

/// Watchdogs and schedulers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelWork {
    /// Whether the hard-lockup detector (NMI watchdog) is on.
    pub nmi_watchdog: Option<bool>,
    /// Whether the soft-lockup detector is on.
    pub soft_watchdog: Option<bool>,
    /// Seconds after which a watchdog barks; it looks every 2/5 of that.
    pub watchdog_threshold_s: Option<u64>,
    /// CPUs that are watched.
    pub watchdog_cpus: Option<CpuSet>,
    /// Whether memory is moved between nodes behind programs' backs.
    pub numa_balancing: Option<bool>,
    /// `enabled` while a scheduler loaded from BPF (sched_ext) runs.
    pub extension_state: Option<String>,
    /// Name of that scheduler.
    pub extension_name: Option<String>,
}

pub(super) fn kernel_work(files: &Tolerant<'_>) -> KernelWork {
    let setting = |name: &str| format!("/proc/sys/kernel/{name}");
    KernelWork {
        nmi_watchdog: files.flag(&setting("nmi_watchdog")),
        soft_watchdog: files.flag(&setting("soft_watchdog")),
        watchdog_threshold_s: files.number(&setting("watchdog_thresh")),
        watchdog_cpus: files.cpus(&setting("watchdog_cpumask")),
        // 0 off, 1 balancing, 2 tiering.
        numa_balancing: files.number::<u32>(&setting("numa_balancing")).map(|mode| mode != 0),
        extension_state: files.name("/sys/kernel/sched_ext/state"),
        extension_name: files.name("/sys/kernel/sched_ext/root/ops"),
    }
}

/// The first number of `/proc/loadavg`, in thousandths.
pub(super) fn load_permille(files: &Tolerant<'_>) -> Option<u64> {
    const PATH: &str = "/proc/loadavg";
    let text = files.name(PATH)?;
    let load = text.split_whitespace().next().and_then(|load| load.parse::<f64>().ok());
    if load.is_none_or(|load| !load.is_finite() || load < 0.0) {
        files.keep(HostError::malformed(PATH, "a load average", &text));
        return None;
    }
    load.map(|load| (load * 1e3).round() as u64)
}
