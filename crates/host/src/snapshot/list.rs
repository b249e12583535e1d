//! Which files a snapshot holds: patterns, `*` standing for any part of a name.

use crate::{Errno, Host};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The patterns. Everything that [`Topology`](crate::Topology), [`Permissions`](crate::Permissions)
/// and [`Surroundings`](crate::Surroundings) read is among them, but for processes; the rest helps
/// to judge a machine later.
pub(super) const PATTERNS: &[&str] = &[
    // CPUs
    "/sys/devices/system/cpu/{online,offline,possible,present,isolated,nohz_full,kernel_max}",
    "/sys/devices/system/cpu/smt/{active,control}",
    "/sys/devices/system/cpu/vulnerabilities/*",
    "/sys/devices/system/cpu/cpu*/{cpu_capacity,online}",
    "/sys/devices/system/cpu/cpu*/topology/*",
    "/sys/devices/system/cpu/cpu*/cache/index*/{level,type,size,shared_cpu_list}",
    "/sys/devices/system/cpu/cpu*/acpi_cppc/*",
    "/sys/devices/system/cpu/cpu*/microcode/version",
    "/sys/devices/system/cpu/cpu*/regs/identification/*",
    "/sys/devices/system/cpu/cpu*/thermal_throttle/*",
    "/sys/devices/system/cpu/cpu*/power/{energy_perf_bias,pm_qos_resume_latency_us}",
    "/sys/devices/{cpu,cpu_core,cpu_atom,cpu_lowpower}/{cpus,type}",
    "/sys/devices/system/node/{online,possible}",
    "/sys/devices/system/node/node*/{cpulist,distance}",
    // Frequency
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpufreq/*/*",
    "/sys/devices/system/cpu/cpufreq/policy*/{stats,ondemand,conservative,schedutil}/*",
    "/sys/devices/system/cpu/{intel_pstate,amd_pstate}/*",
    "/sys/devices/system/cpu/intel_uncore_frequency/*/*",
    // Idle
    "/sys/devices/system/cpu/cpuidle/*",
    "/sys/devices/system/cpu/cpu*/cpuidle/state*/*",
    "/sys/module/{intel_idle,processor,haltpoll,cpuidle,cpuidle_haltpoll}/parameters/*",
    // Box and hypervisor; no serial numbers
    "/sys/class/dmi/id/{sys_vendor,product_name,product_family,board_vendor,board_name}",
    "/sys/class/dmi/id/{bios_vendor,bios_version,bios_date,chassis_type}",
    "/sys/hypervisor/type",
    "/proc/device-tree/{model,compatible}",
    "/proc/device-tree/hypervisor/compatible",
    // Heat and energy
    "/sys/class/thermal/thermal_zone*/{type,temp,mode,policy,trip_point_*}",
    "/sys/class/thermal/cooling_device*/{type,cur_state,max_state}",
    "/sys/class/hwmon/hwmon*/{name,temp*,energy*,power*}",
    "/sys/class/powercap/*/{name,enabled,energy_uj,max_energy_range_uj,constraint_*}",
    "/sys/class/power_supply/*/{type,scope,status,online,capacity,energy_now,energy_full}",
    "/sys/class/power_supply/*/{power_now,charge_now,charge_full,current_now,voltage_now}",
    "/sys/firmware/acpi/{platform_profile,platform_profile_choices}",
    // Kernel
    "/sys/devices/system/clocksource/clocksource0/{current,available}_clocksource",
    "/sys/kernel/realtime",
    "/sys/kernel/sched_ext/{state,root/ops}",
    "/sys/kernel/mm/transparent_hugepage/{enabled,defrag}",
    "/sys/kernel/mm/ksm/run",
    "/sys/fs/cgroup/{cgroup.controllers,cpu.max,cpu.pressure}",
    "/sys/fs/cgroup/cpu/{cpu.rt_runtime_us,cpu.rt_period_us}",
    "/proc/{cpuinfo,stat,meminfo,loadavg,cmdline,filesystems,schedstat}",
    "/proc/thread-self/status",
    "/proc/self/limits",
    "/proc/pressure/*",
    "/proc/interrupts",
    "/proc/irq/default_smp_affinity",
    "/proc/irq/*/{smp_affinity_list,effective_affinity_list}",
    "/proc/sys/kernel/{osrelease,ostype,version,sched_*,perf_*,timer_migration,nmi_watchdog}",
    "/proc/sys/kernel/{watchdog,watchdog_thresh,watchdog_cpumask,soft_watchdog,numa_balancing}",
    "/proc/sys/kernel/{split_lock_mitigate,unprivileged_bpf_disabled,kptr_restrict,tainted}",
    "/proc/sys/vm/{stat_interval,swappiness,overcommit_memory,nr_hugepages}",
];

