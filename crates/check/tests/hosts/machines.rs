//! The machines.

mod laptops;

use super::{CPU, Listing};
pub use laptops::{amd_active, hybrid, intel_laptop};

/// Every machine with its name.
pub fn all() -> Vec<(&'static str, Listing)> {
    vec![
        ("board-x86", board_x86()),
        ("board-aarch64", board_aarch64()),
        ("intel-laptop", intel_laptop()),
        ("amd-active", amd_active()),
        ("amd-guided", amd_guided()),
        ("hybrid", hybrid()),
        ("server", server()),
        ("guest", guest()),
        ("arm-eternal", arm_eternal()),
        ("no-driver", no_driver()),
        ("quiet", quiet()),
    ]
}

/// Recorded on the virtual board: 4 CPUs, acpi-cpufreq, Debian's 6.12.
pub fn board_x86() -> Listing {
    Listing(include_str!("board-x86.txt").to_owned())
}

/// Recorded on the virtual board: 2 little and 2 big CPUs, Debian's 7.
pub fn board_aarch64() -> Listing {
    Listing(include_str!("board-aarch64.txt").to_owned())
}

const SINGLES: &[&[u32]] = &[&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7]];

/// A desktop with a Zen 3 processor: amd_pstate guided, and a cap that a benchmark tool left behind.
pub fn amd_guided() -> Listing {
    Listing::new(8, 1)
        .processor("AuthenticAMD", 25, 33, "AMD Ryzen 7 5800X 8-Core Processor")
        .kernel("6.8.0-41-generic")
        .policies(
            SINGLES,
            &[
                ("scaling_driver", "amd-pstate"),
                ("scaling_governor", "schedutil"),
                (
                    "scaling_available_governors",
                    "conservative ondemand userspace powersave performance schedutil",
                ),
                ("cpuinfo_min_freq", "550000"),
                ("cpuinfo_max_freq", "4850000"),
                ("scaling_min_freq", "550000"),
                ("scaling_max_freq", "3500000"),
                ("cpuinfo_transition_latency", "20000"),
                ("scaling_setspeed", "<unsupported>"),
                ("schedutil/rate_limit_us", "10000"),
            ],
        )
        .file(format!("{CPU}/amd_pstate/status"), "guided")
        .idle(8, "acpi_idle", "menu", &[("POLL", 0, 0), ("C1", 1, 2), ("C2", 18, 36)])
}

