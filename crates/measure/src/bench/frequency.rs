//! The frequency control that a condition asks for, in the guest of a virtual board: nobody else uses
//! that machine, and it is gone after a crash. A real machine's is not touched here.

use crate::experiment::{Control, Frequency, Limits};
use crate::plan::PlannedCondition;
use flyball_control::{ControlError, resolve, settle};
use flyball_host::{Host, Policy};
use flyball_units::KiloHertz;
use std::path::{Path, PathBuf};

const GOVERNOR: &str = "scaling_governor";
const MIN: &str = "scaling_min_freq";
const MAX: &str = "scaling_max_freq";

/// A setting that the kernel did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The file, or the key of the condition.
    pub setting: String,
    /// What was expected and found.
    pub reason: String,
}

/// What is in force, per file.
pub(super) type Applied = Vec<(PathBuf, String)>;

/// Writes what a condition asks for to every policy and reads it back.
///
/// # Errors
/// The first setting that was not taken.
pub(super) fn apply(
    host: &dyn Host,
    policies: &[Policy],
    condition: &PlannedCondition,
) -> Result<Applied, Refused> {
    let asked = &condition.asked;
    let key = |key: &str, reason: String| Refused { setting: key.to_owned(), reason };
    let control = asked.control().map_err(|reason| key("frequency", reason))?;
    let limits = asked.limits().map_err(|reason| key("limits", reason))?;
    for (name, is_asked) in [("boost", asked.boost.is_some()), ("epp", asked.epp.is_some())] {
        if is_asked {
            return Err(key(name, "a virtual board has no such setting".to_owned()));
        }
    }
    let mut applied = Applied::new();
    for policy in policies {
        each(host, policy, &control, limits, &mut applied)?;
    }
    Ok(applied)
}

/// Puts every policy back to how it was when `policies` was read.
///
/// # Errors
/// The first setting that was not taken.
pub(super) fn restore(host: &dyn Host, policies: &[Policy]) -> Result<(), Refused> {
    let mut applied = Applied::new();
    for policy in policies {
        let at = |khz: Option<KiloHertz>| khz.map(Frequency::At);
        let limits = Limits { min: at(policy.min_khz), max: at(policy.max_khz) };
        each(host, policy, &Control::AsIs, limits, &mut applied)?;
    }
    Ok(())
}

fn each(
    host: &dyn Host,
    policy: &Policy,
    control: &Control,
    limits: Limits,
    applied: &mut Applied,
) -> Result<(), Refused> {
    let dir = PathBuf::from(policy.path());
    let mut set = |path: PathBuf, value: String| {
        write(host, &path, &value)?;
        applied.push((path, value));
        Ok(())
    };
    // Wide open first: a limit must not cross the other one's old value.
    let (low, high) = (policy.hardware_min_khz, policy.hardware_max_khz);
    for (name, khz) in [(MAX, high), (MIN, low)] {
        if let Some(khz) = khz {
            write(host, &dir.join(name), &khz.0.to_string())?;
        }
    }
    let (governor, limits) = match control {
        Control::AsIs => (policy.governor.as_deref(), limits),
        Control::Governor { name, .. } => (Some(name.as_str()), limits),
        // Held between equal limits, whatever governor would rather have.
        Control::Pinned(at) => (Some("performance"), Limits { min: Some(*at), max: Some(*at) }),
    };
    if let Some(governor) = governor {
        set(dir.join(GOVERNOR), governor.to_owned())?;
    }
    if let Control::Governor { name, tunables } = control {
        for (tunable, value) in tunables {
            let own = dir.join(name).join(tunable);
            // A governor's tunables are each policy's own or common to all, as its driver says.
            let path = match host.exists(&own) {
                true => own,
                false => dir.with_file_name(name).join(tunable),
            };
            set(path, value.to_string())?;
        }
    }
    for (name, asked) in [(MIN, limits.min), (MAX, limits.max)] {
        if let Some(khz) = asked.and_then(|asked| resolve(policy, asked)) {
            set(dir.join(name), khz.0.to_string())?;
        }
    }
    Ok(())
}

/// Writes and reads back.
fn write(host: &dyn Host, path: &Path, value: &str) -> Result<(), Refused> {
    settle(host, path, value).map_err(|error| {
        let reason = match error {
            ControlError::NotTaken { expected, found, .. } => {
                format!("expected {expected} after writing it, found {found}")
            }
            other => other.to_string(),
        };
        Refused { setting: path.display().to_string(), reason }
    })
}
