//! How often a governor may act, and boost.

use crate::catalogue::Id;
use crate::facts::{Facts, Group};
use crate::finding::{Finding, Severity};
use crate::fix;

/// schedutil's rate limit of a driver that declares CPUFREQ_ETERNAL, by Linux 6.12's rule:
/// 4294967295 ns are 4294967 us, and half of that again.
const ETERNAL_LIMIT_US: u64 = 4_294_967 + 4_294_967 / 2;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings = rate_limits(facts);
    findings.extend(boost(facts));
    findings
}

fn rate_limits(facts: &Facts) -> Vec<Finding> {
    let limit = |id: u32| {
        let detail = facts.detail(id)?;
        let names = ["rate_limit_us", "sampling_rate"];
        let (name, us) =
            names.iter().find_map(|name| Some((*name, *detail.tunables.get(*name)?)))?;
        Some((name, us, detail.tunables_path.starts_with(&format!("{}/cpufreq/policy", fix::CPU))))
    };
    let groups = facts.policies_by(|policy| (policy.governor.clone(), limit(policy.id)));
    let judged = groups.into_iter().filter_map(|((governor, limit), group)| {
        let (name, us, own) = limit?;
        Some(rate_limit(facts, &group, governor.as_deref()?, name, us, own))
    });
    judged.collect()
}

fn rate_limit(
    facts: &Facts,
    group: &Group<'_>,
    governor: &str,
    tunable: &str,
    us: u64,
    own: bool,
) -> Finding {
    let schedutil = tunable == "rate_limit_us";
    let slow = if schedutil { 10_000 } else { 100_000 };
    let severity = match us {
        1_000_000.. => Severity::Bad,
        us if us >= slow => Severity::Warn,
        _ => Severity::Ok,
    };
    let time = match us {
        1_000_000.. => format!("{:.2} s", us as f64 / 1e6),
        10_000.. => format!("{} ms", us as f64 / 1e3),
        _ => format!("{us} us"),
    };
    let file = format!("{governor}/{tunable}");
    let (object, files) = match own {
        true => (group.object(), fix::policy_files(&facts.topology, &group.ids(), &file)),
        false => ("machine".to_owned(), format!("{}/cpufreq/{file}", fix::CPU)),
    };
    let mut finding = Finding::new(
        Id::GovernorRateLimit,
        severity,
        object,
        format!("{governor} may act once in {time} ({tunable} = {us})"),
    );
    let paths = group.0.iter().filter_map(|policy| facts.detail(policy.id));
    let mut sources: Vec<String> =
        paths.map(|detail| format!("{}/{tunable}", detail.tunables_path)).collect();
    sources.dedup();
    finding = finding.seen_all(sources.into_iter().map(|path| (path, us)));
    if severity == Severity::Ok {
        return finding;
    }
    let eternal = schedutil && us == ETERNAL_LIMIT_US;
    if let Some(declared) = group.0.first().and_then(|policy| facts.detail(policy.id)) {
        let source = group.files("cpuinfo_transition_latency").into_iter().next();
        finding = finding.seen_all(source.zip(declared.declared_latency_ns));
    }
    let effect = match (eternal, schedutil) {
        (true, _) => {
            "1.5 x the latency \"eternal\" that the driver declares: load waits seconds for speed."
                .to_owned()
        }
        (_, true) => {
            format!("After each change the next one waits {time}, whatever the load does.")
        }
        _ => format!("A sudden demand may wait {time} before anybody looks."),
    };
    let good = if schedutil { "1000" } else { "10000" };
    finding
        .effect(effect)
        .fix(fix::tee(good, &files))
        .lasting("repeat at boot: the value is derived anew each time the governor is chosen")
}

/// Global switches go before the policies' own: a policy boosts where both allow it.
fn boost(facts: &Facts) -> Vec<Finding> {
    let scaling = &facts.topology.scaling;
    let global = match (scaling.no_turbo, scaling.boost) {
        (Some(off), _) => {
            Some((!off, format!("{}/intel_pstate/no_turbo", fix::CPU), u32::from(off)))
        }
        (None, Some(on)) => Some((on, format!("{}/cpufreq/boost", fix::CPU), u32::from(on))),
        (None, None) => None,
    };
    let own = facts.policies_by(|policy| policy.boost);
    let split = own.iter().filter(|(boost, _)| boost.is_some()).count() > 1;
    match global {
        Some((false, path, value)) => vec![off("machine".to_owned()).seen(path, value)],
        Some((true, path, value)) if !split => {
            let intel = scaling.no_turbo.is_some();
            vec![
                on("machine".to_owned())
                    .seen(&path, value)
                    .fix(fix::tee(if intel { "1" } else { "0" }, &path)),
            ]
        }
        // The policies disagree, or each has only its own switch.
        _ => own
            .iter()
            .filter_map(|(boost, group)| {
                let files = fix::policy_files(&facts.topology, &group.ids(), "boost");
                Some(match (*boost)? {
                    true => on(group.object())
                        .seen_all(group.evidence("boost", "1"))
                        .fix(fix::tee("0", &files)),
                    false => off(group.object()).seen_all(group.evidence("boost", "0")),
                })
            })
            .collect(),
    }
}

fn on(object: String) -> Finding {
    Finding::new(Id::Boost, Severity::Warn, object, "boost is on")
        .effect("Speed above the base depends on heat and busy neighbours; off is slower and repeats better.")
        .lasting("repeat at boot, or switch it off in the firmware")
}

fn off(object: String) -> Finding {
    Finding::new(Id::Boost, Severity::Ok, object, "boost is off: repeatable, below the top speed")
}
