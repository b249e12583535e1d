//! The events of a trial, as a kernel's trace would show them: who ran where, wake-ups, moves,
//! idle states and changes of frequency. They are kept beside the windows where that is asked for.

use super::watch::Watch;
use flyball_governors::{Decision, Event};
use flyball_platform::Platform;
use flyball_run::{CapacitySample, FrequencySample, IdleStay, Migration, RunWriter, Slice, Wakeup};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::setup::{Class, TaskId, TaskSetup};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Tables that a trial's events fill.
pub(super) const TABLES: [&str; 5] = ["slices", "wakeups", "migrations", "idle", "capacity"];

/// Name of the tasks in which governors do their own work.
const GOVERNOR_TASK: &str = "governor";

/// A task's number in the tables: the model counts from 1; 0 is the idle loop's everywhere.
pub(super) fn tid(task: TaskId) -> u32 {
    task.0.saturating_add(1)
}

/// The events of a trial, complete and in flight. Times are the trial's own.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Who ran where.
    pub slices: Vec<Slice>,
    /// Wake-ups.
    pub wakeups: Vec<Wakeup>,
    /// Moves between CPUs.
    pub migrations: Vec<Migration>,
    /// Stays in idle states.
    pub idle: Vec<IdleStay>,
    /// Changes of frequency.
    pub frequency: Vec<FrequencySample>,
    /// Capacities of the CPUs.
    pub capacity: Vec<CapacitySample>,
}

/// What is in flight on a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    running: Option<(Nanos, TaskId)>,
    idle: Option<(Nanos, usize)>,
}

/// Gathers the events of a trial.
pub(super) struct Gather<'a> {
    platform: &'a Platform,
    trial: Option<u32>,
    condition: String,
    governors: Vec<&'static str>,
    /// Name and priority of each task.
    tasks: Vec<(String, Option<i32>)>,
    woken: Vec<Option<(Nanos, CpuId)>>,
    cpus: Vec<Cpu>,
    events: Events,
}

impl<'a> Gather<'a> {
    /// Gathers the events of `trial` on a machine with these tasks and these governors, one per
    /// clock domain.
    pub(super) fn new(
        platform: &'a Platform,
        (trial, condition): (u32, &str),
        tasks: &[TaskSetup],
        governors: Vec<&'static str>,
    ) -> Gather<'a> {
        let mut gather = Gather {
            platform,
            trial: Some(trial),
            condition: condition.to_owned(),
            governors,
            tasks: tasks.iter().map(|task| (task.name.clone(), priority(task.class))).collect(),
            woken: vec![None; tasks.len() + platform.domains.len()],
            cpus: vec![Cpu::default(); platform.cpus.len()],
            events: Events::default(),
        };
        let capacity = platform.cpus.iter().map(|cpu| CapacitySample {
            t_ns: 0,
            cpu: cpu.id.0,
            capacity: cpu.capacity.0,
            original: Some(cpu.capacity.0),
            core_type: Some(cpu.core_type.clone()),
            domain: platform.domains.get(cpu.domain).map(|domain| domain.name.clone()),
            trial: Some(trial),
        });
        gather.events.capacity = capacity.collect();
        gather
    }

    /// Ends what is in flight at the end of the trial.
    pub(super) fn finish(mut self, at: Nanos) -> Events {
        for (number, state) in self.cpus.clone().into_iter().zip(0_u32..).map(|(s, n)| (n, s)) {
            if let Some((from, task)) = state.running {
                self.slice(at, CpuId(number), task, from, (None, Some("end")));
            }
            if let Some((from, idle)) = state.idle {
                self.stay(at, CpuId(number), idle, from, Some("end"));
            }
        }
        self.events
    }

    fn name(&self, task: TaskId) -> String {
        let known = self.tasks.get(task.0 as usize);
        known.map_or_else(|| GOVERNOR_TASK.to_owned(), |task| task.0.clone())
    }

    fn slice(
        &mut self,
        at: Nanos,
        cpu: CpuId,
        task: TaskId,
        from: Nanos,
        (why, cut): (Option<&str>, Option<&str>),
    ) {
        let slice = Slice {
            cpu: cpu.0,
            tid: tid(task),
            task: self.name(task),
            from_ns: from.0,
            to_ns: at.0,
            why: why.map(str::to_owned),
            cut: cut.map(str::to_owned),
            priority: self.tasks.get(task.0 as usize).and_then(|task| task.1),
            trial: self.trial,
        };
        self.events.slices.push(slice);
    }

    fn stay(&mut self, at: Nanos, cpu: CpuId, state: usize, from: Nanos, cut: Option<&str>) {
        let domain = self.platform.domain(cpu);
        let idle = domain.and_then(|domain| domain.idle.get(state));
        self.events.idle.push(IdleStay {
            cpu: cpu.0,
            state: u32::try_from(state).unwrap_or(u32::MAX),
            name: idle.map(|idle| idle.name.clone()),
            from_ns: from.0,
            to_ns: at.0,
            cut: cut.map(str::to_owned),
            trial: self.trial,
        });
    }
}

