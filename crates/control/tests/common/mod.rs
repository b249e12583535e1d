//! Small machines in the layouts that the kernel's documentation describes, for root.
#![allow(dead_code)] // each test binary uses its own part
#![allow(clippy::unwrap_used)]

use flyball_control::{ControlError, Settings};
use flyball_host::manifest::{Calls, Manifest, Tried};
use flyball_host::{FaultyHost, Host, RecordedHost};
use flyball_units::{Frequency, KiloHertz, Nanos};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub const CPU: &str = "/sys/devices/system/cpu";
pub const STATE: &str = "/var/lib/flyball";

/// A machine with `cpus` clock domains of one CPU each; `files` are those of every policy.
fn layout(cpus: u32, files: &[(&str, &str)]) -> String {
    let mut text = format!("{CPU}/online = 0-{}\n{CPU}/possible = 0-{}\n", cpus - 1, cpus - 1);
    for id in 0..cpus {
        let policy = format!("{CPU}/cpufreq/policy{id}");
        text.push_str(&format!("{policy}/related_cpus = {id}\n{policy}/affected_cpus = {id}\n"));
        for (name, value) in files {
            text.push_str(&format!("{policy}/{name} = {value}\n"));
        }
    }
    text
}

/// acpi-cpufreq: a table of frequencies, every governor, boost as one switch, on.
pub fn acpi(cpus: u32) -> String {
    let files = [
        ("scaling_driver", "acpi-cpufreq"),
        ("scaling_governor", "schedutil"),
        (
            "scaling_available_governors",
            "conservative ondemand userspace powersave performance schedutil",
        ),
        ("cpuinfo_min_freq", "1400000"),
        ("cpuinfo_max_freq", "3600000"),
        ("scaling_min_freq", "1400000"),
        ("scaling_max_freq", "3600000"),
        ("scaling_available_frequencies", "2900000 2200000 1400000"),
        ("scaling_boost_frequencies", "3600000"),
        ("scaling_cur_freq", "1400000"),
        ("scaling_setspeed", "<unsupported>"),
        ("cpuinfo_transition_latency", "0"),
    ];
    layout(cpus, &files) + &format!("{CPU}/cpufreq/boost = 1\n")
}

/// acpi-cpufreq whose user has tuned `ondemand`, one set for all clock domains.
pub fn acpi_tuned() -> String {
    let tunables = "ignore_nice_load = 1\n\
                    io_is_busy = 1\n\
                    powersave_bias = 0\n\
                    sampling_down_factor = 1\n\
                    sampling_rate = 20000\n\
                    up_threshold = 60\n";
    let tunables: String =
        tunables.lines().map(|line| format!("{CPU}/cpufreq/ondemand/{line}\n")).collect();
    acpi(2).replace("scaling_governor = schedutil", "scaling_governor = ondemand") + &tunables
}

/// An Arm board whose clock domains have tunables of their own.
pub fn arm_tuned() -> String {
    let own = |policy: u32, us: u32| {
        format!("{CPU}/cpufreq/policy{policy}/schedutil/rate_limit_us = {us}\n")
    };
    ARM.to_owned() + &own(0, 2_000) + &own(2, 500)
}

/// acpi-cpufreq left at `userspace`, between limits of the user's.
pub fn acpi_userspace() -> String {
    acpi(2)
        .replace("scaling_governor = schedutil", "scaling_governor = userspace")
        .replace("scaling_setspeed = <unsupported>", "scaling_setspeed = 2200000")
        .replace("scaling_max_freq = 3600000", "scaling_max_freq = 2900000")
}

