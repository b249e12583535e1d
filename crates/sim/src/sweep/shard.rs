//! Parts of a sweep, for several machines: which points a part has, and all parts put together.

use super::{Finished, Journal, JournalError, SweepEnd};
use flyball_units::{Diagnostic, ErrorKind, Mismatch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One of several parts of a sweep: every n-th point, so that what takes long is in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// How many parts there are.
    of: usize,
    /// Its number, from 1.
    number: usize,
}

impl Shard {
    /// Whether a point is its own.
    pub fn holds(self, point: usize) -> bool {
        point % self.of.max(1) + 1 == self.number
    }

    /// How many of the first `points` are its own.
    pub fn count(self, points: usize) -> usize {
        (0..points).filter(|point| self.holds(*point)).count()
    }

    /// The one of the same sweep that has a point.
    fn with(self, point: usize) -> Shard {
        Shard { number: point % self.of.max(1) + 1, ..self }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Shard, Mismatch> {
        let parts = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match parts {
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) => Ok(Shard { of, number }),
            _ => Err(Mismatch::text("a number and a count, 1/4 to 4/4", text)),
        }
    }
}

/// Parts that make no sweep.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A part that cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Parts of several sweeps.
    #[error("{path}: expected a part of the same sweep as {first}, found another {what}")]
    Different {
        /// The part.
        path: PathBuf,
        /// The part before it.
        first: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// The same point with other results.
    #[error("{path}: expected the results of point {point} as in {other}, found others")]
    Contradiction {
        /// The part.
        path: PathBuf,
        /// The part that has it, too.
        other: PathBuf,
        /// The point.
        point: usize,
    },
    /// Parts with holes.
    #[error("expected {all} points, found {}: {} missing", .all - .missing.len(), listed(.missing))]
    Missing {
        /// How many points the sweep has.
        all: usize,
        /// What no part has, ascending.
        missing: Vec<usize>,
        /// The parts that should have them.
        shards: BTreeSet<Shard>,
    },
    /// Nothing to put together.
    #[error("expected parts of a sweep, found none")]
    Nothing,
}

impl Diagnostic for MergeError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            MergeError::Journal(error) => Some(error),
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            MergeError::Journal(error) => return error.hint(),
            MergeError::Different { .. } => "put only parts of one sweep together".to_owned(),
            MergeError::Contradiction { .. } => {
                "a simulation gives the same everywhere: one of the files was changed".to_owned()
            }
            MergeError::Missing { shards, .. } if !shards.is_empty() => {
                let shards: Vec<String> =
                    shards.iter().take(LISTED).map(Shard::to_string).collect();
                format!("run them again, they go on where they stopped: {}", shards.join(" "))
            }
            MergeError::Missing { .. } | MergeError::Nothing => "name every part".to_owned(),
        })
    }
}

/// How many ranges or parts a message lists.
const LISTED: usize = 12;

/// Numbers as ranges: `0, 4..7, 9`.
fn listed(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let one = |&(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}..{last}"),
    };
    let shown: Vec<String> = ranges.iter().take(LISTED).map(one).collect();
    let more = if ranges.len() > LISTED { ", ..." } else { "" };
    shown.join(", ") + more
}

/// Puts the parts of a sweep together, in whatever order. A part that is there twice counts once.
///
/// # Errors
/// Parts that do not belong together, or that leave points out.
pub fn merge(parts: &[PathBuf]) -> Result<SweepEnd, MergeError> {
    let mut found: Option<SweepEnd> = None;
    let mut shards: BTreeSet<Option<Shard>> = BTreeSet::new();
    let mut places: BTreeMap<usize, &Path> = BTreeMap::new();
    for path in parts {
        let (header, finished) = Journal::read(path)?;
        shards.insert(header.shard);
        let end = match &mut found {
            Some(end) => end,
            None => {
                let not_one = |_| JournalError::NotOne { path: path.clone() };
                found.insert(SweepEnd::of(header.clone(), BTreeMap::new()).map_err(not_one)?)
            }
        };
        if let Some(what) = end.header.differs(&header) {
            let first = parts.first().cloned().unwrap_or_default();
            return Err(MergeError::Different { path: path.clone(), first, what });
        }
        // The command of the first part stands for all, whatever their order here.
        if header.shard < end.header.shard {
            end.header = header;
        }
        for (point, results) in finished {
            if point >= end.points.len() {
                return Err(JournalError::NotOne { path: path.clone() }.into());
            }
            let same = end.finished.get(&point).is_none_or(|other| is_same(other, &results));
            let other = places.entry(point).or_insert(path);
            if !same {
                let other = other.to_path_buf();
                return Err(MergeError::Contradiction { path: path.clone(), other, point });
            }
            end.finished.insert(point, results);
        }
    }
    let mut end = found.ok_or(MergeError::Nothing)?;
    let all = end.points.len();
    let missing: Vec<usize> = (0..all).filter(|point| !end.finished.contains_key(point)).collect();
    if !missing.is_empty() {
        // Whose a point is, is known where all parts were cut alike.
        let of = shards.iter().flatten().next().copied();
        let alike = shards.iter().all(|shard| shard.map(|shard| shard.of) == of.map(|of| of.of));
        let of = of.filter(|_| alike);
        let shards = of.iter().flat_map(|of| missing.iter().map(|point| of.with(*point))).collect();
        return Err(MergeError::Missing { all, missing, shards });
    }
    end.header.shard = None;
    end.complete = true;
    Ok(end)
}

/// To the bit; a result that is no number is equal to itself.
fn is_same(one: &Finished, other: &Finished) -> bool {
    let bits = |finished: &Finished| -> Vec<Vec<Option<u64>>> {
        let phases = finished.values.iter();
        phases.map(|phase| phase.iter().map(|value| value.map(f64::to_bits)).collect()).collect()
    };
    one.names == other.names && bits(one) == bits(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_part() {
        let shards: Vec<Shard> = (1..=4).map(|n| format!("{n}/4").parse().unwrap()).collect();
        for point in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(point)).count(), 1);
            assert!(shards[0].with(point).holds(point));
        }
        assert_eq!(shards.iter().map(|shard| shard.count(10)).collect::<Vec<_>>(), [3, 3, 2, 2]);
        for text in ["", "1", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/4/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_listed_as_ranges() {
        assert_eq!(listed(&[0, 4, 5, 6, 9]), "0, 4..6, 9");
        let odd: Vec<usize> = (0..40).map(|n| 2 * n).collect();
        assert!(listed(&odd).ends_with("22, ..."), "{}", listed(&odd));
    }
}
