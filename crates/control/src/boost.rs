//! Boost: one switch for the whole machine, one per clock domain, or intel_pstate's inverted one.

use crate::machine::{CPU, Machine, file};
use crate::{ControlError, Step};
use flyball_host::Policy;
use flyball_units::Mismatch;
use std::path::PathBuf;

/// The files to write so that frequencies above the nominal one may be used, or not.
///
/// # Errors
/// Where there is no such switch, or only one for more CPUs than were asked for.
pub(crate) fn steps(
    on: bool,
    machine: &Machine,
    policies: &[&Policy],
) -> Result<Vec<Step>, ControlError> {
    let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
    let own: Option<Vec<Step>> = policies
        .iter()
        .map(|policy| Some(Step::new(file(policy, "boost"), flag(policy.boost?), flag(on))))
        .collect();
    if let Some(steps) = own.filter(|steps| !steps.is_empty()) {
        return Ok(steps);
    }
    let global = |name: &str, old: bool, new: bool| {
        Step::new(PathBuf::from(CPU).join(name), flag(old), flag(new))
    };
    let step = match (machine.scaling.no_turbo, machine.scaling.boost) {
        (Some(no_turbo), _) => global("intel_pstate/no_turbo", no_turbo, !on),
        (None, Some(boost)) => global("cpufreq/boost", boost, on),
        (None, None) => {
            return Err(ControlError::Unsupported(
                Mismatch::value("a switch for boost", "none: this driver or processor has none")
                    .at(format!("{CPU}/cpufreq/boost"))
                    .hint("bound the frequency with max instead"),
            ));
        }
    };
    if policies.len() < machine.policies.len() {
        return Err(ControlError::Unsupported(
            Mismatch::value("a switch for each clock domain", "one for the whole machine")
                .at(step.path.display().to_string())
                .hint("ask for all CPUs, or bound the frequency with max"),
        ));
    }
    Ok(vec![step])
}
