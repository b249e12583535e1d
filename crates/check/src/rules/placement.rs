//! Where a measurement runs: kinds of core, threads of a core, CPUs set apart.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::CoreType;
use flyball_units::CpuSet;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![core_types(facts)];
    findings.extend(smt(facts));
    findings.extend(isolation(facts));
    findings.extend(tick(facts));
    findings
}

fn core_types(facts: &Facts) -> Finding {
    let topology = &facts.topology;
    let measuring = facts.measuring();
    let met: Vec<&CoreType> = topology
        .core_types
        .iter()
        .filter(|kind| !kind.cpus.intersection(&measuring).is_empty())
        .collect();
    let words = |kinds: &[&CoreType]| {
        let words = kinds.iter().map(|kind| format!("{} ({})", kind.name, kind.cpus));
        words.collect::<Vec<_>>().join(", ")
    };
    let seen =
        topology.core_types.iter().map(|kind| (kind.evidence.clone(), kind.cpus.to_string()));
    let object = fix::cpus(&measuring);
    let new = |severity, found: String| {
        Finding::new(Id::CoreTypes, severity, object.as_str(), found).seen_all(seen.clone())
    };
    match (topology.core_types.len(), met.as_slice()) {
        (0 | 1, _) => new(Severity::Ok, "one kind of core".to_owned()),
        (_, [one]) => new(Severity::Ok, format!("one kind of core: {}", words(&[one]))),
        (_, met) => {
            let fastest = met.first().map(|kind| kind.cpus.intersection(&facts.allowed));
            let fastest = fastest.filter(|cpus| !cpus.is_empty()).unwrap_or_default();
            let finding =
                new(Severity::Bad, format!("work may land on any kind of core: {}", words(met)))
                    .effect("The same code has a run time per kind; a mean of them describes none.")
                    .seen("sched_getaffinity", &facts.allowed);
            match fastest.is_empty() {
                true => finding,
                false => finding
                    .fix(format!("taskset -c {fastest} CMD"))
                    .lasting(format!("in a service: CPUAffinity={fastest}")),
            }
        }
    }
}

fn smt(facts: &Facts) -> Option<Finding> {
    let topology = &facts.topology;
    let file = format!("{}/smt/active", fix::CPU);
    let active = topology.smt_active?;
    if !active {
        return Some(
            Finding::new(Id::Smt, Severity::Ok, "machine", "one thread per core").seen(file, "0"),
        );
    }
    let measuring = facts.measuring();
    let siblings = |cpus: &CpuSet| {
        cpus.iter().fold(CpuSet::new(), |all, cpu| all.union(&topology.smt_siblings(cpu)))
    };
    let shared = siblings(&measuring);
    let apart = facts.apart();
    // Siblings of CPUs set apart that are set apart, too: nobody runs there unasked.
    let guarded = !apart.is_empty() && shared.difference(&apart).is_empty();
    let severity = if guarded || shared.is_empty() { Severity::Note } else { Severity::Warn };
    let finding = Finding::new(
        Id::Smt,
        severity,
        fix::cpus(&topology.online),
        "SMT is on: two threads share a core",
    )
    .seen(file, "1")
    .effect(match severity {
        Severity::Warn => "Whatever runs on the other thread of a core slows the measured one, by tens of percent.",
        _ => "Leave the other thread of the measuring core idle.",
    });
    let changeable = matches!(facts.surroundings.smt_control.as_deref(), Some("on"));
    Some(match (severity, changeable) {
        (Severity::Warn, true) => finding
            .fix(fix::tee("off", &format!("{}/smt/control", fix::CPU)))
            .lasting(fix::boot("nosmt")),
        _ => finding,
    })
}

fn isolation(facts: &Facts) -> Option<Finding> {
    let topology = &facts.topology;
    let file = format!("{}/isolated", fix::CPU);
    if !topology.isolated.is_empty() {
        let found = format!("{} set apart from the scheduler", fix::cpus(&topology.isolated));
        return Some(
            Finding::new(Id::Isolation, Severity::Ok, fix::cpus(&topology.isolated), found)
                .seen(file, &topology.isolated),
        );
    }
    let finding = Finding::new(
        Id::Isolation,
        Severity::Note,
        fix::cpus(&topology.online),
        "no CPU is set apart for measuring",
    )
    .seen(file, "(empty)")
    .effect("Any other task may be put on the CPU that measures.");
    let core = last_core(facts)?;
    Some(match topology.online.difference(&core).is_empty() {
        // A single core can't be set apart.
        true => finding,
        false => finding
            .lasting(fix::boot(&format!("isolcpus=managed_irq,domain,{core} nohz_full={core}"))),
    })
}

/// The last core of the fastest kind, with all its threads: CPU 0 has the most to do.
fn last_core(facts: &Facts) -> Option<CpuSet> {
    let kind = facts.topology.core_types.first()?;
    let cpu = kind.cpus.intersection(&facts.allowed).iter().last()?;
    Some(facts.topology.smt_siblings(cpu).union(&cpu.into()))
}

fn tick(facts: &Facts) -> Option<Finding> {
    let topology = &facts.topology;
    let apart = topology.isolated.intersection(&topology.online);
    if apart.is_empty() {
        return None;
    }
    let file = format!("{}/nohz_full", fix::CPU);
    let ticking = apart.difference(&topology.nohz_full);
    if ticking.is_empty() {
        let found = "the CPUs set apart have no periodic tick while one task runs";
        return Some(
            Finding::new(Id::Tick, Severity::Ok, fix::cpus(&apart), found)
                .seen(file, &topology.nohz_full),
        );
    }
    Some(
        Finding::new(
            Id::Tick,
            Severity::Note,
            fix::cpus(&ticking),
            "isolated, but with a periodic tick",
        )
        .seen(
            file,
            if topology.nohz_full.is_empty() {
                "(empty)".to_owned()
            } else {
                topology.nohz_full.to_string()
            },
        )
        .effect("The kernel interrupts them 100 to 1000 times a second, for microseconds.")
        .lasting(fix::boot(&format!("nohz_full={apart}"))),
    )
}
