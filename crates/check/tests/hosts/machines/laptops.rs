//! Laptops, as people have them.

use super::{CPU, Listing, SINGLES};

/// A laptop of 2018: 4 cores, SMT, intel_pstate active with HWP, as it comes from the shop.
pub fn intel_laptop() -> Listing {
    Listing::new(8, 2)
        .processor("GenuineIntel", 6, 142, "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz")
        .kernel("6.1.0-28-amd64")
        .policies(
            SINGLES,
            &[
                ("scaling_driver", "intel_pstate"),
                ("scaling_governor", "powersave"),
                ("scaling_available_governors", "performance powersave"),
                ("cpuinfo_min_freq", "400000"),
                ("cpuinfo_max_freq", "4200000"),
                ("scaling_min_freq", "400000"),
                ("scaling_max_freq", "4200000"),
                ("cpuinfo_transition_latency", "0"),
                ("scaling_setspeed", "<unsupported>"),
                ("base_frequency", "2100000"),
                ("energy_performance_preference", "balance_performance"),
                (
                    "energy_performance_available_preferences",
                    "default performance balance_performance balance_power power",
                ),
            ],
        )
        .files(
            format!("{CPU}/intel_pstate"),
            &[
                ("status", "active"),
                ("no_turbo", "0"),
                ("max_perf_pct", "100"),
                ("min_perf_pct", "9"),
                ("hwp_dynamic_boost", "0"),
            ],
        )
        .per_cpu(8, "power/energy_perf_bias", 6)
        .per_cpu(8, "thermal_throttle/core_throttle_count", 0)
        .per_cpu(8, "thermal_throttle/package_throttle_count", 217)
        .per_cpu(8, "thermal_throttle/package_throttle_max_time_ms", 92)
        .idle(
            8,
            "intel_idle",
            "menu",
            &[
                ("POLL", 0, 0),
                ("C1", 2, 2),
                ("C1E", 10, 20),
                ("C3", 70, 100),
                ("C6", 85, 200),
                ("C7s", 124, 800),
                ("C8", 200, 800),
                ("C9", 480, 5000),
                ("C10", 890, 5000),
            ],
        )
        .files(
            "/sys/class/thermal/thermal_zone0",
            &[
                ("type", "x86_pkg_temp"),
                ("temp", "51000"),
                ("trip_point_0_type", "passive"),
                ("trip_point_0_temp", "0"),
                ("trip_point_1_type", "critical"),
                ("trip_point_1_temp", "100000"),
            ],
        )
        .files("/sys/class/thermal/cooling_device0", &[("type", "Processor"), ("cur_state", "0")])
        .files(
            "/sys/class/thermal/cooling_device8",
            &[("type", "intel_powerclamp"), ("cur_state", "-1")],
        )
        .files(
            "/sys/class/powercap/intel-rapl:0",
            &[
                ("name", "package-0"),
                ("enabled", "1"),
                ("constraint_0_name", "long_term"),
                ("constraint_0_power_limit_uw", "15000000"),
                ("constraint_0_max_power_uw", "25000000"),
                ("constraint_0_time_window_us", "27983872"),
                ("constraint_1_name", "short_term"),
                ("constraint_1_power_limit_uw", "44000000"),
                ("constraint_1_max_power_uw", "0"),
            ],
        )
        .files("/sys/class/power_supply/AC", &[("type", "Mains"), ("online", "1")])
        .file("/sys/firmware/acpi/platform_profile", "balanced")
        .file("/sys/firmware/acpi/platform_profile_choices", "low-power balanced performance")
        .process(801, "thermald")
        .process(802, "power-profiles-")
}

