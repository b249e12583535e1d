//! Preferences between energy and performance: EPP and EPB.

use super::driver::hardware_chooses;
use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings = preference(facts);
    findings.extend(bias(facts));
    findings
}

/// EPP by its names, or as a raw number from 0 (performance) to 255 (power).
fn severity(preference: &str) -> Severity {
    match (preference, preference.parse::<u32>()) {
        ("performance", _) | (_, Ok(0)) => Severity::Ok,
        ("balance_performance" | "default", _) | (_, Ok(1..=0x80)) => Severity::Note,
        _ => Severity::Warn,
    }
}

fn preference(facts: &Facts) -> Vec<Finding> {
    const FILE: &str = "energy_performance_preference";
    let groups = facts.policies_by(|policy| {
        let forced = hardware_chooses(policy) && policy.governor.as_deref() == Some("performance");
        (policy.energy_performance_preference.clone(), forced)
    });
    let judged = groups.into_iter().filter_map(|((preference, forced), group)| {
        let preference = preference?;
        let severity = if forced { Severity::Ok } else { severity(&preference) };
        let forced = if forced { ", fixed by the governor performance" } else { "" };
        let found = format!("energy preference {preference}{forced}");
        let finding = Finding::new(Id::EnergyPreference, severity, group.object(), found)
            .seen_all(group.evidence(FILE, &preference));
        let can = group.0.iter().all(|policy| {
            let all = &policy.available_preferences;
            all.is_empty() || all.iter().any(|name| name == "performance")
        });
        Some(match severity {
            Severity::Ok => finding,
            _ => {
                let finding =
                    finding.effect("The hardware prefers saving: it speeds up later, and less.");
                let files = fix::policy_files(&facts.topology, &group.ids(), FILE);
                match can {
                    true => finding
                        .fix(fix::tee("performance", &files))
                        .lasting("repeat at boot; a running power daemon sets it back"),
                    false => finding,
                }
            }
        })
    });
    judged.collect()
}

fn bias(facts: &Facts) -> Vec<Finding> {
    const FILE: &str = "power/energy_perf_bias";
    let has_preference =
        facts.topology.policies.iter().any(|p| p.energy_performance_preference.is_some());
    let judged = facts.surroundings.energy_bias.iter().map(|group| {
        let severity = match group.bias {
            0..=3 => Severity::Ok,
            7.. => Severity::Warn,
            6 if !has_preference => Severity::Warn,
            _ => Severity::Note,
        };
        let found = format!("energy bias {} of 15 (0 is performance)", group.bias);
        let paths =
            group.cpus.iter().map(|cpu| (format!("{}/cpu{}/{FILE}", fix::CPU, cpu.0), group.bias));
        let finding =
            Finding::new(Id::EnergyBias, severity, fix::cpus(&group.cpus), found).seen_all(paths);
        match severity {
            Severity::Ok => finding,
            _ => finding
                .effect("Boost and the package's clocks follow load later to save power.")
                .fix(fix::tee("0", &fix::cpu_files(&facts.topology, &group.cpus, FILE)))
                .lasting("repeat at boot, or set the firmware's energy profile to performance"),
        }
    });
    judged.collect()
}
