//! From the tables of runs to lanes. What cannot stand on the common axis is named, never moved.

use std::collections::{BTreeMap, BTreeSet};

use flyball_events::Recording;
use flyball_events::blame::Clocks;
use flyball_events::recording::Subject;
use flyball_run::{Tables, Windows};

use super::pack::Packer;
use super::spans::{Stay, apart};
use super::{Description, Group, Kind, Lane, LanesOptions, Shape, TaskRow};
use crate::analysis::{RunData, trial_numbers};
use crate::text;

/// Trials of a run that get a place of their own.
const TRIALS: usize = 16;

/// Rows with a time that belongs to a lane.
pub(super) fn rows(tables: &Tables) -> u64 {
    let lengths = [
        tables.windows.len(),
        tables.frequency.len(),
        tables.slices.len(),
        tables.idle.len(),
        tables.utilization.len(),
        tables.markers.len(),
        tables.lost.len(),
    ];
    lengths.into_iter().map(|rows| rows as u64).sum()
}

/// Every run's lanes, described and packed.
pub(super) fn all(runs: &[RunData], options: &LanesOptions) -> (Description, Packer) {
    let mut page = Page::default();
    for run in runs {
        for (trial, name) in groups(run, &mut page.description.notes) {
            page.group(run, trial, name, options);
        }
    }
    (page.description, page.packer)
}

/// The recordings of a run that lie on an axis each, with their names.
pub(super) fn groups(run: &RunData, notes: &mut Vec<String>) -> Vec<(Option<u32>, String)> {
    let trials = trial_numbers(&run.tables);
    // Windows tell on which trial they belong by their own times: all stand on one axis.
    if trials.len() < 2 || !run.tables.windows.is_empty() {
        return vec![(None, run.name.clone())];
    }
    if trials.len() > TRIALS {
        let left = text::count((trials.len() - TRIALS) as u64, "more trial");
        notes.push(format!("{}: {left}, not shown", run.name));
    }
    let name = |trial: u32| {
        let record = run.manifest.order.iter().find(|record| record.trial == trial);
        let own = record.map_or_else(|| format!("phase {trial}"), |r| r.condition.clone());
        (Some(trial), format!("{}: {own}", run.name))
    };
    trials.iter().copied().flatten().take(TRIALS).map(name).collect()
}

#[derive(Default)]
struct Page {
    description: Description,
    packer: Packer,
}

/// What the lanes of one group share.
struct Place<'a> {
    index: usize,
    /// The group's begin on the events' clock.
    begin: u64,
    recording: &'a Recording<'a>,
}

impl Place<'_> {
    fn at(&self, t_ns: u64) -> u64 {
        t_ns.saturating_sub(self.begin)
    }

    fn stay(&self, from_ns: u64, to_ns: u64, what: u32) -> Stay {
        let from = self.at(from_ns);
        Stay { from, to: self.at(to_ns).max(from), what }
    }
}

/// The texts of a group, each once.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    index: BTreeMap<String, u32>,
}

impl Texts {
    fn of(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let next = self.texts.len() as u32;
        self.index.insert(text.to_owned(), next);
        self.texts.push(text::plain(text));
        next
    }
}

/// A measured window on the events' clock.
pub(super) struct Window {
    pub(super) stay: Stay,
    lateness: i64,
}

impl Page {
    fn group(&mut self, run: &RunData, trial: Option<u32>, name: String, options: &LanesOptions) {
        let recording = Recording::new(&run.tables, &run.manifest, trial);
        let shift = window_shift(run, &mut self.description.notes);
        let span = recording.span();
        // Without events the axis is that of the windows alone.
        let events = span.to_ns > 0;
        let windows = shift.map(|shift| moved(run, shift)).unwrap_or_default();
        let first = windows.iter().map(|w| w.stay.from).min();
        let last = windows.iter().map(|w| w.stay.to).max().unwrap_or(0);
        let begin = match (events, first) {
            (true, Some(first)) => first.min(span.from_ns),
            (true, None) => span.from_ns,
            (false, first) => first.unwrap_or(0),
        };
        let mark =
            options.marker.as_deref().and_then(|text| recording.marker(text).ok()).map(|m| m.t_ns);
        let index = self.description.groups.len();
        let place = Place { index, begin, recording: &recording };
        let mut texts = Texts::default();
        self.windows(run, &place, &windows, &mut texts);
        self.frequencies(run, trial, &place);
        let tasks = self.slices(&place);
        self.idle(&place, &mut texts);
        self.utilization(&place, &tasks);
        self.marks(&place, &mut texts);
        self.lost(run, trial, &place);
        self.description.groups.push(Group {
            name: text::plain(&name),
            length: span.to_ns.max(last).saturating_sub(begin),
            zero: mark.map_or(0, |t| place.at(t)),
            tasks,
            texts: texts.texts,
        });
    }

