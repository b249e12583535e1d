//! What can go wrong with a hold.

use flyball_host::{HostError, ProcessIdentity};
use flyball_units::{Diagnostic, ErrorKind, Mismatch, Nanos};
use serde::Serialize;
use std::path::PathBuf;

/// A file that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotRestored {
    /// The file.
    pub path: PathBuf,
    /// What it had before the hold.
    pub expected: String,
    /// What it has, or why that cannot be read or set.
    pub found: String,
}

impl std::fmt::Display for NotRestored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path.display(), self.expected, self.found)
    }
}

/// An error of a hold. Unless it is [`ControlError::Restore`], nothing is left changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The system refused a step.
    #[error("{doing}: {source}")]
    Host {
        /// What was being done.
        doing: String,
        /// Why it did not go.
        source: HostError,
    },
    /// A file that may not be written.
    #[error("{}: expected to write to it, found no permission", .path.display())]
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// The machine lacks what was asked for.
    #[error(transparent)]
    Unsupported(Mismatch),
    /// What was asked for makes no sense on this machine.
    #[error(transparent)]
    BadInput(Mismatch),
    /// A setting was written, and the file shows another one.
    #[error("{object}: expected {expected} after writing it, found {found}")]
    NotTaken {
        /// The file.
        object: String,
        /// What was written.
        expected: String,
        /// What it shows.
        found: String,
    },
    /// A setting had another value when it was read again.
    #[error("{}: expected {first} again, found {then}", .path.display())]
    Unsteady {
        /// The file.
        path: PathBuf,
        /// Its value.
        first: String,
        /// Its value a moment later.
        then: String,
    },
    /// Another hold is running.
    #[error("the settings are held by {}", holder(.owner, *.since))]
    Busy {
        /// Who, where that is known: it may be starting, ending or recovering.
        owner: Option<ProcessIdentity>,
        /// For how long.
        since: Option<Nanos>,
    },
    /// Asked to end before anything ran.
    #[error("interrupted before anything ran; all is as it was")]
    Interrupted,
    /// Something is not as it was before.
    #[error("{} not restored: {}", count(.left), list(.left))]
    Restore {
        /// The files.
        left: Vec<NotRestored>,
        /// Why the hold ended early, where it did.
        cause: Option<Box<ControlError>>,
    },
}

fn holder(owner: &Option<ProcessIdentity>, since: Option<Nanos>) -> String {
    let time = since.map(|time| format!(", for {} s", time.0 / 1_000_000_000));
    match owner {
        Some(owner) => format!("{owner}{}", time.unwrap_or_default()),
        None => "another flyball that is starting or ending".to_owned(),
    }
}

fn count(left: &[NotRestored]) -> String {
    match left.len() {
        1 => "1 setting was".to_owned(),
        n => format!("{n} settings were"),
    }
}

fn list(left: &[NotRestored]) -> String {
    left.iter().map(NotRestored::to_string).collect::<Vec<_>>().join("; ")
}

impl ControlError {
    /// The system refused a step of `doing`.
    pub(crate) fn host(doing: impl Into<String>, source: HostError) -> ControlError {
        ControlError::Host { doing: doing.into(), source }
    }
}

impl Diagnostic for ControlError {
    fn kind(&self) -> ErrorKind {
        match self {
            ControlError::Host { source, .. } => match source.kind() {
                ErrorKind::BadInput => ErrorKind::Own,
                kind => kind.without_a_run(),
            },
            ControlError::Permission { .. } => ErrorKind::Permission,
            ControlError::Unsupported(_) => ErrorKind::Unsupported,
            ControlError::BadInput(_) => ErrorKind::BadInput,
            ControlError::Interrupted => ErrorKind::Interrupted,
            ControlError::NotTaken { .. }
            | ControlError::Unsteady { .. }
            | ControlError::Busy { .. } => ErrorKind::Own,
            ControlError::Restore { .. } => ErrorKind::Restore,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ControlError::Host { source, .. } => source.hint(),
            ControlError::Permission { .. } => {
                Some("hold as root; the program can give root up again".to_owned())
            }
            ControlError::Unsupported(slip) | ControlError::BadInput(slip) => slip.hint.clone(),
            ControlError::NotTaken { .. } | ControlError::Unsteady { .. } => Some(
                "a daemon (tuned, power-profiles-daemon, thermald), the firmware or a cooling \
                 device may set it, too; nothing was left changed"
                    .to_owned(),
            ),
            ControlError::Busy { owner: Some(owner), .. } => {
                Some(format!("wait for it, or look at it with: ps -p {}", owner.pid))
            }
            ControlError::Busy { owner: None, .. } => Some("try again in a moment".to_owned()),
            ControlError::Interrupted => None,
            ControlError::Restore { cause, .. } => {
                let cause = cause.as_ref().map(|cause| format!("the hold ended early: {cause}\n"));
                let cause = cause.unwrap_or_default();
                Some(format!("{cause}recover the settings, as root"))
            }
        }
    }
}
