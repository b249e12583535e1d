//! Idle states: what waking up costs, who forbids them, who guesses.

use crate::catalogue::Id;
use crate::facts::{Facts, set};
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::IdleGroup;

/// An exit latency up to here is no more than that of a system call and a switch, in us.
const SMALL_US: u64 = 2;

/// Above this an exit latency shows in any wake-up measurement, in us.
const LARGE_US: u64 = 20;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let idle = &facts.topology.idle;
    let mut findings: Vec<Finding> =
        idle.groups.iter().filter_map(|group| states(facts, group)).collect();
    findings.extend(held(facts));
    findings.extend(idle.governor.as_deref().map(|name| governor(facts, name)));
    findings
}

fn states(facts: &Facts, group: &IdleGroup) -> Option<Finding> {
    let enabled = group.states.iter().filter(|state| !state.disabled);
    let deepest = enabled.clone().max_by_key(|state| state.latency_us)?;
    let severity = match deepest.latency_us {
        us if us > LARGE_US => Severity::Warn,
        us if us > SMALL_US => Severity::Note,
        _ => Severity::Ok,
    };
    let found =
        format!("deepest idle state {}: {} us to leave it", deepest.name, deepest.latency_us);
    let first = group.cpus.first()?;
    let folder = format!("{}/cpu{}/cpuidle", fix::CPU, first.0);
    let seen = group.states.iter().map(|state| {
        let value = format!(
            "{}: exit {} us{}",
            state.name,
            state.latency_us,
            if state.disabled { ", disabled" } else { "" }
        );
        (format!("{folder}/state{}", state.index), value)
    });
    let finding =
        Finding::new(Id::IdleStates, severity, fix::cpus(&group.cpus), found).seen_all(seen);
    if severity == Severity::Ok {
        return Some(finding);
    }
    // The shallow ones stay: without any the CPU polls, heats and loses boost.
    let deep: Vec<u32> = enabled
        .filter(|state| state.latency_us > SMALL_US && state.index > 0)
        .map(|state| state.index)
        .collect();
    let finding = finding.effect(format!(
        "A wake-up after a pause takes up to {} us longer, and jitters by as much.",
        deepest.latency_us
    ));
    if deep.is_empty() {
        return Some(finding);
    }
    let name = format!("cpuidle/state{}/disable", fix::numbers(&deep, false));
    let command = fix::tee("1", &fix::cpu_files(&facts.topology, &group.cpus, &name));
    let kept = deep.iter().min().map_or(0, |index| index.saturating_sub(1));
    let lasting = match facts.topology.idle.driver.as_deref() {
        Some("intel_idle") => fix::boot(&format!("intel_idle.max_cstate={kept}")),
        Some("acpi_idle") => fix::boot(&format!("processor.max_cstate={kept}")),
        _ => "repeat at boot".to_owned(),
    };
    Some(finding.fix(command).lasting(lasting))
}

fn held(facts: &Facts) -> Vec<Finding> {
    const EFFECT: &str =
        "Deep idle states are forbidden meanwhile: wake-ups look better than they will be later.";
    let mut findings: Vec<Finding> = Vec::new();
    for (process, file) in &facts.surroundings.holders.found {
        findings.push(
            Finding::new(
                Id::IdleLatencyHeld,
                Severity::Warn,
                "machine",
                format!(
                    "{} (process {}) holds /dev/cpu_dma_latency open",
                    process.name, process.pid
                ),
            )
            .seen(file, "/dev/cpu_dma_latency")
            .effect(EFFECT)
            .fix(format!("sudo kill {}", process.pid))
            .lasting("or end that program; where it runs later as well, this is what users get"),
        );
    }
    let bounds = &facts.surroundings.latency_bounds;
    if !bounds.is_empty() {
        const FILE: &str = "power/pm_qos_resume_latency_us";
        let cpus = set(bounds.iter().map(|bound| bound.cpu));
        findings.push(
            Finding::new(
                Id::IdleLatencyHeld,
                Severity::Note,
                fix::cpus(&cpus),
                "a bound on the idle exit latency is set for these CPUs",
            )
            .seen_all(bounds.iter().map(|bound| {
                let path = format!("{}/cpu{}/{FILE}", fix::CPU, bound.cpu.0);
                (path, format!("{} us", bound.limit_us))
            }))
            .effect("Deeper idle states are not used on them.")
            .fix(fix::tee("0", &fix::cpu_files(&facts.topology, &cpus, FILE))),
        );
    }
    if findings.is_empty() && facts.surroundings.holders.hidden == 0 {
        findings.push(
            Finding::new(
                Id::IdleLatencyHeld,
                Severity::Ok,
                "machine",
                "nobody holds the idle latency down",
            )
            .seen("/proc/*/fd", "none is /dev/cpu_dma_latency"),
        );
    }
    findings
}

fn governor(facts: &Facts, name: &str) -> Finding {
    let source = format!("{}/cpuidle/current_governor", fix::CPU);
    let ladder =
        name == "ladder" && !facts.topology.kernel.command_line.iter().any(|w| w == "nohz=off");
    let severity = if ladder || name == "haltpoll" { Severity::Note } else { Severity::Ok };
    let finding = Finding::new(Id::IdleGovernor, severity, "machine", name).seen(&source, name);
    match name {
        "haltpoll" => finding.effect(
            "The guest polls before it halts: quick wake-ups, paid with the host's CPU time.",
        ),
        _ if ladder => finding
            .effect("It steps deeper one state at a time, made for kernels with a periodic tick.")
            .fix(fix::tee("menu", &source))
            .lasting(fix::boot("cpuidle.governor=menu")),
        _ => finding,
    }
}
