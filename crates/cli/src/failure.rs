//! What every command returns when it cannot go on: a message, a hint, an exit code.

use crate::exit::Exit;
use std::fmt;

/// A failure as the user reads it.
#[derive(Debug)]
pub struct Failure {
    /// Decides the exit code.
    pub exit: Exit,
    /// What failed on what, expected and found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl fmt::Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    pub fn maybe_hint(mut self, hint: Option<String>) -> Failure {
        self.hint = hint;
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {}", hint.replace('\n', "\n      "))?;
        }
        Ok(())
    }
}
