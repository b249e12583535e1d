//! What can be wrong with an experiment, with its place in the file and the way out.

use flyball_units::Diagnostic;
use flyball_units::described::{in_words, key_at, line_and_column, nearest_key};
use std::fmt;

/// An experiment that cannot be run as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentError {
    /// The file, or what stands for it.
    pub origin: String,
    /// Line and column, from 1, where known.
    pub place: Option<(usize, usize)>,
    /// What is wrong, with what was expected and found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ExperimentError {}

impl Diagnostic for ExperimentError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl ExperimentError {
    /// A value that is wrong whatever the machine.
    pub(crate) fn bad(origin: &str, message: impl Into<String>) -> Self {
        ExperimentError {
            origin: origin.to_owned(),
            place: None,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// From the TOML reader: line, column, and the nearest right key for a wrong one.
    pub(super) fn from_toml(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let message = in_words(error.message().trim());
        let key = error.span().and_then(|span| key_at(text, span.start));
        let message = match key.filter(|_| message.starts_with("invalid ")) {
            Some(key) => format!("{key}: {message}"),
            None => message,
        };
        ExperimentError {
            origin: origin.to_owned(),
            place: error.span().map(|span| line_and_column(text, span.start)),
            hint: nearest_key(&message).map(|(_, key)| format!("did you mean `{key}`?")),
            message,
        }
    }
}
