//! Each change of a clock domain's frequency with what led to it: the governor's decision where
//! decisions were recorded, else the last reading of a CPU's utilisation before it.

use serde::Serialize;

use crate::Missing;
use crate::recording::{Decided, Recording, Subject};

/// Decisions that are kept to be matched with changes that take effect later.
const PENDING: usize = 64;

/// A reading of utilisation leads to a change for this long: a tick at 250 Hz.
const SIGNAL_NS: u64 = 4_000_000;

/// What the cause of a change is called where only signals were recorded.
pub const SIGNAL: &str = "utilization";

/// One change of a frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// When it took effect.
    pub t_ns: u64,
    /// The frequency before.
    pub from_khz: u64,
    /// The frequency behind.
    pub to_khz: u64,
    /// What led to it; none where nothing fits.
    pub cause: Option<ChangeCause>,
}

/// What led to a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeCause {
    /// Kind of the event that the governor answered; `utilization` for a reading.
    pub event: String,
    /// The rule that led to the answer; the CPU whose utilisation was read.
    pub why: Option<String>,
    /// The reading.
    pub util: Option<u32>,
    /// Time from it until the change took effect.
    pub after_ns: u64,
}

impl Change {
    /// The changes of one domain in the span, in order of time. A decision explains the change
    /// behind it that has its frequency, or that may have; a decision explains one change.
    ///
    /// # Errors
    /// No row of this domain.
    pub fn all(recording: &Recording<'_>, domain: &str) -> Result<Vec<Change>, Missing> {
        let steps = recording.frequency(domain);
        if steps.is_empty() {
            return Err(Missing::rows(format!("clock domain `{domain}`"), "frequency"));
        }
        let span = recording.span();
        let changes = steps.changes().filter(|&(t, ..)| span.holds(t));
        let change = |(t_ns, before, to_khz): (u64, Option<u64>, u64)| {
            Some(Change { t_ns, from_khz: before?, to_khz, cause: None })
        };
        let mut changes: Vec<Change> = changes.filter_map(change).collect();
        let mut decisions: Vec<Decided<'_>> =
            recording.decisions().filter(|decided| decided.domain == domain).collect();
        if decisions.is_empty() {
            by_signals(recording, domain, &mut changes);
        } else {
            decisions.sort_by_key(|decided| decided.t_ns);
            by_decisions(&decisions, &mut changes);
        }
        Ok(changes)
    }
}

/// Gives each change the latest decision before it that asked for this frequency, or that does
/// not say which one it asked for.
fn by_decisions(decisions: &[Decided<'_>], changes: &mut [Change]) {
    let mut first = 0;
    for change in changes {
        let end = decisions.partition_point(|decided| decided.t_ns <= change.t_ns);
        let from = first.max(end.saturating_sub(PENDING));
        let candidates = decisions.get(from..end).unwrap_or_default();
        let fits =
            |decided: &Decided<'_>| decided.resolved_khz.is_none_or(|asked| asked == change.to_khz);
        let Some(at) = candidates.iter().rposition(fits) else { continue };
        let Some(decided) = candidates.get(at) else { continue };
        change.cause = Some(ChangeCause {
            event: decided.event.to_owned(),
            why: decided.why.map(str::to_owned),
            util: None,
            after_ns: change.t_ns - decided.t_ns,
        });
        first = from + at + 1;
    }
}

/// Gives each change the last reading of a CPU of its domain, if it is not too old.
fn by_signals(recording: &Recording<'_>, domain: &str, changes: &mut [Change]) {
    let cpus = recording.topology().cpus();
    let own = cpus.filter(|cpu| cpu.domain.as_deref() == Some(domain));
    let own: Vec<u32> = own.map(|cpu| cpu.cpu).collect();
    let mut readings: Vec<(u64, u32, Option<u32>)> = recording
        .signals()
        .filter_map(|signals| match signals.subject {
            Subject::Cpu(cpu) if own.contains(&cpu) => Some((signals.t_ns, cpu, signals.util_avg)),
            _ => None,
        })
        .collect();
    readings.sort_by_key(|reading| reading.0);
    for change in changes {
        let behind = readings.partition_point(|reading| reading.0 <= change.t_ns);
        let last = behind.checked_sub(1).and_then(|last| readings.get(last));
        let Some(&(t_ns, cpu, util)) = last else { continue };
        let after_ns = change.t_ns - t_ns;
        if after_ns <= SIGNAL_NS {
            let (event, why) = (SIGNAL.to_owned(), Some(format!("cpu{cpu}")));
            change.cause = Some(ChangeCause { event, why, util, after_ns });
        }
    }
}