/// A laptop with a Zen 4 processor on battery: amd_pstate active.
pub fn amd_active() -> Listing {
    Listing::new(8, 2)
        .processor("AuthenticAMD", 25, 116, "AMD Ryzen 5 7640U")
        .kernel("6.12.43+deb13-amd64")
        .policies(
            SINGLES,
            &[
                ("scaling_driver", "amd-pstate-epp"),
                ("scaling_governor", "powersave"),
                ("scaling_available_governors", "performance powersave"),
                ("cpuinfo_min_freq", "400000"),
                ("cpuinfo_max_freq", "4970000"),
                ("scaling_min_freq", "1100000"),
                ("scaling_max_freq", "4970000"),
                ("cpuinfo_transition_latency", "0"),
                ("scaling_setspeed", "<unsupported>"),
                ("boost", "1"),
                ("energy_performance_preference", "power"),
                (
                    "energy_performance_available_preferences",
                    "default performance balance_performance balance_power power",
                ),
                ("amd_pstate_prefcore_ranking", "196"),
            ],
        )
        .file(format!("{CPU}/cpufreq/boost"), 1)
        .files(format!("{CPU}/amd_pstate"), &[("status", "active"), ("prefcore", "enabled")])
        .idle(
            8,
            "acpi_idle",
            "menu",
            &[("POLL", 0, 0), ("C1", 1, 2), ("C2", 18, 36), ("C3", 350, 700)],
        )
        .files("/sys/class/power_supply/ACAD", &[("type", "Mains"), ("online", "0")])
        .file("/sys/firmware/acpi/platform_profile", "low-power")
        .file("/sys/firmware/acpi/platform_profile_choices", "low-power balanced performance")
        .process(901, "tuned")
        .process(902, "tuned-ppd")
}

/// A laptop with two kinds of core, looked after by auto-cpufreq.
pub fn hybrid() -> Listing {
    let common: &[(&str, &str)] = &[
        ("scaling_driver", "intel_pstate"),
        ("scaling_governor", "performance"),
        ("scaling_available_governors", "performance powersave"),
        ("cpuinfo_min_freq", "400000"),
        ("scaling_min_freq", "400000"),
        ("cpuinfo_transition_latency", "0"),
        ("scaling_setspeed", "<unsupported>"),
        ("energy_performance_preference", "performance"),
        ("energy_performance_available_preferences", "performance"),
    ];
    let with = |khz: &'static str| {
        let mut files = common.to_vec();
        files.extend([("cpuinfo_max_freq", khz), ("scaling_max_freq", khz)]);
        files
    };
    Listing::new(8, 1)
        .processor("GenuineIntel", 6, 154, "12th Gen Intel(R) Core(TM) i5-1235U")
        .kernel("6.12.43+deb13-amd64")
        .file("/sys/devices/cpu_core/cpus", "0-3")
        .file("/sys/devices/cpu_atom/cpus", "4-7")
        .policies(&[&[0], &[1], &[2], &[3]], &with("4400000"))
        .policies(&[&[4], &[5], &[6], &[7]], &with("3300000"))
        .files(
            format!("{CPU}/intel_pstate"),
            &[
                ("status", "active"),
                ("no_turbo", "0"),
                ("max_perf_pct", "100"),
                ("min_perf_pct", "8"),
            ],
        )
        .per_cpu(8, "power/energy_perf_bias", 0)
        .idle(
            8,
            "intel_idle",
            "teo",
            &[("POLL", 0, 0), ("C1E", 2, 4), ("C6", 170, 500), ("C8", 200, 600), ("C10", 230, 700)],
        )
        .files("/sys/class/thermal/cooling_device3", &[("type", "Processor"), ("cur_state", "2")])
        .files(
            "/sys/class/thermal/thermal_zone3",
            &[
                ("type", "TCPU"),
                ("temp", "97000"),
                ("trip_point_0_type", "passive"),
                ("trip_point_0_temp", "100000"),
            ],
        )
        .process(700, "auto-cpufreq")
        .file("/sys/kernel/sched_ext/state", "enabled")
        .file("/sys/kernel/sched_ext/root/ops", "lavd_1.0.16")
}
