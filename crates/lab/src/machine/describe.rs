//! From the host's topology to what a run says about its machine, and to the CPUs to measure on.

use crate::plan::CoreChoice;
use flyball_host::{Host, Policy, Topology};
use flyball_probe::board;
use flyball_run::FrequencySample;
use flyball_run::manifest::{CpuRecord, DomainRecord, IdleStateRecord, Machine};
use flyball_units::{CpuId, CpuSet, KiloHertz};
use std::path::Path;

/// What cpufreq claims of each clock domain now: what holds until the first change in a trace. Nothing
/// of a domain without a claim.
pub fn claimed(topology: &Topology, host: &dyn Host) -> Vec<FrequencySample> {
    let sample = |policy: &Policy| {
        let khz = policy.claimed(host).ok()?;
        Some(FrequencySample {
            t_ns: host.now().0,
            domain: format!("policy{}", policy.id),
            claimed_khz: Some(khz.0),
            source: "scaling_cur_freq".to_owned(),
            governor: policy.governor.clone(),
            ..FrequencySample::default()
        })
    };
    topology.policies.iter().filter_map(sample).collect()
}

/// The manifest's machine.
pub fn describe(topology: &Topology, host: &dyn Host) -> Machine {
    let evidence: Vec<String> = topology
        .core_types
        .iter()
        .map(|kind| format!("{} = {}: {}", kind.name, kind.cpus, kind.evidence))
        .collect();
    let virtualization = &topology.virtualization;
    let virtualisation = match (virtualization.is_virtual, &virtualization.hypervisor) {
        (false, _) => "none".to_owned(),
        (true, Some(name)) => name.clone(),
        (true, None) => "unknown hypervisor".to_owned(),
    };
    Machine {
        cpu_model: topology.processor.model_name.clone(),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        kernel: topology.kernel.release.as_ref().map(|release| format!("Linux {release}")),
        virtualisation: Some(virtualisation),
        hostname: hostname(host),
        cpu_count: None,
        memory_bytes: topology.memory_bytes,
        boost: boost(topology),
        rt_runtime_us: topology.kernel.rt_runtime_us,
        core_type_evidence: (!evidence.is_empty()).then(|| evidence.join("; ")),
        temperature_celsius: temperature(topology, host),
        cpus: topology.cpus.iter().map(|cpu| cpu_record(topology, host, cpu.id)).collect(),
        domains: topology.policies.iter().map(domain_record).collect(),
        idle_states: idle_states(topology),
        board: board::discover(host),
    }
}

/// One usable CPU per kind of core, the fastest kind first. CPU 0 is left out where the kind has
/// another: most interrupts land there.
pub fn cores(topology: &Topology, usable: &CpuSet) -> Vec<CoreChoice> {
    let choose = |name: &str, cpus: &CpuSet| {
        let usable = cpus.intersection(usable);
        let cpu = usable.iter().find(|cpu| cpu.0 != 0).or_else(|| usable.iter().next())?;
        Some(CoreChoice { core_type: name.to_owned(), cpu })
    };
    let choices: Vec<CoreChoice> =
        topology.core_types.iter().filter_map(|kind| choose(&kind.name, &kind.cpus)).collect();
    match choices.is_empty() {
        true => choose("all", usable).into_iter().collect(),
        false => choices,
    }
}

fn hostname(host: &dyn Host) -> Option<String> {
    let name = host.read(Path::new("/proc/sys/kernel/hostname")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Global switch first; then what the policies say, where they agree.
fn boost(topology: &Topology) -> Option<bool> {
    let scaling = &topology.scaling;
    let global = scaling.boost.or_else(|| scaling.no_turbo.map(|off| !off));
    global.or_else(|| {
        let mut each = topology.policies.iter().map(|policy| policy.boost);
        let first = each.next()??;
        each.all(|boost| boost == Some(first)).then_some(first)
    })
}

fn temperature(topology: &Topology, host: &dyn Host) -> Option<f64> {
    let readings = topology.temperatures.iter();
    let hottest = readings.filter_map(|sensor| sensor.read_millicelsius(host).ok()).max()?;
    Some(hottest as f64 / 1000.0)
}

/// Root reads these, where `verbose` beside the domains is on.
fn idle_balance_costs_ns(host: &dyn Host, id: CpuId) -> Vec<u64> {
    let domains = format!("/sys/kernel/debug/sched/domains/cpu{}", id.0);
    let cost = |level: usize| {
        let file = format!("{domains}/domain{level}/max_newidle_lb_cost");
        host.read(Path::new(&file)).ok()?.trim().parse().ok()
    };
    (0..).map_while(cost).collect()
}

fn cpu_record(topology: &Topology, host: &dyn Host, id: CpuId) -> CpuRecord {
    let cpu = topology.cpu(id);
    CpuRecord {
        cpu: id.0,
        core_type: cpu.map(|cpu| cpu.core_type.clone()).filter(|name| !name.is_empty()),
        capacity: cpu.and_then(|cpu| cpu.capacity).map(|capacity| capacity.0),
        max_khz: cpu.and_then(|cpu| cpu.max_khz).map(|khz| khz.0),
        domain: topology.policy(id).map(|policy| format!("policy{}", policy.id)),
        siblings: topology.smt_siblings(id).iter().map(|sibling| sibling.0).collect(),
        idle_balance_costs_ns: idle_balance_costs_ns(host, id),
        isolated: Some(topology.isolated.contains(id)),
        online: Some(topology.online.contains(id)),
    }
}

fn domain_record(policy: &Policy) -> DomainRecord {
    let khz = |value: Option<KiloHertz>| value.map(|khz| khz.0);
    DomainRecord {
        name: format!("policy{}", policy.id),
        cpus: policy.cpus.iter().map(|cpu| cpu.0).collect(),
        driver: policy.driver.clone(),
        governor: policy.governor.clone(),
        governors: policy.available_governors.clone(),
        min_khz: khz(policy.hardware_min_khz),
        max_khz: khz(policy.hardware_max_khz),
        limit_min_khz: khz(policy.min_khz),
        limit_max_khz: khz(policy.max_khz),
        available_khz: policy.available_khz.iter().map(|khz| khz.0).collect(),
        declared_latency_ns: policy.transition_latency.map(|latency| latency.0),
    }
}

fn idle_states(topology: &Topology) -> Vec<IdleStateRecord> {
    let states = topology.idle.groups.first().map(|group| group.states.as_slice());
    let record = |state: &flyball_host::IdleState| IdleStateRecord {
        name: state.name.clone(),
        exit_latency_us: Some(state.latency_us),
        residency_us: Some(state.residency_us),
        disabled: Some(state.disabled),
    };
    states.unwrap_or_default().iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_host::RecordedHost;

    fn recorded(listing: &str) -> Topology {
        let host = RecordedHost::from_listing(listing).unwrap();
        Topology::discover(&host).unwrap()
    }

    const HYBRID: &str = include_str!("../../../host/tests/machines/intel-hybrid.txt");
    const BIG_LITTLE: &str = include_str!("../../../host/tests/machines/arm-big-little.txt");

    #[test]
    fn one_cpu_per_kind_of_core_and_not_cpu_0() {
        for listing in [HYBRID, BIG_LITTLE] {
            let topology = recorded(listing);
            let cores = cores(&topology, &topology.online);
            assert_eq!(cores.len(), topology.core_types.len());
            assert!(cores.iter().all(|core| core.cpu.0 != 0), "{cores:?}");
        }
    }
}
