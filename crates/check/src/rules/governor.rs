//! Who decides, and how late.

use super::driver::hardware_chooses;
use crate::catalogue::Id;
use crate::facts::{Facts, Group, mhz};
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::{Policy, PolicyDetail};
use flyball_units::KiloHertz;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let groups = facts.policies_by(|policy| {
        let governor = policy.governor.clone();
        // Steps to climb and speeds that were set differ between kinds of core.
        (governor, hardware_chooses(policy), policy.hardware_min_khz, policy.hardware_max_khz)
    });
    let mut findings: Vec<Finding> = Vec::new();
    for ((governor, hardware, ..), group) in &groups {
        let Some(name) = governor else { continue };
        let finding = judge(facts, group, name, *hardware);
        // Kinds of core with the same verdict are one finding.
        let known = findings.iter_mut().find(|known| {
            (known.severity, &known.found, &known.effect)
                == (finding.severity, &finding.found, &finding.effect)
        });
        match known {
            Some(known) => known.evidence.extend(finding.evidence),
            None => findings.push(finding),
        }
    }
    findings.into_iter().map(|finding| widen(facts, &groups_of(facts, &finding), finding)).collect()
}

/// The policies that a finding's evidence names.
fn groups_of<'a>(facts: &'a Facts, finding: &Finding) -> Group<'a> {
    let named = |policy: &&Policy| {
        let path = format!("{}/", policy.path());
        finding.evidence.iter().any(|seen| seen.source.starts_with(&path))
    };
    Group(facts.topology.policies.iter().filter(named).collect())
}

/// Gives a finding the object and the command for all its policies.
fn widen(facts: &Facts, group: &Group<'_>, mut finding: Finding) -> Finding {
    finding.object = group.object();
    if finding.severity < Severity::Warn {
        return finding;
    }
    let offered = |policy: &&Policy| {
        let all = &policy.available_governors;
        all.is_empty() || all.iter().any(|governor| governor == "performance")
    };
    let files = fix::policy_files(&facts.topology, &group.ids(), "scaling_governor");
    if group.0.iter().all(offered) {
        return finding
            .fix(fix::tee("performance", &files))
            .lasting(fix::boot("cpufreq.default_governor=performance"));
    }
    // Without that governor a raised minimum does the same.
    let highest = group.0.iter().filter_map(|policy| policy.max_khz).max();
    match (group.0.as_slice(), highest) {
        ([_], Some(khz)) => {
            let files = fix::policy_files(&facts.topology, &group.ids(), "scaling_min_freq");
            finding.fix(fix::tee(&khz.0.to_string(), &files))
        }
        _ => finding,
    }
}

fn judge(facts: &Facts, group: &Group<'_>, name: &str, hardware: bool) -> Finding {
    let new = |severity, found: String| {
        Finding::new(Id::Governor, severity, "", found)
            .seen_all(group.evidence("scaling_governor", name))
    };
    let first = group.0.first();
    let range = first.and_then(|policy| Some((policy.min_khz?, policy.max_khz?)));
    let detail = first.and_then(|policy| facts.detail(policy.id));
    match name {
        "performance" => {
            new(Severity::Ok, "performance: asks for the highest frequency".to_owned())
        }
        "powersave" if hardware => {
            let range = range.map_or(String::new(), |(low, high)| {
                format!(" anything from {} to {}", low.0 / 1000, mhz(high))
            });
            // Without EPP there is no HWP, and the driver's own rule stands in for it.
            let guided = first.is_some_and(|p| p.energy_performance_preference.is_some());
            let who = if guided { "hardware" } else { "driver" };
            new(Severity::Warn, format!("powersave of this driver: the {who} chooses{range}"))
                .effect(format!(
                    "A core that was idle starts low; the {who} decides how soon it speeds up."
                ))
        }
        "powersave" => {
            let (effect, low) = slowdown(first);
            new(Severity::Bad, format!("powersave holds the lowest frequency{low}")).effect(effect)
        }
        "userspace" => pinned(detail, first, new),
        "schedutil" => {
            // Without them utilisation is not frequency-invariant, and the present frequency is the base.
            let uncounted = facts.topology.processor.aperfmperf == Some(false);
            new(Severity::Warn, "schedutil follows utilisation".to_owned()).effect(match uncounted {
                true => {
                    "Slow first, real-time threads too: without aperfmperf a decision adds a quarter at most."
                }
                false => {
                    "Who wakes up runs slowly first: 70 to 130 ms to the top on the virtual boards."
                }
            })
        }
        "ondemand" => {
            let (found, effect) = ondemand(detail);
            new(Severity::Warn, found).effect(effect)
        }
        "conservative" => {
            let (found, effect) = conservative(detail, first);
            new(Severity::Warn, found).effect(effect)
        }
        other => new(Severity::Warn, format!("{other}: a governor that flyball does not know"))
            .effect("How soon it answers a sudden demand is unknown."),
    }
}