/// The kernel's priority of a class.
fn priority(class: Class) -> Option<i32> {
    match class {
        Class::Fair { nice } => Some(120 + i32::from(nice)),
        Class::Fifo { priority } => Some(99 - i32::from(priority)),
        Class::Interrupt => None,
    }
}

impl Observer for Gather<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(woken) = self.woken.get_mut(task.0 as usize) {
            *woken = Some((at, cpu));
        }
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(state) = self.cpus.get_mut(cpu.0 as usize) {
            state.running = Some((at, task));
        }
        let woken = self.woken.get_mut(task.0 as usize).and_then(Option::take);
        let Some((woken, placed)) = woken else { return };
        self.events.wakeups.push(Wakeup {
            woken_ns: woken.0,
            ran_ns: Some(at.0),
            latency_ns: Some(at.since(woken).0),
            cpu: placed.0,
            ran_cpu: Some(cpu.0),
            tid: tid(task),
            task: self.name(task),
            waker_tid: None,
            trial: self.trial,
        });
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        let why = match why {
            SwitchOut::Slept => "slept",
            SwitchOut::Preempted => "preempted",
            SwitchOut::Migrated => "migrated",
        };
        let running = self.cpus.get_mut(cpu.0 as usize).and_then(|state| state.running.take());
        if let Some((from, _)) = running {
            self.slice(at, cpu, task, from, (Some(why), None));
        }
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.events.migrations.push(Migration {
            t_ns: at.0,
            tid: tid(task),
            task: self.name(task),
            from_cpu: from.0,
            to_cpu: to.0,
            why: None,
            trial: self.trial,
        });
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let Some(described) = self.platform.domains.get(domain) else { return };
        let point = described.points.iter().find(|point| point.frequency == frequency);
        self.events.frequency.push(FrequencySample {
            t_ns: at.0,
            domain: described.name.clone(),
            claimed_khz: Some(frequency.0),
            delivered_khz: point.map(|point| point.effective.0),
            source: "model".to_owned(),
            condition: Some(self.condition.clone()),
            trial: self.trial,
            governor: self.governors.get(domain).map(|name| (*name).to_owned()),
        });
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        let Some(known) = self.cpus.get_mut(cpu.0 as usize) else { return };
        let before = std::mem::replace(&mut known.idle, state.map(|state| (at, state)));
        if let Some((from, state)) = before {
            self.stay(at, cpu, state, from, None);
        }
    }
}

/// A watch, and where it is asked for, every event beside it.
pub(super) struct Both<'a> {
    pub(super) watch: Watch,
    pub(super) gather: Option<Gather<'a>>,
}

/// Calls both observers.
macro_rules! both {
    ($self:ident, $call:ident($($argument:expr),*)) => {{
        $self.watch.$call($($argument),*);
        if let Some(gather) = &mut $self.gather {
            gather.$call($($argument),*);
        }
    }};
}

impl Observer for Both<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        both!(self, woken(at, task, cpu));
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        both!(self, switched_in(at, task, cpu));
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        both!(self, switched_out(at, task, cpu, why));
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        both!(self, migrated(at, task, from, to));
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        both!(self, frequency(at, domain, frequency));
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        both!(self, idle(at, cpu, state));
    }

    fn governor(&mut self, at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision) {
        self.watch.governor(at, domain, event, decision);
    }

    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId) {
        self.watch.item_begun(at, task, item, released, cpu);
    }

    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, cpu: CpuId) {
        self.watch.item_ended(at, task, item, cpu);
    }

    fn mark(&mut self, at: Nanos, task: TaskId, name: &'static str) {
        self.watch.mark(at, task, name);
    }
}

impl Events {
    /// Writes all rows, their times moved by `shift` nanoseconds.
    pub(super) fn write(self, writer: &mut RunWriter, shift: u64) -> flyball_run::Result<()> {
        for mut row in self.capacity {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        for mut row in self.slices {
            (row.from_ns, row.to_ns) = (row.from_ns + shift, row.to_ns + shift);
            writer.append(&row)?;
        }
        for mut row in self.wakeups {
            row.woken_ns += shift;
            row.ran_ns = row.ran_ns.map(|ran| ran + shift);
            writer.append(&row)?;
        }
        for mut row in self.migrations {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        for mut row in self.idle {
            (row.from_ns, row.to_ns) = (row.from_ns + shift, row.to_ns + shift);
            writer.append(&row)?;
        }
        for mut row in self.frequency {
            row.t_ns += shift;
            writer.append(&row)?;
        }
        Ok(())
    }
}
