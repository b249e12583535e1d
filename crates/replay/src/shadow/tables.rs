//! A run's event tables as the items that a trace would have told, in order of time.
//!
//! Where the tables do not hold who brought a CPU's utilisation up to date, it counts as that CPU.

use std::collections::{BTreeMap, HashMap};

use flyball_run::{Slice, Tables};

use flyball_events::Recording;
use flyball_events::event::{Class, Event, Record, TaskRef};
use flyball_events::recording::Subject;
use flyball_events::stream::Item;

/// What happened, in the order in which things of one moment happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TableEvent {
    Lost {
        cpu: u32,
    },
    Move {
        tid: u32,
        from: u32,
        to: u32,
    },
    Wake {
        tid: u32,
        cpu: u32,
    },
    Task {
        tid: u32,
        util: u32,
        runnable: Option<u32>,
    },
    Class {
        class: Class,
        cpu: u32,
        util: u32,
        contrib: Option<u32>,
        updater: u32,
    },
    Cpu {
        cpu: u32,
        util: u32,
        runnable: Option<u32>,
        estimate: Option<u32>,
        contrib: Option<u32>,
        updater: u32,
    },
    Switch {
        cpu: u32,
        prev: u32,
        state: u8,
        next: u32,
    },
    Frequency {
        cpu: u32,
        khz: u64,
    },
}

