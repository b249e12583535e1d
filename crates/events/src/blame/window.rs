//! All windows of a run.

use std::collections::{BTreeMap, BTreeSet};

use flyball_run::{Manifest, Run, Tables, Windows};
use serde::Serialize;

use super::culprits::{Culprits, Who};
use super::frequency::{Basis, Frequencies};
use super::index::{Index, Recorded};
use super::parts::Parts;
use super::split::{Splitter, Times};
use super::state::States;
use crate::{Missing, Recording};

/// How far one clock may disagree with itself: two CPUs read it, and a tracer's copy of it may be
/// behind while the kernel adjusts it.
const SAME_CLOCK_NS: u64 = 1_000;

/// One window and the parts of its response.
#[derive(Clone, Debug)]
pub struct WindowBlame {
    /// Its row in the table `windows`.
    pub row: usize,
    /// From its scheduled release to its end: the sum of the parts.
    pub response_ns: u64,
    /// The parts.
    pub parts: Parts,
    /// The task's own running time for this window, interrupts left out.
    pub running_ns: u64,
    /// Its CPU's interrupts while it ran: zero, too, where none were recorded.
    pub interrupted_ns: u64,
    /// Mean frequency while it ran, in kHz, where that is known.
    pub khz: Option<u64>,
    /// What tells its frequency; none where nothing does.
    pub basis: Option<Basis>,
    /// Who kept it from running.
    pub culprits: Culprits,
}

/// What windows and events have to do with each other in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clocks {
    /// The windows' clock.
    pub windows: String,
    /// The events' clock.
    pub events: String,
    /// The windows' clock minus the events'.
    pub offset_ns: i64,
    /// Half-width of the offset's uncertainty: of that much no part is sure.
    pub uncertainty_ns: u64,
}

/// The windows of a run with the parts of their responses.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The windows that the events cover, in the order of the table.
    pub windows: Vec<WindowBlame>,
    /// Windows that they do not cover.
    pub uncovered: u64,
    /// Which kinds of events there are at all.
    pub recorded: Recorded,
    /// The clocks.
    pub clocks: Clocks,
    names: BTreeMap<Who, String>,
}

impl Blame {
    /// Whether there are both windows and who ran where: what [`Blame::of`] cannot do without.
    pub fn is_possible(tables: &Tables) -> bool {
        !tables.windows.is_empty() && !tables.slices.is_empty()
    }

    /// Cuts the response of every window of a run, warm-up included.
    ///
    /// # Errors
    /// No windows, no slices, clocks that cannot be brought together, or no task in the events that
    /// is known to be the measuring one.
    pub fn of(run: &Run) -> Result<Blame, Missing> {
        Blame::new(&run.tables, &run.manifest)
    }

    /// As [`Blame::of`], of a run's tables and its manifest.
    ///
    /// # Errors
    /// As [`Blame::of`].
    pub fn new(tables: &Tables, manifest: &Manifest) -> Result<Blame, Missing> {
        for (name, rows) in [("windows", tables.windows.len()), ("slices", tables.slices.len())] {
            if rows == 0 {
                return Err(Missing::new(
                    "blame",
                    format!("rows of the table `{name}`"),
                    "none",
                    "record the scheduler beside the windows",
                ));
            }
        }
        let clocks = clocks(manifest)?;
        let recording = Recording::new(tables, manifest, None);
        let tids = measuring(manifest, &recording)?;
        let measured: BTreeSet<u32> = tids.values().copied().collect();
        let mut index = Index::of(&recording, tables, &measured);
        let joined = clock_of(manifest, "frequency") == clock_of(manifest, "slices");
        let frequencies = Frequencies::of(&recording, tables, manifest, joined);
        index.recorded.frequency = frequencies.any_changes();
        index.recorded.steal = !tables.windows.steal_ns.is_all_null();
        let states: BTreeMap<u32, States> =
            index.tasks().map(|tid| (tid, States::of(&index, tid))).collect();
        let splitter = Splitter {
            index: &index,
            frequencies: &frequencies,
            tasks: &states,
            uncertainty_ns: clocks.uncertainty_ns.max(SAME_CLOCK_NS),
        };
        let mut blame = Blame {
            windows: Vec::with_capacity(tables.windows.len()),
            uncovered: 0,
            recorded: index.recorded,
            clocks,
            names: BTreeMap::new(),
        };
        for row in 0..tables.windows.len() {
            let trial = tables.windows.trial.get(row);
            let states = trial.and_then(|trial| states.get(tids.get(trial)?));
            match states.and_then(|states| blame.window(&tables.windows, row, &splitter, states)) {
                Some(window) => blame.windows.push(window),
                None => blame.uncovered += 1,
            }
        }
        blame.name(&recording, &index);
        Ok(blame)
    }

