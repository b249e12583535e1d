//! One error shape for whoever reads or writes a run: what failed on what, expected, found, and a hint.

use flyball_units::{Diagnostic, ErrorKind, nearest_file};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The crate's result. The error is boxed: it is rare and large.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that names the object, what was expected and what was found.
#[derive(thiserror::Error)]
#[error("{}: expected {}, found {}", .0.object, .0.expected, .0.found)]
pub struct Error(Box<Parts>);

struct Parts {
    kind: ErrorKind,
    object: String,
    expected: String,
    found: String,
    hint: String,
}

impl Error {
    /// An error of `kind` about `object` (a path, a path with its line, a table, a setting).
    pub fn new(
        kind: ErrorKind,
        object: impl fmt::Display,
        expected: impl Into<String>,
        found: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        Error(Box::new(Parts {
            kind,
            object: object.to_string(),
            expected: expected.into(),
            found: found.into(),
            hint: hint.into(),
        }))
    }

    /// Bad input: [`Error::new`] with [`ErrorKind::BadInput`].
    pub fn bad_input(
        object: impl fmt::Display,
        expected: impl Into<String>,
        found: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        Error::new(ErrorKind::BadInput, object, expected, found, hint)
    }

    /// The operating system failed to do `expected` on `path`.
    pub fn io(path: &Path, expected: impl Into<String>, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::NotFound {
            let hint = match similar(path) {
                Some(name) => format!("did you mean `{}`?", name.display()),
                None => "check the path".to_owned(),
            };
            let found = match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                Some(folder) if !folder.is_dir() => format!("no folder {}", folder.display()),
                _ => source_text(error),
            };
            return Error::new(ErrorKind::NotFound, path.display(), expected, found, hint);
        }
        let (kind, hint) = match error.kind() {
            io::ErrorKind::PermissionDenied => {
                (ErrorKind::Permission, "check owner and mode, or choose another place")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (
                ErrorKind::Storage,
                "free some space, or choose another file system; nothing written so far is lost",
            ),
            io::ErrorKind::ReadOnlyFilesystem => (ErrorKind::Storage, "choose a writable place"),
            io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
                (ErrorKind::BadInput, "check the path")
            }
            _ => (ErrorKind::Storage, "check the disk and its file system"),
        };
        Error::new(kind, path.display(), expected, source_text(error), hint)
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The path, line, table or setting that the error is about.
    pub fn object(&self) -> &str {
        &self.0.object
    }

    /// What was expected there.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What was found instead.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// What to do about it, in one line.
    pub fn hint(&self) -> &str {
        &self.0.hint
    }
}

impl Diagnostic for Error {
    fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    fn hint(&self) -> Option<String> {
        Some(self.0.hint.clone()).filter(|hint| !hint.is_empty())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}; hint: {}", self.0.kind, self.0.hint)
    }
}

/// What is in the same folder under a name like this one.
fn similar(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let entries = fs_err::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    nearest_file(path, entries.filter_map(|entry| Some(entry.ok()?.file_name())))
}

/// The operating system's own words, without the action and the path in backquotes that `fs_err`
/// puts before them: an error names its object itself.
fn source_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once("`: ") {
        Some((_, words)) => words.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_once() {
        let path = Path::new("no/such/file");
        let error = fs_err::metadata(path).unwrap_err();
        let text = Error::io(path, "to read it", &error).to_string();
        assert_eq!(text.matches("no/such/file").count(), 1, "{text}");
        assert!(text.contains("found no folder no/such"), "{text}");
    }

    #[test]
    fn a_full_disk_says_so() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::io(Path::new("runs/windows.ndjson"), "to append 80 bytes", &full);
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert_eq!(error.object(), "runs/windows.ndjson");
        assert!(error.hint().contains("free some space"));
    }
}
