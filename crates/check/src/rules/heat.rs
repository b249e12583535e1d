//! Heat: now, and since boot.

use crate::catalogue::Id;
use crate::facts::{Facts, set};
use crate::finding::{Finding, Severity};
use crate::fix;

/// A zone so near below its trip point is as good as there, in thousandths of a degree.
const AT: i64 = 5_000;

/// A zone so near will be there under load.
const NEAR: i64 = 15_000;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let mut findings = cooling(facts);
    findings.extend(zones(facts));
    findings.extend(throttled(facts));
    findings
}

/// Heat is mended with air, not with a command.
fn cool(finding: Finding) -> Finding {
    finding.lasting("let it cool down: fans, dust, surface, other load; then measure")
}

fn cooling(facts: &Facts) -> Vec<Finding> {
    let active = facts.surroundings.cooling.iter().filter(|d| d.slows_cpus() && d.state > 0);
    let findings = active.map(|device| {
        let found = format!("cooling device {} is at step {}", device.name, device.state);
        cool(
            Finding::new(Id::Temperature, Severity::Bad, "machine", found)
                .seen(format!("{}/cur_state", device.path), device.state)
                .effect("The kernel slows CPUs now because of heat; the next minute will differ."),
        )
    });
    findings.collect()
}

fn zones(facts: &Facts) -> Option<Finding> {
    let with_trip = facts.surroundings.zones.iter().filter_map(|zone| {
        let trip = zone.trip.as_ref()?;
        Some((trip.millicelsius.saturating_sub(zone.millicelsius), zone, trip))
    });
    let (room, zone, trip) = with_trip.min_by_key(|(room, ..)| *room)?;
    let degrees = |millicelsius: i64| millicelsius as f64 / 1e3;
    let severity = match room {
        _ if room <= AT => Severity::Bad,
        _ if room <= NEAR => Severity::Warn,
        _ => Severity::Ok,
    };
    let found = format!(
        "{}: {:.0} C, {:.0} below its {} trip point",
        zone.name,
        degrees(zone.millicelsius),
        degrees(room),
        trip.kind
    );
    let finding = Finding::new(Id::Temperature, severity, "machine", found)
        .seen(format!("{}/temp", zone.path), zone.millicelsius)
        .seen(&trip.path, trip.millicelsius);
    Some(match severity {
        Severity::Ok => finding,
        _ => cool(finding.effect("At the trip point the kernel or the firmware slows CPUs down.")),
    })
}

fn throttled(facts: &Facts) -> Option<Finding> {
    let throttled = facts.surroundings.throttled.as_ref()?;
    let file = |cpu: u32, name: &str| format!("{}/cpu{cpu}/thermal_throttle/{name}", fix::CPU);
    let Some(worst) = throttled.iter().max_by_key(|cpu| cpu.core.max(cpu.package)) else {
        let first = facts.topology.online.first().unwrap_or_default();
        return Some(
            Finding::new(
                Id::Throttled,
                Severity::Ok,
                "machine",
                "heat has slowed no CPU since boot",
            )
            .seen(file(first.0, "package_throttle_count"), 0),
        );
    };
    let cpus = set(throttled.iter().map(|throttled| throttled.cpu));
    let times = worst.core.max(worst.package);
    let longest = worst.longest_ms.map_or(String::new(), |ms| format!(", for up to {ms} ms"));
    let finding = Finding::new(
        Id::Throttled,
        Severity::Warn,
        fix::cpus(&cpus),
        format!("heat has slowed CPUs {times} times since boot{longest}"),
    )
    .seen(file(worst.cpu.0, "core_throttle_count"), worst.core)
    .seen(file(worst.cpu.0, "package_throttle_count"), worst.package)
    .effect("It will again under the same load: long runs get slower as they go.");
    Some(cool(finding))
}