    /// What somebody is called.
    pub fn name_of(&self, who: Who) -> String {
        self.names.get(&who).cloned().unwrap_or_else(|| match who {
            Who::Task(tid) => format!("task {tid}"),
            Who::Idle(state) => format!("idle state {state}"),
            Who::Interrupt(number) => format!("interrupt {number}"),
        })
    }

    /// One window; none where the events do not cover it, or its times are none.
    fn window(
        &self,
        rows: &Windows,
        row: usize,
        splitter: &Splitter<'_>,
        states: &States,
    ) -> Option<WindowBlame> {
        let times = times(rows, row, self.clocks.offset_ns)?;
        if !states.cover(times.release_ns, times.end_ns) {
            return None;
        }
        let split = splitter.split(states, &times);
        Some(WindowBlame {
            row,
            response_ns: times.end_ns - times.release_ns,
            parts: split.parts,
            running_ns: split.running_ns,
            interrupted_ns: split.interrupted_ns,
            khz: split.khz,
            basis: split.basis,
            culprits: split.culprits,
        })
    }

    /// Looks up the names of everybody that was found.
    fn name(&mut self, recording: &Recording<'_>, index: &Index<'_>) {
        let states: BTreeMap<u32, &str> =
            recording.idle_names().into_iter().map(|((_, state), name)| (state, name)).collect();
        let found: BTreeSet<Who> =
            self.windows.iter().flat_map(|w| w.culprits.iter().map(|(_, who, _)| who)).collect();
        for who in found {
            let name = match who {
                Who::Task(tid) => Some(recording.task(tid).name).filter(|name| !name.is_empty()),
                Who::Idle(state) => states.get(&state).map(|name| (*name).to_owned()),
                Who::Interrupt(at) => index.interrupt_names.get(at as usize).cloned(),
            };
            if let Some(name) = name {
                self.names.insert(who, name);
            }
        }
    }
}

/// A window's times on the events' clock; none where they run backwards.
fn times(rows: &Windows, row: usize, offset_ns: i64) -> Option<Times> {
    let on_events = |t: u64| t.checked_add_signed(offset_ns.checked_neg()?);
    let release_ns = on_events(*rows.release_ns.get(row)?)?;
    let dispatch_ns = on_events(*rows.dispatch_ns.get(row)?)?;
    let end_ns = on_events(*rows.end_ns.get(row)?)?;
    if end_ns < release_ns {
        return None;
    }
    let trusted = rows.probe_disturbed.get(row) != Some(true);
    let mean = |before: Option<u64>, after: Option<u64>| match (before, after) {
        (Some(a), Some(b)) => Some(a / 2 + b / 2 + (a % 2 + b % 2) / 2),
        (one, other) => one.or(other),
    };
    let probe_khz = mean(rows.probe_before_khz.get(row), rows.probe_after_khz.get(row));
    let probe_permille = mean(
        rows.probe_before_permille.get(row).map(u64::from),
        rows.probe_after_permille.get(row).map(u64::from),
    );
    Some(Times {
        release_ns,
        dispatch_ns,
        end_ns,
        steal_ns: rows.steal_ns.get(row),
        delivered_khz: rows.delivered_khz.get(row),
        probe_khz: probe_khz.filter(|_| trusted),
        probe_permille: probe_permille.filter(|_| trusted),
    })
}

