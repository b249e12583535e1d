//! What surrounds a measurement: read whole, recorded faithfully, and tolerant of nonsense.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use flyball_host::{
    Errno, FaultyHost, Host, KernelWork, RealHost, RecordedHost, Surroundings, Topology, snapshot,
};
use flyball_units::{CpuId, CpuSet, KiloHertz};
use std::sync::Arc;

const LISTING: &str = "
/sys/devices/system/cpu/online = 0-1
/sys/devices/system/cpu/cpufreq/policy0/related_cpus = 0 1
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor = schedutil
/sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed = <unsupported>
/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_transition_latency = 4294967295
/sys/devices/system/cpu/cpufreq/policy0/bios_limit = 2400000
/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us = 6442450
/sys/devices/system/cpu/cpu0/power/energy_perf_bias = 6
/sys/devices/system/cpu/cpu1/power/energy_perf_bias = 6
/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us = 0
/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us = n/a
/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count = 3
/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count = 12
/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_max_time_ms = 80
/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count = 0
/sys/class/thermal/thermal_zone0/type = x86_pkg_temp
/sys/class/thermal/thermal_zone0/temp = 88000
/sys/class/thermal/thermal_zone0/trip_point_0_type = critical
/sys/class/thermal/thermal_zone0/trip_point_0_temp = 105000
/sys/class/thermal/thermal_zone0/trip_point_1_type = passive
/sys/class/thermal/thermal_zone0/trip_point_1_temp = 90000
/sys/class/thermal/thermal_zone1/type = iwlwifi_1
/sys/class/thermal/thermal_zone1/temp ! ENODATA
/sys/class/thermal/cooling_device0/type = Processor
/sys/class/thermal/cooling_device0/cur_state = 2
/sys/class/powercap/intel-rapl:0/name = package-0
/sys/class/powercap/intel-rapl:0/enabled = 1
/sys/class/powercap/intel-rapl:0/constraint_0_name = long_term
/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw = 15000000
/sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw = 28000000
/sys/class/power_supply/AC/type = Mains
/sys/class/power_supply/AC/online = 0
/sys/firmware/acpi/platform_profile = low-power
/sys/firmware/acpi/platform_profile_choices = low-power balanced performance
/sys/kernel/mm/transparent_hugepage/enabled = always [madvise] never
/sys/kernel/sched_ext/state = enabled
/sys/kernel/sched_ext/root/ops = lavd_1.0
/proc/meminfo = MemTotal: 1000 kB
/proc/meminfo = SwapTotal: 500 kB
/proc/meminfo = SwapFree: 400 kB
/proc/loadavg = 1.25 0.7 0.3 2/300 4711
/proc/interrupts = CPU0 CPU1
/proc/interrupts =  45: 0 99 PCI-MSI 3-edge nvme0q1
/proc/irq/45/smp_affinity_list = 0-1
/proc/irq/45/effective_affinity_list = 1
/proc/irq/2/smp_affinity_list = 0-1
/proc/interrupts =  27: 500 600 GICv3 27 Level arch_timer
/proc/irq/27/smp_affinity_list = 0-1
/proc/irq/27/effective_affinity_list =
/proc/irq/default_smp_affinity = 3
/proc/sys/kernel/nmi_watchdog = 1
/proc/sys/kernel/soft_watchdog = 1
/proc/sys/kernel/watchdog_thresh = 10
/proc/sys/kernel/watchdog_cpumask = 0-1
/proc/1/comm = systemd
/proc/1/fd ! EACCES
/proc/77/comm = auto-cpufreq
/proc/78/comm = cyclictest
/proc/78/fd/4 -> /dev/cpu_dma_latency
/etc/systemd/system/multi-user.target.wants/tlp.service -> /usr/lib/systemd/system/tlp.service
/etc/systemd/system/multi-user.target.wants/cron.service -> /usr/lib/systemd/system/cron.service
";

