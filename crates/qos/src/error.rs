//! What can go wrong.

use flyball_control::ControlError;
use flyball_host::{HostError, ProcessIdentity};
use flyball_units::{Diagnostic, ErrorKind, Mismatch};

/// An error. Unless its kind is [`ErrorKind::Restore`], no clamp is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QosError {
    /// The system refused a step.
    #[error("{doing}: {source}")]
    Host {
        /// The step.
        doing: String,
        /// Why it did not go.
        source: HostError,
    },
    /// The kernel or its driver cannot do it.
    #[error(transparent)]
    Unsupported(Mismatch),
    /// What was asked for does not read, or is not there.
    #[error(transparent)]
    BadInput(#[from] Mismatch),
    /// The journal is not one of ours.
    #[error(transparent)]
    Journal(Mismatch),
    /// Limits of frequencies that cannot be held, or are not as they were.
    #[error("the limits of frequencies: {0}")]
    Limits(#[from] ControlError),
    /// Somebody else does it already.
    #[error("expected no other controller, found {}", holder(.0))]
    Busy(Option<ProcessIdentity>),
    /// A controller that was started for a thread failed.
    #[error("the controller: {0}")]
    Controller(String),
    /// Some threads keep a clamp.
    #[error("expected every clamp removed, found {} left: {}", .0.len(), .0.join("; "))]
    Left(Vec<String>),
}

fn holder(owner: &Option<ProcessIdentity>) -> String {
    owner.map_or_else(|| "one that is starting or ending".to_owned(), |owner| owner.to_string())
}

impl QosError {
    /// The system refused a step of `doing`.
    pub(crate) fn host(doing: impl Into<String>) -> impl FnOnce(HostError) -> QosError {
        let doing = doing.into();
        |source| QosError::Host { doing, source }
    }
}

impl Diagnostic for QosError {
    fn kind(&self) -> ErrorKind {
        match self {
            QosError::Host { source, .. } => source.kind().without_a_run(),
            QosError::Unsupported(_) => ErrorKind::Unsupported,
            QosError::BadInput(_) => ErrorKind::Usage,
            QosError::Journal(_) => ErrorKind::BadInput,
            QosError::Limits(error) => error.kind(),
            QosError::Busy(_) | QosError::Controller(_) => ErrorKind::Own,
            QosError::Left(_) => ErrorKind::Restore,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            QosError::Host { source, .. } => source.hint(),
            QosError::Unsupported(slip) | QosError::BadInput(slip) | QosError::Journal(slip) => {
                slip.hint.clone()
            }
            QosError::Limits(error) if error.kind() == ErrorKind::Restore => {
                Some("restore the limits, as root".to_owned())
            }
            QosError::Limits(error) => error.hint(),
            QosError::Busy(Some(owner)) => {
                Some(format!("wait for it, or look at it with: ps -p {}", owner.pid))
            }
            QosError::Busy(None) => Some("try again in a moment".to_owned()),
            QosError::Controller(_) => None,
            QosError::Left(_) => Some("remove the clamps, as root".to_owned()),
        }
    }
}
