//! The settings of the machine that a condition asks for.

use super::error::BenchError;
use crate::experiment::ExperimentError;
use crate::plan::{Plan, PlannedCondition};
use flyball_control::{ControlError, Request, preflight};
use flyball_host::Host;

/// What to hold during a condition; none where it asks for nothing.
///
/// # Errors
/// A frequency that cannot be read; reading the experiment has refused it before.
pub(super) fn of(condition: &PlannedCondition) -> Result<Option<Request>, ExperimentError> {
    let origin = format!("condition \"{}\"", condition.name);
    condition.asked.settings().map_err(|error| ExperimentError::bad(&origin, error))
}

/// Refuses what this machine cannot do or this process may not, before anything is measured. A run
/// that may degrade goes on without, and says so when it comes to it.
///
/// # Errors
/// The first condition that cannot be had.
pub(super) fn check(host: &dyn Host, plan: &Plan, degrade: bool) -> Result<(), BenchError> {
    for condition in &plan.conditions {
        let Some(request) = of(condition)? else { continue };
        if let Err(error) = preflight(host, &request)
            && !degrade
        {
            return Err(refused(condition, error));
        }
    }
    Ok(())
}

/// The error of a condition whose settings could not be held or restored.
pub(super) fn refused(condition: &PlannedCondition, source: ControlError) -> BenchError {
    BenchError::Settings { condition: condition.name.clone(), source: Box::new(source) }
}