/// A server with two sockets: acpi-cpufreq, ondemand, two CPUs set apart but not well.
pub fn server() -> Listing {
    let mut listing = Listing::new(8, 1)
        .processor("GenuineIntel", 6, 63, "Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz")
        .kernel("5.14.0-503.el9.x86_64")
        .policies(
            SINGLES,
            &[
                ("scaling_driver", "acpi-cpufreq"),
                ("scaling_governor", "ondemand"),
                (
                    "scaling_available_governors",
                    "conservative ondemand userspace powersave performance schedutil",
                ),
                ("scaling_available_frequencies", "2601000 2600000 2000000 1600000 1200000"),
                ("cpuinfo_min_freq", "1200000"),
                ("cpuinfo_max_freq", "2601000"),
                ("scaling_min_freq", "1200000"),
                ("scaling_max_freq", "2601000"),
                ("cpuinfo_transition_latency", "10000"),
                ("scaling_setspeed", "<unsupported>"),
                ("bios_limit", "2000000"),
            ],
        )
        .files(
            format!("{CPU}/cpufreq/ondemand"),
            &[
                ("sampling_rate", "10000"),
                ("up_threshold", "95"),
                ("sampling_down_factor", "1"),
                ("powersave_bias", "0"),
                ("io_is_busy", "1"),
                ("ignore_nice_load", "0"),
            ],
        )
        .file(format!("{CPU}/cpufreq/boost"), 0)
        .per_cpu(8, "power/energy_perf_bias", 6)
        .per_cpu(8, "thermal_throttle/core_throttle_count", 0)
        .per_cpu(8, "thermal_throttle/package_throttle_count", 0)
        .idle(
            8,
            "intel_idle",
            "ladder",
            &[("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20), ("C3", 33, 100), ("C6", 133, 400)],
        )
        .but("/isolated = ", "/isolated = 6-7")
        .but("always [madvise] never", "[always] madvise never")
        .but("numa_balancing = 0", "numa_balancing = 1")
        .but("current_clocksource = tsc", "current_clocksource = hpet")
        .but("SwapTotal: 0 kB", "SwapTotal: 8000000 kB")
        .file("/proc/meminfo", "SwapFree: 7000000 kB")
        .file("/sys/devices/system/node/node0/cpulist", "0-3")
        .file("/sys/devices/system/node/node1/cpulist", "4-7")
        .file("/proc/cmdline", "root=/dev/sda1 intel_pstate=disable isolcpus=6-7")
        .file("/proc/interrupts", "CPU0 CPU1 CPU2 CPU3 CPU4 CPU5 CPU6 CPU7")
        .file("/proc/interrupts", " 0: 22 0 0 0 0 0 0 0 IO-APIC 2-edge timer")
        .file("/proc/interrupts", " 64: 0 0 0 0 0 0 9124 0 PCI-MSI 1-edge eth0-TxRx-6")
        .file("/proc/interrupts", " 71: 0 0 0 0 0 0 0 0 PCI-MSI 8-edge nvme0q8")
        .file("/proc/irq/0/smp_affinity_list", "0-7")
        .file("/proc/irq/0/effective_affinity_list", "0")
        .file("/proc/irq/64/smp_affinity_list", "6")
        .file("/proc/irq/64/effective_affinity_list", "6")
        .file("/proc/irq/71/effective_affinity_list", "7")
        .process(600, "irqbalance");
    for cpu in 0..8 {
        let package = format!("{CPU}/cpu{cpu}/topology/physical_package_id");
        listing = listing.but(&format!("{package} = 0"), &format!("{package} = {}", cpu / 4));
    }
    listing
}

/// A busy guest of KVM without cpufreq, robbed now and then.
pub fn guest() -> Listing {
    Listing::new(2, 1)
        .processor("GenuineIntel", 6, 106, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz")
        .but("fpu tsc aperfmperf", "fpu tsc hypervisor")
        .kernel("6.1.0-28-cloud-amd64")
        .but("current_clocksource = tsc", "current_clocksource = kvm-clock")
        .but("available_clocksource = tsc hpet acpi_pm", "available_clocksource = kvm-clock tsc")
        .but("nmi_watchdog = 1", "nmi_watchdog = 0")
        .but("/proc/loadavg = 0.10", "/proc/loadavg = 1.90")
        .but("cpu0 1000 0 1000 98000 0 0 0 0", "cpu0 1000 0 1000 93000 0 0 0 5000")
        .file("/sys/class/dmi/id/sys_vendor", "Amazon EC2")
        .idle(2, "haltpoll", "haltpoll", &[("POLL", 0, 0), ("haltpoll idle", 1, 1)])
}

/// A small Arm board: cpufreq-dt declares an eternal latency, schedutil since 6.12 believes it.
pub fn arm_eternal() -> Listing {
    Listing::new(4, 1)
        .kernel("6.12.20-v8")
        .but(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource = tsc",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource = arch_sys_counter",
        )
        .but("available_clocksource = tsc hpet acpi_pm", "available_clocksource = arch_sys_counter")
        .but("nmi_watchdog = 1", "nmi_watchdog = 0")
        .file("/proc/device-tree/model", "A board with four A72")
        .policies(
            &[&[0, 1, 2, 3]],
            &[
                ("scaling_driver", "cpufreq-dt"),
                ("scaling_governor", "schedutil"),
                (
                    "scaling_available_governors",
                    "conservative ondemand userspace powersave performance schedutil",
                ),
                ("scaling_available_frequencies", "600000 1000000 1500000 1800000"),
                ("cpuinfo_min_freq", "600000"),
                ("cpuinfo_max_freq", "1800000"),
                ("scaling_min_freq", "600000"),
                ("scaling_max_freq", "1800000"),
                ("cpuinfo_transition_latency", "4294967295"),
                ("scaling_setspeed", "<unsupported>"),
                ("schedutil/rate_limit_us", "6442450"),
            ],
        )
        .idle(4, "psci_idle", "menu", &[("WFI", 1, 1), ("cpu-sleep", 400, 1000)])
        .process(1200, "rtaudio")
        .file("/etc/systemd/system/multi-user.target.wants/cpufrequtils.service", "")
        .but("/proc/1200/fd/0 = ", "/proc/1200/fd/7 -> /dev/cpu_dma_latency")
}

/// A desktop whose firmware shows no P-states.
pub fn no_driver() -> Listing {
    Listing::new(4, 1)
        .processor("GenuineIntel", 6, 60, "Intel(R) Core(TM) i5-4590 CPU @ 3.30GHz")
        .kernel("6.1.0-28-amd64")
        .per_cpu(4, "power/pm_qos_resume_latency_us", 0)
        .but("cpu2/power/pm_qos_resume_latency_us = 0", "cpu2/power/pm_qos_resume_latency_us = 20")
        .idle(4, "intel_idle", "menu", &[("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20)])
}

/// A machine set up for measuring: the audit must leave it alone.
pub fn quiet() -> Listing {
    let mut listing = Listing::new(4, 1)
        .processor("GenuineIntel", 6, 85, "Intel(R) Xeon(R) W-2123 CPU @ 3.60GHz")
        .kernel("6.1.0-28-rt-amd64")
        .but("smt/control = notsupported", "smt/control = off")
        .but("nmi_watchdog = 1", "nmi_watchdog = 0")
        .but("soft_watchdog = 1", "soft_watchdog = 0")
        .but("sched_rt_runtime_us = 950000", "sched_rt_runtime_us = -1")
        .but("/isolated = ", "/isolated = 3")
        .file(format!("{CPU}/nohz_full"), 3)
        .policies(
            &[&[0], &[1], &[2], &[3]],
            &[
                ("scaling_driver", "intel_pstate"),
                ("scaling_governor", "performance"),
                ("scaling_available_governors", "performance powersave"),
                ("cpuinfo_min_freq", "1200000"),
                ("cpuinfo_max_freq", "3600000"),
                ("scaling_min_freq", "3600000"),
                ("scaling_max_freq", "3600000"),
                ("cpuinfo_transition_latency", "0"),
                ("scaling_setspeed", "<unsupported>"),
                ("energy_performance_preference", "performance"),
            ],
        )
        .files(
            format!("{CPU}/intel_pstate"),
            &[
                ("status", "active"),
                ("no_turbo", "1"),
                ("max_perf_pct", "100"),
                ("min_perf_pct", "100"),
            ],
        )
        .per_cpu(4, "power/energy_perf_bias", 0)
        .per_cpu(4, "thermal_throttle/core_throttle_count", 0)
        .idle(4, "intel_idle", "menu", &[("POLL", 0, 0), ("C1", 2, 2), ("C6", 133, 600)])
        .file("/proc/interrupts", "CPU0 CPU1 CPU2 CPU3")
        .file("/proc/interrupts", " 64: 9 0 0 0 PCI-MSI 1-edge eth0")
        .file("/proc/irq/64/effective_affinity_list", "0");
    for cpu in 0..4 {
        let state = format!("{CPU}/cpu{cpu}/cpuidle/state2/disable");
        listing = listing.but(&format!("{state} = 0"), &format!("{state} = 1"));
    }
    listing
}
