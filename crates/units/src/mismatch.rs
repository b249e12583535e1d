//! The one shape of a reader's error: the place, what was expected there, what was found.

use crate::{Diagnostic, ErrorKind, nearest};
use std::fmt;

/// More of what was found says no more about the slip.
const LONGEST: usize = 80;

/// A text or value that is not what its place asks for. It prints as `PLACE: expected E, found F`;
/// the hint is for a line of its own.
///
/// ```
/// use flyball_units::{Frequency, Mismatch};
/// let slip = "600mhx".parse::<Frequency>().unwrap_err().at("min_frequency");
/// assert_eq!(
///     slip.to_string(),
///     "min_frequency: expected a frequency such as \"600MHz\" or \"1.2GHz\", or \"min\" or \
///      \"max\", found \"600mhx\""
/// );
/// assert_eq!(slip.hint.as_deref(), Some("did you mean `600MHz`?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mismatch {
    /// Where: a key, a file with its line, an object of the machine; empty where the caller's own
    /// words say it.
    pub place: String,
    /// What would have been right.
    pub expected: String,
    /// What was there: a text in quotation marks, or a value as it prints.
    pub found: String,
    /// What to do about it, such as the word that was probably meant.
    pub hint: Option<String>,
}

impl Mismatch {
    /// A text that is something else; it is quoted, and shortened.
    pub fn text(expected: impl Into<String>, found: &str) -> Mismatch {
        let found: String = found.chars().take(LONGEST).collect();
        Mismatch::value(expected, format_args!("\"{found}\""))
    }

    /// A value that is something else, as it prints.
    pub fn value(expected: impl Into<String>, found: impl fmt::Display) -> Mismatch {
        Mismatch {
            place: String::new(),
            expected: expected.into(),
            found: found.to_string(),
            hint: None,
        }
    }

    /// The same inside of `place`, which comes before the places it already has.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Mismatch {
        self.place = match self.place.is_empty() {
            true => place.to_string(),
            false => format!("{place}: {}", self.place),
        };
        self
    }

    /// With what to do about it, in the place of any other hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Mismatch {
        self.hint = Some(hint.into());
        self
    }

    /// With the one of `known` as hint that `word` probably stands for; as before where nothing is
    /// like it.
    #[must_use]
    pub fn near<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Mismatch {
        match nearest(word, known) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// Message and hint in one line, for errors that hold one text.
    pub fn line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }
}

/// A quantity that does not read; its place is a key or a flag.
impl Diagnostic for Mismatch {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::Mismatch;

    #[test]
    fn places_stand_outermost_first() {
        let slip = Mismatch::text("a number", "x").at("percent").at("load");
        assert_eq!(slip.to_string(), "load: percent: expected a number, found \"x\"");
        assert_eq!(slip.line(), slip.to_string());
        assert_eq!(
            slip.hint("write 5").line().rsplit_once("; "),
            Some(("load: percent: expected a number, found \"x\"", "write 5"))
        );
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(Mismatch::text("a word", &"ä".repeat(100)).found.chars().count(), 82);
    }
}