/// Parts of names that never go into a snapshot, whatever pattern they match.
const PRIVATE: &[&str] = &["serial", "uuid", "asset_tag", "address", "hostname", "domainname"];

/// The files that the patterns name on this machine, sorted. Folders that refuse to be listed go
/// into `unreadable`.
pub(super) fn expand(
    host: &dyn Host,
    unreadable: &mut BTreeMap<String, Errno>,
) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut lister = Lister { host, lists: BTreeMap::new(), unreadable };
    for pattern in PATTERNS {
        for pattern in alternatives(pattern) {
            let names: Vec<&str> = pattern.split('/').skip(1).collect();
            lister.walk(PathBuf::from("/"), &names, &mut files);
        }
    }
    files
}

/// Lists folders, each once.
struct Lister<'a> {
    host: &'a dyn Host,
    lists: BTreeMap<PathBuf, Vec<String>>,
    unreadable: &'a mut BTreeMap<String, Errno>,
}

impl Lister<'_> {
    /// Adds the files below `folder` that match the names of a pattern.
    fn walk(&mut self, folder: PathBuf, pattern: &[&str], files: &mut BTreeSet<PathBuf>) {
        let Some((name, rest)) = pattern.split_first() else {
            files.insert(folder);
            return;
        };
        if !name.contains('*') {
            self.walk(folder.join(name), rest, files);
            return;
        }
        for found in self.list(&folder) {
            if matches(name, &found) && !is_private(&found) {
                self.walk(folder.join(found), rest, files);
            }
        }
    }

    fn list(&mut self, folder: &Path) -> Vec<String> {
        if let Some(names) = self.lists.get(folder) {
            return names.clone();
        }
        let names = self.host.list(folder).unwrap_or_else(|error| {
            if let Some(errno) = error.errno().filter(|_| !error.is_absent()) {
                self.unreadable.insert(folder.display().to_string(), errno);
            }
            Vec::new()
        });
        self.lists.insert(folder.to_owned(), names.clone());
        names
    }
}

/// Spells out `{a,b}`, any number of times.
fn alternatives(pattern: &str) -> Vec<String> {
    let Some((head, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((choices, tail)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let tails = alternatives(tail);
    let choose = |choice| tails.iter().map(move |tail| format!("{head}{choice}{tail}"));
    choices.split(',').flat_map(choose).collect()
}

/// Whether `name` matches a pattern with any number of `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(index, _)| index).chain([rest.len()]);
            starts.any(|start| matches(tail, &rest[start..]))
        }),
    }
}

/// Whether a name must stay out: a private subject, or a hardware address inside (the batteries of
/// wireless devices are named after theirs).
fn is_private(name: &str) -> bool {
    let pairs = name.split([':', '-']).filter(|part| {
        part.len() == 2 && part.chars().all(|character| character.is_ascii_hexdigit())
    });
    PRIVATE.iter().any(|part| name.contains(part)) || pairs.count() >= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert_eq!(alternatives("a{b,c}d{e,f}"), ["abde", "abdf", "acde", "acdf"]);
        assert!(matches("temp*", "temp1_input"));
        assert!(matches("*", ""));
        assert!(matches("a*b*c", "aXbYc"));
        assert!(!matches("a*b*c", "aXcYb"));
        assert!(is_private("hid-a0:b1:c2:d3:e4:f5-battery"));
        assert!(is_private("serial_number"));
        assert!(!is_private("intel-rapl:0:1"));
    }

    #[test]
    fn no_pattern_names_something_private() {
        for pattern in PATTERNS.iter().flat_map(|pattern| alternatives(pattern)) {
            assert!(!is_private(&pattern), "{pattern}");
        }
    }
}
