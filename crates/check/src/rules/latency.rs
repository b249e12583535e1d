//! What the driver declares a switch to cost, and what is known.

use super::driver::hardware_chooses;
use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use flyball_host::Topology;

/// CPUFREQ_ETERNAL: "unknown or for ever".
const ETERNAL: u64 = u32::MAX as u64;

/// The first kernel that derives schedutil's rate limit as 1.5 x the declared latency.
const FACTOR_ONE_AND_A_HALF: (u32, u32) = (6, 12);

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let declared = |id| facts.detail(id).and_then(|detail| detail.declared_latency_ns);
    let groups = facts.policies_by(|policy| {
        let possible = policy.available_governors.iter().any(|name| name == "schedutil");
        let chosen = policy.governor.as_deref() == Some("schedutil");
        (declared(policy.id), possible && !chosen, hardware_chooses(policy))
    });
    let judged = groups.into_iter().filter_map(|((ns, could_be_schedutil, hardware), group)| {
        let ns = ns?;
        let finding = |severity, found: String| {
            Finding::new(Id::DeclaredLatency, severity, group.object(), found)
                .seen_all(group.evidence("cpuinfo_transition_latency", &ns.to_string()))
        };
        if ns == ETERNAL {
            // Where schedutil runs already, its rate limit is a finding of its own.
            let trap = could_be_schedutil
                && facts.kernel_version().is_some_and(|version| version >= FACTOR_ONE_AND_A_HALF);
            let severity = if trap { Severity::Warn } else { Severity::Note };
            let found = "the driver declares an unknown (eternal) transition latency".to_owned();
            let finding = finding(severity, found);
            return Some(match trap {
                true => finding
                    .effect(
                        "Choosing schedutil would give it a rate limit of 6.44 s on this kernel.",
                    )
                    .lasting("after choosing schedutil: set its rate_limit_us to 1000"),
                false => {
                    finding.effect("Governors derive their rates from it: look at their tunables.")
                }
            });
        }
        if hardware || ns == 0 {
            let found = "no transition latency declared: nobody waits for a switch".to_owned();
            return Some(finding(Severity::Ok, found));
        }
        let declared = format!("declares {} us for a switch", ns as f64 / 1e3);
        Some(match known(&facts.topology) {
            Some(known) => finding(Severity::Note, format!("{declared}; measured: {known}"))
                .effect(
                    "The declared figure is a convention: switching often costs more than it says.",
                ),
            None => finding(
                Severity::Ok,
                format!("{declared}: a convention, no measurement of this processor is known here"),
            ),
        })
    });
    judged.collect()
}

/// Measured transition latencies: Zen 2 from 6 pairs of FTaLaT's samples (1 % to 99 %), Haswell-EP
/// from the published range, i.MX8QM from medians over 4 x A53.
fn known(topology: &Topology) -> Option<&'static str> {
    let vendor = topology.processor.vendor.as_deref();
    let product = topology.product.name.as_deref().unwrap_or_default();
    match (vendor, topology.processor.family_model_stepping) {
        (Some("AuthenticAMD"), Some((0x17, 0x30..=0x3f | 0x60..=0x7f | 0x90..=0xaf, _))) => {
            Some("230 to 1400 us on Zen 2, on a grid of 1 ms")
        }
        (Some("GenuineIntel"), Some((6, 0x3f, _))) => {
            Some("21 to 524 us on Haswell-EP, on a grid of 0.5 ms")
        }
        _ if product.contains("i.MX8QM") => Some("140 to 200 us on its A53 cores"),
        _ => None,
    }
}