    fn windows(&mut self, run: &RunData, place: &Place<'_>, windows: &[Window], texts: &mut Texts) {
        let rows = &run.tables.windows;
        let stays: Vec<Stay> = windows
            .iter()
            .map(|w| {
                place.stay(
                    w.stay.from,
                    w.stay.to,
                    texts.of(&window_text(rows, w.stay.what as usize)),
                )
            })
            .collect();
        let lateness = |at: usize| windows.get(at).map_or(0, |w| w.lateness);
        self.spans(place, stays, Kind::Windows, "windows", None, Some(&lateness));
    }

    fn frequencies(&mut self, run: &RunData, trial: Option<u32>, place: &Place<'_>) {
        let rows = &run.tables.frequency;
        let clock = |table: &str| {
            run.manifest.clocks.iter().find(|c| c.table == table).map(|c| c.clock.as_str())
        };
        let (own, events) = (clock("frequency"), clock("slices"));
        if !rows.is_empty() && !run.tables.slices.is_empty() && own != events {
            let say = |clock: Option<&str>| clock.unwrap_or("an unknown clock").to_owned();
            self.description.notes.push(format!(
                "{}: frequency not shown: it is on {}, the slices on {}",
                run.name,
                say(own),
                say(events)
            ));
            return;
        }
        for domain in place.recording.domains() {
            let held = (0..rows.len()).any(|row| {
                rows.domain.get(row) == Some(domain.as_str())
                    && matches!(rows.source.get(row), Some("model" | "cpu_frequency"))
                    && (trial.is_none() || rows.trial.get(row) == trial)
            });
            let shape = if held { Shape::Steps } else { Shape::Points };
            let steps = place.recording.frequency(&domain);
            let points: Vec<(u64, u32)> =
                steps.points().map(|(t, khz)| (place.at(t), narrow(khz))).collect();
            self.values(place, &points, Kind::Frequency, shape, &domain, |_| {});
        }
    }

