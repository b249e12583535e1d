//! The events of a recording, sorted so that a window finds its own by bisection.

use std::collections::{BTreeMap, BTreeSet};

use flyball_run::{NullableLabels, Packed, Tables};

use super::line::Line;
use crate::recording::{Ran, Recording};

/// What a CPU was idle in: the state's number.
pub(super) type IdleState = u32;

/// One CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct CpuLines {
    /// Who ran.
    pub slices: Line<u32>,
    /// The idle loop: from the entry into an idle state until the next task runs.
    pub idle: Line<IdleState>,
    /// Interrupts, by the position of their names.
    pub interrupts: Line<u32>,
    /// Gaps in the recording.
    pub gaps: Line<()>,
}

/// What a recording holds at all. What it does not hold is not known to be nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// Who ran where.
    pub slices: bool,
    /// Wake-ups.
    pub wakeups: bool,
    /// Stays in idle states.
    pub idle: bool,
    /// Interrupts.
    pub interrupts: bool,
    /// Changes of frequency.
    pub frequency: bool,
    /// Steal per window.
    pub steal: bool,
}

/// One wake-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wakeup {
    /// When.
    pub t_ns: u64,
    /// The CPU that the task was placed on.
    pub cpu: Option<u32>,
    /// The task that woke it; none where an interrupt did.
    pub waker: Option<u32>,
    /// Whether it ran at that very time.
    pub at_once: bool,
}

/// The events, by CPU and by task.
#[derive(Debug)]
pub(super) struct Index<'a> {
    pub cpus: BTreeMap<u32, CpuLines>,
    pub recorded: Recorded,
    /// Names of interrupts, by position.
    pub interrupt_names: Vec<String>,
    tasks: BTreeMap<u32, Vec<Ran>>,
    tables: &'a Tables,
    wakeups: BTreeMap<u32, Vec<usize>>,
    moves: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Index<'a> {
    /// Sorts what `recording` holds; events of single tasks are kept of those in `measured`, and of
    /// those that woke them, and so on.
    pub fn of(
        recording: &Recording<'_>,
        tables: &'a Tables,
        measured: &BTreeSet<u32>,
    ) -> Index<'a> {
        let kept = with_wakers(tables, measured);
        let mut slices = BTreeMap::<u32, Vec<(u64, u64, u32)>>::new();
        let mut tasks = BTreeMap::<u32, Vec<Ran>>::new();
        // A recording cuts at its span, which leaves out an event at the very end: none is lost.
        for slice in recording.slices() {
            slices.entry(slice.cpu).or_default().push((slice.from_ns, slice.to_ns, slice.tid));
            if kept.contains(&slice.tid) {
                tasks.entry(slice.tid).or_default().push(slice);
            }
        }
        let mut cpus = BTreeMap::<u32, CpuLines>::new();
        for (cpu, slices) in slices {
            cpus.entry(cpu).or_default().slices = Line::flat(slices);
        }
        idle(recording, &mut cpus);
        let interrupt_names = interrupts(tables, &mut cpus);
        for (cpu, lines) in &mut cpus {
            let gaps = recording.gaps().of_cpu(*cpu).map(|(from, to)| (from, to, ()));
            lines.gaps = Line::flat(gaps.collect());
        }
        let own = |tids: &Packed<u32>| -> BTreeMap<u32, Vec<usize>> {
            let mut rows = BTreeMap::<u32, Vec<usize>>::new();
            for (row, tid) in tids.iter().enumerate().filter(|(_, tid)| kept.contains(tid)) {
                rows.entry(tid).or_default().push(row);
            }
            rows
        };
        Index {
            recorded: Recorded {
                slices: !tables.slices.is_empty(),
                wakeups: !tables.wakeups.is_empty(),
                idle: !tables.idle.is_empty(),
                interrupts: !tables.interrupts.is_empty(),
                ..Recorded::default()
            },
            wakeups: own(&tables.wakeups.tid),
            moves: own(&tables.migrations.tid),
            interrupt_names,
            cpus,
            tasks,
            tables,
        }
    }

    /// The tasks whose events are kept.
    pub fn tasks(&self) -> impl Iterator<Item = u32> + '_ {
        self.tasks.keys().copied()
    }

    /// The slices of a task.
    pub fn slices_of(&self, tid: u32) -> impl Iterator<Item = &Ran> {
        self.tasks.get(&tid).into_iter().flatten()
    }

    /// When a task was woken.
    pub fn wakeups_of(&self, tid: u32) -> impl Iterator<Item = Wakeup> + '_ {
        let rows = &self.tables.wakeups;
        let own = self.wakeups.get(&tid).into_iter().flatten();
        own.filter_map(|&row| {
            let t_ns = rows.woken_ns.get(row)?;
            Some(Wakeup {
                t_ns,
                cpu: rows.cpu.get(row),
                waker: rows.waker_tid.get(row),
                at_once: rows.ran_ns.get(row) == Some(t_ns),
            })
        })
    }

    /// When a task moved, and the CPU that it went to.
    pub fn moves_of(&self, tid: u32) -> impl Iterator<Item = (u64, u32)> + '_ {
        let rows = &self.tables.migrations;
        let own = self.moves.get(&tid).into_iter().flatten();
        own.filter_map(|&row| Some((rows.t_ns.get(row)?, rows.to_cpu.get(row)?)))
    }
}