/// intel_pstate active: two governors, preferences, no_turbo.
pub fn intel_active(cpus: u32) -> String {
    let files = [
        ("scaling_driver", "intel_pstate"),
        ("scaling_governor", "powersave"),
        ("scaling_available_governors", "performance powersave"),
        ("cpuinfo_min_freq", "800000"),
        ("cpuinfo_max_freq", "4200000"),
        ("scaling_min_freq", "800000"),
        ("scaling_max_freq", "4200000"),
        ("base_frequency", "2600000"),
        ("energy_performance_preference", "balance_power"),
        (
            "energy_performance_available_preferences",
            "default performance balance_performance balance_power power",
        ),
        ("scaling_setspeed", "<unsupported>"),
    ];
    let global = format!(
        "{CPU}/intel_pstate/status = active\n{CPU}/intel_pstate/no_turbo = 0\n\
         {CPU}/intel_pstate/max_perf_pct = 100\n{CPU}/intel_pstate/min_perf_pct = 19\n"
    );
    layout(cpus, &files) + &global
}

/// amd_pstate active: as intel_pstate, with boost of each policy's own.
pub fn amd_active(cpus: u32) -> String {
    let files = [
        ("scaling_driver", "amd-pstate-epp"),
        ("scaling_governor", "powersave"),
        ("scaling_available_governors", "performance powersave"),
        ("cpuinfo_min_freq", "400000"),
        ("cpuinfo_max_freq", "5450000"),
        ("scaling_min_freq", "400000"),
        ("scaling_max_freq", "5450000"),
        ("boost", "1"),
        ("energy_performance_preference", "balance_performance"),
        (
            "energy_performance_available_preferences",
            "default performance balance_performance balance_power power",
        ),
    ];
    layout(cpus, &files) + &format!("{CPU}/amd_pstate/status = active\n")
}

/// intel_pstate active, the second core of a slower kind.
pub fn hybrid() -> String {
    let all = intel_active(2);
    let slower = |line: &str| match line.contains("policy1/") {
        true => line.replace("4200000", "3100000"),
        false => line.to_owned(),
    };
    all.lines().map(slower).collect::<Vec<_>>().join("\n") + "\n"
}

/// amd_pstate active with SMT, one CPU offline.
pub const AMD: &str = include_str!("../../../host/tests/machines/amd-smt.txt");
/// intel_pstate active on cores of two kinds with different ranges.
pub const HYBRID: &str = include_str!("../../../host/tests/machines/intel-hybrid.txt");
/// Two clock domains of an Arm board.
pub const ARM: &str = include_str!("../../../host/tests/machines/arm-big-little.txt");

/// A virtual machine: no cpufreq.
pub fn none() -> String {
    format!("{CPU}/online = 0-3\n{CPU}/possible = 0-3\n")
}

/// What every Linux has.
fn system() -> String {
    let numbers = (3..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    format!(
        "/proc/self/stat = 7 (flyball) S {numbers}\n\
         /proc/sys/kernel/random/boot_id = 11111111-2222\n\
         /dev/cpu_dma_latency = \n/var/lib /\n"
    )
}

/// The machine, and whether its files may be written.
pub fn machine(listing: &str, root: bool) -> Arc<RecordedHost> {
    writable(listing, root, &["/sys", "/var/lib", "/dev/cpu_dma_latency"])
}

/// The machine, with these paths to write to.
pub fn writable(listing: &str, root: bool, paths: &[&str]) -> Arc<RecordedHost> {
    let writable = paths.iter().map(|path| ((*path).to_owned(), root)).collect();
    let calls = Calls { writable, real_time: Tried::Worked, ..Calls::default() };
    let host = RecordedHost::from_listing(&format!("{}{listing}", system())).unwrap();
    Arc::new(host.with_manifest(Manifest { calls, ..Manifest::default() }))
}

pub fn root(listing: &str) -> Arc<RecordedHost> {
    machine(listing, true)
}

pub fn faulty(host: &Arc<RecordedHost>, faults: &str) -> Arc<FaultyHost> {
    let inner: Arc<dyn Host> = Arc::clone(host) as Arc<dyn Host>;
    Arc::new(FaultyHost::parse(inner, faults).unwrap())
}

/// Every setting of cpufreq; what a core does is no setting.
pub fn settings(host: &dyn Host) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![format!("{CPU}/cpufreq"), format!("{CPU}/intel_pstate")];
    while let Some(folder) = folders.pop() {
        for name in host.list(Path::new(&folder)).unwrap_or_default() {
            let path = format!("{folder}/{name}");
            match host.read(Path::new(&path)) {
                Ok(text) if name != "scaling_cur_freq" => drop(found.insert(path, text)),
                Ok(_) => {}
                Err(_) => folders.push(path),
            }
        }
    }
    found
}

