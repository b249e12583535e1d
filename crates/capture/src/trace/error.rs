//! What can go wrong with a capture.

use std::path::PathBuf;

use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind};

/// An error of a capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The system refused a step.
    #[error("{doing}: {source}")]
    Host {
        /// What was being done.
        doing: String,
        /// Why it did not go.
        source: HostError,
    },
    /// The kernel lacks what was asked for by name.
    #[error("{object}: expected {expected}, found {found}")]
    Lacking {
        /// What was looked at.
        object: String,
        /// What a capture needs there.
        expected: String,
        /// What is there.
        found: String,
        /// What to do about it.
        hint: Option<String>,
        /// Whether more rights would help.
        permission: bool,
    },
    /// The trace's text could not be written.
    #[error("{}: expected to write the trace's text, found {source}", .path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Something of ours is still in tracefs.
    #[error("tracefs is not as it was: {}", .left.join("; "))]
    Restore {
        /// What could not be removed, and why.
        left: Vec<String>,
    },
}

impl CaptureError {
    /// The system refused a step of `doing`.
    pub(crate) fn host(doing: &str) -> impl Fn(HostError) -> CaptureError {
        let doing = doing.to_owned();
        move |source| CaptureError::Host { doing: doing.clone(), source }
    }
}

impl Diagnostic for CaptureError {
    fn kind(&self) -> ErrorKind {
        match self {
            CaptureError::Host { source, .. } => match source.kind() {
                ErrorKind::BadInput => ErrorKind::System,
                kind => kind,
            },
            CaptureError::Lacking { permission: true, .. } => ErrorKind::Permission,
            CaptureError::Lacking { .. } => ErrorKind::Unsupported,
            CaptureError::Text { .. } => ErrorKind::BadInput,
            CaptureError::Restore { .. } => ErrorKind::Restore,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            CaptureError::Host { source, .. } => source.hint(),
            CaptureError::Lacking { hint, .. } => hint.clone(),
            CaptureError::Text { .. } => {
                Some("free some space, or choose another place".to_owned())
            }
            CaptureError::Restore { .. } => {
                Some("recover what is left in tracefs, as root".to_owned())
            }
        }
    }
}
