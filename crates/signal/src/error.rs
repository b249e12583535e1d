//! Why a workload cannot be prepared.

use crate::Kernel;
use thiserror::Error;

/// A parameter that a kernel cannot work with: which, what was expected, what was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kernel}: {name}: expected {expected}, found {found}")]
pub struct ParamError {
    /// The kernel that was asked for.
    pub kernel: Kernel,
    /// The parameter, as it is written in an experiment.
    pub name: &'static str,
    /// What the parameter must satisfy.
    pub expected: String,
    /// What it was.
    pub found: String,
    hint: String,
}

impl ParamError {
    pub(crate) fn new(
        kernel: Kernel,
        name: &'static str,
        expected: impl Into<String>,
        found: impl ToString,
        hint: impl Into<String>,
    ) -> ParamError {
        ParamError {
            kernel,
            name,
            expected: expected.into(),
            found: found.to_string(),
            hint: hint.into(),
        }
    }

    /// What to change.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
