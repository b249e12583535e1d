//! An observer that writes every event into the tables of a run directory. It holds what is in
//! flight, never what is over: its memory does not grow with simulated time.

mod energy;
mod step;
mod watching;

use crate::engine::Summary;
use crate::scenario::{Built, Scenario};
use crate::setup::{Class, TaskId};
use flyball_platform::{FrequencyControl, Platform};
use flyball_run::{
    CapacitySample, EnergyShare, Error, FrequencySample, GovernorStep, IdleStay, Item, Marker,
    Migration, Row, RunWriter, Slice, TemperatureSample, UtilizationSample, Wakeup,
};
use flyball_units::{CpuId, Nanos};

/// Name of the tasks in which governors do their own work.
const GOVERNOR_TASK: &str = "governor";

/// Writes one phase as one trial.
pub struct Recorder<'a> {
    writer: &'a mut RunWriter,
    error: Option<Error>,
    trial: u32,
    platform: &'a Platform,
    governors: Vec<String>,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
    now: Nanos,
}

/// What is in flight of one task.
#[derive(Clone, Default)]
struct Task {
    name: String,
    priority: Option<i32>,
    deadline: Option<Nanos>,
    woken: Option<(Nanos, CpuId)>,
    item: Option<(u64, Nanos, Nanos, CpuId)>,
    signals: Option<(u32, u32, CpuId)>,
}

/// What is in flight on one CPU.
#[derive(Clone, Default)]
struct Cpu {
    running: Option<(Nanos, TaskId)>,
    idle: Option<(Nanos, usize)>,
    signals: Option<(u32, u32, u32)>,
}

