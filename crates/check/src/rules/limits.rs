//! Limits that are narrower than the hardware's.

use crate::catalogue::Id;
use crate::facts::{Facts, Group, mhz};
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_units::KiloHertz;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let groups = facts.policies_by(|policy| {
        (policy.min_khz, policy.max_khz, policy.hardware_min_khz, policy.hardware_max_khz)
    });
    let judged = groups.into_iter().filter_map(|((min, max, low, high), group)| {
        Some(policy_limits(facts, &group, (min?, max?), (low?, high?)))
    });
    let mut findings: Vec<Finding> = judged.collect();
    findings.extend(percent(facts));
    findings.extend(firmware(facts));
    findings
}

/// Severity by what is missing at the top.
fn missing(limit: KiloHertz, hardware: KiloHertz) -> Severity {
    // In per mille; 10 % off is bad.
    match limit.0.saturating_mul(1000) / hardware.0.max(1) {
        1000.. => Severity::Ok,
        901.. => Severity::Warn,
        _ => Severity::Bad,
    }
}

fn policy_limits(
    facts: &Facts,
    group: &Group<'_>,
    (min, max): (KiloHertz, KiloHertz),
    (low, high): (KiloHertz, KiloHertz),
) -> Finding {
    let severity = missing(max, high);
    let range = format!("{} to {}", low.0 / 1000, mhz(high));
    let found = match severity {
        Severity::Ok if min == max => format!("pinned at {}, the hardware's highest", mhz(max)),
        Severity::Ok if min > low => format!("at least {} of {range}", mhz(min)),
        Severity::Ok => format!("the hardware's whole range, {range}"),
        _ if min == max => format!("pinned at {} of {range}", mhz(max)),
        _ => format!("at most {} of {range}", mhz(max)),
    };
    let finding = Finding::new(Id::FrequencyLimits, severity, group.object(), found)
        .seen_all(group.evidence("scaling_min_freq", &min.0.to_string()))
        .seen_all(group.evidence("scaling_max_freq", &max.0.to_string()))
        .seen_all(group.evidence("cpuinfo_max_freq", &high.0.to_string()));
    match severity {
        Severity::Ok => finding,
        _ => finding
            .effect(format!(
                "Work takes up to {:.1} times as long as this hardware can do it.",
                high.0 as f64 / max.0.max(1) as f64
            ))
            .fix(fix::tee(
                &high.0.to_string(),
                &fix::policy_files(&facts.topology, &group.ids(), "scaling_max_freq"),
            ))
            .lasting(
                "find who set it, or it comes back: a daemon, tlp, cpupower, a benchmark tool",
            ),
    }
}

/// intel_pstate's cap in percent, which no policy shows.
fn percent(facts: &Facts) -> Option<Finding> {
    let percent = facts.surroundings.intel?.max_percent.filter(|&percent| percent < 100)?;
    let file = format!("{}/intel_pstate/max_perf_pct", fix::CPU);
    let severity = if percent <= 90 { Severity::Bad } else { Severity::Warn };
    Some(
        Finding::new(
            Id::FrequencyLimits,
            severity,
            "machine",
            format!("intel_pstate allows {percent} % of the highest performance"),
        )
        .seen(&file, percent)
        .effect("All CPUs stay below that, whatever their policies say.")
        .fix(fix::tee("100", &file))
        .lasting("find who set it, or it comes back: a daemon, tlp, cpupower, a benchmark tool"),
    )
}

fn firmware(facts: &Facts) -> Vec<Finding> {
    let groups = facts.policies_by(|policy| {
        let limit = facts.detail(policy.id).and_then(|detail| detail.firmware_khz);
        (limit, policy.hardware_max_khz)
    });
    let judged = groups.into_iter().filter_map(|((limit, high), group)| {
        let (limit, high) = (limit?, high?);
        let finding = |severity, found: String| {
            Finding::new(Id::FirmwareLimit, severity, group.object(), found)
                .seen_all(group.evidence("bios_limit", &limit.0.to_string()))
        };
        Some(match missing(limit, high) {
            Severity::Ok => finding(Severity::Ok, "the firmware allows all frequencies".to_owned()),
            severity => finding(
                severity,
                format!("the firmware allows {} of {}", limit.0 / 1000, mhz(high)),
            )
            .effect("Weak power supply, heat or a setting of the firmware: the kernel obeys.")
            .lasting("mend the cause; where supply and cooling suffice, boot with: processor.ignore_ppc=1"),
        })
    });
    judged.collect()
}
