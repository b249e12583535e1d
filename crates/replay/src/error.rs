//! What can go wrong with a replay.

use flyball_units::{Diagnostic, ErrorKind};

/// An error that names the object, what was expected and what was found.
#[derive(Debug, thiserror::Error)]
#[error("{object}: expected {expected}, found {found}")]
pub struct ReplayError {
    /// The family.
    pub kind: ErrorKind,
    /// A recording, a platform, an option.
    pub object: String,
    /// What is needed.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ReplayError {
    /// A recording or a machine that cannot be replayed.
    pub fn bad_input(
        object: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ReplayError {
        ReplayError {
            kind: ErrorKind::BadInput,
            object: object.into(),
            expected: expected.into(),
            found: found.into(),
            hint: None,
        }
    }

    /// A wrong option.
    pub fn usage(
        object: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ReplayError {
        ReplayError { kind: ErrorKind::Usage, ..ReplayError::bad_input(object, expected, found) }
    }

    /// The program was asked to end.
    pub fn interrupted() -> ReplayError {
        ReplayError {
            kind: ErrorKind::Interrupted,
            ..ReplayError::bad_input("replay", "an end", "an interrupt")
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> ReplayError {
        self.hint = Some(hint.into());
        self
    }
}

impl Diagnostic for ReplayError {
    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
