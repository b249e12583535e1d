//! Delivered against claimed and allowed frequency.

use super::driver::hardware_chooses;
use crate::catalogue::Id;
use crate::facts::{Facts, Probe, ProbedCpu, mhz, set};
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_units::{CpuId, KiloHertz};

/// The probe's own error, its steps of turbo and the age of a claim together, relatively.
const SMALL: f64 = 0.03;

/// A difference that nobody may overlook.
const LARGE: f64 = 0.10;

/// CPUs of one kind further apart are not alike.
const UNEVEN: f64 = 0.05;

pub(super) fn find(facts: &Facts, probe: &Probe) -> Vec<Finding> {
    let seen: Vec<Seen<'_>> = probe.cpus.iter().filter_map(Seen::of).collect();
    if seen.is_empty() {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(claim(facts, &seen));
    findings.extend(below_limit(facts, &seen));
    findings.extend(uneven(&seen));
    if findings.is_empty() {
        let (low, high) = range(&seen);
        let found = match low == high {
            true => format!("delivers {}, as claimed", mhz(high)),
            false => format!("delivers {} to {}, as claimed", low.0 / 1000, mhz(high)),
        };
        findings.push(Finding::new(Id::DeliveredFrequency, Severity::Ok, object(&seen), found));
    }
    findings.into_iter().map(|finding| finding.seen_all(seen.iter().map(evidence))).collect()
}

/// A CPU whose frequency is known.
struct Seen<'a> {
    cpu: &'a ProbedCpu,
    delivered: KiloHertz,
}

impl Seen<'_> {
    fn of(cpu: &ProbedCpu) -> Option<Seen<'_>> {
        let delivered = cpu.delivered_khz.filter(|&khz| khz > 0)?;
        Some(Seen { cpu, delivered: KiloHertz(delivered) })
    }

    fn id(&self) -> CpuId {
        CpuId(self.cpu.cpu)
    }
}

/// `1 - part / whole`: the missing share; negative where there is more.
fn missing(part: KiloHertz, whole: KiloHertz) -> f64 {
    1.0 - part.0 as f64 / whole.0.max(1) as f64
}

fn evidence(seen: &Seen<'_>) -> (String, String) {
    let cpu = seen.cpu;
    let claimed =
        cpu.claimed_khz.map_or(String::new(), |khz| format!(", claimed {}", mhz(KiloHertz(khz))));
    let spread = cpu
        .spread_permille
        .map_or(String::new(), |spread| format!(", spread {:.1} %", spread / 10.0));
    let disturbed = match cpu.disturbed_permille {
        0..10 => String::new(),
        share => format!(", {} % of samples disturbed", share / 10),
    };
    let value = format!(
        "{} delivered (cycles {}){claimed}{spread}{disturbed}",
        mhz(seen.delivered),
        cpu.basis
    );
    (format!("probe on cpu{} ({})", cpu.cpu, cpu.core_type), value)
}

fn object(seen: &[Seen<'_>]) -> String {
    fix::cpus(&set(seen.iter().map(Seen::id)))
}

fn range(seen: &[Seen<'_>]) -> (KiloHertz, KiloHertz) {
    let all = seen.iter().map(|seen| seen.delivered);
    (all.clone().min().unwrap_or_default(), all.max().unwrap_or_default())
}

/// The claim that is furthest off.
fn claim(facts: &Facts, seen: &[Seen<'_>]) -> Option<Finding> {
    let off = seen.iter().filter_map(|seen| {
        let claimed = KiloHertz(seen.cpu.claimed_khz?);
        Some((missing(seen.delivered, claimed), seen, claimed))
    });
    let (share, seen_cpu, claimed) = off.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
    if share.abs() < SMALL {
        return None;
    }
    let found = format!(
        "cpu{} delivers {}, claimed are {} ({:+.0} %)",
        seen_cpu.cpu.cpu,
        mhz(seen_cpu.delivered),
        mhz(claimed),
        -share * 100.0
    );
    // Without cpufreq the claim is `cpu MHz`, the constant rate of the TSC.
    if facts.topology.policies.is_empty() {
        return Some(
            Finding::new(Id::DeliveredFrequency, Severity::Note, object(seen), found)
                .effect("The claim is a constant here; go by what the probe delivers."),
        );
    }
    let severity = match share {
        share if share >= LARGE => Severity::Bad,
        share if share >= SMALL => Severity::Warn,
        _ => Severity::Note,
    };
    let effect = match severity {
        Severity::Note => {
            "The hardware goes above what was asked for: figures depend on heat and neighbours."
        }
        _ => {
            "sysfs says one thing and the hardware does another: heat, power or firmware holds it back."
        }
    };
    let finding =
        Finding::new(Id::DeliveredFrequency, severity, object(seen), found).effect(effect);
    Some(match severity {
        Severity::Note => finding,
        _ => finding.lasting("look at temperature, power-limit and battery; then at the firmware"),
    })
}

/// A core that stays far below what its policy allows, though it works. Where the policy holds
/// it down itself, that is a finding of its own.
fn below_limit(facts: &Facts, seen: &[Seen<'_>]) -> Option<Finding> {
    let low = seen.iter().filter_map(|seen| {
        let policy = facts.topology.policy(seen.id())?;
        let held = match policy.governor.as_deref() {
            Some("powersave") => !hardware_chooses(policy),
            Some("userspace") => true,
            _ => false,
        };
        let limit = policy.max_khz.filter(|_| !held)?;
        Some((missing(seen.delivered, limit), seen, limit))
    });
    let (share, worst, limit) = low.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share >= LARGE).then(|| {
        let found = format!(
            "cpu{} reaches {} of {} after 0.1 s of work",
            worst.cpu.cpu,
            worst.delivered.0 / 1000,
            mhz(limit)
        );
        Finding::new(Id::DeliveredFrequency, Severity::Warn, object(seen), found)
            .effect("Slow governor, boost shared with busy cores, heat or power: not the speed on paper.")
            .lasting("end other load, look at governor, temperature and power-limit, then check again")
    })
}

/// CPUs of one kind that differ.
fn uneven(seen: &[Seen<'_>]) -> Option<Finding> {
    let kinds: std::collections::BTreeSet<&str> =
        seen.iter().map(|seen| seen.cpu.core_type.as_str()).collect();
    kinds.into_iter().find_map(|kind| {
        let alike = seen.iter().filter(|seen| seen.cpu.core_type == kind);
        let (least, most) = (
            alike.clone().min_by_key(|seen| seen.delivered)?,
            alike.max_by_key(|seen| seen.delivered)?,
        );
        (missing(least.delivered, most.delivered) >= UNEVEN).then(|| {
            let found = format!(
                "cpu{} delivers {}, cpu{} {}",
                least.cpu.cpu,
                mhz(least.delivered),
                most.cpu.cpu,
                mhz(most.delivered)
            );
            Finding::new(Id::DeliveredFrequency, Severity::Warn, object(seen), found)
                .effect("CPUs of one kind are not equally fast: a figure depends on where it was taken.")
                .fix(format!("taskset -c {} CMD", most.cpu.cpu))
        })
    })
}