pub fn value(host: &dyn Host, path: &str) -> String {
    host.read(Path::new(&format!("{CPU}/{path}"))).unwrap().trim().to_owned()
}

pub fn mhz(mhz: u64) -> Option<Frequency> {
    Some(Frequency::At(KiloHertz(mhz * 1_000)))
}

pub fn governor(name: &str) -> Settings {
    Settings { governor: Some(name.to_owned()), ..Settings::default() }
}

pub fn tuned(name: &str, tunable: &str, value: i64) -> Settings {
    Settings { tunables: [(tunable.to_owned(), value)].into(), ..governor(name) }
}

/// Name, machine and request of every kind of hold.
pub fn cases() -> Vec<(&'static str, String, Settings)> {
    let none = Settings::default;
    vec![
        ("acpi governor", acpi(2), governor("performance")),
        ("acpi frequency", acpi(2), Settings { frequency: mhz(2200), ..none() }),
        (
            "acpi boost off, frequency max",
            acpi(2),
            Settings { boost: Some(false), frequency: Some(Frequency::Max), ..none() },
        ),
        ("acpi limits", acpi(2), Settings { min: mhz(2200), max: mhz(2900), ..none() }),
        ("userspace governor", acpi_userspace(), governor("powersave")),
        ("userspace boost", acpi_userspace(), Settings { boost: Some(false), ..none() }),
        (
            "userspace frequency",
            acpi_userspace(),
            Settings { frequency: Some(Frequency::Max), ..none() },
        ),
        (
            "intel governor, turbo off",
            intel_active(2),
            Settings { boost: Some(false), ..governor("performance") },
        ),
        (
            "intel frequency",
            intel_active(2),
            Settings { frequency: mhz(2000), idle_latency: Some(Nanos::from_micros(10)), ..none() },
        ),
        ("intel preference", intel_active(2), Settings { epp: Some("power".into()), ..none() }),
        (
            "amd all",
            amd_active(2),
            Settings {
                boost: Some(false),
                frequency: mhz(2000),
                governor: Some("powersave".into()),
                epp: Some("performance".into()),
                ..none()
            },
        ),
        ("hybrid", hybrid(), Settings { frequency: Some(Frequency::Max), ..none() }),
        (
            "hybrid, one kind",
            HYBRID.to_owned(),
            Settings { domains_of: Some("8-15".parse().unwrap()), min: mhz(1000), ..none() },
        ),
        ("tuned, governor", acpi_tuned(), governor("performance")),
        ("tuned, frequency", acpi_tuned(), Settings { frequency: mhz(2200), ..none() }),
        ("tuned, again", acpi_tuned(), tuned("ondemand", "up_threshold", 80)),
        ("tuned, another", acpi_tuned(), tuned("conservative", "freq_step", 10)),
        ("arm, tuned", arm_tuned(), governor("performance")),
        ("arm, tuned again", arm_tuned(), tuned("schedutil", "rate_limit_us", 100)),
        ("arm", ARM.to_owned(), Settings { frequency: Some(Frequency::Min), ..none() }),
        (
            "idle alone",
            crate::common::none(),
            Settings { idle_latency: Some(Nanos::ZERO), ..none() },
        ),
    ]
}

/// Starts and ends a hold.
pub fn through(host: Arc<dyn Host>, request: &Settings) -> Result<(), ControlError> {
    let hold = flyball_control::Hold::start(&host, Path::new(STATE), request)?;
    hold.end().map(drop)
}
