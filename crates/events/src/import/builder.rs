//! Items of a trace become rows of the event tables.

use std::collections::hash_map::Entry;

use ahash::HashMap;
use flyball_run::{Loss, Manifest, Marker, Tables};

use super::clocks::{Burst, Clocks};
use super::interrupts::Entered;
use super::scheduling::{Asleep, Running, Tasks};
use crate::event::{Event, Record, TaskRef};
use crate::stream::Item;

/// Rows that are collected before the caller may take them.
const BATCH_ROWS: usize = 1 << 16;

/// What is known of a CPU while the trace goes by.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    /// Time of its last event.
    pub last_ns: u64,
    /// Since when every event of it is known.
    pub since_ns: u64,
    /// What it runs.
    pub running: Running,
    /// The idle state that it is in, with the time of its entry.
    pub idle: Option<(u32, u64)>,
    /// The interrupts that it is in, the outermost first.
    pub interrupts: Vec<Entered>,
    /// Frequency events that belong together.
    pub burst: Option<Burst>,
    /// A gap that has not ended yet: how many events are lost.
    pub gap: Option<Option<u64>>,
    /// What the governor was given, until it answers: CPU, utilisation, capacity.
    pub asked: Option<(Option<u32>, u32, Option<u32>)>,
}

/// Turns the items of a trace into rows.
#[derive(Debug, Default)]
pub struct Builder {
    pub(super) tables: Tables,
    pub(super) rows: usize,
    pub(super) cpus: HashMap<u32, Cpu>,
    pub(super) tasks: Tasks,
    pub(super) clocks: Clocks,
    pub(super) steps: Vec<(u32, flyball_run::GovernorStep)>,
    /// Time of the first and of the last event.
    pub(super) span: Option<(u64, u64)>,
    /// Averages of groups' entities, which no table holds.
    pub(super) groups: u64,
    /// Events that went back in time on their own CPU.
    pub(super) backwards: u64,
}

/// All that a trace gave.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The rows that were not taken before.
    pub tables: Tables,
    /// CPUs, clock domains and clocks, as far as the events tell; the rest is default.
    pub manifest: Manifest,
    /// Averages of task groups, left out: the tables hold tasks and root run queues.
    pub groups: u64,
    /// Events that went back in time on their own CPU: the trace's clock is not monotonic.
    pub backwards: u64,
    /// Time of the first and of the last event.
    pub span: Option<(u64, u64)>,
}

