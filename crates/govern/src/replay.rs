//! A log through fresh governors: the decisions must be those of the log, to the byte.

use crate::{DomainRecord, Entry, GovernError};
use flyball_governors::{Domain, Event, Governor, create};
use flyball_units::{KiloHertz, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// Decisions of the log.
    pub decisions: u64,
    /// Those that asked for a frequency.
    pub requests: u64,
    /// Lines whose decision a fresh governor did not come to: line, what it came to.
    pub different: Vec<(usize, String)>,
    /// Records that the daemon had dropped: what follows cannot be compared.
    pub dropped: u64,
    /// Whether the log says itself that it ended: else the daemon still runs or was killed, or the file was
    /// cut, and decisions are missing.
    pub ended: bool,
}

/// A line as it is read: all but the decisions, which are made anew.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Start {
        t_ns: Nanos,
        domain: String,
        governor: String,
        tunables: BTreeMap<String, i64>,
        view: DomainRecord,
    },
    Step {
        t_ns: Nanos,
        domain: String,
        event: Event<'static>,
        resolved_khz: Option<KiloHertz>,
        written: bool,
        machine_khz: Option<KiloHertz>,
        cost_ns: u32,
    },
    Set {
        name: String,
        value: i64,
    },
    Note {
        note: String,
        #[serde(default)]
        records: u64,
    },
}

/// Feeds the events of a log to fresh governors, as the simulator feeds its own, and compares each
/// line, serialised anew with the fresh decision, with the line of the log.
///
/// # Errors
/// A text without a decision; a line that is none of a log. A last line that was cut off is left out.
pub fn replay(text: &str) -> Result<Replayed, GovernError> {
    let mut replayed = Replayed::default();
    let mut governors: BTreeMap<String, Box<dyn Governor>> = BTreeMap::new();
    let whole = text.ends_with('\n');
    let count = text.lines().count();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let number = at + 1;
        let wrong = |found: String| GovernError::Log {
            line: number,
            expected: "a line of a log of decisions".to_owned(),
            found,
        };
        let parsed = match serde_json::from_str(line) {
            Ok(parsed) => parsed,
            Err(_) if number == count && !whole => break,
            Err(error) => return Err(wrong(error.to_string())),
        };
        let entry = match parsed {
            Line::Start { t_ns, domain, governor, tunables, view } => {
                let mut fresh = create(&governor)?;
                let seen: Domain = view.domain().map_err(wrong)?;
                let decision = started(fresh.as_mut(), &tunables, &seen, t_ns)?;
                governors.insert(domain.clone(), fresh);
                Entry::Start { t_ns, domain, governor, tunables, view, decision }
            }
            Line::Step { t_ns, domain, event, resolved_khz, written, machine_khz, cost_ns } => {
                let Some(governor) = governors.get_mut(&domain) else {
                    return Err(wrong(format!("a step of {domain}, which has not started")));
                };
                let decision = governor.on(&event, t_ns);
                let entry = Entry::Step {
                    t_ns,
                    domain: &domain,
                    event,
                    decision,
                    resolved_khz,
                    written,
                    machine_khz,
                    cost_ns,
                };
                compare(&entry, line, number, &mut replayed);
                continue;
            }
            Line::Set { name, value } => {
                for governor in governors.values_mut() {
                    governor.set(&name, value)?;
                }
                continue;
            }
            Line::Note { note, records } => {
                replayed.ended = note == "ended";
                replayed.dropped += if note == "dropped" { records } else { 0 };
                continue;
            }
        };
        compare(&entry, line, number, &mut replayed);
    }
    if replayed.decisions == 0 {
        return Err(GovernError::Log {
            line: 1,
            expected: "a log of decisions".to_owned(),
            found: "none".to_owned(),
        });
    }
    Ok(replayed)
}

/// Starts a governor with tunables, as the daemon does: set before the start, because they may be
/// raised to what the domain allows, and those of a range that others bound may need their turn.
pub(crate) fn started(
    governor: &mut dyn Governor,
    tunables: &BTreeMap<String, i64>,
    domain: &Domain,
    now: Nanos,
) -> Result<flyball_governors::Decision, GovernError> {
    let present: BTreeMap<&str, i64> =
        governor.tunables().iter().map(|tunable| (tunable.name, tunable.value)).collect();
    let changed = tunables.iter().filter(|(name, value)| present.get(name.as_str()) != Some(value));
    let mut pending: Vec<_> = changed.collect();
    while !pending.is_empty() {
        let before = pending.len();
        let mut last = None;
        pending.retain(|(name, value)| match governor.set(name, **value) {
            Ok(()) => false,
            Err(error) => {
                last = Some(error);
                true
            }
        });
        match last {
            Some(error) if pending.len() == before => return Err(error.into()),
            _ => {}
        }
    }
    Ok(governor.start(domain, now))
}

fn compare(entry: &Entry<'_>, line: &str, number: usize, replayed: &mut Replayed) {
    let decision = match entry {
        Entry::Start { decision, .. } | Entry::Step { decision, .. } => decision,
        Entry::Set { .. } | Entry::Note { .. } => return,
    };
    replayed.decisions += 1;
    replayed.requests += u64::from(decision.request.is_some());
    // A struct of texts and numbers always serialises.
    let fresh = serde_json::to_string(entry).unwrap_or_default();
    if fresh != line {
        replayed.different.push((number, fresh));
    }
}