fn clock_of<'a>(manifest: &'a Manifest, table: &str) -> Option<&'a str> {
    let record = manifest.clocks.iter().find(|record| record.table == table)?;
    Some(record.clock.as_str())
}

/// How to get from the windows' clock to the events'.
fn clocks(manifest: &Manifest) -> Result<Clocks, Missing> {
    Clocks::between(manifest, "blame", "windows", "slices")
}

impl Clocks {
    /// How to get from the clock of the table `windows` to that of the table `events`; `what` is
    /// what it is for.
    ///
    /// # Errors
    /// A clock that is not known, or two without a known offset between them.
    pub fn between(
        manifest: &Manifest,
        what: &str,
        windows: &str,
        events: &str,
    ) -> Result<Clocks, Missing> {
        let (windows_table, events_table) = (windows, events);
        let known = |table: &str| {
            clock_of(manifest, table).filter(|clock| !matches!(*clock, "unknown" | "none" | ""))
        };
        let refuse = |found: String| {
            Err(Missing::new(
                what,
                format!(
                    "{windows_table} and events on one clock, or a known offset between their clocks"
                ),
                found,
                "record the events on CLOCK_MONOTONIC: trace_clock mono",
            ))
        };
        let (Some(windows), Some(events)) = (known(windows_table), known(events_table)) else {
            let say = |table| known(table).unwrap_or("an unknown clock").to_owned();
            return refuse(format!(
                "{windows_table} on {}, {events_table} on {}",
                say(windows_table),
                say(events_table)
            ));
        };
        if windows == events {
            let (windows, events) = (windows.to_owned(), events.to_owned());
            return Ok(Clocks { windows, events, offset_ns: 0, uncertainty_ns: 0 });
        }
        // `offset_ns` is the other clock minus this one.
        let from = |table: &str, to: &str| {
            let record = manifest.clocks.iter().find(|record| record.table == table)?;
            let offset = record.offset_ns.filter(|_| record.offset_to.as_deref() == Some(to))?;
            Some((offset, record.uncertainty_ns))
        };
        let there = from(events_table, windows);
        let back =
            || from(windows_table, events).and_then(|(ns, sure)| Some((ns.checked_neg()?, sure)));
        match there.or_else(back) {
            Some((offset_ns, Some(uncertainty_ns))) => Ok(Clocks {
                windows: windows.to_owned(),
                events: events.to_owned(),
                offset_ns,
                uncertainty_ns,
            }),
            Some((_, None)) => refuse(format!(
                "{windows_table} on {windows}, {events_table} on {events}, an offset without its uncertainty"
            )),
            None => refuse(format!(
                "{windows_table} on {windows}, {events_table} on {events}, no offset between them"
            )),
        }
    }
}

/// The measuring task of each trial: the one that is called after it, as the bench names its
/// threads, else the number that the manifest gives, where the events know it.
fn measuring(
    manifest: &Manifest,
    recording: &Recording<'_>,
) -> Result<BTreeMap<u32, u32>, Missing> {
    let mut by_name = BTreeMap::<String, Vec<u32>>::new();
    let mut known = BTreeSet::new();
    for task in recording.tasks() {
        known.insert(task.tid);
        by_name.entry(task.name).or_default().push(task.tid);
    }
    let mut tids = BTreeMap::new();
    for trial in &manifest.order {
        let named = by_name.get(&format!("trial-{}", trial.trial)).map(Vec::as_slice);
        let given = trial.tid.filter(|tid| known.contains(tid));
        let tid = match named {
            // In a PID namespace of its own the program knows its threads by other numbers.
            Some([only]) => Some(*only),
            Some(several) => given.filter(|tid| several.contains(tid)),
            None => given,
        };
        tids.extend(tid.map(|tid| (trial.trial, tid)));
    }
    if tids.is_empty() {
        return Err(Missing::new(
            "the measuring task",
            "a task `trial-N` among the events, or its number in the manifest's `order`",
            format!("{} other tasks", known.len()),
            "record the events of all tasks while the windows are measured",
        ));
    }
    Ok(tids)
}
