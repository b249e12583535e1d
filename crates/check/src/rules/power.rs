//! Limits of power, battery, the firmware's profile.

use crate::catalogue::Id;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::fix;
use flyball_host::PowerLimit;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        facts.surroundings.power_limits.iter().filter_map(limit).collect();
    findings.extend(mains(facts));
    findings.extend(profile(facts));
    findings
}

fn limit(limit: &PowerLimit) -> Option<Finding> {
    let highest = limit.highest_uw.filter(|&highest| highest > 0)?;
    let watts = |uw: u64| uw as f64 / 1e6;
    let object = limit.zone.clone();
    let window =
        limit.window_us.map_or(String::new(), |us| format!(" over {:.3} s", us as f64 / 1e6));
    let found = format!(
        "{} {} at {:.0} of {:.0} W{window}",
        limit.zone,
        limit.constraint,
        watts(limit.limit_uw),
        watts(highest)
    );
    let severity = if limit.limit_uw < highest { Severity::Warn } else { Severity::Ok };
    let finding =
        Finding::new(Id::PowerLimit, severity, object, found).seen(&limit.path, limit.limit_uw);
    Some(match severity {
        Severity::Ok => finding,
        _ => finding
            .effect("A long load is slowed down to what this power sustains.")
            .fix(fix::tee(&highest.to_string(), &limit.path))
            .lasting("the firmware or thermald set it; a raised limit needs cooling to match"),
    })
}

fn mains(facts: &Facts) -> Option<Finding> {
    let (path, online) = facts.surroundings.supply.mains.as_ref()?;
    Some(match online {
        true => Finding::new(Id::Battery, Severity::Ok, "machine", "on mains").seen(path, 1),
        false => Finding::new(Id::Battery, Severity::Warn, "machine", "on battery")
            .seen(path, 0)
            .effect("Firmware and daemons lower limits, boost and preferences, often unseen.")
            .lasting("plug it in, wait until it is charged, and measure then"),
    })
}

fn profile(facts: &Facts) -> Option<Finding> {
    let supply = &facts.surroundings.supply;
    let profile = supply.profile.as_deref()?;
    let file = "/sys/firmware/acpi/platform_profile";
    let low = matches!(profile, "low-power" | "quiet" | "cool");
    let severity = if low { Severity::Warn } else { Severity::Ok };
    let finding = Finding::new(
        Id::PlatformProfile,
        severity,
        "machine",
        format!("firmware profile {profile}"),
    )
    .seen(file, profile);
    if !low {
        return Some(finding);
    }
    let finding =
        finding.effect("The firmware limits power and heat below what the hardware can do.");
    // The fastest that the firmware offers.
    let best = ["performance", "balanced-performance", "balanced"];
    let offered = best.iter().find(|best| supply.profiles.iter().any(|profile| profile == *best));
    Some(match offered {
        Some(best) => finding
            .fix(fix::tee(best, file))
            .lasting("repeat at boot; a power daemon or the desktop may set it back"),
        None => finding,
    })
}
