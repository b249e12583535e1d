//! Five machines, recorded or written down by hand, and what is to be found on them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use flyball_host::{Grant, Host, HostKind, Permissions, Policy, Power, RecordedHost, Topology};
use flyball_units::{Capacity, CpuId, CpuSet, Diagnostic, KiloHertz, Nanos};
use std::path::Path;

const ARM_BIG_LITTLE: &str = include_str!("../machines/arm-big-little.txt");
const INTEL_HYBRID: &str = include_str!("../machines/intel-hybrid.txt");
const AMD_SMT: &str = include_str!("../machines/amd-smt.txt");
const APPLE_M1: &str = include_str!("../machines/apple-m1.txt");

fn machine(listing: &str) -> (RecordedHost, Topology) {
    let host = RecordedHost::from_listing(listing).unwrap();
    let topology = Topology::discover(&host).unwrap();
    (host, topology)
}

fn set(text: &str) -> CpuSet {
    text.parse().unwrap()
}

/// Core types as `NAME CPUS`.
fn kinds(topology: &Topology) -> Vec<String> {
    topology.core_types.iter().map(|kind| format!("{} {}", kind.name, kind.cpus)).collect()
}

fn policy(topology: &Topology, id: u32) -> &Policy {
    topology.policies.iter().find(|policy| policy.id == id).unwrap()
}

#[test]
fn arm_big_little() {
    let (host, topology) = machine(ARM_BIG_LITTLE);
    assert_eq!(kinds(&topology), ["big 2-3", "little 0-1"]);
    assert_eq!(topology.core_types[1].evidence, "cpu_capacity 409");
    assert_eq!(topology.cpus[0].capacity, Some(Capacity(409)));
    assert_eq!(topology.cpus[3].policy, Some(2));
    assert_eq!(topology.cpus[3].max_khz, Some(KiloHertz(3_000_000)));
    let little = policy(&topology, 0);
    assert_eq!(little.cpus, set("0-1"));
    assert_eq!(little.governor.as_deref(), Some("schedutil"));
    assert_eq!(little.available_khz.len(), 4);
    assert_eq!(little.available_governors.len(), 6);
    assert_eq!(topology.nohz_full, CpuSet::new(), "(null) is none");
    assert_eq!(topology.kernel.command_line, ["isolcpus=3", "nohz_full=3"]);
    assert_eq!(topology.product.name.as_deref(), Some("linux,dummy-virt"));
    let claimed = topology.claimed(&host).unwrap();
    assert_eq!(claimed[0], (CpuId(0), KiloHertz(600_000)));
    assert_eq!(claimed[3], (CpuId(3), KiloHertz(3_000_000)));
    // Through the link, as people read it.
    let path = Path::new("/sys/devices/system/cpu/cpu3/cpufreq/scaling_driver");
    assert_eq!(host.read(path).unwrap(), "mediatek-cpufreq-hw\n");
}

#[test]
fn intel_hybrid_laptop() {
    let (host, topology) = machine(INTEL_HYBRID);
    assert_eq!(kinds(&topology), ["P 0-7", "E 8-15"], "by counters, not by favoured cores");
    assert_eq!(topology.core_types[0].evidence, "/sys/devices/cpu_core/cpus");
    assert_eq!(topology.smt_active, Some(true));
    assert_eq!(topology.smt_siblings(CpuId(3)), set("2"));
    assert_eq!(topology.smt_siblings(CpuId(9)), CpuSet::new());
    assert_eq!(topology.scaling.intel_pstate.as_deref(), Some("active"));
    assert_eq!(topology.scaling.boost_allowed(), Some(true));
    let policy = policy(&topology, 8);
    assert_eq!(policy.base_khz, Some(KiloHertz(1_500_000)));
    assert_eq!(policy.energy_performance_preference.as_deref(), Some("balance_performance"));
    assert_eq!(policy.transition_latency, Some(Nanos::ZERO));
    assert_eq!(topology.idle.groups.len(), 2, "CPU 5 differs");
    assert_eq!(topology.idle.groups[1].cpus, set("5"));
    assert!(topology.idle.groups[1].states[3].disabled);
    let sensors: Vec<&str> = topology.temperatures.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(sensors, ["acpitz", "x86_pkg_temp", "coretemp Package id 0"]);
    assert_eq!(topology.temperatures[2].read_millicelsius(&host), Ok(52_000));
    let counters: Vec<&str> = topology.energy.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(counters, ["package-0", "core", "BAT0"], "no mouse battery");
    let denied = topology.energy[0].read_uj(&host).unwrap_err();
    assert!(denied.to_string().contains("/sys/class/powercap/intel-rapl:0/energy_uj"));
    assert!(denied.hint().unwrap().contains("chmod"));
    assert!(!topology.virtualization.is_virtual);
    assert_eq!(topology.kernel.rt_share(), Some(0.95));
    assert_eq!(topology.kernel.cgroup_version, Some(2));
}

