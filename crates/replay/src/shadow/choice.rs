//! A governor of the catalogue, and whether a recording can feed it.

use flyball_governors::{self as governors, Governor, Needs};
use flyball_units::GovernorSpec;

use super::ShadowError;

/// Reads a governor with its tunables, and checks both against the catalogue.
///
/// # Errors
/// As [`create`], and a text that is no governor.
pub fn governor(text: &str) -> Result<GovernorSpec, ShadowError> {
    let spec: GovernorSpec = text.parse()?;
    create(&spec).map(|_| spec)
}

/// One of it, not started.
///
/// # Errors
/// No such governor, no such tunable, or a value outside its range.
pub fn create(spec: &GovernorSpec) -> Result<Box<dyn Governor>, ShadowError> {
    let mut governor = governors::create(&spec.name).map_err(ShadowError::Governor)?;
    for (name, value) in &spec.tunables {
        governor.set(name, *value).map_err(ShadowError::Tunable)?;
    }
    Ok(governor)
}

/// Refuses a governor that a recording cannot feed, and names what it lacks.
pub(super) fn check(
    spec: &GovernorSpec,
    governor: &dyn Governor,
    updates: u64,
) -> Result<(), ShadowError> {
    let Needs { poll, tick_hz, idle, utilization, temperature, .. } = governor.needs();
    let lacks = if poll {
        "busy and idle times at the moments of its own polls: a recording does not tell when the kernel would have polled".to_owned()
    } else if let Some(hz) = tick_hz {
        format!("a sample at each of {hz} statistics ticks per second: no event shows them")
    } else if temperature {
        "the package's temperature: no event shows it".to_owned()
    } else if idle {
        "entries to and exits from idle alone: nothing to set beside the kernel's".to_owned()
    } else if !utilization {
        "nothing from the scheduler: it asks for frequencies by itself, so there is nothing to predict".to_owned()
    } else if updates == 0 {
        "the scheduler's utilisation per CPU: the recording has none".to_owned()
    } else {
        return Ok(());
    };
    let hint = match utilization && updates == 0 {
        true => "record a probe on pelt_cfs_tp as well: docs/traces.md",
        false => "a governor that follows utilisation can be shadowed: schedutil, threshold",
    };
    Err(ShadowError::Need { governor: spec.name.clone(), lacks, hint })
}

/// Whether it sets this tunable.
pub(super) fn sets(spec: &GovernorSpec, tunable: &str) -> bool {
    spec.tunables.iter().any(|(name, _)| name == tunable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_governor_with_its_tunables() {
        assert!(governor("schedutil:rate_limit_us=500").is_ok());
        let wrong = |text: &str| governor(text).unwrap_err().to_string();
        assert!(wrong("schedutil:rate_limit_us").contains("rate_limit_us"));
        assert!(wrong("schedutil:x=1").contains("no tunable `x`"));
        assert!(wrong("shedutil").contains("shedutil"));
    }

    #[test]
    fn what_a_recording_lacks_is_named() {
        let refuse = |name: &str, updates| {
            let spec = governor(name).unwrap();
            check(&spec, create(&spec).unwrap().as_ref(), updates).unwrap_err().to_string()
        };
        assert!(refuse("ondemand", 9).contains("polls"));
        assert!(refuse("tick", 9).contains("statistics ticks"));
        assert!(refuse("performance", 9).contains("nothing to predict"));
        assert!(refuse("schedutil", 0).contains("utilisation"));
        let spec = governor("threshold").unwrap();
        assert!(check(&spec, create(&spec).unwrap().as_ref(), 1).is_ok());
    }
}
