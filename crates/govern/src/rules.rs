//! The governors by name, and whether this machine delivers what they need.

use crate::{GovernError, SourceKind};
use flyball_governors::{Governor, Threshold, create};
use flyball_units::Nanos;

/// A governor of the catalogue with tunables set, if user space can drive it at all.
///
/// # Errors
/// No such governor or tunable; a need that is not met, by its name.
pub(crate) fn make(
    name: &str,
    tunables: &[(String, i64)],
    has_thermometer: bool,
) -> Result<Box<dyn Governor>, GovernError> {
    let mut governor = create(name)?;
    for (tunable, value) in tunables {
        governor.set(tunable, *value)?;
    }
    met(governor.as_ref(), has_thermometer)?;
    Ok(governor)
}

/// Whether the machine delivers what `governor` needs, with its present tunables.
///
/// # Errors
/// The need that is not met.
pub(crate) fn met(governor: &dyn Governor, has_thermometer: bool) -> Result<(), GovernError> {
    let needs = governor.needs();
    let unmet = |need, found: &str, hint: &str| GovernError::Unmet {
        governor: governor.name().to_owned(),
        need,
        found: found.to_owned(),
        hint: hint.to_owned(),
    };
    if needs.utilization {
        return Err(unmet(
            "the scheduler's utilisation signals at each of its updates",
            "that user space does not get them",
            match governor.name() {
                Threshold::NAME => "let it rule inside of the kernel, as root",
                _ => "follow such a rule in a trace of this machine",
            },
        ));
    }
    if needs.idle {
        return Err(unmet(
            "an event whenever a CPU enters or leaves the idle loop",
            "that user space does not get them",
            "leave idle_hook_us at 0; a simulation has the events",
        ));
    }
    if needs.temperature && !has_thermometer {
        return Err(unmet(
            "the package's temperature",
            "no thermal zone in /sys/class/thermal",
            "leave hitemp_critical at 0",
        ));
    }
    Ok(())
}

/// Whether polls are at least two ticks of the times apart.
///
/// # Errors
/// [`GovernError::TooFast`] with the least time.
pub(crate) fn slow_enough(
    governor: &dyn Governor,
    kind: SourceKind,
    resolution: Nanos,
) -> Result<(), GovernError> {
    let needs = governor.needs();
    let least = Nanos(resolution.0.saturating_mul(2));
    let interval = match (needs.poll, needs.tick_hz) {
        (true, _) => governor.poll_interval(),
        (false, Some(hz)) => Some(Nanos(1_000_000_000 / u64::from(hz.max(1)))),
        (false, None) => None,
    };
    let Some(interval) = interval.filter(|interval| *interval < least) else { return Ok(()) };
    let has = |name: &str| governor.tunables().iter().any(|tunable| tunable.name == name);
    let micros = i64::try_from(least.0.div_ceil(1_000)).unwrap_or(i64::MAX);
    let remedies = [
        ("sampling_rate", micros),
        ("poll_ival", micros.saturating_add(999) / 1_000),
        ("poll", micros.saturating_add(999) / 1_000),
        ("tick_hz", i64::try_from(1_000_000_000 / least.0.max(1)).unwrap_or(1)),
    ];
    Err(GovernError::TooFast {
        governor: governor.name().to_owned(),
        interval,
        resolution,
        origin: kind.name(),
        remedy: remedies.into_iter().find(|(name, _)| has(name)),
    })
}

/// Rate of the ticks that polling approximates, for rules that count ticks: as fast as the times
/// allow.
pub(crate) fn stat_hz(resolution: Nanos) -> u32 {
    let hz = 1_000_000_000 / resolution.0.saturating_mul(2).max(1);
    u32::try_from(hz).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Diagnostic;

    #[test]
    fn unmet_needs_are_named() {
        for (name, tunables, words) in [
            ("schedutil", vec![], "utilisation"),
            ("threshold", vec![], "utilisation"),
            ("tick", vec![("idle_hook_us".to_owned(), 10)], "idle loop"),
            ("powerd++", vec![("hitemp_critical".to_owned(), 90)], "temperature"),
        ] {
            let error = make(name, &tunables, false).err().unwrap();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.kind(), flyball_units::ErrorKind::Unsupported);
        }
        assert!(make("powerd++", &[("hitemp_critical".to_owned(), 90)], true).is_ok());
        for name in ["powerd", "powerd-paper", "powerd++", "ondemand", "conservative", "tick"] {
            assert!(make(name, &[], false).is_ok(), "{name}");
        }
    }

    #[test]
    fn polls_below_twice_the_resolution_are_refused_with_the_least_one() {
        let resolution = Nanos::from_millis(10);
        let check = |name: &str, tunable: &str, value| {
            let governor = make(name, &[(tunable.to_owned(), value)], false).unwrap();
            slow_enough(governor.as_ref(), SourceKind::Stat, resolution)
        };
        let error = check("powerd", "poll_ival", 19).unwrap_err();
        assert!(error.to_string().contains("20 ms") && error.to_string().contains("19 ms"));
        assert_eq!(error.hint().as_deref(), Some("powerd:poll_ival=20"));
        assert_eq!(error.kind(), flyball_units::ErrorKind::Usage);
        assert!(check("powerd", "poll_ival", 20).is_ok());
        let error = check("conservative", "sampling_rate", 8_000).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("conservative:sampling_rate=20000"));
        let error = check("tick", "tick_hz", 100).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("tick:tick_hz=50"));
        assert!(check("tick", "tick_hz", 50).is_ok());
        assert_eq!(stat_hz(resolution), 50);
    }
}
