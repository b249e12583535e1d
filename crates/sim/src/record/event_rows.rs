//! What the engine announces, as rows of the event tables: as a kernel's trace would show it. Holds
//! what is in flight, never what is over.

use crate::observe::SwitchOut;
use crate::setup::{Class, TaskId, TaskSetup};
use flyball_platform::Platform;
use flyball_run::{CapacitySample, FrequencySample, IdleStay, Migration, Slice, Wakeup};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// Name of the tasks in which governors do their own work.
const GOVERNOR_TASK: &str = "governor";

/// A task's number in the tables: the model counts from 1; 0 is the idle loop's everywhere.
pub fn tid(task: TaskId) -> u32 {
    task.0.saturating_add(1)
}

/// The rows of one trial: takes events in order of time, and returns each row when it is complete.
/// Times are the trial's own.
#[derive(Clone, Debug)]
pub struct EventRows<'a> {
    platform: &'a Platform,
    /// One per clock domain.
    governors: Vec<String>,
    trial: Option<u32>,
    /// Name and priority of each task of the setup.
    tasks: Vec<(String, Option<i32>)>,
    woken: Vec<Option<(Nanos, CpuId)>>,
    cpus: Vec<Cpu>,
}

/// What is in flight on a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    running: Option<(Nanos, TaskId)>,
    idle: Option<(Nanos, usize)>,
}

