//! What can be wrong with a scenario, with its place in the file and the way out.

use super::tree::Place;
use flyball_units::{Diagnostic, nearest};
use std::fmt;

/// A scenario that cannot be run as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or what stands for it.
    pub origin: String,
    /// Where in it, if anywhere.
    pub place: Option<Place>,
    /// What is wrong, with what was expected and found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place::CommandLine) => f.write_str("command line")?,
            Some(Place::At { line, column }) => write!(f, "{}:{line}:{column}", self.origin)?,
            None => f.write_str(&self.origin)?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

impl Diagnostic for ScenarioError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl ScenarioError {
    /// An error without a place.
    pub fn new(origin: &str, message: impl Into<String>) -> ScenarioError {
        ScenarioError {
            origin: origin.to_owned(),
            place: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The same error at a place.
    pub fn at(mut self, place: Place) -> ScenarioError {
        self.place = Some(place);
        self
    }

    /// The same error with a way out.
    pub fn hint(mut self, hint: impl Into<String>) -> ScenarioError {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with a way out, where there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> ScenarioError {
        self.hint = hint;
        self
    }
}

/// `did you mean X?`, or the list of what there is.
pub fn suggestion(word: &str, candidates: &[&str]) -> Option<String> {
    match nearest(word, candidates.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if candidates.is_empty() => None,
        None => Some(format!("there are: {}", candidates.join(", "))),
    }
}
