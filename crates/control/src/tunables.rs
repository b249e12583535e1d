//! Tunables of governors: one set for each clock domain, or one for all, as the driver has it. They
//! are there while their governor is in force, and start with its defaults.

use crate::machine::CPU;
use crate::settle::read;
use crate::{ControlError, Step, Tuning};
use flyball_host::{Host, HostError, Policy};
use flyball_units::{Mismatch, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder of a policy's own set, and that of the common one.
fn folders(policy: u32, governor: &str) -> [PathBuf; 2] {
    let all = Path::new(CPU).join("cpufreq");
    [all.join(format!("policy{policy}")).join(governor), all.join(governor)]
}

/// All tunables of the governors in force, with their values, by file. One that can never be read
/// (some are for writing only) is left out.
///
/// # Errors
/// A folder that is there and cannot be listed.
pub(crate) fn in_force(
    host: &dyn Host,
    policies: &[Policy],
) -> Result<BTreeMap<PathBuf, String>, HostError> {
    let governed =
        policies.iter().filter_map(|policy| Some((policy.id, policy.governor.as_ref()?)));
    let folders: BTreeSet<PathBuf> =
        governed.flat_map(|(policy, governor)| folders(policy, governor)).collect();
    let mut found = BTreeMap::new();
    for folder in folders {
        let names = match patiently(|| host.list(&folder)) {
            Err(error) if error.is_absent() => continue,
            names => names?,
        };
        for name in names {
            let path = folder.join(name);
            if let Ok(value) = patiently(|| read(host, &path)) {
                found.insert(path, value);
            }
        }
    }
    Ok(found)
}

/// Asks again, so that what failed for a moment only is not taken as missing: it would not be
/// restored.
fn patiently<T>(ask: impl Fn() -> Result<T, HostError>) -> Result<T, HostError> {
    ask().or_else(|_| ask()).or_else(|_| ask())
}

/// The files to write, now that the governors are in force; `before` are those that were there
/// before anything was changed.
///
/// # Errors
/// A tunable that its governor does not have here.
pub(crate) fn steps(
    host: &dyn Host,
    wanted: &[Tuning],
    before: &BTreeMap<PathBuf, String>,
) -> Result<Vec<Step>, ControlError> {
    let mut steps: Vec<Step> = Vec::new();
    for tuning in wanted {
        let folders = folders(tuning.policy, &tuning.governor);
        let files = folders.iter().map(|folder| folder.join(&tuning.name));
        let is_there = |path: &PathBuf| patiently(|| read(host, path)).is_ok();
        let Some(path) = files.into_iter().find(is_there) else {
            return Err(unknown(host, tuning, &folders));
        };
        if steps.iter().any(|step| step.path == path) {
            continue;
        }
        let old = before.get(&path).cloned().unwrap_or_default();
        steps.push(Step::new(path, old, tuning.value));
    }
    Ok(steps)
}

fn unknown(host: &dyn Host, tuning: &Tuning, folders: &[PathBuf]) -> ControlError {
    let names: Vec<String> =
        folders.iter().filter_map(|folder| host.list(folder).ok()).flatten().collect();
    let near = nearest(&tuning.name, names.iter().map(String::as_str));
    ControlError::BadInput(Mismatch {
        hint: near.map(|near| format!("did you mean {near}?")),
        ..Mismatch::value(
            match names.is_empty() {
                true => "none: this governor has none here".to_owned(),
                false => format!("one of {}", names.join(", ")),
            },
            tuning.name.clone(),
        )
        .at(format!("tunables of {} on policy{}", tuning.governor, tuning.policy))
    })
}