    /// Who ran, per CPU; the tasks, those that ran longest first.
    fn slices(&mut self, place: &Place<'_>) -> Vec<TaskRow> {
        let mut tasks = BTreeMap::<u32, TaskRow>::new();
        for ran in place.recording.slices() {
            let row = tasks.entry(ran.tid).or_insert_with(|| TaskRow {
                tid: ran.tid,
                name: text::plain(&place.recording.task(ran.tid).name),
                ran: 0,
                slices: 0,
            });
            row.ran = row.ran.saturating_add(ran.length_ns());
            row.slices += 1;
        }
        for (tid, name) in place.recording.tasks().map(|task| (task.tid, task.name)) {
            let name = text::plain(&name);
            tasks.entry(tid).or_insert_with(|| TaskRow { tid, name, ran: 0, slices: 0 });
        }
        let mut tasks: Vec<TaskRow> = tasks.into_values().collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(task.ran));
        let order: BTreeMap<u32, u32> =
            tasks.iter().enumerate().map(|(at, task)| (task.tid, at as u32)).collect();
        let mut cpus = BTreeMap::<u32, Vec<Stay>>::new();
        for ran in place.recording.slices() {
            let what = order.get(&ran.tid).copied().unwrap_or_default();
            let stay = place.stay(ran.from_ns, ran.to_ns, what);
            cpus.entry(ran.cpu).or_default().push(stay);
        }
        for (cpu, stays) in cpus {
            self.spans(place, stays, Kind::Cpu, &format!("cpu{cpu}"), Some(cpu), None);
        }
        tasks
    }

    fn idle(&mut self, place: &Place<'_>, texts: &mut Texts) {
        let names = place.recording.idle_names();
        let named = |cpu: u32, state: u32| match names.get(&(cpu, state)) {
            Some(name) => (*name).to_owned(),
            None => format!("state {state}"),
        };
        // Shallow states first, whichever came first.
        let states: BTreeSet<(u32, u32)> =
            place.recording.idle().map(|(cpu, state, ..)| (state, cpu)).collect();
        let known: BTreeMap<(u32, u32), u32> =
            states.into_iter().map(|(s, cpu)| ((cpu, s), texts.of(&named(cpu, s)))).collect();
        let mut cpus = BTreeMap::<u32, Vec<Stay>>::new();
        for (cpu, state, from, to) in place.recording.idle() {
            let what = known.get(&(cpu, state)).copied().unwrap_or_default();
            cpus.entry(cpu).or_default().push(place.stay(from, to, what));
        }
        for (cpu, stays) in cpus {
            self.spans(place, stays, Kind::Idle, &format!("cpu{cpu} idle"), Some(cpu), None);
        }
    }

    fn utilization(&mut self, place: &Place<'_>, tasks: &[TaskRow]) {
        let mut subjects = BTreeMap::<Subject, Vec<(u64, u32)>>::new();
        for signals in place.recording.signals() {
            if let Some(util) = signals.util_avg {
                let point = (place.at(signals.t_ns), util.min(i32::MAX as u32));
                subjects.entry(signals.subject).or_default().push(point);
            }
        }
        let order: BTreeMap<u32, usize> =
            tasks.iter().enumerate().map(|(at, task)| (task.tid, at)).collect();
        for (subject, mut points) in subjects {
            points.sort_by_key(|point| point.0);
            match subject {
                Subject::Cpu(cpu) => {
                    let name = format!("cpu{cpu} util_avg");
                    let of = |lane: &mut Lane| lane.cpu = Some(cpu);
                    self.values(place, &points, Kind::CpuUtil, Shape::Steps, &name, of);
                }
                // Everybody has a signal of these; few have such tasks.
                Subject::Class(class, cpu) => {
                    if points.iter().any(|&(_, util)| util > 0) {
                        let name = format!("cpu{cpu} {} util_avg", class.name());
                        let of = |lane: &mut Lane| lane.cpu = Some(cpu);
                        self.values(place, &points, Kind::CpuUtil, Shape::Steps, &name, of);
                    }
                }
                Subject::Task(tid) => {
                    let name = format!("{} util_avg", place.recording.task(tid).name);
                    let of = |lane: &mut Lane| lane.task = order.get(&tid).copied();
                    self.values(place, &points, Kind::TaskUtil, Shape::Steps, &name, of);
                }
            }
        }
    }

    fn marks(&mut self, place: &Place<'_>, texts: &mut Texts) {
        let mut points: Vec<(u64, u32)> = place
            .recording
            .marks()
            .map(|mark| (place.at(mark.t_ns), texts.of(mark.text)))
            .collect();
        points.sort_by_key(|point| point.0);
        self.values(place, &points, Kind::Marks, Shape::Points, "marks", |_| {});
    }

    fn lost(&mut self, run: &RunData, trial: Option<u32>, place: &Place<'_>) {
        let rows = &run.tables.lost;
        let mut owners = BTreeMap::<Option<u32>, Vec<Stay>>::new();
        for row in (0..rows.len()).filter(|&row| trial.is_none() || rows.trial.get(row) == trial) {
            if let (Some(&from), Some(&to)) = (rows.from_ns.get(row), rows.to_ns.get(row)) {
                let events = rows.events.get(row).unwrap_or_default();
                let what = u32::try_from(events).unwrap_or(u32::MAX);
                owners.entry(rows.cpu.get(row)).or_default().push(place.stay(from, to, what));
            }
        }
        for (cpu, stays) in owners {
            self.spans(place, stays, Kind::Lost, "lost", cpu, None);
        }
    }

    /// Spans as lanes: one, or several where they overlap.
    fn spans(
        &mut self,
        place: &Place<'_>,
        stays: Vec<Stay>,
        kind: Kind,
        name: &str,
        cpu: Option<u32>,
        extra: Option<&dyn Fn(usize) -> i64>,
    ) {
        let found = apart(stays);
        if found.left > 0 {
            let left = text::count(found.left as u64, "row");
            self.description
                .notes
                .push(format!("{name}: {left} not shown: five or more at a time"));
        }
        let core = cpu.filter(|_| kind == Kind::Cpu).map(|cpu| self.core(place, cpu));
        for (at, lane) in found.lanes.into_iter().enumerate() {
            let extras: Vec<i64> =
                extra.map(|of| lane.iter().map(|(_, row)| of(*row)).collect()).unwrap_or_default();
            let stays: Vec<Stay> = lane.into_iter().map(|(stay, _)| stay).collect();
            let (block, first) = self.packer.spans(&stays, &extras);
            let name = if at == 0 { name.to_owned() } else { format!("{name} ({})", at + 1) };
            self.push(Lane {
                group: place.index,
                kind,
                shape: Shape::Spans,
                name,
                cpu,
                task: None,
                core,
                rows: stays.len(),
                block,
                at: first,
                extra: usize::from(extra.is_some()),
            });
        }
    }

    fn values(
        &mut self,
        place: &Place<'_>,
        points: &[(u64, u32)],
        kind: Kind,
        shape: Shape,
        name: &str,
        also: impl FnOnce(&mut Lane),
    ) {
        if points.is_empty() {
            return;
        }
        let (block, at) = self.packer.values(points);
        let mut lane = Lane {
            group: place.index,
            kind,
            shape,
            name: text::plain(name),
            cpu: None,
            task: None,
            core: None,
            rows: points.len(),
            block,
            at,
            extra: 0,
        };
        also(&mut lane);
        self.push(lane);
    }

    fn push(&mut self, lane: Lane) {
        self.description.rows += lane.rows as u64;
        self.description.lanes.push(lane);
    }

    /// The index of a CPU's kind of core, entered in order of capacity.
    fn core(&mut self, place: &Place<'_>, cpu: u32) -> usize {
        let topology = place.recording.topology();
        if self.description.cores.is_empty() {
            let mut kinds: Vec<(u32, String)> = topology
                .cpus()
                .filter_map(|known| {
                    Some((known.capacity.unwrap_or(u32::MAX), topology.core_type(known.cpu)?))
                })
                .collect();
            kinds.sort();
            for (_, name) in kinds {
                self.core_named(&name);
            }
        }
        let name = topology.core_type(cpu).unwrap_or_else(|| "core of unknown type".to_owned());
        self.core_named(&name)
    }

    fn core_named(&mut self, name: &str) -> usize {
        let name = text::plain(name);
        let cores = &mut self.description.cores;
        cores.iter().position(|known| *known == name).unwrap_or_else(|| {
            cores.push(name);
            cores.len() - 1
        })
    }
}

