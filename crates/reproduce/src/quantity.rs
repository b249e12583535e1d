//! What an evaluator finds: a value, its range where there is one, and what it rests on.

use serde::Serialize;

/// A number of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The value; of a distribution its median.
    pub value: f64,
    /// The 1st and 99th percentile over the grid of phases, where it is a distribution.
    pub range: Option<Range>,
    /// What was fitted to the published numbers to get it, if anything was.
    pub fitted: Option<String>,
    /// What a reader should know of it.
    pub note: Option<String>,
}

/// 1st to 99th percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// 1st percentile.
    pub low: f64,
    /// 99th percentile.
    pub high: f64,
    /// Number of simulations.
    pub n: usize,
}

/// Why there is no number of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// It needs recordings that the given folder does not hold.
    #[error("data absent: {folder} (published: {published_at})")]
    DataAbsent {
        /// Its folder below the given one.
        folder: &'static str,
        /// Where the recordings are published.
        published_at: &'static str,
    },
    /// The recordings are there, but cannot be read.
    #[error("data unreadable: {0}")]
    Unreadable(String),
    /// Nothing here can tell.
    #[error("{0}")]
    Reason(String),
}

/// What an evaluator answers.
pub type Outcome = Result<Quantity, Undecided>;

impl Quantity {
    /// A plain value.
    pub fn of(value: f64) -> Quantity {
        Quantity { value, range: None, fitted: None, note: None }
    }

    /// The median of a distribution with its 1 to 99 % range.
    ///
    /// # Errors
    /// An empty sample.
    pub fn distribution(mut sample: Vec<f64>) -> Outcome {
        if sample.is_empty() {
            return Err(Undecided::Reason("no simulation reached it".to_owned()));
        }
        flyball_stats::sort(&mut sample);
        let at = |p| flyball_stats::quantile(&sample, p);
        let range = Range { low: at(0.01), high: at(0.99), n: sample.len() };
        Ok(Quantity { range: Some(range), ..Quantity::of(at(0.5)) })
    }

    /// The same with a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Quantity {
        self.note = join(self.note.take(), Some(note.into()));
        self
    }

    /// The same, saying what was fitted.
    #[must_use]
    pub fn fitted(mut self, what: impl Into<String>) -> Quantity {
        self.fitted = join(self.fitted.take(), Some(what.into()));
        self
    }

    /// Two numbers combined. The range goes along where only one of them has one; two ranges of
    /// different simulations have no joint range.
    pub(crate) fn combine(self, other: Quantity, apply: impl Fn(f64, f64) -> f64) -> Quantity {
        let value = apply(self.value, other.value);
        let range = match (self.range, other.range) {
            (Some(range), None) => Some(range.map(|end| apply(end, other.value))),
            (None, Some(range)) => Some(range.map(|end| apply(self.value, end))),
            _ => None,
        };
        Quantity {
            value,
            range,
            fitted: join(self.fitted, other.fitted),
            note: join(self.note, other.note),
        }
    }
}

impl Range {
    /// The range of a monotone function of the quantity.
    pub(crate) fn map(self, apply: impl Fn(f64) -> f64) -> Range {
        let (a, b) = (apply(self.low), apply(self.high));
        Range { low: a.min(b), high: a.max(b), n: self.n }
    }
}

fn join(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) if one == other => Some(one),
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_follows_its_value() {
        let ms = Quantity::distribution(vec![1.0, 2.0, 3.0]).unwrap();
        let negated = Quantity::of(0.0).combine(ms.clone(), |a, b| a - b);
        let range = negated.range.unwrap();
        assert_eq!(negated.value, -2.0);
        assert!(range.low < range.high);
        assert_eq!(ms.clone().combine(ms, |a, b| a / b).range, None);
        assert!(Quantity::distribution(vec![]).is_err());
    }

    #[test]
    fn what_was_fitted_is_not_lost() {
        let sum =
            Quantity::of(1.0).fitted("a").combine(Quantity::of(2.0).fitted("b"), |a, b| a + b);
        assert_eq!(sum.fitted.as_deref(), Some("a; b"));
    }
}
