//! What can be wrong with the numbers handed in.

use thiserror::Error;

/// A sample from which nothing can be computed, or options outside their range.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StatsError {
    /// There is no value at all, or a repeat without one.
    #[error("{what}: expected at least {expected} values, found {found}")]
    TooFew {
        /// What was asked for.
        what: &'static str,
        /// The least number of values that it needs.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what}: expected finite values, found {value} at index {index}")]
    NotFinite {
        /// What was asked for.
        what: &'static str,
        /// Position of the first such value.
        index: usize,
        /// The value as text: NaN has no JSON number.
        value: String,
    },
    /// A value is zero or negative where its logarithm is needed.
    #[error("{what}: expected values above zero, found {value} at index {index}")]
    NotPositive {
        /// What was asked for.
        what: &'static str,
        /// Position of the first such value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A parameter is outside its range.
    #[error("{name}: expected {expected}, found {found}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its range in words.
        expected: &'static str,
        /// What was given.
        found: f64,
    },
    /// Two things that belong together differ in shape.
    #[error("{what}: expected {expected} entries, found {found}")]
    Shape {
        /// What differs.
        what: &'static str,
        /// Entries in the first.
        expected: usize,
        /// Entries in the second.
        found: usize,
    },
}

impl StatsError {
    /// What the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            StatsError::TooFew { .. } => "measure more windows or repeats, or drop the empty cell",
            StatsError::NotFinite { .. } => "drop windows without a latency before comparing",
            StatsError::NotPositive { .. } => {
                "a latency of zero means that the clock is too coarse or ran backwards: drop or \
                 mark these windows"
            }
            StatsError::OutOfRange { .. } => "give a value inside the range",
            StatsError::Shape { .. } => "give one tag per value, and one cell per side and kernel",
        }
    }
}