/// The events' clock minus that of the windows; none where the windows have no place.
pub(super) fn window_shift(run: &RunData, notes: &mut Vec<String>) -> Option<i64> {
    if run.tables.windows.is_empty() {
        return None;
    }
    let tables = &run.tables;
    let events = [
        ("slices", tables.slices.len()),
        ("idle", tables.idle.len()),
        ("frequency", tables.frequency.len()),
    ];
    let Some((events, _)) = events.into_iter().find(|(_, rows)| *rows > 0) else {
        return Some(0);
    };
    match Clocks::between(&run.manifest, "time line of the windows", "windows", events) {
        Ok(clocks) => clocks.offset_ns.checked_neg(),
        Err(missing) => {
            notes.push(format!("{}: {missing}", run.name));
            None
        }
    }
}

/// Values above what a 32-bit difference can hold are none of a processor's.
fn narrow(khz: u64) -> u32 {
    khz.min(i32::MAX as u64) as u32
}

/// What a window is called.
pub(super) fn window_text(rows: &Windows, row: usize) -> String {
    let named = [rows.workload.get(row), rows.condition.get(row)];
    let mut text = named.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let flags = [(&rows.warmup, ", warm-up"), (&rows.missed, ", missed its deadline")];
    for (_, flag) in
        flags.into_iter().filter(|(column, _)| column.get(row).copied().unwrap_or(false))
    {
        text.push_str(flag);
    }
    text
}

/// The windows on the events' clock; `what` is their row. One that a shift takes before the clock's
/// zero is none.
pub(super) fn moved(run: &RunData, shift: i64) -> Vec<Window> {
    let rows = &run.tables.windows;
    let window = |row: usize| {
        let from = rows.dispatch_ns.get(row)?.checked_add_signed(shift)?;
        let to = rows.end_ns.get(row)?.checked_add_signed(shift)?;
        let stay = Stay { from, to: to.max(from), what: u32::try_from(row).ok()? };
        Some(Window { stay, lateness: rows.lateness_ns.get(row).copied()? })
    };
    (0..rows.len()).filter_map(window).collect()
}
