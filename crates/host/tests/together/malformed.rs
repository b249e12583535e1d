//! Machines that say nonsense, or nothing: each error names the file, what was expected and found.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::{FaultyHost, Host, HostError, RecordedHost, Topology};
use flyball_units::{Diagnostic, ErrorKind};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const CPU: &str = "/sys/devices/system/cpu";

fn discover(listing: &str) -> Result<Topology, HostError> {
    let text = format!("{CPU}/possible = 0-1\n{CPU}/online = 0-1\n{listing}");
    Topology::discover(&RecordedHost::from_listing(&text).unwrap())
}

#[test]
fn nonsense_is_named() {
    let policy = format!("{CPU}/cpufreq/policy0");
    let cases = [
        (format!("{CPU}/isolated = zwei"), "CPU list"),
        (format!("{CPU}/smt/active = yes"), "0 or 1"),
        (format!("{CPU}/cpu0/cpu_capacity = big"), "a natural number"),
        (format!("{CPU}/cpu1/topology/core_id = first"), "a number"),
        (format!("{CPU}/cpu1/topology/core_cpus_list = 1-0"), "CPU list"),
        (format!("{policy}/related_cpus = a b"), "CPU numbers"),
        (format!("{policy}/related_cpus = 0\n{policy}/cpuinfo_max_freq = fast"), "kHz"),
        (format!("{policy}/related_cpus = 0\n{policy}/cpuinfo_min_freq = -1"), "kHz"),
        (format!("{policy}/related_cpus = 0\n{policy}/boost = 2"), "0 or 1"),
        (format!("{policy}/related_cpus = 0\n{policy}/scaling_available_frequencies = 1 x"), "kHz"),
        (format!("{CPU}/cpu0/cpuidle/state0/latency = soon"), "microseconds"),
        (format!("{CPU}/cpu0/cpuidle/state0/disable = no"), "a natural number"),
        ("/sys/devices/cpu_core/cpus = all".to_owned(), "CPU list"),
        ("/sys/devices/system/node/node0/cpulist = x".to_owned(), "CPU list"),
        ("/proc/meminfo = MemTotal: much".to_owned(), "MemTotal: NUMBER kB"),
        ("/proc/sys/kernel/sched_rt_runtime_us = x".to_owned(), "microseconds"),
        (
            "/sys/class/powercap/r/energy_uj = 1\n/sys/class/powercap/r/max_energy_range_uj = x"
                .to_owned(),
            "a natural number",
        ),
    ];
    for (listing, expected) in cases {
        let error = discover(&listing).expect_err(&listing);
        assert_eq!(error.kind(), ErrorKind::BadInput, "{listing}");
        let text = error.to_string();
        let path = listing.lines().last().unwrap().split(" = ").next().unwrap();
        assert!(text.starts_with(path) && text.contains(expected), "{listing}: {text}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn absent_files_are_no_error() {
    let topology = discover("").unwrap();
    assert_eq!(topology.core_types.len(), 1);
    assert!(topology.core_types[0].evidence.starts_with("assumed"));
    assert_eq!(topology.memory_bytes, None);
    assert!(topology.policies.is_empty() && topology.unreadable.is_empty());
}

#[test]
fn without_the_list_of_cpus_nothing_goes() {
    let host = RecordedHost::from_listing("/proc/cpuinfo = processor : 0").unwrap();
    let error = Topology::discover(&host).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read failed on /sys/devices/system/cpu/online: No such file or directory (ENOENT)"
    );
    let empty = RecordedHost::from_listing(&format!("{CPU}/online =")).unwrap();
    assert!(Topology::discover(&empty).unwrap_err().to_string().contains("at least one CPU"));
}

#[test]
fn refused_files_are_remembered() {
    let text = include_str!("../machines/amd-smt.txt");
    let inner: Arc<dyn Host> = Arc::new(RecordedHost::from_listing(text).unwrap());
    let whole = Topology::discover(&*inner).unwrap();
    let faults =
        format!("read:{CPU}/cpufreq/policy0/scaling_governor=EACCES,read:/proc/cpuinfo=EIO");
    let host = FaultyHost::parse(inner, &faults).unwrap();
    let topology = Topology::discover(&host).unwrap();
    assert_eq!(topology.unreadable.len(), 2);
    assert_eq!(topology.policies[0].governor, None);
    assert_eq!(topology.policies[1..], whole.policies[1..]);
}

#[test]
fn broken_snapshots_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let open = || RecordedHost::open(folder.path()).unwrap_err().to_string();
    assert!(open().contains("manifest.json: No such file"));
    #[allow(clippy::disallowed_methods, reason = "a test writes its own input")]
    let write = |text: &str| std::fs::write(folder.path().join("manifest.json"), text).unwrap();
    write("{");
    assert!(open().contains("expected the manifest of a snapshot"));
    write("{\"format\": 99}");
    assert!(open().contains("expected format 1, found \"format 99\""));
    write("{\"format\": 1}");
    let host = RecordedHost::open(folder.path()).unwrap();
    assert!(host.list(Path::new("/sys")).unwrap_err().is_absent());
}

#[test]
fn wrong_listings_are_named() {
    for text in ["x = 1", "/a", "/a = 1\n/b ! EWHAT", "/a =1", "/a : 1"] {
        assert!(RecordedHost::from_listing(text).is_err(), "{text}");
    }
    let error = RecordedHost::from_listing("# fine\n\n/a is 1").unwrap_err();
    assert!(error.to_string().starts_with("listing, line 3"), "{error}");
}

/// Every file that matters, to be filled with anything.
const FILES: &[&str] = &[
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/smt/active",
    "/sys/devices/system/cpu/cpu0/cpu_capacity",
    "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
    "/sys/devices/system/cpu/cpu0/topology/core_cpus_list",
    "/sys/devices/system/cpu/cpufreq/policy0/related_cpus",
    "/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_transition_latency",
    "/sys/devices/cpu_core/cpus",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/cmdline",
    "/proc/stat",
    "/sys/class/power_supply/B/type",
];

proptest! {
    #[test]
    fn arbitrary_content_never_panics(contents in proptest::collection::vec("[0-9a-z ,:-]{0,12}", FILES.len())) {
        let lines: Vec<String> =
            FILES.iter().zip(&contents).map(|(path, text)| format!("{path} = {text}")).collect();
        let host = RecordedHost::from_listing(&lines.join("\n")).unwrap();
        let _ = (Topology::discover(&host), host.cpu_times());
    }

    #[test]
    fn arbitrary_listings_never_panic(text in "(/?[a-z/.]{0,6} ?[=!>-]{0,2} ?.{0,6}\n){0,6}") {
        let _ = RecordedHost::from_listing(&text);
    }
}
