//! Who moves the clock: the driver and its mode.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::Policy;

/// Whether the hardware chooses the frequency by itself within the policy's limits. There
/// `powersave` is not the lowest frequency, and `performance` is a preference.
pub(crate) fn hardware_chooses(policy: &Policy) -> bool {
    matches!(policy.driver.as_deref(), Some("intel_pstate" | "amd-pstate-epp"))
}

/// Driver and mode as people say them.
pub(crate) fn words(facts: &Facts) -> String {
    let groups = facts.policies_by(|policy| policy.driver.clone());
    if groups.is_empty() {
        return "no cpufreq".to_owned();
    }
    let names = groups.iter().map(|(driver, _)| mode(facts, driver.as_deref()).0);
    names.collect::<Vec<_>>().join(" and ")
}

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    if facts.topology.policies.is_empty() {
        return vec![none(facts)];
    }
    let groups = facts.policies_by(|policy| policy.driver.clone());
    let findings = groups.into_iter().map(|(driver, group)| {
        let (name, what) = mode(facts, driver.as_deref());
        let value = driver.as_deref().unwrap_or("(not readable)");
        let refused = refused(facts, driver.as_deref());
        let severity = if refused.is_some() { Severity::Note } else { Severity::Ok };
        let finding =
            Finding::new(Id::FrequencyDriver, severity, group.object(), format!("{name}: {what}"))
                .seen_all(group.evidence("scaling_driver", value));
        match refused {
            Some(word) => finding
                .effect("The processor's own, finer control is switched off; frequencies come in steps.")
                .seen("/proc/cmdline", word)
                .lasting(format!("boot without: {word}")),
            None => finding,
        }
    });
    let scaling = &facts.topology.scaling;
    let modes = [("intel_pstate", &scaling.intel_pstate), ("amd_pstate", &scaling.amd_pstate)];
    findings
        .map(|finding| {
            modes.iter().fold(finding, |finding, (name, status)| match status {
                Some(status) => finding.seen(format!("{}/{name}/status", fix::CPU), status),
                None => finding,
            })
        })
        .collect()
}

/// Name with mode, and what it means.
fn mode(facts: &Facts, driver: Option<&str>) -> (String, &'static str) {
    let scaling = &facts.topology.scaling;
    let status = |status: &Option<String>| status.clone().unwrap_or_default();
    let Some(driver) = driver else {
        return ("an unknown driver".to_owned(), "its name can't be read");
    };
    let hardware = "the hardware chooses within the limits, guided by the energy preference";
    match driver {
        "intel_pstate" => {
            let guided = facts
                .topology
                .policies
                .iter()
                .any(|policy| policy.energy_performance_preference.is_some());
            let what = match guided {
                true => hardware,
                false => "the driver itself chooses every 10 ms (no HWP)",
            };
            ("intel_pstate active".to_owned(), what)
        }
        "intel_cpufreq" => ("intel_pstate passive".to_owned(), "the kernel's governor decides"),
        "amd-pstate-epp" => ("amd_pstate active".to_owned(), hardware),
        "amd-pstate" if status(&scaling.amd_pstate) == "guided" => (
            "amd_pstate guided".to_owned(),
            "the governor sets the least, the hardware may go above it",
        ),
        "amd-pstate" => ("amd_pstate passive".to_owned(), "the kernel's governor decides"),
        "acpi-cpufreq" => {
            (driver.to_owned(), "the kernel's governor decides between the firmware's few steps")
        }
        "cppc_cpufreq" => (
            driver.to_owned(),
            "the governor asks for a performance level, the firmware makes a frequency of it",
        ),
        "scmi" | "scpi-cpufreq" => {
            (driver.to_owned(), "the governor asks, a system controller moves the clock")
        }
        "pcc-cpufreq" => {
            (driver.to_owned(), "every request goes through one mailbox of the firmware")
        }
        _ => (driver.to_owned(), "the kernel's governor decides"),
    }
}

/// The word of the command line that switched a better driver off.
fn refused<'a>(facts: &'a Facts, driver: Option<&str>) -> Option<&'a String> {
    let fallback = matches!(driver, Some("acpi-cpufreq" | "pcc-cpufreq" | "powernow-k8"));
    let words = ["intel_pstate=disable", "amd_pstate=disable"];
    let mut line = facts.topology.kernel.command_line.iter();
    line.find(|word| fallback && words.contains(&word.as_str()))
}

/// No policy at all.
fn none(facts: &Facts) -> Finding {
    let source = format!("{}/cpufreq", fix::CPU);
    let new = |severity, found: &str| {
        Finding::new(Id::NoFrequencyControl, severity, "machine", found).seen(&source, "no policy")
    };
    if facts.topology.virtualization.is_virtual {
        return new(Severity::Note, "the hypervisor's host decides the frequency")
            .effect("Governor, limits and boost can be neither known nor set from in here.")
            .lasting("ask for a fixed frequency on the host; here only the probe tells");
    }
    let switched_off =
        facts.topology.kernel.command_line.iter().find(|word| *word == "cpufreq.off=1");
    let finding = new(Severity::Warn, "no driver: nobody here can say or set the frequency")
        .effect("The firmware decides alone, and may change the frequency at any time.");
    match switched_off {
        Some(word) => finding.seen("/proc/cmdline", word).lasting(format!("boot without: {word}")),
        None if facts.topology.processor.family_model_stepping.is_some() => finding
            .fix("sudo modprobe acpi-cpufreq")
            .lasting("where that fails: switch P-states (SpeedStep, CPPC) on in the firmware"),
        None => finding,
    }
}
