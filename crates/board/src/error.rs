//! What can go wrong with a board: on what object, what was expected and found, the way out.

use crate::Arch;
use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind};
use std::fmt;
use std::path::Path;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, BoardError>;

/// An error of the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {message}")]
pub struct BoardError {
    kind: ErrorKind,
    /// What it is about: a file, a package, a platform.
    pub object: String,
    /// What was expected and what was found.
    pub message: String,
    hint: Option<String>,
    setup: Option<Box<(Arch, Option<String>)>>,
}

impl BoardError {
    /// A wrong file or value.
    pub fn input(object: impl fmt::Display, message: impl fmt::Display) -> BoardError {
        BoardError::of(ErrorKind::BadInput, object, message)
    }

    /// Something that is missing here.
    pub fn missing(object: impl fmt::Display, message: impl fmt::Display) -> BoardError {
        BoardError::of(ErrorKind::Unsupported, object, message)
    }

    /// A program or a guest that failed.
    pub fn failed(object: impl fmt::Display, message: impl fmt::Display) -> BoardError {
        BoardError::of(ErrorKind::Own, object, message)
    }

    /// The user asked to end while `object` was going on.
    pub fn interrupted(object: impl fmt::Display) -> BoardError {
        BoardError::of(ErrorKind::Interrupted, object, "interrupted")
    }

    fn of(kind: ErrorKind, object: impl fmt::Display, message: impl fmt::Display) -> BoardError {
        BoardError {
            kind,
            object: object.to_string(),
            message: message.to_string(),
            hint: None,
            setup: None,
        }
    }

    /// A failure of reading or writing; `fs_err` puts the path into the text.
    pub(crate) fn io(error: &std::io::Error) -> BoardError {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => ErrorKind::Unsupported,
            _ => ErrorKind::BadInput,
        };
        BoardError::of(kind, "files of the board", error)
    }

    /// A failure of reading or writing `path`, where the text does not have it.
    pub(crate) fn io_at(path: &Path, error: &std::io::Error) -> BoardError {
        BoardError { object: path.display().to_string(), ..BoardError::io(error) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> BoardError {
        self.hint = Some(hint.into());
        self
    }

    /// A set-up of boards of `arch` brings what is missing; of this `kernel`, where it is one.
    #[must_use]
    pub(crate) fn with_setup(mut self, arch: Arch, kernel: Option<String>) -> BoardError {
        self.setup = Some(Box::new((arch, kernel)));
        self
    }

    /// The set-up that brings what is missing: the architecture, and the kernel where it is one.
    pub fn setup(&self) -> Option<(Arch, Option<&str>)> {
        self.setup.as_deref().map(|(arch, kernel)| (*arch, kernel.as_deref()))
    }
}

impl Diagnostic for BoardError {
    fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What can be done beside the set-up.
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl From<HostError> for BoardError {
    fn from(error: HostError) -> BoardError {
        let told = BoardError::of(error.kind().without_a_run(), "this machine", &error);
        BoardError { hint: error.hint(), ..told }
    }
}
