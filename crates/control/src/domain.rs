//! What one clock domain gets: how its driver is told, and in which order.

use crate::machine::file;
use crate::points::{is_offered, resolve};
use crate::{ControlError, Held, Plan, Settings, Step, Tuning};
use flyball_host::Policy;
use flyball_units::{Frequency, KiloHertz, Mismatch, nearest};

const GOVERNOR: &str = "scaling_governor";
const MIN: &str = "scaling_min_freq";
const MAX: &str = "scaling_max_freq";
const SPEED: &str = "scaling_setspeed";
const EPP: &str = "energy_performance_preference";

/// The steps of one clock domain.
pub(crate) fn domain(
    settings: &Settings,
    policy: &Policy,
    plan: &mut Plan,
) -> Result<(), ControlError> {
    let target = Target::of(settings, policy, &mut plan.notes)?;
    let old_governor = policy.governor.clone().unwrap_or_default();
    if let Some(governor) = &target.governor {
        if policy.governor.is_none() {
            return Err(unreadable(policy, GOVERNOR));
        }
        plan.steps.push(Step::new(file(policy, GOVERNOR), &old_governor, governor));
    }
    limits(policy, target.min, target.max, plan)?;
    if let Some(khz) = target.speed {
        // What it shows under another governor is no frequency.
        let old = policy.set_khz.map(|khz| khz.0.to_string()).unwrap_or_default();
        plan.steps.push(Step::new(file(policy, SPEED), old, khz.0));
    }
    if let Some(epp) = &settings.epp {
        let governor = target.governor.as_ref().unwrap_or(&old_governor);
        plan.steps.push(preference(policy, governor, epp)?);
    }
    let governor = target.governor.as_ref().unwrap_or(&old_governor);
    plan.tunables.extend(settings.tunables.iter().map(|(name, &value)| Tuning {
        policy: policy.id,
        governor: governor.clone(),
        name: name.clone(),
        value,
    }));
    plan.domains.push(Held {
        policy: policy.id,
        cpus: policy.cpus.clone(),
        driver: policy.driver.clone(),
        pinned: target.speed.or(target.min.filter(|min| Some(*min) == target.max)),
    });
    Ok(())
}

/// What one domain should get.
#[derive(Default)]
struct Target {
    governor: Option<String>,
    min: Option<KiloHertz>,
    max: Option<KiloHertz>,
    speed: Option<KiloHertz>,
}

impl Target {
    fn of(
        settings: &Settings,
        policy: &Policy,
        notes: &mut Vec<String>,
    ) -> Result<Target, ControlError> {
        let governors = &policy.available_governors;
        let offers = |name: &str| governors.iter().any(|governor| governor == name);
        if let Some(governor) = settings.governor.as_ref().filter(|name| !offers(name)) {
            let near = nearest(governor, governors.iter().map(String::as_str));
            return Err(ControlError::BadInput(Mismatch {
                hint: near.map(|near| format!("did you mean {near}?")),
                ..Mismatch::value(format!("one of {}", governors.join(", ")), governor.clone())
                    .at(format!("governor on policy{}", policy.id))
            }));
        }
        let khz = |frequency: Option<Frequency>| -> Result<Option<KiloHertz>, ControlError> {
            let Some(frequency) = frequency else { return Ok(None) };
            match resolve(policy, frequency) {
                Some(khz) => Ok(Some(khz)),
                None => Err(ControlError::Unsupported(
                    Mismatch::value(
                        "the hardware's limits (cpuinfo_min_freq, cpuinfo_max_freq)",
                        "none",
                    )
                    .at(policy.path()),
                )),
            }
        };
        let governor = settings.governor.clone();
        let Some(at) = khz(settings.frequency)? else {
            let (min, max) = (khz(settings.min)?, khz(settings.max)?);
            if let (Some(min), Some(max)) = (min, max)
                && min > max
            {
                return Err(ControlError::BadInput(
                    Mismatch::value(
                        format!("at most max, {} MHz", max.0 / 1_000),
                        format!("{} MHz", min.0 / 1_000),
                    )
                    .at(format!("min on policy{}", policy.id)),
                ));
            }
            return Ok(Target { governor, min, max, speed: None });
        };
        if let Some(asked) = settings.frequency.filter(|asked| *asked != Frequency::At(at))
            && matches!(asked, Frequency::At(_))
        {
            notes.push(format!("policy{} has no {asked}: {} MHz", policy.id, at.0 / 1_000));
        }
        // Told by `userspace`, the limits may stay as they are, if the frequency lies inside them.
        if governor.is_none() && offers("userspace") && is_offered(policy, at) {
            let below = policy.min_khz.is_some_and(|min| at < min);
            let above = policy.max_khz.is_some_and(|max| at > max);
            return Ok(Target {
                governor: Some("userspace".to_owned()),
                min: below.then_some(at),
                max: above.then_some(at),
                speed: Some(at),
            });
        }
        // Held between equal limits, by the governor that asks for the upper one.
        let governor = governor.or_else(|| offers("performance").then(|| "performance".into()));
        Ok(Target { governor, min: Some(at), max: Some(at), speed: None })
    }
}