#[test]
fn amd_with_smt_and_an_offline_cpu() {
    let (_, topology) = machine(AMD_SMT);
    assert_eq!(kinds(&topology), ["all 0-6"], "preferred cores are no kind");
    assert_eq!(topology.smt_siblings(CpuId(5)), set("1"));
    assert_eq!(topology.smt_siblings(CpuId(3)), CpuSet::new());
    assert!(!topology.cpu(CpuId(7)).unwrap().online);
    assert_eq!(topology.cpu(CpuId(7)).unwrap().core_type, "");
    assert_eq!(topology.isolated, set("2,6"));
    assert_eq!(topology.scaling.amd_pstate.as_deref(), Some("active"));
    assert_eq!(topology.scaling.amd_preferred_cores.as_deref(), Some("enabled"));
    assert_eq!(topology.scaling.boost_allowed(), Some(true));
    assert_eq!(policy(&topology, 0).boost, Some(true));
    assert_eq!(policy(&topology, 0).driver.as_deref(), Some("amd-pstate-epp"));
    assert_eq!(topology.idle.groups[0].states[3].latency_us, 350);
    assert_eq!(topology.idle.governor.as_deref(), Some("menu"));
}

#[test]
fn apple_m1() {
    let (host, topology) = machine(APPLE_M1);
    assert_eq!(kinds(&topology), ["P 4-7", "E 0-3"]);
    assert_eq!(policy(&topology, 4).cpus, set("4-7"));
    assert_eq!(policy(&topology, 4).boost_khz.len(), 3);
    assert_eq!(policy(&topology, 4).transition_latency, None, "4294967295 means unknown");
    assert_eq!(topology.scaling.boost_allowed(), Some(false));
    assert_eq!(topology.processor.arm_parts.len(), 2);
    // 4 Ah at 12 V.
    assert_eq!(topology.energy[0].read_uj(&host), Ok(172_800_000_000));
}

#[test]
fn kvm_guest_from_its_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/kvm-guest");
    let host = RecordedHost::open(&folder).unwrap();
    let topology = Topology::discover(&host).unwrap();
    assert_eq!(host.kind(), HostKind::Recorded);
    assert_eq!(kinds(&topology), ["all 0-1"]);
    assert!(topology.policies.is_empty());
    assert!(topology.virtualization.is_virtual);
    assert_eq!(topology.virtualization.hypervisor.as_deref(), Some("KVM"));
    assert_eq!(topology.idle.driver.as_deref(), Some("haltpoll"));
    assert_eq!(topology.claimed(&host).unwrap()[1], (CpuId(1), KiloHertz(2_596_120)));
    assert_eq!(host.affinity_get().unwrap(), set("0-1"));
    assert_eq!(host.cpu_times().unwrap().cpus.len(), 2);

    let permissions = Permissions::probe(&host);
    assert!(permissions.grants(Power::RealTime));
    assert!(permissions.grants(Power::LockMemory));
    assert!(permissions.grants(Power::IdleLatency));
    assert!(matches!(permissions.get(Power::CycleCounters), Some(Grant::Impossible { .. })));
    assert!(matches!(permissions.get(Power::FrequencyControl), Some(Grant::Impossible { .. })));
    let Some(Grant::Denied { command, .. }) = permissions.get(Power::Tracing) else {
        panic!("{permissions:?}")
    };
    assert_eq!(command, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

#[test]
fn an_unprivileged_user_is_told_how() {
    let (host, _) = machine(INTEL_HYBRID);
    let permissions = Permissions::probe(&host);
    for power in [Power::RealTime, Power::LockMemory, Power::FrequencyControl] {
        let Some(Grant::Denied { command, .. }) = permissions.get(power) else {
            panic!("{power:?}: {permissions:?}")
        };
        assert!(command.contains("sudo"), "{command}");
    }
}

#[test]
fn topology_survives_serialisation() {
    for listing in [ARM_BIG_LITTLE, INTEL_HYBRID, AMD_SMT, APPLE_M1] {
        let (_, topology) = machine(listing);
        let text = serde_json::to_string(&topology).unwrap();
        assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), topology);
    }
}
