//! What is wrong with a binary file, and where.

use flyball_units::ErrorKind;
use std::io;
use std::path::Path;

use flyball_run::Error;

/// A binary file that cannot be read on.
#[derive(Debug)]
pub enum Broken {
    /// The operating system's error.
    Io(io::Error),
    /// Something else than the format says.
    Wrong {
        /// The place in the file, where it is one.
        at: Option<u64>,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A variant that is not read here.
    Unsupported {
        /// What is read.
        expected: String,
        /// What the file is.
        found: String,
    },
}

impl Broken {
    /// Something else at this place.
    pub fn wrong(at: u64, expected: impl Into<String>, found: impl Into<String>) -> Broken {
        Broken::Wrong { at: Some(at), expected: expected.into(), found: found.into() }
    }

    /// A variant that is not read here.
    pub fn unsupported(expected: impl Into<String>, found: impl Into<String>) -> Broken {
        Broken::Unsupported { expected: expected.into(), found: found.into() }
    }

    /// The error about a file, with a hint by the tool that wrote it.
    pub fn of_file(self, path: &Path, hint: &str) -> Error {
        match self {
            Broken::Io(error) => Error::io(path, "to read it", &error),
            Broken::Wrong { at, expected, found } => {
                let object = match at {
                    Some(at) => format!("{}: byte {at}", path.display()),
                    None => path.display().to_string(),
                };
                Error::bad_input(object, expected, found, hint)
            }
            Broken::Unsupported { expected, found } => {
                Error::new(ErrorKind::Unsupported, path.display(), expected, found, hint)
            }
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Io(error)
    }
}