/// What the lowest frequency costs, and which it is.
fn slowdown(policy: Option<&&Policy>) -> (String, String) {
    let range = policy.and_then(|policy| Some((policy.min_khz?, policy.hardware_max_khz?)));
    match range {
        Some((low, high)) if low.0 > 0 => (
            format!(
                "Everything takes up to {:.1} times as long as it has to.",
                high.0 as f64 / low.0 as f64
            ),
            format!(": {} of {}", low.0 / 1000, mhz(high)),
        ),
        _ => ("Everything takes longer than it has to.".to_owned(), String::new()),
    }
}

fn pinned(
    detail: Option<&PolicyDetail>,
    policy: Option<&&Policy>,
    new: impl Fn(Severity, String) -> Finding,
) -> Finding {
    let speed = detail.and_then(|detail| detail.set_speed_khz);
    let highest = policy.and_then(|policy| policy.hardware_max_khz);
    match (speed, highest) {
        (Some(speed), Some(highest)) => {
            let found = format!("userspace: set to {} of {}", speed.0 / 1000, mhz(highest));
            let severity = if speed < highest { Severity::Note } else { Severity::Ok };
            let finding = new(severity, found);
            match severity {
                Severity::Ok => finding,
                _ => finding.effect("Repeatable, but not at the top frequency."),
            }
        }
        _ => new(Severity::Note, "userspace: some program sets the frequency".to_owned())
            .effect("Repeatable only as long as that program leaves it alone."),
    }
}

fn millis(us: u64) -> String {
    format!("{} ms", (us as f64 / 1e3 * 10.0).round() / 10.0)
}

fn ondemand(detail: Option<&PolicyDetail>) -> (String, String) {
    let rate = detail.and_then(|detail| detail.tunables.get("sampling_rate").copied());
    match rate {
        Some(rate) => (
            format!("ondemand looks at load every {}", millis(rate)),
            format!(
                "Who wakes up runs slowly for up to {}, then at the top.",
                millis(rate.saturating_mul(2))
            ),
        ),
        None => (
            "ondemand looks at load now and then".to_owned(),
            "Who wakes up runs slowly until the next sample.".to_owned(),
        ),
    }
}

/// Steps of `freq_step` percent of the highest frequency, one per sample.
fn conservative(detail: Option<&PolicyDetail>, policy: Option<&&Policy>) -> (String, String) {
    let tunable = |name| detail.and_then(|detail| detail.tunables.get(name).copied());
    let range = policy.and_then(|policy| Some((policy.min_khz?, policy.max_khz?)));
    match (tunable("sampling_rate"), tunable("freq_step"), range) {
        (Some(rate), Some(step), Some((KiloHertz(low), KiloHertz(high))))
            if step > 0 && high > low =>
        {
            let steps =
                100_u64.saturating_mul(high - low).div_ceil(step.saturating_mul(high).max(1));
            let climb = steps.saturating_mul(rate);
            (
                format!("conservative climbs {step} % every {}", millis(rate)),
                format!(
                    "From the lowest to the top frequency takes {steps} steps: {}.",
                    millis(climb)
                ),
            )
        }
        _ => (
            "conservative climbs step by step".to_owned(),
            "From the lowest to the top frequency takes many samples.".to_owned(),
        ),
    }
}
