//! Who ran where, who was woken and who moved.

use ahash::HashMap;

use super::builder::{Builder, text_of};
use crate::event::{Record, TaskRef};

/// What a CPU runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Running {
    /// Nobody knows.
    #[default]
    Unknown,
    /// The idle loop.
    Idle,
    /// A task.
    Task {
        /// Its number.
        tid: u32,
        /// Since when.
        from_ns: u64,
        /// Its priority, where known.
        priority: Option<i32>,
        /// Whether it ran before already.
        cut: bool,
    },
}

impl Running {
    /// What the head of an event tells.
    pub fn seen(record: &Record<'_>, since_ns: u64) -> Running {
        match record.tid {
            0 => Running::Idle,
            tid => Running::Task { tid, from_ns: since_ns, priority: None, cut: true },
        }
    }
}

/// How a slice ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asleep {
    /// Still runnable: another task took the CPU.
    No,
    /// It sleeps or waits.
    Yes,
    /// It is gone.
    Gone,
    /// Nobody saw the end.
    Unseen,
}

impl Asleep {
    /// From `prev_state`. A voluntary `R` is not told apart from a preemption on the way back to
    /// user space, which the kernel prints the same.
    fn of(state: &[u8]) -> Asleep {
        match state.first() {
            Some(b'R') => Asleep::No,
            Some(b'X' | b'x' | b'Z') => Asleep::Gone,
            Some(_) => Asleep::Yes,
            None => Asleep::Unseen,
        }
    }

    fn why(self) -> Option<&'static str> {
        match self {
            Asleep::No => Some("preempted"),
            Asleep::Yes => Some("slept"),
            Asleep::Gone => Some("exited"),
            Asleep::Unseen => None,
        }
    }
}

/// What is known of a task.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub name: String,
    /// The CPU that it was last seen on.
    pub cpu: Option<u32>,
    asleep: bool,
    woken: Option<Woken>,
}

/// A wake-up whose task has not run yet.
#[derive(Clone, Copy, Debug)]
struct Woken {
    t_ns: u64,
    cpu: Option<u32>,
    waker: Option<u32>,
}

/// All tasks, by number.
#[derive(Debug, Default)]
pub(super) struct Tasks(HashMap<u32, Task>);

impl Tasks {
    /// Takes over a task's name.
    pub fn name(&mut self, task: TaskRef<'_>) {
        self.get(task);
    }

    pub fn get(&mut self, task: TaskRef<'_>) -> &mut Task {
        let known = self.0.entry(task.tid).or_default();
        if known.name.as_bytes() != task.name {
            known.name = text_of(task.name);
        }
        known
    }

    pub fn find(&self, tid: u32) -> Option<&Task> {
        self.0.get(&tid)
    }

    pub fn name_of(&self, tid: u32) -> &str {
        self.0.get(&tid).map_or("", |task| &task.name)
    }
}

impl Builder {
    pub(super) fn switch(
        &mut self,
        record: &Record<'_>,
        prev: TaskRef<'_>,
        state: &[u8],
        next: TaskRef<'_>,
    ) {
        let (number, t_ns) = (record.cpu, record.t_ns);
        self.outside_interrupts(number);
        self.end_prev(number, t_ns, prev, state);
        if next.tid == 0 {
            self.cpu(number).running = Running::Idle;
            return;
        }
        let priority = next.priority;
        self.cpu(number).running =
            Running::Task { tid: next.tid, from_ns: t_ns, priority, cut: false };
        let task = self.tasks.get(next);
        (task.cpu, task.asleep) = (Some(number), false);
        if let Some(woken) = task.woken.take() {
            self.woken(next.tid, woken, Some((t_ns, number)));
        }
    }

    /// Ends the slice of the task that gives the CPU up.
    fn end_prev(&mut self, number: u32, t_ns: u64, prev: TaskRef<'_>, state: &[u8]) {
        let asleep = Asleep::of(state);
        let cpu = self.cpu(number);
        let since_ns = cpu.since_ns;
        match cpu.running {
            Running::Task { tid, .. } if tid == prev.tid => {
                if let Running::Task { priority, .. } = &mut cpu.running {
                    *priority = priority.or(prev.priority);
                }
            }
            // Nobody saw how the other one ended, nor how this one began.
            Running::Task { .. } => self.end_slice(number, t_ns, Asleep::Unseen),
            Running::Idle if prev.tid != 0 => {
                let from_ns = t_ns;
                self.unseen_begin(number, prev, from_ns);
            }
            Running::Unknown if prev.tid != 0 => self.unseen_begin(number, prev, since_ns),
            Running::Unknown | Running::Idle => {}
        }
        self.end_slice(number, t_ns, asleep);
        if prev.tid == 0 {
            return;
        }
        let task = self.tasks.get(prev);
        task.cpu = Some(number);
        task.asleep = asleep == Asleep::Yes;
        let unused = if asleep == Asleep::No { None } else { task.woken.take() };
        if let Some(woken) = unused {
            self.woken(prev.tid, woken, None);
        }
        if asleep == Asleep::Gone {
            self.tasks.0.remove(&prev.tid);
        }
    }

    fn unseen_begin(&mut self, number: u32, task: TaskRef<'_>, from_ns: u64) {
        self.tasks.name(task);
        let TaskRef { tid, priority, .. } = task;
        self.cpu(number).running = Running::Task { tid, from_ns, priority, cut: true };
    }