impl Builder {
    /// Nothing seen yet.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Takes the next item of the trace.
    pub fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Record(record) => self.record(record),
            Item::Reading(record) => self.reading(record),
            Item::Lost { cpu, events } => self.lost(cpu, events),
        }
    }

    /// Whether enough rows are here to be taken.
    pub fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS
    }

    /// Takes the rows out that are complete. Rows of frequency and capacity come at the end alone:
    /// the clock domains are known only then.
    pub fn take(&mut self) -> Tables {
        self.rows = 0;
        self.name_steps();
        std::mem::take(&mut self.tables)
    }

    /// Ends the trace.
    pub fn finish(mut self) -> Built {
        let (_, end_ns) = self.span.unwrap_or_default();
        let mut cpus: Vec<u32> = self.cpus.keys().copied().collect();
        cpus.sort_unstable();
        for cpu in cpus {
            self.close_burst(cpu, false);
            self.cut(cpu, end_ns);
        }
        self.finish_wakeups();
        self.name_steps();
        let domains = self.clocks.domains();
        self.clocks.rows(&domains, &mut self.tables);
        let manifest = super::manifest::of_events(&self, &domains);
        Built {
            tables: self.tables,
            manifest,
            groups: self.groups,
            backwards: self.backwards,
            span: self.span,
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        self.see(record);
        // An interrupt between two events of one change does not make them two changes.
        let goes_on =
            matches!(record.event, Event::Frequency { .. } | Event::Enters(_) | Event::Leaves(_));
        if !goes_on {
            self.close_burst(record.cpu, true);
        }
        let t_ns = record.t_ns;
        match record.event {
            Event::Switch { prev, state, next } => self.switch(record, prev, state, next),
            Event::Waking(task) => self.waking(record, task),
            Event::Wakeup { task, cpu } => self.wakeup(record, task, cpu),
            Event::Migrate { task, from, to } => self.migrate(t_ns, task, from, to),
            Event::Fork(child) => self.tasks.name(child),
            Event::Exit(task) => self.tasks.name(task),
            Event::Frequency { cpu, khz } => self.frequency(record, cpu, khz),
            Event::Idle { cpu, state } => self.idle(t_ns, cpu, state),
            Event::Enters(interrupt) => self.enter(t_ns, record.cpu, interrupt),
            Event::Leaves(interrupt) => self.leave(t_ns, record.cpu, interrupt),
            Event::EntityAverages { .. }
            | Event::EntityEstimate { .. }
            | Event::QueueAverages { .. }
            | Event::ClassAverages { .. } => self.signal(record),
            Event::Capacity { cpu, capacity } => self.clocks.capacity(t_ns, cpu, capacity),
            Event::GovernorAsked { cpu, util, max } => {
                self.cpu(record.cpu).asked = Some((cpu, util, max));
            }
            Event::GovernorAnswered { khz } => self.answered(record, khz),
            Event::Mark(text) => {
                self.rows += 1;
                self.tables.markers.push(Marker {
                    t_ns,
                    cpu: Some(record.cpu),
                    tid: Some(record.tid),
                    task: Some(text_of(record.task)),
                    name: text_of(text.trim_ascii_end()),
                    trial: None,
                });
            }
            Event::Other(_) => {}
        }
    }

    /// A reading of a counter: nothing but what it reads.
    fn reading(&mut self, record: &Record<'_>) {
        self.widen(record.t_ns);
        if record.tid != 0 {
            self.tasks.name(TaskRef { name: record.task, tid: record.tid, priority: None });
        }
        self.signal(record);
    }

    fn signal(&mut self, record: &Record<'_>) {
        let t_ns = record.t_ns;
        match record.event {
            Event::EntityAverages { tid, util, runnable } => self.entity(t_ns, tid, util, runnable),
            Event::EntityEstimate { tid, util, estimate } => {
                self.estimate(t_ns, tid, util, estimate);
            }
            Event::QueueAverages { cpu, util, runnable, estimate, contrib } => {
                self.queue(record, cpu, util, (runnable, estimate), contrib);
            }
            Event::ClassAverages { class, cpu, util, contrib } => {
                self.class(record, class, cpu, util, contrib);
            }
            _ => {}
        }
    }

    fn widen(&mut self, t_ns: u64) {
        match &mut self.span {
            Some((from, to)) => (*from, *to) = (t_ns.min(*from), t_ns.max(*to)),
            None => self.span = Some((t_ns, t_ns)),
        }
    }

    /// Notes the time, ends a gap, and learns from the head who runs there.
    fn see(&mut self, record: &Record<'_>) {
        let t_ns = record.t_ns;
        self.widen(t_ns);
        let entry = self.cpus.entry(record.cpu);
        let first = matches!(entry, Entry::Vacant(_));
        let cpu = entry.or_default();
        if t_ns < cpu.last_ns {
            self.backwards += 1;
        }
        if let Some(events) = cpu.gap.take() {
            let from_ns = cpu.last_ns;
            cpu.since_ns = t_ns;
            if !first {
                let loss =
                    Loss { cpu: Some(record.cpu), from_ns, to_ns: t_ns, events, trial: None };
                self.tables.lost.push(loss);
                self.rows += 1;
            }
        } else if first {
            cpu.since_ns = t_ns;
        }
        cpu.last_ns = t_ns;
        // A switch names both tasks itself; any other event tells who runs by its head.
        if cpu.running == Running::Unknown && !matches!(record.event, Event::Switch { .. }) {
            cpu.running = Running::seen(record, cpu.since_ns);
        }
        if record.tid != 0 && record.task != b"<...>" {
            let task = TaskRef { name: record.task, tid: record.tid, priority: None };
            self.tasks.name(task);
        }
    }

    /// What ran and what was pending before a gap is cut there: nobody saw how it ended.
    fn lost(&mut self, number: u32, events: Option<u64>) {
        self.close_burst(number, false);
        let last_ns = self.cpus.get(&number).map_or(0, |cpu| cpu.last_ns);
        self.cut(number, last_ns);
        let cpu = self.cpu(number);
        cpu.asked = None;
        let before = cpu.gap.flatten();
        cpu.gap = Some(match (before, events) {
            (Some(before), Some(events)) => Some(before.saturating_add(events)),
            (before, events) => before.or(events),
        });
    }

    /// Ends what goes on on a CPU without its end having been seen.
    fn cut(&mut self, number: u32, at_ns: u64) {
        self.end_slice(number, at_ns, Asleep::Unseen);
        self.end_idle(number, at_ns, true);
        self.cut_interrupts(number, at_ns);
        self.cpu(number).running = Running::Unknown;
    }

    pub(super) fn cpu(&mut self, number: u32) -> &mut Cpu {
        self.cpus.entry(number).or_default()
    }
}

/// Text of the kernel's, which need not be UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