fn read(host: &dyn Host) -> Surroundings {
    Surroundings::read(host, &Topology::discover(host).unwrap().online)
}

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn everything_is_read() {
    let found = read(&RecordedHost::from_listing(LISTING).unwrap());
    assert_eq!(found.malformed, []);
    assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
    let policy = &found.policies[0];
    assert_eq!(policy.declared_latency_ns, Some(4_294_967_295));
    assert_eq!(policy.firmware_khz, Some(KiloHertz(2_400_000)));
    assert_eq!(policy.set_speed_khz, None);
    assert_eq!(policy.tunables["rate_limit_us"], 6_442_450);
    assert_eq!(policy.tunables_path, "/sys/devices/system/cpu/cpufreq/schedutil");
    assert_eq!((found.energy_bias.len(), found.energy_bias[0].bias), (1, 6));
    assert_eq!(found.energy_bias[0].cpus, cpus("0-1"));
    assert_eq!(found.latency_bounds.len(), 1);
    assert_eq!((found.latency_bounds[0].cpu, found.latency_bounds[0].limit_us), (CpuId(1), 0));
    let throttled = found.throttled.unwrap();
    assert_eq!(throttled.len(), 1);
    assert_eq!((throttled[0].package, throttled[0].longest_ms), (12, Some(80)));
    assert_eq!(found.zones.len(), 1, "a sleeping zone is no zone");
    assert_eq!(found.zones[0].trip.as_ref().unwrap().millicelsius, 90_000);
    assert!(found.cooling[0].slows_cpus() && found.cooling[0].state == 2);
    assert_eq!(found.power_limits[0].highest_uw, Some(28_000_000));
    assert_eq!(found.supply.mains.as_ref().map(|(_, online)| *online), Some(false));
    assert_eq!(found.supply.profiles.len(), 3);
    assert_eq!(found.memory.huge_pages.as_deref(), Some("madvise"));
    assert_eq!(found.memory.swap_used_bytes, Some(102_400));
    assert_eq!(found.load_permille, Some(1_250));
    assert_eq!(found.interrupts.len(), 1);
    assert_eq!(found.interrupts[0].cpus, cpus("1"));
    assert_eq!(found.interrupts[0].counts, [(CpuId(1), 99)]);
    assert_eq!(found.kernel.watchdog_cpus, Some(cpus("0-1")));
    assert_eq!(found.kernel.extension_name.as_deref(), Some("lavd_1.0"));
    assert_eq!(found.processes[0].name, "auto-cpufreq");
    assert_eq!(found.services, ["tlp.service"]);
    assert_eq!(found.holders.found[0].0.name, "cyclictest");
    assert_eq!(found.holders.found[0].1, "/proc/78/fd/4");
    assert_eq!(found.holders.hidden, 1);
}

#[test]
fn a_recording_holds_all_of_it_and_no_other_process() {
    let host = RecordedHost::from_listing(LISTING).unwrap();
    let folder = tempfile::tempdir().unwrap();
    snapshot::capture(&host, folder.path()).unwrap();
    let recorded = RecordedHost::open(folder.path()).unwrap();
    assert_eq!(read(&recorded), read(&host));
    let names = recorded.list("/proc".as_ref()).unwrap();
    assert!(recorded.read("/proc/1/comm".as_ref()).is_err(), "{names:?}");
    let links = &recorded.manifest().links;
    assert!(!links.keys().any(|link| link.contains("cron")), "{links:?}");
}

#[test]
fn nonsense_and_refusals_are_remembered_and_the_rest_stands() {
    let odd = LISTING
        .replace("nmi_watchdog = 1", "nmi_watchdog = maybe")
        .replace("loadavg = 1.25", "loadavg = much")
        .replace("core_throttle_count = 3", "core_throttle_count = many");
    let inner: Arc<dyn Host> = Arc::new(RecordedHost::from_listing(&odd).unwrap());
    let faults = "read:/proc/sys/kernel/watchdog_thresh=EACCES,list:/sys/class/powercap=EIO";
    let found = read(&FaultyHost::parse(inner, faults).unwrap());
    let texts: Vec<String> = found.malformed.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("nmi_watchdog") && text.contains("maybe")));
    assert_eq!(found.unreadable["/proc/sys/kernel/watchdog_thresh"], Errno::EACCES);
    assert_eq!(found.unreadable["/sys/class/powercap"], Errno::EIO);
    assert_eq!(found.kernel.soft_watchdog, Some(true));
}

#[test]
fn a_machine_without_any_of_it_has_none() {
    let host = RecordedHost::from_listing("/sys/devices/system/cpu/online = 0").unwrap();
    let found = read(&host);
    assert_eq!(found.kernel, KernelWork::default());
    assert!(found.policies.is_empty() && found.unreadable.is_empty() && found.throttled.is_none());
}

#[test]
fn this_machine_can_be_read() {
    let found = read(&RealHost::new());
    assert!(found.load_permille.is_some());
    assert_eq!(found.malformed, [], "the kernel's own files make sense");
}