/// Hands the tables of a run, or of one trial, to `each`.
pub(super) fn feed(
    tables: &Tables,
    trial: Option<u32>,
    recording: &Recording<'_>,
    mut each: impl FnMut(Item<'_>),
) {
    let of_trial = |own: Option<u32>| trial.is_none() || own == trial;
    let mut told: Vec<(u64, TableEvent)> = Vec::new();
    let slices = (0..tables.slices.len()).filter_map(|row| tables.slices.row(row));
    let slices: Vec<Slice> = slices.filter(|row| of_trial(row.trial)).collect();
    let mut priorities = HashMap::<u32, i32>::new();
    for slice in &slices {
        priorities.extend(slice.priority.map(|priority| (slice.tid, priority)));
    }
    switches(slices, &mut told);
    for row in (0..tables.wakeups.len()).filter_map(|row| tables.wakeups.row(row)) {
        if of_trial(row.trial) {
            told.push((row.woken_ns, TableEvent::Wake { tid: row.tid, cpu: row.cpu }));
        }
    }
    for row in (0..tables.migrations.len()).filter_map(|row| tables.migrations.row(row)) {
        if of_trial(row.trial) {
            let (tid, from, to) = (row.tid, row.from_cpu, row.to_cpu);
            told.push((row.t_ns, TableEvent::Move { tid, from, to }));
        }
    }
    for row in (0..tables.lost.len()).filter_map(|row| tables.lost.row(row)) {
        let cpu = row.cpu.filter(|_| of_trial(row.trial));
        told.extend(cpu.map(|cpu| (row.from_ns, TableEvent::Lost { cpu })));
    }
    for signals in recording.signals() {
        let (runnable, estimate) = (signals.runnable_avg, signals.util_est);
        let Some(util) = signals.util_avg else { continue };
        let event = match signals.subject {
            Subject::Task(tid) => TableEvent::Task { tid, util, runnable },
            Subject::Class(class, cpu) => {
                let updater = signals.updater.unwrap_or(cpu);
                let contrib = signals.period_contrib;
                TableEvent::Class { class, cpu, util, contrib, updater }
            }
            Subject::Cpu(cpu) => {
                let updater = signals.updater.unwrap_or(cpu);
                let contrib = signals.period_contrib;
                TableEvent::Cpu { cpu, util, runnable, estimate, contrib, updater }
            }
        };
        told.push((signals.t_ns, event));
    }
    frequencies(recording, &mut told);
    told.sort_unstable();
    let task = |tid: u32| TaskRef {
        name: b"",
        tid,
        // A task whose priority nobody recorded is taken as a fair one.
        priority: Some(priorities.get(&tid).copied().unwrap_or(120)),
    };
    for (t_ns, told) in told {
        let (cpu, event) = match told {
            TableEvent::Lost { cpu } => {
                each(Item::Lost { cpu, events: None });
                continue;
            }
            TableEvent::Move { tid, from, to } => {
                (to, Event::Migrate { task: task(tid), from, to })
            }
            TableEvent::Wake { tid, cpu } => (cpu, Event::Wakeup { task: task(tid), cpu }),
            TableEvent::Task { tid, util, runnable } => {
                (0, Event::EntityAverages { tid: Some(tid), util, runnable })
            }
            TableEvent::Cpu { cpu, util, runnable, estimate, contrib, updater } => {
                (updater, Event::QueueAverages { cpu, util, runnable, estimate, contrib })
            }
            TableEvent::Class { class, cpu, util, contrib, updater } => {
                (updater, Event::ClassAverages { class, cpu, util, contrib })
            }
            TableEvent::Switch { cpu, prev, ref state, next } => {
                let state = std::slice::from_ref(state);
                let record = Event::Switch { prev: task(prev), state, next: task(next) };
                each(Item::Record(&head(t_ns, cpu, record)));
                continue;
            }
            TableEvent::Frequency { cpu, khz } => (cpu, Event::Frequency { cpu, khz }),
        };
        each(Item::Record(&head(t_ns, cpu, event)));
    }
}

fn head(t_ns: u64, cpu: u32, event: Event<'_>) -> Record<'_> {
    Record { t_ns, cpu, tid: 0, task: b"", flags: b"", event }
}

/// One switch where a slice begins; one to the idle loop where nothing follows it.
fn switches(slices: Vec<Slice>, told: &mut Vec<(u64, TableEvent)>) {
    let mut of_cpu = BTreeMap::<u32, Vec<Slice>>::new();
    for slice in slices {
        of_cpu.entry(slice.cpu).or_default().push(slice);
    }
    for (cpu, mut slices) in of_cpu {
        slices.sort_by_key(|slice| (slice.from_ns, slice.to_ns));
        let mut before: Option<&Slice> = None;
        for slice in &slices {
            let follows = before.filter(|before| before.to_ns == slice.from_ns);
            if follows.is_none() {
                told.extend(before.and_then(|before| to_idle(cpu, before)));
            }
            let prev = follows.map_or(0, |before| before.tid);
            let state = follows.map_or(b'R', state);
            told.push((slice.from_ns, TableEvent::Switch { cpu, prev, state, next: slice.tid }));
            before = Some(slice);
        }
        told.extend(before.and_then(|last| to_idle(cpu, last)));
    }
}

/// None where nobody saw the slice end.
fn to_idle(cpu: u32, slice: &Slice) -> Option<(u64, TableEvent)> {
    let cut = matches!(slice.cut.as_deref(), Some("end" | "both"));
    let switch = TableEvent::Switch { cpu, prev: slice.tid, state: state(slice), next: 0 };
    (!cut).then_some((slice.to_ns, switch))
}

fn state(slice: &Slice) -> u8 {
    match slice.why.as_deref() {
        Some("preempted" | "yielded" | "migrated") => b'R',
        Some("exited") => b'X',
        _ => b'S',
    }
}

/// A change per domain, told of its first CPU.
fn frequencies(recording: &Recording<'_>, told: &mut Vec<(u64, TableEvent)>) {
    for domain in recording.domains() {
        let mut cpus = recording.topology().cpus();
        let own = cpus.find(|cpu| cpu.domain.as_deref() == Some(domain.as_str()));
        let Some(cpu) = own.map(|cpu| cpu.cpu) else { continue };
        for (t_ns, khz) in recording.frequency(&domain).points() {
            told.push((t_ns, TableEvent::Frequency { cpu, khz }));
        }
    }
}
