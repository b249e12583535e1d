//! Why a recording cannot be used.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A recording, or what was asked of it, that cannot be used.
#[derive(Debug, Error)]
pub enum InputError {
    /// The file cannot be read at all.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The content, or a parameter, is not what it must be.
    #[error("{object}: {what}: expected {expected}, found {found}")]
    Unusable {
        /// The file or the object.
        object: String,
        /// Which part of it.
        what: String,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
        /// What to do about it.
        hint: String,
    },
}

impl InputError {
    pub(crate) fn new(
        object: &str,
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl ToString,
        hint: impl Into<String>,
    ) -> InputError {
        InputError::Unusable {
            object: object.to_owned(),
            what: what.into(),
            expected: expected.into(),
            found: found.to_string(),
            hint: hint.into(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            InputError::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path; it is taken from the current folder",
                io::ErrorKind::PermissionDenied => "make the file readable for this user",
                _ => "the recording must be a plain file on a working disk",
            },
            InputError::Unusable { hint, .. } => hint,
        }
    }
}
