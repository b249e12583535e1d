//! Tables of events: what ran, per trial what the tasks, clocks and governors did, and results
//! over phases. What a table lacks is said, never guessed.

mod cpus;
mod facts;
mod phases;
mod tasks;
mod trial;

pub(crate) use trial::numbers;

use flyball_events::Recording;
use flyball_run::Tables;

use super::source::Context;
use crate::kinds::Kind;
use crate::model::{EventRun, EventTrial};
use crate::timeline::{Ask, RunView};

/// Rows of frequency above which a run of windows gets no time line: it would cost more than the
/// report itself.
const CHEAP: usize = 200_000;

/// What the run's tables of events tell; `None` where it has none.
pub(super) fn summarise(context: &Context<'_>, several: bool) -> Option<EventRun> {
    let tables = &context.run.tables;
    match (has_windows(tables), has_events(tables)) {
        (false, _) if was_to_measure(context) || is_told_otherwise(context) => None,
        (true, _) => beside_windows(context),
        (false, false) if tables.sweep.is_empty() => None,
        (false, events) => Some(whole(context, several, events)),
    }
}

/// Whether the run speaks through its events alone.
pub(super) fn only_events(context: &Context<'_>) -> bool {
    let tables = &context.run.tables;
    !was_to_measure(context)
        && !is_told_otherwise(context)
        && !has_windows(tables)
        && (has_events(tables) || !tables.sweep.is_empty())
}

/// A bench that was ended before its first window has nothing to report, whatever else it kept.
fn was_to_measure(context: &Context<'_>) -> bool {
    context.run.manifest.kind == "bench"
}

/// Ramp-ups and switches say themselves what their events mean.
pub(super) fn is_told_otherwise(context: &Context<'_>) -> bool {
    Kind::of_tables(&context.run.tables).is_some()
}

fn has_windows(tables: &Tables) -> bool {
    !tables.windows.is_empty()
}

fn has_events(tables: &Tables) -> bool {
    let lengths = [
        tables.slices.len(),
        tables.wakeups.len(),
        tables.utilization.len(),
        tables.governor.len(),
        tables.items.len(),
        tables.idle.len(),
        tables.energy.len(),
        tables.frequency.len(),
    ];
    lengths.into_iter().any(|rows| rows > 0)
}

/// A measured run whose frequency changes were recorded: its time line only. Residencies over all
/// of its conditions together would be nobody's.
fn beside_windows(context: &Context<'_>) -> Option<EventRun> {
    let run = context.run;
    let rows = &run.tables.frequency;
    let changes =
        rows.source.names().iter().any(|name| matches!(&**name, "model" | "cpu_frequency"));
    if !changes || rows.len() > CHEAP {
        return None;
    }
    let recording = Recording::new(&run.tables, &run.manifest, None);
    let view = RunView::of(context.name.clone(), &recording, &Ask::default()).ok()?;
    let trial = EventTrial {
        trial: None,
        name: context.name.clone(),
        length_ms: view.length_ms(),
        items: Vec::new(),
        tasks: Vec::new(),
        detail: None,
        cpus: Vec::new(),
        domains: Vec::new(),
        energy: Vec::new(),
        total_energy: None,
        gaps: view.gaps as u64,
        lost_events: view.lost_events,
        missing: Vec::new(),
        zero: None,
        view: Some(Box::new(view)),
    };
    Some(EventRun {
        run: context.name.clone(),
        facts: Vec::new(),
        trials: vec![trial],
        points: Vec::new(),
        missing: Vec::new(),
    })
}

fn whole(context: &Context<'_>, several: bool, events: bool) -> EventRun {
    let points = phases::results(&context.run.tables.sweep);
    let mut missing = Vec::new();
    if points.is_empty() {
        missing.push(
            "table `sweep`: no rows, so no spread over phases: the events are those of one phase"
                .to_owned(),
        );
    }
    if !events {
        let how = match context.run.manifest.kind.as_str() {
            "sweep" => "simulate the point that matters by itself, with all its events recorded",
            _ => "a simulation that records everything keeps those of one phase",
        };
        let text = "no events were kept, so no time line, no residencies and no causes of changes";
        missing.push(format!("{text}: {how}"));
    }
    // A trace of another tool knows no phases.
    missing.retain(|_| context.run.manifest.source.is_none());
    EventRun {
        run: context.name.clone(),
        facts: facts::of(context, &points),
        trials: if events { trial::all(context, several) } else { Vec::new() },
        points,
        missing,
    }
}
