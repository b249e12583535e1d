//! The settings of the machine that a condition asks for.

use super::error::BenchError;
use crate::plan::{Plan, PlannedCondition};
use flyball_control::{ControlError, preflight};
use flyball_host::Host;

/// Refuses what this machine cannot do or this process may not, before anything is measured. A run
/// that may degrade goes on without, and says so when it comes to it.
///
/// # Errors
/// The first condition that cannot be had.
pub(super) fn check(host: &dyn Host, plan: &Plan, degrade: bool) -> Result<(), BenchError> {
    for condition in &plan.conditions {
        let Some(settings) = condition.asked.held() else { continue };
        if let Err(error) = preflight(host, &settings)
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
