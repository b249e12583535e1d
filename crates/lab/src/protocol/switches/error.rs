//! What can go wrong.

use flyball_control::ControlError;
use flyball_host::HostError;
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
    #[error("{object}: expected {expected}, found {found}")]
    BadInput {
        /// The option or the thing.
        object: String,
        /// What would have been right.
        expected: String,
        /// What was there.
        found: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The machine cannot do it.
    #[error("{object}: expected {expected}, found {found}")]
    Unsupported {
        /// The thing.
        object: String,
        /// What is needed.
        expected: String,
        /// What there is.
        found: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The user asked to end.
    #[error("interrupted: what was measured until then is kept, settings are as they were")]
    Interrupted,
}

impl TransitionError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            TransitionError::Control(error) => error.hint(),
            TransitionError::Host { source, .. } => source.hint(),
            TransitionError::Run(error) => Some(error.hint().to_owned()),
            TransitionError::BadInput { hint, .. } | TransitionError::Unsupported { hint, .. } => {
                hint.clone()
            }
            TransitionError::Interrupted => None,
        }
    }
}
