//! What can go wrong.

use flyball_control::ControlError;
use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind, Mismatch};
use thiserror::Error;

/// A measurement of switches that could not be made.
#[derive(Debug, Error)]
pub enum TransitionError {
    /// A setting of the machine.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A call to the machine.
    #[error("{doing}: {source}")]
    Host {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: HostError,
    },
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// What was asked for makes no sense here.
    #[error(transparent)]
    BadInput(Mismatch),
    /// The machine cannot do it.
    #[error(transparent)]
    Unsupported(Mismatch),
    /// The user asked to end.
    #[error("interrupted: what was measured until then is kept, settings are as they were")]
    Interrupted,
}

impl Diagnostic for TransitionError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            TransitionError::Control(error) => Some(error),
            TransitionError::Host { source, .. } => Some(source),
            TransitionError::Run(error) => Some(error),
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            TransitionError::Unsupported(_) => ErrorKind::Unsupported,
            TransitionError::Interrupted => ErrorKind::Interrupted,
            _ => self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            TransitionError::BadInput(slip) | TransitionError::Unsupported(slip) => {
                slip.hint.clone()
            }
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}
