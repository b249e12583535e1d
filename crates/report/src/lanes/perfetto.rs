//! The time line as a trace for perfetto's tools.

use flyball_events::perfetto::{Stretch, Writer};

use super::collect::{groups, moved, rows, window_shift, window_text};
use super::{LanesError, LanesFile};
use crate::analysis::RunData;
use crate::text;
use flyball_events::Recording;

/// Between recordings that lie on clocks of their own and are put one behind the other, ns.
const BETWEEN: u64 = 10_000_000;

/// Runs as one trace. Perfetto has one clock: a recording that would overlap the one before it comes behind it, and a
/// note says by how much it was moved.
///
/// # Errors
/// [`LanesError::Nothing`].
pub(super) fn trace(runs: &[RunData]) -> Result<LanesFile, LanesError> {
    let mut writer = Writer::default();
    let mut notes = Vec::new();
    let mut end = 0;
    let groups: Vec<_> = runs
        .iter()
        .flat_map(|run| groups(run, &mut notes).into_iter().map(move |of| (run, of)))
        .collect();
    let named = groups.len() > 1;
    for (run, (trial, name)) in groups {
        if rows(&run.tables) == 0 {
            continue;
        }
        let recording = Recording::new(&run.tables, &run.manifest, trial);
        let shift = window_shift(run, &mut notes);
        let windows = shift.map(|shift| moved(run, shift)).unwrap_or_default();
        let windows: Vec<Stretch> = windows
            .iter()
            .map(|window| Stretch {
                from_ns: window.stay.from,
                to_ns: window.stay.to,
                name: window_text(&run.tables.windows, window.stay.what as usize),
            })
            .collect();
        let span = recording.span();
        let events = (span.to_ns > 0).then_some((span.from_ns, span.to_ns));
        let stretches = windows.iter().map(|window| (window.from_ns, window.to_ns)).chain(events);
        let (first, last) =
            stretches.fold((u64::MAX, 0), |all, one| (all.0.min(one.0), all.1.max(one.1)));
        let by = if first >= end { 0 } else { end.saturating_add(BETWEEN) - first };
        if by > 0 {
            notes.push(format!(
                "{}: moved by {by} ns, behind the recording before it",
                text::plain(&name)
            ));
        }
        end = last.saturating_add(by);
        let title = if named { text::plain(&name) } else { String::new() };
        writer.add(&recording, &windows, &title, i64::try_from(by).unwrap_or(i64::MAX));
    }
    match writer.rows() {
        0 => Err(LanesError::Nothing),
        rows => Ok(LanesFile { rows, bytes: writer.finish(), notes }),
    }
}
