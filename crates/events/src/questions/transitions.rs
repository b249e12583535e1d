//! How often a clock domain changed its frequency, and what led to each change.

use std::collections::BTreeMap;

use serde::Serialize;

use super::changes::Change;
use super::distribution::Distribution;
use crate::Missing;
use crate::recording::Recording;

/// The changes of one clock domain's frequency in the span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transitions {
    /// The clock domain.
    pub domain: String,
    /// Number of changes.
    pub count: u64,
    /// Changes per second of the span, gaps left out; none where the span has no length.
    pub per_second: Option<f64>,
    /// Changes to a higher frequency.
    pub up: u64,
    /// Changes to a lower frequency.
    pub down: u64,
    /// What led to them, the most frequent first.
    pub causes: Vec<Cause>,
    /// Changes without a decision or a reading that fits: the hardware, firmware or somebody else
    /// chose, or neither was recorded.
    pub unexplained: u64,
    /// From the decision, or the reading, until the change took effect.
    pub delay: Option<Distribution>,
    /// Time in gaps of the recording.
    pub lost_ns: u64,
}

/// An event and rule, and how many changes they led to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cause {
    /// Kind of the event that the governor answered; `utilization` where no decisions were recorded,
    /// for the last reading before the change.
    pub event: String,
    /// The rule that led to the answer; the CPU whose utilisation was read.
    pub why: Option<String>,
    /// Number of changes.
    pub count: u64,
}

impl Transitions {
    /// Of every domain with frequency rows.
    pub fn all(recording: &Recording<'_>) -> Vec<Transitions> {
        let domains = recording.domains();
        domains.iter().filter_map(|domain| Transitions::of(recording, domain).ok()).collect()
    }

    /// Of one domain. Readings that repeat the frequency are no changes.
    ///
    /// # Errors
    /// No row of this domain.
    pub fn of(recording: &Recording<'_>, domain: &str) -> Result<Transitions, Missing> {
        let changes = Change::all(recording, domain)?;
        let span = recording.span();
        let up = changes.iter().filter(|change| change.to_khz > change.from_khz).count() as u64;
        let count = changes.len() as u64;
        let causes = causes(&changes);
        let explained: u64 = causes.iter().map(|cause| cause.count).sum();
        let delays = changes.iter().filter_map(|change| change.cause.as_ref());
        let delays = delays.map(|cause| cause.after_ns).collect();
        let lost_ns = recording.gaps().overlap_ns(None, span.from_ns, span.to_ns);
        let seen_ns = span.length_ns() - lost_ns;
        Ok(Transitions {
            domain: domain.to_owned(),
            count,
            per_second: (seen_ns > 0).then(|| count as f64 * 1e9 / seen_ns as f64),
            up,
            down: count - up,
            causes,
            unexplained: count - explained,
            delay: Distribution::of(delays),
            lost_ns,
        })
    }
}

/// How many changes each event and rule led to, the most frequent first.
fn causes(changes: &[Change]) -> Vec<Cause> {
    let mut counts = BTreeMap::<(&str, Option<&str>), u64>::new();
    for cause in changes.iter().filter_map(|change| change.cause.as_ref()) {
        *counts.entry((&cause.event, cause.why.as_deref())).or_default() += 1;
    }
    let cause = |((event, why), count): ((&str, Option<&str>), u64)| Cause {
        event: event.to_owned(),
        why: why.map(str::to_owned),
        count,
    };
    let mut causes: Vec<Cause> = counts.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}
