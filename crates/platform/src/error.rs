//! What can be wrong with a description: its place in the file, what was expected and found, and
//! the way out.

use flyball_units::Diagnostic;
use flyball_units::described::{in_words, line_and_column, nearest_key};
use std::fmt;
use std::ops::Range;

/// A description that cannot be used as written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DescriptionError {
    /// The file, or what stands for it.
    pub origin: String,
    /// Line and column, from 1, where known.
    pub place: Option<(usize, usize)>,
    /// What is wrong, with what was expected and found.
    pub message: String,
    hint: Option<String>,
}

impl DescriptionError {
    /// A problem with no place in a text, such as a name that nothing has.
    pub(crate) fn of(origin: &str, message: impl Into<String>, hint: Option<String>) -> Self {
        DescriptionError { origin: origin.to_owned(), place: None, message: message.into(), hint }
    }

    /// From the TOML reader: the nearest right key for a wrong one, the rule behind a missing one.
    pub(crate) fn from_toml(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let message = in_words(error.message().trim());
        DescriptionError {
            origin: origin.to_owned(),
            place: error.span().map(|span| line_and_column(text, span.start)),
            hint: hint_for(&message),
            message,
        }
    }

    pub(crate) fn from_problem(origin: &str, text: &str, problem: Problem) -> Self {
        DescriptionError {
            origin: origin.to_owned(),
            place: problem.span.map(|span| line_and_column(text, span.start)),
            message: problem.message,
            hint: problem.hint,
        }
    }
}

impl Diagnostic for DescriptionError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A contradiction between values that each read well; the caller knows the file.
#[derive(Debug)]
pub(crate) struct Problem {
    span: Option<Range<usize>>,
    message: String,
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn at(span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem { span: Some(span.clone()), message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }
}

/// What to do about what serde says.
fn hint_for(message: &str) -> Option<String> {
    if message.starts_with("missing field `source`") {
        return Some(
            "say where the figures come from: source = \"...\"; or source = \"assumed: why\" \
             where nobody measured them"
                .to_owned(),
        );
    }
    if message.starts_with("invalid type: map") {
        return Some(
            "one value stands here, or one table [name] instead of a list [[name]]".to_owned(),
        );
    }
    let (found, right) = nearest_key(message)?;
    let unit = |name: &str| name.rsplit_once('_').map(|(stem, _)| stem.to_owned());
    if unit(found) == unit(right) && unit(found).is_some() {
        return Some(format!("the key names the unit of its value: `{right}`"));
    }
    Some(format!("did you mean `{right}`?"))
}
