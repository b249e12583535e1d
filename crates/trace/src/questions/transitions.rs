//! How often a clock domain changed its frequency, and what led to each change.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::Distribution;
use crate::Missing;
use crate::recording::{Decided, Recording};

/// Decisions that are kept to be matched with changes that take effect later.
const PENDING: usize = 64;

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
    /// Changes without a decision that fits: the hardware, firmware or somebody else chose, or
    /// decisions were not recorded.
    pub unexplained: u64,
    /// From the decision until the change took effect.
    pub delay: Option<Distribution>,
    /// Time in gaps of the recording.
    pub lost_ns: u64,
}

/// An event and rule, and how many changes they led to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cause {
    /// Kind of the event that the governor answered.
    pub event: String,
    /// The rule that led to the answer.
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
        let steps = recording.frequency(domain);
        if steps.is_empty() {
            return Err(Missing::rows(format!("clock domain `{domain}`"), "frequency"));
        }
        let span = recording.span();
        let changes: Vec<(u64, u64, u64)> = steps
            .changes()
            .filter(|&(t, ..)| span.holds(t))
            .filter_map(|(t, before, khz)| Some((t, before?, khz)))
            .collect();
        let up = changes.iter().filter(|change| change.2 > change.1).count() as u64;
        let count = changes.len() as u64;
        let (causes, delays) = explain(recording, domain, &changes);
        let explained: u64 = causes.iter().map(|cause| cause.count).sum();
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

/// Gives each change the latest decision before it that asked for this frequency, or that does
/// not say which one it asked for. A decision explains one change.
fn explain(
    recording: &Recording<'_>,
    domain: &str,
    changes: &[(u64, u64, u64)],
) -> (Vec<Cause>, Vec<u64>) {
    let mut decisions: Vec<Decided<'_>> =
        recording.decisions().filter(|decided| decided.domain == domain).collect();
    decisions.sort_by_key(|decided| decided.t_ns);
    let mut counts = BTreeMap::<(&str, Option<&str>), u64>::new();
    let mut delays = Vec::new();
    let mut first = 0;
    for &(t, _, khz) in changes {
        let end = decisions.partition_point(|decided| decided.t_ns <= t);
        let from = first.max(end.saturating_sub(PENDING));
        let candidates = decisions.get(from..end).unwrap_or_default();
        let fits = |decided: &Decided<'_>| decided.resolved_khz.is_none_or(|asked| asked == khz);
        let Some(at) = candidates.iter().rposition(fits) else { continue };
        let Some(decided) = candidates.get(at) else { continue };
        *counts.entry((decided.event, decided.why)).or_default() += 1;
        delays.push(t - decided.t_ns);
        first = from + at + 1;
    }
    let cause = |((event, why), count): ((&str, Option<&str>), u64)| Cause {
        event: event.to_owned(),
        why: why.map(str::to_owned),
        count,
    };
    let mut causes: Vec<Cause> = counts.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    (causes, delays)
}
