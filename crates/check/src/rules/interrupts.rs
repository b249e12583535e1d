//! Interrupts on CPUs that were set apart.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::Interrupt;
use flyball_units::CpuSet;

/// Evidence beyond this many interrupts says nothing more.
const SHOWN: usize = 16;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let apart = facts.apart();
    if apart.is_empty() {
        return Vec::new();
    }
    let (mut arrived, mut may) = (Vec::new(), Vec::new());
    for interrupt in &facts.surroundings.interrupts {
        if interrupt.cpus.intersection(&apart).is_empty() {
            continue;
        }
        match count(interrupt, &apart) {
            0 => may.push(interrupt),
            _ => arrived.push(interrupt),
        }
    }
    let mut findings = Vec::new();
    if !arrived.is_empty() {
        let found = match arrived.len() {
            1 => "an interrupt arrives on CPUs set apart".to_owned(),
            many => format!("{many} interrupts arrive on CPUs set apart"),
        };
        findings.push(
            finding(facts, &apart, Severity::Warn, found, &arrived)
                .effect("Each takes the CPU from the measured thread for microseconds."),
        );
    }
    if !may.is_empty() {
        let found = match may.len() {
            1 => "an interrupt may arrive on CPUs set apart".to_owned(),
            many => format!("{many} interrupts may arrive on CPUs set apart"),
        };
        findings.push(
            finding(facts, &apart, Severity::Note, found, &may).effect(
                "None has come since boot; they will when their device is used from there.",
            ),
        );
    }
    if findings.is_empty() {
        let found = "no interrupt of a device goes to the CPUs set apart";
        findings.push(
            Finding::new(Id::Interrupts, Severity::Ok, fix::cpus(&apart), found)
                .seen("/proc/irq/*/effective_affinity_list", "none of them"),
        );
    }
    findings
}

fn count(interrupt: &Interrupt, cpus: &CpuSet) -> u64 {
    let counts = interrupt.counts.iter().filter(|(cpu, _)| cpus.contains(*cpu));
    counts.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

fn finding(
    facts: &Facts,
    apart: &CpuSet,
    severity: Severity,
    found: String,
    interrupts: &[&Interrupt],
) -> Finding {
    let seen = interrupts.iter().take(SHOWN).map(|interrupt| {
        let name = interrupt.name.as_deref().unwrap_or("unnamed");
        let value =
            format!("{} ({name}, {} there since boot)", interrupt.cpus, count(interrupt, apart));
        (interrupt.path.clone(), value)
    });
    let finding = Finding::new(Id::Interrupts, severity, fix::cpus(apart), found).seen_all(seen);
    let others = facts.topology.online.difference(apart);
    if others.is_empty() {
        return finding;
    }
    let numbers: Vec<u32> =
        interrupts.iter().take(SHOWN).map(|interrupt| interrupt.number).collect();
    let files = format!("/proc/irq/{}/smp_affinity_list", fix::numbers(&numbers, false));
    finding.fix(fix::tee(&others.to_string(), &files)).lasting(format!(
        "where that is refused (queues of disks and networks), {}",
        fix::boot(&format!("isolcpus=managed_irq,domain,{apart} irqaffinity={others}"))
    ))
}