/// The tasks, those that ever woke them, those that woke these, and so on.
fn with_wakers(tables: &Tables, measured: &BTreeSet<u32>) -> BTreeSet<u32> {
    let rows = &tables.wakeups;
    let mut wakers = BTreeMap::<u32, BTreeSet<u32>>::new();
    for (row, tid) in rows.tid.iter().enumerate() {
        if let Some(waker) = rows.waker_tid.get(row) {
            wakers.entry(tid).or_default().insert(waker);
        }
    }
    let mut kept = BTreeSet::new();
    let mut open: Vec<u32> = measured.iter().copied().collect();
    while let Some(tid) = open.pop() {
        if kept.insert(tid) {
            open.extend(wakers.get(&tid).into_iter().flatten());
        }
    }
    kept
}

/// Stays in idle states, each until the next task runs: what lies between is the way out.
fn idle(recording: &Recording<'_>, cpus: &mut BTreeMap<u32, CpuLines>) {
    let mut stays = BTreeMap::<u32, Vec<(u64, u64, IdleState)>>::new();
    for (cpu, state, from, to) in recording.idle() {
        stays.entry(cpu).or_default().push((from, to, state));
    }
    for (cpu, mut stays) in stays {
        stays.sort_by_key(|stay| stay.0);
        let begins: Vec<u64> = stays.iter().map(|stay| stay.0).skip(1).collect();
        let lines = cpus.entry(cpu).or_default();
        for (at, stay) in stays.iter_mut().enumerate() {
            let next = lines.slices.next_begin(stay.1).unwrap_or(stay.1);
            let again = begins.get(at).copied().unwrap_or(u64::MAX);
            // Into the next state without a task between: the loop goes on in that one.
            stay.1 = stay.1.max(next.min(again));
        }
        lines.idle = Line::flat(stays);
    }
}

/// Interrupts by CPU; gives their names.
fn interrupts(tables: &Tables, cpus: &mut BTreeMap<u32, CpuLines>) -> Vec<String> {
    let rows = &tables.interrupts;
    let mut names: Vec<String> = Vec::new();
    let mut places = BTreeMap::<String, u32>::new();
    let mut found = BTreeMap::<u32, Vec<(u64, u64, u32)>>::new();
    for row in 0..rows.len() {
        let (Some(cpu), Some(from), Some(to)) =
            (rows.cpu.get(row), rows.from_ns.get(row), rows.to_ns.get(row))
        else {
            continue;
        };
        // One whose end nobody saw may have been over long before.
        if rows.cut.get(row).is_some() {
            continue;
        }
        let name = name_of(rows.kind.get(row), rows.number.get(row), &rows.name, row);
        let place = *places.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            (names.len() - 1) as u32
        });
        found.entry(cpu).or_default().push((from, to, place));
    }
    for (cpu, stretches) in found {
        cpus.entry(cpu).or_default().interrupts = Line::nested(stretches);
    }
    names
}

/// `softirq TIMER`, `irq 12`.
fn name_of(kind: Option<&str>, number: Option<u32>, names: &NullableLabels, row: usize) -> String {
    let kind = kind.unwrap_or("interrupt");
    match (names.get(row), number) {
        (Some(name), _) => format!("{kind} {name}"),
        (None, Some(number)) => format!("{kind} {number}"),
        (None, None) => kind.to_owned(),
    }
}
