//! What every error of the libraries says beside its text: its kind, and what to do about it.

use std::io;

/// The family of an error. The program has an exit code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The command line asks for what makes no sense.
    Usage,
    /// A file or a value is wrong.
    BadInput,
    /// No such file, directory or run.
    NotFound,
    /// The disk is full, or failed otherwise.
    Storage,
    /// Somebody with more rights could do it.
    Permission,
    /// This machine, kernel or build cannot do it.
    Unsupported,
    /// A setting was accepted, and did not take.
    NotApplied,
    /// Anything else that the system reported.
    System,
    /// What was measured must not be believed.
    Invalid,
    /// What was asked cannot be decided here and now.
    Undecided,
    /// A setting could not be restored.
    Restore,
    /// Asked to end.
    Interrupted,
    /// Flyball itself, or a program that it needs, failed.
    Own,
    /// A program that was run for the user ended so.
    Program(u8),
}

impl ErrorKind {
    /// The same where nothing is measured that a refusal of the system could spoil.
    #[must_use]
    pub fn without_a_run(self) -> ErrorKind {
        match self {
            ErrorKind::NotApplied | ErrorKind::System => ErrorKind::Own,
            kind => kind,
        }
    }
}

/// An error with a kind and, mostly, a hint; its text says what was expected on which object, and
/// what was found.
pub trait Diagnostic: std::error::Error {
    /// The error inside, where kind and hint are its own.
    fn inner(&self) -> Option<&dyn Diagnostic> {
        None
    }

    /// The family, for exit codes.
    fn kind(&self) -> ErrorKind {
        self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind)
    }

    /// What to do about it: a sentence, or a few.
    fn hint(&self) -> Option<String> {
        self.inner().and_then(Diagnostic::hint)
    }
}

/// A file of the user's that cannot be read or written.
impl Diagnostic for io::Error {
    fn kind(&self) -> ErrorKind {
        match io::Error::kind(self) {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Unsupported,
            _ => ErrorKind::BadInput,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match io::Error::kind(self) {
            io::ErrorKind::PermissionDenied => "check owner and mode, or name another place",
            io::ErrorKind::NotFound => "check the path: is its folder there?",
            io::ErrorKind::IsADirectory => "name a file, not a folder",
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                "a file stands where a folder is needed: name another place"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space, or name another file system"
            }
            io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only: name another place",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
