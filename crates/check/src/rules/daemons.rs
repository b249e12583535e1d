//! Programs that change what is measured.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};

/// What is known about a program of [`flyball_host::WATCHED`].
struct Daemon {
    /// Name of its process, cut after 15 bytes.
    process: &'static str,
    /// Its service.
    service: &'static str,
    severity: Severity,
    effect: &'static str,
}

const DAEMONS: &[Daemon] = &[
    Daemon {
        process: "auto-cpufreq",
        service: "auto-cpufreq",
        severity: Severity::Bad,
        effect: "Changes governor and turbo every few seconds by load and temperature.",
    },
    Daemon {
        process: "cpufreqd",
        service: "cpufreqd",
        severity: Severity::Bad,
        effect: "Changes governors by load, temperature and power supply.",
    },
    Daemon {
        process: "cpuspeed",
        service: "cpuspeed",
        severity: Severity::Bad,
        effect: "Sets frequencies by load, from user space.",
    },
    Daemon {
        process: "intel_lpmd",
        service: "intel_lpmd",
        severity: Severity::Bad,
        effect: "Moves all work to a few slow cores when the machine is not busy.",
    },
    Daemon {
        process: "thermald",
        service: "thermald",
        severity: Severity::Warn,
        effect: "Changes power limits and cooling with temperature, in the middle of a run.",
    },
    Daemon {
        process: "tuned",
        service: "tuned",
        severity: Severity::Warn,
        effect: "Applies a profile of governors, limits and sysctls; some profiles follow load.",
    },
    Daemon {
        process: "tuned-ppd",
        service: "tuned-ppd",
        severity: Severity::Note,
        effect: "Changes TuneD's profile when the desktop or the battery asks.",
    },
    Daemon {
        process: "power-profiles-",
        service: "power-profiles-daemon",
        severity: Severity::Warn,
        effect: "Sets preference, boost and profile when the desktop, battery or lid asks.",
    },
    Daemon {
        process: "system76-power",
        service: "com.system76.PowerDaemon",
        severity: Severity::Warn,
        effect: "Sets limits and turbo by its profile.",
    },
    Daemon {
        process: "tlp-pd",
        service: "tlp-pd",
        severity: Severity::Warn,
        effect: "Sets governor, limits and boost when the profile or the power supply changes.",
    },
    Daemon {
        process: "gamemoded",
        service: "gamemoded",
        severity: Severity::Note,
        effect: "Changes the governor while a game asks for it.",
    },
];

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for process in &facts.surroundings.processes {
        let source = format!("/proc/{}/comm", process.pid);
        if process.name == "irqbalance" {
            findings.push(balance(facts, &source));
            continue;
        }
        let Some(daemon) = DAEMONS.iter().find(|daemon| daemon.process == process.name) else {
            continue;
        };
        findings.push(stop(
            Finding::new(
                Id::FrequencyDaemon,
                daemon.severity,
                "machine",
                format!("{} is running", daemon.service),
            )
            .seen(source, &process.name)
            .effect(daemon.effect),
            daemon.service,
        ));
    }
    for service in &facts.surroundings.services {
        let name = service.trim_end_matches(".service");
        findings.push(
            Finding::new(
                Id::FrequencyDaemon,
                Severity::Note,
                "machine",
                format!("{name} sets frequencies at boot"),
            )
            .seen("/etc/systemd/system/multi-user.target.wants", service)
            .effect("Its limits and governors come back after a reboot, whatever you set.")
            .fix(format!("sudo systemctl disable --now {name}")),
        );
    }
    if !findings.iter().any(|finding| finding.id == Id::FrequencyDaemon) {
        findings.push(
            Finding::new(
                Id::FrequencyDaemon,
                Severity::Ok,
                "machine",
                "no known frequency daemon runs",
            )
            .seen("/proc/*/comm", "none of the known names"),
        );
    }
    findings.extend(extension(facts));
    findings
}

fn stop(finding: Finding, service: &str) -> Finding {
    finding
        .fix(format!("sudo systemctl stop {service}"))
        .lasting(format!("sudo systemctl disable --now {service}"))
}

fn balance(facts: &Facts, source: &str) -> Finding {
    let guarded = !facts.apart().is_empty();
    let (severity, effect) = match guarded {
        true => (
            Severity::Note,
            "Moves interrupts every 10 s; it leaves CPUs that are set apart alone.",
        ),
        false => (Severity::Warn, "Moves interrupts every 10 s, also onto the CPU that measures."),
    };
    stop(
        Finding::new(Id::InterruptBalance, severity, "machine", "irqbalance is running")
            .seen(source, "irqbalance")
            .effect(effect),
        "irqbalance",
    )
}

fn extension(facts: &Facts) -> Option<Finding> {
    let kernel = &facts.surroundings.kernel;
    let state = kernel.extension_state.as_deref()?;
    let source = "/sys/kernel/sched_ext/state";
    Some(match state {
        "disabled" => Finding::new(
            Id::SchedulerExtension,
            Severity::Ok,
            "machine",
            "no scheduler is loaded from BPF",
        )
        .seen(source, state),
        _ => Finding::new(
            Id::SchedulerExtension,
            Severity::Warn,
            "machine",
            format!("sched_ext runs {}", kernel.extension_name.as_deref().unwrap_or("a scheduler")),
        )
        .seen(source, state)
        .effect("It places tasks by its own rules, and may set frequencies itself.")
        .fix("echo S | sudo tee /proc/sysrq-trigger")
        .lasting("disable the service that loads it (scx, scx_loader)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_watched_program_is_known() {
        for name in flyball_host::WATCHED {
            let known = DAEMONS.iter().any(|daemon| daemon.process == *name);
            assert!(known || *name == "irqbalance", "{name}");
        }
    }
}
