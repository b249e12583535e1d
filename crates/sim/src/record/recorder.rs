//! An observer that writes every event into the tables of a run directory. It holds what is in
//! flight, never what is over: its memory does not grow with simulated time.

mod energy;
mod step;
mod watching;

use super::event_rows::{EventRows, tid};
use crate::engine::Summary;
use crate::scenario::{Built, Scenario};
use crate::setup::TaskId;
use flyball_platform::{FrequencyControl, Platform};
use flyball_run::{
    AnyRow, CapacitySample, EnergyShare, Error, FrequencySample, GovernorStep, IdleStay, Item,
    Marker, Migration, RunWriter, Slice, TemperatureSample, UtilizationSample, Wakeup,
};
use flyball_units::{CpuId, Nanos};

/// Writes one phase as one trial.
pub struct Recorder<'a> {
    writer: &'a mut RunWriter,
    error: Option<Error>,
    trial: u32,
    platform: &'a Platform,
    rows: EventRows<'a>,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
}

/// What is in flight of one task.
#[derive(Clone, Copy, Default)]
struct Task {
    deadline: Option<Nanos>,
    item: Option<(u64, Nanos, Nanos, CpuId)>,
    signals: Option<(u32, u32, CpuId)>,
}

/// What was last heard of one CPU.
#[derive(Clone, Copy, Default)]
struct Cpu {
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
        // Tasks behind the setup's are those of governors, one per clock domain at most.
        let tasks = built.setup.tasks.len() + scenario.platform.domains.len();
        let tasks = (0..tasks).map(|task| Task { deadline: deadline(task), ..Task::default() });
        let governors = scenario.governors.iter().map(|spec| spec.name.clone()).collect();
        let mut recorder = Recorder {
            writer,
            error: None,
            trial,
            platform: &scenario.platform,
            rows: EventRows::new(&scenario.platform, &built.setup.tasks, governors, trial),
            tasks: tasks.collect(),
            cpus: vec![Cpu::default(); scenario.platform.cpus.len()],
        };
        recorder.error = recorder.begin_tables().err();
        recorder.begin();
        recorder
    }

    /// Tables without rows are there as well: what did not happen was looked for. Not so where
    /// nothing could happen: decisions where hardware decides, temperatures without a thermal model.
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
        for row in self.rows.capacities() {
            self.put(&row);
        }
    }

    /// Writes what is still in flight, and the totals.
    pub fn end(&mut self, summary: &Summary) {
        let (slices, stays) = self.rows.end(summary.elapsed);
        slices.iter().for_each(|slice| self.put(slice));
        stays.iter().for_each(|stay| self.put(stay));
        for (state, task) in self.tasks.clone().into_iter().zip(0_u32..) {
            if let Some(begun) = state.item {
                self.item(TaskId(task), begun, None);
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

    fn put(&mut self, row: &dyn AnyRow) {
        if self.error.is_none() {
            self.error = self.writer.append(row).err();
        }
    }

    fn task(&mut self, task: TaskId) -> Option<&mut Task> {
        self.tasks.get_mut(task.0 as usize)
    }

    fn cpu(&mut self, cpu: CpuId) -> Option<&mut Cpu> {
        self.cpus.get_mut(cpu.0 as usize)
    }

    /// The item `begun`: its number, release, start and CPU; `ended` when and where, if it did.
    fn item(
        &mut self,
        task: TaskId,
        begun: (u64, Nanos, Nanos, CpuId),
        ended: Option<(Nanos, CpuId)>,
    ) {
        let (number, released, started, cpu) = begun;
        let deadline = self.task(task).and_then(|task| task.deadline);
        self.put(&Item {
            tid: tid(task),
            task: self.rows.task_name(task),
            item: number,
            released_ns: released.0,
            started_ns: Some(started.0),
            ended_ns: ended.map(|(at, _)| at.0),
            latency_ns: ended.map(|(at, _)| at.since(released).0),
            deadline_ns: deadline.map(|deadline| (released + deadline).0),
            cpu: Some(cpu.0),
            ended_cpu: ended.map(|(_, cpu)| cpu.0),
            trial: Some(self.trial),
        });
    }
}
