//! Why a question has no answer.

use serde::Serialize;

/// What a question needs and the recording lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{object}: expected {expected}, found {found}")]
pub struct Missing {
    /// What was asked about: a task, a CPU, a table.
    pub object: String,
    /// What the question needs.
    pub expected: String,
    /// What is there.
    pub found: String,
    hint: String,
}

impl Missing {
    /// A question without an answer.
    pub fn new(
        object: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        hint: impl Into<String>,
    ) -> Missing {
        Missing {
            object: object.into(),
            expected: expected.into(),
            found: found.into(),
            hint: hint.into(),
        }
    }

    /// A table without the rows that are needed.
    pub(crate) fn rows(object: impl Into<String>, table: &str) -> Missing {
        Missing::new(
            object,
            format!("rows of the table `{table}`"),
            "none in the stretch of time that was asked for",
            "record these events as well, or ask about a longer stretch",
        )
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