impl<'a> Recorder<'a> {
    /// A recorder of the trial `trial`; writes what holds at the start.
    pub fn new(
        writer: &'a mut RunWriter,
        scenario: &'a Scenario,
        built: &Built,
        trial: u32,
    ) -> Recorder<'a> {
        let deadline = |task: usize| {
            let group = built.groups.iter().find(|group| group.tasks.contains(&(task as u32)));
            group.and_then(|group| group.deadline)
        };
        let tasks = built.setup.tasks.iter().enumerate().map(|(number, task)| Task {
            name: task.name.clone(),
            priority: priority(task.class),
            deadline: deadline(number),
            ..Task::default()
        });
        let mut recorder = Recorder {
            writer,
            error: None,
            trial,
            platform: &scenario.platform,
            governors: scenario.governors.iter().map(|spec| spec.name.clone()).collect(),
            tasks: tasks.collect(),
            cpus: vec![Cpu::default(); scenario.platform.cpus.len()],
            now: Nanos::ZERO,
        };
        recorder.error = recorder.begin_tables().err();
        recorder.begin();
        recorder
    }

    /// Tables without rows are there as well: what did not happen was looked for. Not so where
    /// nothing could happen: decisions where hardware decides, temperatures that nobody described.
    fn begin_tables(&mut self) -> Result<(), Error> {
        let writer = &mut *self.writer;
        writer.begin::<CapacitySample>()?;
        writer.begin::<EnergyShare>()?;
        writer.begin::<FrequencySample>()?;
        writer.begin::<IdleStay>()?;
        writer.begin::<Item>()?;
        writer.begin::<Marker>()?;
        writer.begin::<Migration>()?;
        writer.begin::<Slice>()?;
        writer.begin::<UtilizationSample>()?;
        writer.begin::<Wakeup>()?;
        if self.platform.domains.iter().any(|d| d.control == FrequencyControl::Software) {
            writer.begin::<GovernorStep>()?;
        }
        if self.platform.thermal.is_some() {
            writer.begin::<TemperatureSample>()?;
        }
        Ok(())
    }

    /// The machine as it is described; its state at the start is announced by the engine.
    fn begin(&mut self) {
        for cpu in &self.platform.cpus {
            self.put(&CapacitySample {
                t_ns: 0,
                cpu: cpu.id.0,
                capacity: cpu.capacity.0,
                original: Some(cpu.capacity.0),
                core_type: Some(cpu.core_type.clone()),
                domain: Some(self.domain_name(cpu.domain)),
                trial: Some(self.trial),
            });
        }
    }

    /// Writes what is still in flight, and the totals.
    pub fn end(&mut self, summary: &Summary) {
        self.now = summary.elapsed;
        for cpu in 0..self.cpus.len() {
            let id = CpuId(cpu as u32);
            let Some(state) = self.cpus.get(cpu).cloned() else { continue };
            if let Some((from, task)) = state.running {
                self.slice(id, task, from, None, Some("end"));
            }
            if let Some((from, idle)) = state.idle {
                self.idle_stay(id, idle, from, Some("end"));
            }
        }
        for number in 0..self.tasks.len() {
            let task = TaskId(number as u32);
            let Some(state) = self.tasks.get(number).cloned() else { continue };
            if let Some((item, released, started, cpu)) = state.item {
                self.item(task, (item, released, started, cpu), None);
            }
        }
        self.energy(summary);
    }

    /// The first error of the writer, if any: everything after it is missing.
    ///
    /// # Errors
    /// A full or failing disk.
    pub fn check(self) -> Result<(), Error> {
        self.error.map_or(Ok(()), Err)
    }

    fn put<R: Row>(&mut self, row: &R) {
        if self.error.is_none() {
            self.error = self.writer.append(row).err();
        }
    }

    fn domain_name(&self, domain: usize) -> String {
        self.platform.domains.get(domain).map(|domain| domain.name.clone()).unwrap_or_default()
    }

    fn task_name(&self, task: TaskId) -> String {
        let named = self.tasks.get(task.0 as usize);
        named.map_or_else(|| GOVERNOR_TASK.to_owned(), |task| task.name.clone())
    }

    fn task(&mut self, task: TaskId) -> Option<&mut Task> {
        let index = task.0 as usize;
        // Tasks behind the scenario's are those of governors.
        if index >= self.tasks.len() && index < self.tasks.len() + self.platform.domains.len() {
            let own = Task { name: GOVERNOR_TASK.to_owned(), ..Task::default() };
            self.tasks.resize(index + 1, own);
        }
        self.tasks.get_mut(index)
    }

    fn cpu(&mut self, cpu: CpuId) -> Option<&mut Cpu> {
        self.cpus.get_mut(cpu.0 as usize)
    }

    fn slice(
        &mut self,
        cpu: CpuId,
        task: TaskId,
        from: Nanos,
        why: Option<&str>,
        cut: Option<&str>,
    ) {
        self.put(&Slice {
            cpu: cpu.0,
            tid: tid(task),
            task: self.task_name(task),
            from_ns: from.0,
            to_ns: self.now.0,
            why: why.map(str::to_owned),
            cut: cut.map(str::to_owned),
            priority: self.tasks.get(task.0 as usize).and_then(|task| task.priority),
            trial: Some(self.trial),
        });
    }

    fn idle_stay(&mut self, cpu: CpuId, state: usize, from: Nanos, cut: Option<&str>) {
        let domain = self.platform.domain(cpu);
        let name = domain.and_then(|domain| domain.idle.get(state)).map(|idle| idle.name.clone());
        self.put(&IdleStay {
            cpu: cpu.0,
            state: state as u32,
            name,
            from_ns: from.0,
            to_ns: self.now.0,
            cut: cut.map(str::to_owned),
            trial: Some(self.trial),
        });
    }

    fn item(&mut self, task: TaskId, item: (u64, Nanos, Nanos, CpuId), ended: Option<CpuId>) {
        let (number, released, started, cpu) = item;
        let deadline = self.tasks.get(task.0 as usize).and_then(|task| task.deadline);
        let now = self.now;
        self.put(&Item {
            tid: tid(task),
            task: self.task_name(task),
            item: number,
            released_ns: released.0,
            started_ns: Some(started.0),
            ended_ns: ended.map(|_| now.0),
            latency_ns: ended.map(|_| now.since(released).0),
            deadline_ns: deadline.map(|deadline| (released + deadline).0),
            cpu: Some(cpu.0),
            ended_cpu: ended.map(|cpu| cpu.0),
            trial: Some(self.trial),
        });
    }
}

/// The model's own count of tasks begins at 1; 0 is the idle loop's everywhere.
fn tid(task: TaskId) -> u32 {
    task.0.saturating_add(1)
}

/// The kernel's priority of a class.
fn priority(class: Class) -> Option<i32> {
    match class {
        Class::Fair { nice } => Some(120 + i32::from(nice)),
        Class::Fifo { priority } => Some(99 - i32::from(priority)),
        Class::Interrupt => None,
    }
}