/// The limits, in the order in which the lower one never lies above the upper one: the kernel would
/// clamp it without a word. A limit that would lie beyond the other one moves it along.
fn limits(
    policy: &Policy,
    min: Option<KiloHertz>,
    max: Option<KiloHertz>,
    plan: &mut Plan,
) -> Result<(), ControlError> {
    if min.or(max).is_none() {
        return Ok(());
    }
    let old_min = policy.min_khz.ok_or_else(|| unreadable(policy, MIN))?;
    let old_max = policy.max_khz.ok_or_else(|| unreadable(policy, MAX))?;
    let moved_min = max.filter(|max| min.is_none() && *max < old_min);
    let moved_max = min.filter(|min| max.is_none() && *min > old_max);
    if moved_min.or(moved_max).is_some() {
        let which = if moved_min.is_some() { "lower" } else { "upper" };
        plan.notes.push(format!("policy{}: the {which} limit moves along", policy.id));
    }
    let (min, max) = (min.or(moved_min), max.or(moved_max));
    let min = min.map(|khz| Step::new(file(policy, MIN), old_min.0, khz.0));
    let max = max.map(|khz| (khz, Step::new(file(policy, MAX), old_max.0, khz.0)));
    match max {
        Some((khz, step)) if khz >= old_max => {
            plan.steps.extend([Some(step), min].into_iter().flatten())
        }
        max => plan.steps.extend([min, max.map(|(_, step)| step)].into_iter().flatten()),
    }
    Ok(())
}

/// A value that could not be read now could not be restored later.
fn unreadable(policy: &Policy, name: &str) -> ControlError {
    ControlError::Unsupported(
        Mismatch::value("a value that can be restored", "none that can be read").at(file(
            policy, name,
        )
        .display()
        .to_string()),
    )
}

/// The energy performance preference.
fn preference(policy: &Policy, governor: &str, epp: &str) -> Result<Step, ControlError> {
    let path = file(policy, EPP);
    let object = path.display().to_string();
    let Some(old) = &policy.energy_performance_preference else {
        let driver = policy.driver.as_deref().unwrap_or("this driver");
        return Err(ControlError::Unsupported(
            Mismatch::value(
                "a preference of the hardware's own control",
                format!("none: {driver} leaves the frequency to the governor"),
            )
            .at(object)
            .hint("governor, min and max act there"),
        ));
    };
    let known = &policy.available_preferences;
    let is_number = epp.parse::<u8>().is_ok();
    if !is_number && !known.is_empty() && !known.iter().any(|name| name == epp) {
        let near = nearest(epp, known.iter().map(String::as_str));
        return Err(ControlError::BadInput(Mismatch {
            hint: near.map(|near| format!("did you mean {near}?")),
            ..Mismatch::value(format!("one of {}", known.join(", ")), epp).at(object)
        }));
    }
    if governor == "performance" && epp != "performance" {
        return Err(ControlError::BadInput(
            Mismatch::value("performance: the governor performance forces it", epp)
                .at(object)
                .hint(format!("ask for the governor powersave beside the preference {epp}")),
        ));
    }
    Ok(Step::new(path, old, epp))
}
