//! Small machines for the daemon: recorded ones, in the layouts that the kernel's documentation
//! describes, and files of the real machine in the place of a policy's.
#![allow(dead_code)] // each test binary uses its own part
#![allow(clippy::unwrap_used, clippy::panic)]

use flyball_govern::{DomainRecord, Engine, Governed, SourceKind, Times, Trail, Way};
use flyball_governors::create;
use flyball_host::manifest::{Calls, Manifest};
use flyball_host::{Access, Host, Policy, RealHost, RecordedHost};
use flyball_units::{CpuId, CpuSet, KiloHertz, Nanos, RateLimitRule};
use std::path::Path;
use std::sync::Arc;

pub const CPU: &str = "/sys/devices/system/cpu";
pub const STATE: &str = "/var/lib/flyball";
pub const POINTS: [u64; 8] =
    [600_000, 800_000, 1_200_000, 1_600_000, 2_000_000, 2_400_000, 2_800_000, 3_200_000];

/// A machine with `domains` clock domains of one CPU each under acpi-cpufreq.
pub fn acpi(domains: u32) -> String {
    let numbers = (3..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let mut text = format!(
        "/proc/self/stat = 7 (flyball) S {numbers}\n\
         /proc/sys/kernel/random/boot_id = 11111111-2222\n/proc/sys/kernel/osrelease = 6.12.43\n\
         /var/lib /\n{CPU}/online = 0-{last}\n{CPU}/possible = 0-{last}\n",
        last = domains - 1
    );
    for id in 0..domains {
        let points = POINTS.map(|khz| khz.to_string()).join(" ");
        for (name, value) in [
            ("related_cpus", id.to_string().as_str()),
            ("scaling_driver", "acpi-cpufreq"),
            ("scaling_governor", "schedutil"),
            (
                "scaling_available_governors",
                "conservative ondemand userspace powersave performance schedutil",
            ),
            ("cpuinfo_min_freq", "600000"),
            ("cpuinfo_max_freq", "3200000"),
            ("scaling_min_freq", "600000"),
            ("scaling_max_freq", "3200000"),
            ("scaling_available_frequencies", points.as_str()),
            ("scaling_cur_freq", "600000"),
            ("scaling_setspeed", "<unsupported>"),
            ("cpuinfo_transition_latency", "10000"),
        ] {
            text.push_str(&format!("{CPU}/cpufreq/policy{id}/{name} = {value}\n"));
        }
    }
    text.push_str(&stat(&vec![(0, 0); domains as usize]));
    text
}

/// intel_pstate: no `userspace`, no list of frequencies.
pub fn intel() -> String {
    acpi(1)
        .replace("acpi-cpufreq", "intel_pstate")
        .replace(
            "conservative ondemand userspace powersave performance schedutil",
            "performance powersave",
        )
        .replace("scaling_governor = schedutil", "scaling_governor = powersave")
        .lines()
        .filter(|line| !line.contains("scaling_available_frequencies"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The listing of a `/proc/stat` with these ticks, busy and idle, per CPU.
pub fn stat(ticks: &[(u64, u64)]) -> String {
    stat_text(ticks).lines().map(|line| format!("/proc/stat = {line}\n")).collect()
}

/// Its text: of one length, so that one text replaces another whole.
pub fn stat_text(ticks: &[(u64, u64)]) -> String {
    let lines = ticks
        .iter()
        .enumerate()
        .map(|(cpu, (busy, idle))| format!("cpu{cpu} {busy:08} 0 0 {idle:08} 0 0 0 0 0 0\n"));
    format!("cpu  0 0 0 0 0 0 0 0 0 0\n{}intr 1 2 3\n", lines.collect::<String>())
}

/// The machine, for root or somebody else.
pub fn machine(listing: &str, root: bool) -> Arc<RecordedHost> {
    let paths = ["/sys", "/var/lib"];
    let writable = paths.iter().map(|path| ((*path).to_owned(), root)).collect();
    let calls = Calls { writable, ..Calls::default() };
    let host = RecordedHost::from_listing(listing).unwrap();
    Arc::new(host.with_manifest(Manifest { calls, ..Manifest::default() }))
}

/// A file of policy `id`, without its line feed.
pub fn file(host: &dyn Host, id: u32, name: &str) -> String {
    let path = format!("{CPU}/cpufreq/policy{id}/{name}");
    host.read(Path::new(&path)).unwrap().trim().to_owned()
}

/// An engine on the real machine whose policies and whose `/proc/stat` are files in `dir`: the very
/// calls of a daemon, without a driver behind them.
pub fn on_files(dir: &Path, governor: &str, domains: u16, trail: Trail) -> (Arc<dyn Host>, Engine) {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let ticks = vec![(100, 100); domains.into()];
    fs_err::write(dir.join("stat"), stat_text(&ticks)).unwrap();
    let cpus: CpuSet = (0..u32::from(domains)).map(CpuId).collect();
    let stat = host.open_kept(&dir.join("stat"), Access::Read).unwrap();
    let times = Times::open(host.as_ref(), SourceKind::Stat, &cpus).unwrap().with_stat(stat);
    let policies = Policy::all(machine(&acpi(domains.into()), true).as_ref()).unwrap();
    let opened = policies.into_iter().zip(0_u16..).map(|(policy, id)| {
        let folder = dir.join(format!("policy{id}"));
        fs_err::create_dir(&folder).unwrap();
        for (name, text) in [
            ("scaling_governor", "userspace\n"),
            ("scaling_setspeed", "600000\n"),
            ("scaling_min_freq", "600000\n"),
            ("scaling_max_freq", "3200000\n"),
            ("scaling_cur_freq", "600000\n"),
        ] {
            fs_err::write(folder.join(name), text).unwrap();
        }
        let record = DomainRecord {
            cpus: vec![CpuId(id.into())],
            capacity: 1024,
            points_khz: POINTS.map(KiloHertz).to_vec(),
            min_khz: KiloHertz(600_000),
            max_khz: KiloHertz(3_200_000),
            current_khz: KiloHertz(600_000),
            tick_ns: Nanos(4_000_000),
            stat_hz: 50,
            transition_latency_ns: Some(Nanos(10_000)),
            rate_limit_rule: RateLimitRule::From6_12,
            on_battery: None,
        };
        let view = record.domain().unwrap();
        let pair = (create(governor).unwrap(), Some(Way::Speed));
        Governed::open(host.as_ref(), &folder, (policy, id), (record, view), pair).unwrap()
    });
    let opened = opened.collect();
    let engine = Engine::new(Arc::clone(&host), opened, times, None, trail);
    (host, engine)
}
