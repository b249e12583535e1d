//! The hypervisor, and others who want the CPUs.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![machine(facts)];
    findings.extend(steal(facts));
    findings.extend(load(facts));
    findings
}

fn machine(facts: &Facts) -> Finding {
    let virtualization = &facts.topology.virtualization;
    if !virtualization.is_virtual {
        return Finding::new(
            Id::VirtualMachine,
            Severity::Ok,
            "machine",
            "no sign of a hypervisor",
        )
        .seen("/proc/cpuinfo", "no flag hypervisor");
    }
    let name = virtualization.hypervisor.as_deref().unwrap_or("an unknown hypervisor");
    let seen = virtualization.evidence.iter().map(|evidence| {
        let parts = evidence.split_once(": ").or_else(|| evidence.split_once(' '));
        parts.unwrap_or(("hypervisor", evidence))
    });
    Finding::new(Id::VirtualMachine, Severity::Note, "machine", format!("a guest of {name}"))
        .seen_all(seen)
        .effect(match facts.topology.policies.is_empty() {
            true => "The host decides frequency and idle, and when these CPUs run at all.",
            false => "The host decides idle, and when these CPUs run at all.",
        })
        .lasting("on the host: pin the guest's CPUs, fix their frequency, leave them to this guest")
}

/// Shares of time since boot, in thousandths.
fn steal(facts: &Facts) -> Option<Finding> {
    let times = facts.times.as_ref()?;
    let (stolen, total) = times.cpus.iter().fold((0u64, 0u64), |(stolen, total), (_, time)| {
        (stolen.saturating_add(time.steal), total.saturating_add(time.total()))
    });
    let permille = stolen.saturating_mul(1000) / total.max(1);
    let severity = match permille {
        10.. => Severity::Warn,
        1.. => Severity::Note,
        0 => Severity::Ok,
    };
    let share = format!("{:.1} %", stolen as f64 * 100.0 / total.max(1) as f64);
    let finding = Finding::new(
        Id::StolenTime,
        severity,
        "machine",
        format!("{share} of CPU time was stolen by the hypervisor since boot"),
    )
    .seen("/proc/stat", format!("steal {stolen} of {total} ticks"));
    Some(match severity {
        Severity::Ok => finding,
        _ => finding
            .effect("While stolen, nothing runs here: outliers that no setting in here explains.")
            .lasting("ask for dedicated CPUs; a bench marks the windows it happened in"),
    })
}

fn load(facts: &Facts) -> Option<Finding> {
    let permille = facts.surroundings.load_permille?;
    let cpus = facts.topology.online.len() as u64;
    let busy = permille >= (100 * cpus).max(500);
    let severity = if busy { Severity::Warn } else { Severity::Ok };
    let load = permille as f64 / 1e3;
    let finding = Finding::new(
        Id::OtherLoad,
        severity,
        "machine",
        format!("{load:.1} tasks ran on average in the last minute, on {cpus} CPUs"),
    )
    .seen("/proc/loadavg", format!("{load:.2}"));
    Some(match severity {
        Severity::Ok => finding,
        _ => finding
            .effect("They compete for CPUs, caches, power and heat.")
            .fix("ps -eo pcpu,pid,comm --sort=-pcpu | head")
            .lasting("end what shows up there, then wait a minute"),
    })
}