    /// Writes the slice of the task that a CPU runs, if it runs one.
    pub(super) fn end_slice(&mut self, number: u32, to_ns: u64, asleep: Asleep) {
        let cpu = self.cpu(number);
        let Running::Task { tid, from_ns, priority, cut } = cpu.running else { return };
        cpu.running = Running::Unknown;
        let cut = match (cut, asleep) {
            (true, Asleep::Unseen) => Some("both"),
            (true, _) => Some("start"),
            (false, Asleep::Unseen) => Some("end"),
            (false, _) => None,
        };
        self.rows += 1;
        // Cell by cell, here and below: rows own their texts, and these are known to the columns.
        let slices = &mut self.tables.slices;
        slices.cpu.push(number);
        slices.tid.push(tid);
        slices.task.push(self.tasks.name_of(tid));
        slices.from_ns.push(from_ns);
        slices.to_ns.push(to_ns.max(from_ns));
        slices.why.push(asleep.why());
        slices.cut.push(cut);
        slices.priority.push(priority);
        slices.trial.push(None);
    }

    pub(super) fn waking(&mut self, record: &Record<'_>, task: TaskRef<'_>) {
        let waker = (!record.in_interrupt() && record.tid != 0).then_some(record.tid);
        let woken = Woken { t_ns: record.t_ns, cpu: None, waker };
        self.tasks.get(task).woken = Some(woken);
    }

    pub(super) fn wakeup(&mut self, record: &Record<'_>, task: TaskRef<'_>, cpu: u32) {
        let waker = (!record.in_interrupt() && record.tid != 0).then_some(record.tid);
        let known = self.tasks.get(task);
        (known.cpu, known.asleep) = (Some(cpu), false);
        let woken = Woken { t_ns: record.t_ns, cpu: Some(cpu), waker };
        match known.woken.replace(woken) {
            // The wake-up began elsewhere: that is who woke it.
            Some(Woken { cpu: None, waker, .. }) => known.woken = Some(Woken { waker, ..woken }),
            Some(before) => self.woken(task.tid, before, None),
            None => {}
        }
    }

    /// Writes a wake-up, with when and where the task ran.
    fn woken(&mut self, tid: u32, woken: Woken, ran: Option<(u64, u32)>) {
        let ran_cpu = ran.map(|(_, cpu)| cpu);
        let Some(cpu) = woken.cpu.or(ran_cpu) else { return };
        let ran_ns = ran.map(|(t_ns, _)| t_ns.max(woken.t_ns));
        self.rows += 1;
        let wakeups = &mut self.tables.wakeups;
        wakeups.woken_ns.push(woken.t_ns);
        wakeups.ran_ns.push(ran_ns);
        wakeups.latency_ns.push(ran_ns.map(|ran_ns| ran_ns - woken.t_ns));
        wakeups.cpu.push(cpu);
        wakeups.ran_cpu.push(ran_cpu);
        wakeups.tid.push(tid);
        wakeups.task.push(self.tasks.name_of(tid));
        wakeups.waker_tid.push(woken.waker);
        wakeups.trial.push(None);
    }

    /// Wake-ups whose tasks did not run until the end.
    pub(super) fn finish_wakeups(&mut self) {
        let pending = self.tasks.0.iter().filter_map(|(&tid, task)| Some((tid, task.woken?)));
        let mut pending: Vec<(u32, Woken)> = pending.collect();
        pending.sort_by_key(|(tid, woken)| (woken.t_ns, *tid));
        for (tid, woken) in pending {
            self.woken(tid, woken, None);
        }
    }

    pub(super) fn migrate(&mut self, t_ns: u64, task: TaskRef<'_>, from_cpu: u32, to_cpu: u32) {
        let known = self.tasks.get(task);
        // A task that sleeps moves only while it is being woken.
        let waking = known.asleep || known.woken.is_some_and(|woken| woken.cpu.is_none());
        known.cpu = Some(to_cpu);
        self.rows += 1;
        let migrations = &mut self.tables.migrations;
        migrations.t_ns.push(t_ns);
        migrations.tid.push(task.tid);
        migrations.task.push(self.tasks.name_of(task.tid));
        migrations.from_cpu.push(from_cpu);
        migrations.to_cpu.push(to_cpu);
        migrations.why.push(waking.then_some("wakeup"));
        migrations.trial.push(None);
    }

    pub(super) fn idle(&mut self, t_ns: u64, number: u32, state: Option<u32>) {
        self.end_idle(number, t_ns, false);
        self.cpu(number).idle = state.map(|state| (state, t_ns));
    }

    /// Writes the stay that a CPU is in, if it is in one.
    pub(super) fn end_idle(&mut self, number: u32, to_ns: u64, unseen: bool) {
        let Some((state, from_ns)) = self.cpu(number).idle.take() else { return };
        self.rows += 1;
        let idle = &mut self.tables.idle;
        idle.cpu.push(number);
        idle.state.push(state);
        idle.name.push(None);
        idle.from_ns.push(from_ns);
        idle.to_ns.push(to_ns.max(from_ns));
        idle.cut.push(unseen.then_some("end"));
        idle.trial.push(None);
    }
}
