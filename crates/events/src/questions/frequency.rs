//! Frequency over time and its residency, per clock domain.

use serde::Serialize;

use super::residency::{Share, Tally};
use crate::recording::Recording;
use crate::{Missing, Span};

/// A clock domain's frequency over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequencyOverTime {
    /// The clock domain.
    pub domain: String,
    /// The changes in the span, and before them the frequency at its begin where it is known.
    /// Each holds until the next.
    pub points: Vec<FrequencyPoint>,
}

/// A frequency from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrequencyPoint {
    /// When.
    pub t_ns: u64,
    /// The frequency.
    pub khz: u64,
}

impl FrequencyOverTime {
    /// Of every domain with frequency rows, in order of appearance.
    pub fn all(recording: &Recording<'_>) -> Vec<FrequencyOverTime> {
        let domains = recording.domains();
        domains.iter().filter_map(|domain| FrequencyOverTime::of(recording, domain).ok()).collect()
    }

    /// Of one domain.
    ///
    /// # Errors
    /// No frequency of it up to the end of the span.
    pub fn of(recording: &Recording<'_>, domain: &str) -> Result<FrequencyOverTime, Missing> {
        let steps = recording.frequency(domain);
        let span = recording.span();
        let begin = steps.at(span.from_ns).map(|khz| FrequencyPoint { t_ns: span.from_ns, khz });
        let later = steps.changes().filter(|&(t, ..)| t > span.from_ns && span.holds(t));
        let later = later.map(|(t_ns, _, khz)| FrequencyPoint { t_ns, khz });
        let points: Vec<FrequencyPoint> = begin.into_iter().chain(later).collect();
        if points.is_empty() {
            return Err(Missing::rows(format!("clock domain `{domain}`"), "frequency"));
        }
        Ok(FrequencyOverTime { domain: domain.to_owned(), points })
    }
}

/// How long a clock domain had each frequency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequencyResidency {
    /// The clock domain.
    pub domain: String,
    /// Time at each frequency in kHz, ascending.
    pub values: Vec<Share<u64>>,
    /// Time before the first row.
    pub unknown_ns: u64,
    /// Time in gaps of the recording, left out of the values.
    pub lost_ns: u64,
}

impl FrequencyResidency {
    /// Of one domain over the span.
    ///
    /// # Errors
    /// No row of this domain.
    pub fn of(recording: &Recording<'_>, domain: &str) -> Result<FrequencyResidency, Missing> {
        let steps = recording.frequency(domain);
        if steps.is_empty() {
            return Err(Missing::rows(format!("clock domain `{domain}`"), "frequency"));
        }
        let Span { from_ns, to_ns } = recording.span();
        let mut tally = Tally::default();
        let (mut unknown_ns, mut lost_ns) = (0_u64, 0_u64);
        for segment in steps.segments(from_ns, to_ns) {
            // The event of a change is written by any CPU: a gap of each may hide one.
            let lost = recording.gaps().overlap_ns(None, segment.from_ns, segment.to_ns);
            lost_ns = lost_ns.saturating_add(lost);
            match segment.value {
                Some(khz) => tally.add(khz, segment.from_ns, segment.to_ns - lost),
                // Only the first segment can be unknown.
                None => unknown_ns = segment.to_ns - segment.from_ns - lost,
            }
        }
        let values = tally.shares();
        Ok(FrequencyResidency { domain: domain.to_owned(), values, unknown_ns, lost_ns })
    }
}