impl<'a> EventRows<'a> {
    /// The rows of `trial` on a machine with these tasks and these governors, one per clock domain.
    pub fn new(
        platform: &'a Platform,
        tasks: &[TaskSetup],
        governors: Vec<String>,
        trial: u32,
    ) -> EventRows<'a> {
        EventRows {
            platform,
            governors,
            trial: Some(trial),
            tasks: tasks.iter().map(|task| (task.name.clone(), priority(task.class))).collect(),
            // Tasks behind the setup's are those of governors.
            woken: vec![None; tasks.len() + platform.domains.len()],
            cpus: vec![Cpu::default(); platform.cpus.len()],
        }
    }

    /// The name of a task.
    pub fn task_name(&self, task: TaskId) -> String {
        let named = self.tasks.get(task.0 as usize);
        named.map_or_else(|| GOVERNOR_TASK.to_owned(), |task| task.0.clone())
    }

    /// The name of a clock domain.
    pub fn domain_name(&self, domain: usize) -> String {
        self.platform.domains.get(domain).map(|domain| domain.name.clone()).unwrap_or_default()
    }

    /// The name of a clock domain's governor.
    pub fn governor(&self, domain: usize) -> Option<String> {
        self.governors.get(domain).cloned()
    }

    /// The machine as it is described, at the start of the trial.
    pub fn capacities(&self) -> Vec<CapacitySample> {
        let capacity = |cpu: &flyball_platform::Cpu| CapacitySample {
            t_ns: 0,
            cpu: cpu.id.0,
            capacity: cpu.capacity.0,
            original: Some(cpu.capacity.0),
            core_type: Some(cpu.core_type.clone()),
            domain: Some(self.domain_name(cpu.domain)),
            trial: self.trial,
        };
        self.platform.cpus.iter().map(capacity).collect()
    }

    /// See [`crate::observe::Observer::woken`].
    pub fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(woken) = self.woken.get_mut(task.0 as usize) {
            *woken = Some((at, cpu));
        }
    }

    /// The wake-up that got the CPU, if the task was woken.
    pub fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) -> Option<Wakeup> {
        if let Some(state) = self.cpus.get_mut(cpu.0 as usize) {
            state.running = Some((at, task));
        }
        let (woken, placed) = self.woken.get_mut(task.0 as usize).and_then(Option::take)?;
        Some(Wakeup {
            woken_ns: woken.0,
            ran_ns: Some(at.0),
            latency_ns: Some(at.since(woken).0),
            cpu: placed.0,
            ran_cpu: Some(cpu.0),
            tid: tid(task),
            task: self.task_name(task),
            waker_tid: None,
            trial: self.trial,
        })
    }

    /// The slice that ended.
    pub fn switched_out(
        &mut self,
        at: Nanos,
        task: TaskId,
        cpu: CpuId,
        why: SwitchOut,
    ) -> Option<Slice> {
        let (from, _) = self.cpus.get_mut(cpu.0 as usize)?.running.take()?;
        let why = match why {
            SwitchOut::Slept => "slept",
            SwitchOut::Preempted => "preempted",
            SwitchOut::Migrated => "migrated",
        };
        Some(Slice { why: Some(why.to_owned()), cut: None, ..self.slice(at, task, cpu, from) })
    }

    /// The move.
    pub fn migrated(&self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) -> Migration {
        Migration {
            t_ns: at.0,
            tid: tid(task),
            task: self.task_name(task),
            from_cpu: from.0,
            to_cpu: to.0,
            why: None,
            trial: self.trial,
        }
    }

    /// The change of frequency; under which condition is not known here.
    pub fn frequency(&self, at: Nanos, domain: usize, frequency: KiloHertz) -> FrequencySample {
        let described = self.platform.domains.get(domain);
        let point = described
            .and_then(|domain| domain.points.iter().find(|point| point.frequency == frequency));
        FrequencySample {
            t_ns: at.0,
            domain: self.domain_name(domain),
            claimed_khz: Some(frequency.0),
            delivered_khz: point.map(|point| point.effective.0),
            source: "model".to_owned(),
            condition: None,
            trial: self.trial,
            governor: self.governor(domain),
        }
    }

    /// The stay in an idle state that ended, if any.
    pub fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) -> Option<IdleStay> {
        let known = self.cpus.get_mut(cpu.0 as usize)?;
        let (from, before) = std::mem::replace(&mut known.idle, state.map(|state| (at, state)))?;
        Some(IdleStay { cut: None, ..self.stay(at, cpu, before, from) })
    }

    /// What is still in flight at the end of the trial, cut there.
    pub fn end(&self, at: Nanos) -> (Vec<Slice>, Vec<IdleStay>) {
        let cpus = || self.cpus.iter().zip(0_u32..).map(|(state, cpu)| (state, CpuId(cpu)));
        let slices = cpus().filter_map(|(state, cpu)| {
            let (from, task) = state.running?;
            Some(self.slice(at, task, cpu, from))
        });
        let stays = cpus().filter_map(|(state, cpu)| {
            let (from, idle) = state.idle?;
            Some(self.stay(at, cpu, idle, from))
        });
        (slices.collect(), stays.collect())
    }

    /// A slice that the end of the trial cuts.
    fn slice(&self, at: Nanos, task: TaskId, cpu: CpuId, from: Nanos) -> Slice {
        Slice {
            cpu: cpu.0,
            tid: tid(task),
            task: self.task_name(task),
            from_ns: from.0,
            to_ns: at.0,
            why: None,
            cut: Some("end".to_owned()),
            priority: self.tasks.get(task.0 as usize).and_then(|task| task.1),
            trial: self.trial,
        }
    }

    /// A stay that the end of the trial cuts.
    fn stay(&self, at: Nanos, cpu: CpuId, state: usize, from: Nanos) -> IdleStay {
        let idle = self.platform.domain(cpu).and_then(|domain| domain.idle.get(state));
        IdleStay {
            cpu: cpu.0,
            state: u32::try_from(state).unwrap_or(u32::MAX),
            name: idle.map(|idle| idle.name.clone()),
            from_ns: from.0,
            to_ns: at.0,
            cut: Some("end".to_owned()),
            trial: self.trial,
        }
    }
}

/// The kernel's priority of a class.
fn priority(class: Class) -> Option<i32> {
    match class {
        Class::Fair { nice } => Some(120 + i32::from(nice)),
        Class::Fifo { priority } => Some(99 - i32::from(priority)),
        Class::Deadline { .. } => Some(-1),
        Class::Stop => Some(0),
        Class::Interrupt => None,
    }
}
