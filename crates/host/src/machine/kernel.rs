//! The kernel: its release, and the settings that shape measurements.

use super::reader::Reader;
use crate::HostError;
use serde::{Deserialize, Serialize};

/// The kernel and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// `6.12.43-amd64`.
    pub release: Option<String>,
    /// How it was built: `#1 SMP PREEMPT_DYNAMIC ...`.
    pub version: Option<String>,
    /// Whether it is a PREEMPT_RT kernel.
    pub preempt_rt: bool,
    /// The words of its command line that matter to measurements; others (disks, addresses) are
    /// left out.
    pub command_line: Vec<String>,
    /// The clock in use, and those it could use.
    pub clocksource: Option<String>,
    /// Clocks it could use.
    pub available_clocksources: Vec<String>,
    /// CPU time that real-time threads may use per period together, -1 without limit.
    pub rt_runtime_us: Option<i64>,
    /// That period.
    pub rt_period_us: Option<u64>,
    /// Which version of control groups is mounted: 1 and 2 have different rules for real time.
    pub cgroup_version: Option<u32>,
}

impl Kernel {
    /// The share of each period that real-time threads may use together; 1 without limit.
    pub fn rt_share(&self) -> Option<f64> {
        match (self.rt_runtime_us?, self.rt_period_us?) {
            (runtime, _) if runtime < 0 => Some(1.0),
            (_, 0) => None,
            (runtime, period) => Some((runtime as f64 / period as f64).min(1.0)),
        }
    }
}

/// Beginnings of the command-line words that matter to measurements.
pub(crate) const COMMAND_LINE: &[&str] = &[
    "amd_pstate",
    "amd_prefcore",
    "clocksource",
    "cpufreq.",
    "cpuidle",
    "haltpoll.",
    "highres",
    "hugepages",
    "idle=",
    "intel_idle.",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "maxcpus",
    "mce=",
    "mitigations",
    "nmi_watchdog",
    "no_hz",
    "nohz",
    "nosmt",
    "nosoftlockup",
    "notsc",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "preempt",
    "processor.",
    "psi=",
    "rcu_nocb",
    "rcupdate.",
    "rcutree.",
    "relax_domain",
    "sched_",
    "skew_tick",
    "smt",
    "spec_",
    "threadirqs",
    "timer_migration",
    "transparent_hugepage",
    "tsc",
    "workqueue.",
];

/// The words of a command line that matter, in their order.
pub(crate) fn relevant_words(command_line: &str) -> Vec<String> {
    let words = command_line.split_whitespace();
    // The kernel takes - and _ in names for the same.
    let relevant = |word: &&str| {
        let word = word.replace('-', "_");
        COMMAND_LINE.iter().any(|start| word.starts_with(start))
    };
    words.filter(relevant).map(str::to_owned).collect()
}

/// Reads all of it.
pub(crate) fn kernel(reader: &Reader<'_>) -> Result<Kernel, HostError> {
    let setting = |name: &str| format!("/proc/sys/kernel/{name}");
    let clock = |name: &str| format!("/sys/devices/system/clocksource/clocksource0/{name}");
    let version = reader.name(&setting("version"));
    let rt_in_version =
        version.as_ref().is_some_and(|text| text.split_whitespace().any(|w| w == "PREEMPT_RT"));
    Ok(Kernel {
        release: reader.name(&setting("osrelease")),
        preempt_rt: reader.flag("/sys/kernel/realtime")?.unwrap_or(false) || rt_in_version,
        version,
        command_line: relevant_words(&reader.text("/proc/cmdline").unwrap_or_default()),
        clocksource: reader.name(&clock("current_clocksource")),
        available_clocksources: reader.words(&clock("available_clocksource")),
        rt_runtime_us: reader.value(&setting("sched_rt_runtime_us"), "microseconds or -1")?,
        rt_period_us: reader.value(&setting("sched_rt_period_us"), "microseconds")?,
        cgroup_version: cgroup_version(reader),
    })
}

fn cgroup_version(reader: &Reader<'_>) -> Option<u32> {
    if reader.text("/sys/fs/cgroup/cgroup.controllers").is_some() {
        return Some(2);
    }
    let controllers = reader.names("/sys/fs/cgroup");
    controllers.iter().any(|name| name == "cpu" || name == "cpu,cpuacct").then_some(1)
}

/// `MemTotal` in bytes.
pub(crate) fn memory_bytes(reader: &Reader<'_>) -> Result<Option<u64>, HostError> {
    let path = "/proc/meminfo";
    let Some(text) = reader.text(path) else { return Ok(None) };
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    match kilobytes {
        Some(kilobytes) => Ok(Some(kilobytes.saturating_mul(1024))),
        None => Err(HostError::malformed(path, "MemTotal: NUMBER kB", line.unwrap_or(&text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_keeps_no_private_words() {
        let text =
            "root=UUID=1234 ip=10.0.0.7 isolcpus=2-3 nohz_full=2-3 rcu-nocbs=2 quiet host=me";
        assert_eq!(relevant_words(text), ["isolcpus=2-3", "nohz_full=2-3", "rcu-nocbs=2"]);
    }

    #[test]
    fn rt_share_knows_no_limit() {
        let kernel = |runtime, period| Kernel {
            rt_runtime_us: Some(runtime),
            rt_period_us: Some(period),
            ..Kernel::default()
        };
        assert_eq!(kernel(950_000, 1_000_000).rt_share(), Some(0.95));
        assert_eq!(kernel(-1, 1_000_000).rt_share(), Some(1.0));
        assert_eq!(kernel(1, 0).rt_share(), None);
    }
}
