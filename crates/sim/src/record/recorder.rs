//! An observer that writes every event into the tables of a run directory. It holds what is in
//! flight, never what is over: its memory does not grow with simulated time.

use crate::engine::Summary;
use crate::observe::{Observer, SwitchOut};
use crate::scenario::{Built, Scenario};
use crate::setup::{Class, TaskId};
use flyball_governors::{Decision, Event, Request};
use flyball_platform::Platform;
use flyball_run::{
    CapacitySample, EnergyShare, Error, FrequencySample, GovernorStep, IdleStay, Item, Marker,
    Migration, Row, RunWriter, Slice, TemperatureSample, UtilizationSample, Wakeup,
};
use flyball_units::{CpuId, KiloHertz, Nanos};

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
        recorder.begin();
        recorder
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

    /// Busy time and energy of each operating point, the rest of each domain, and the base.
    fn energy(&mut self, summary: &Summary) {
        let trial = Some(self.trial);
        for (at, domain) in summary.domains.iter().enumerate() {
            let Some(described) = self.platform.domains.get(at) else { continue };
            let row = |state: &str, point, time: Nanos, energy_mj| EnergyShare {
                kind: "domain".to_owned(),
                cpu: None,
                domain: Some(domain.name.clone()),
                state: state.to_owned(),
                point_khz: point,
                residency_ns: time.0,
                energy_mj,
                trial,
            };
            let (mut busy, mut busy_mj) = (0, 0.0);
            for (residency, point) in domain.residency.iter().zip(&described.points) {
                if residency.busy.0 > 0 {
                    let energy = residency.busy.as_secs_f64() * point.busy_power_mw;
                    (busy, busy_mj) = (busy + residency.busy.0, busy_mj + energy);
                    self.put(&row("busy", Some(residency.frequency.0), residency.busy, energy));
                }
            }
            let all = summary.elapsed.0.saturating_mul(described.cpus.len() as u64);
            let rest = Nanos(all.saturating_sub(busy));
            self.put(&row("idle", None, rest, domain.energy_mj - busy_mj));
        }
        self.put(&EnergyShare {
            kind: "package".to_owned(),
            cpu: None,
            domain: None,
            state: "base".to_owned(),
            point_khz: None,
            residency_ns: summary.elapsed.0,
            energy_mj: summary.base_energy_mj,
            trial,
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

impl Observer for Recorder<'_> {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(task) = self.task(task) {
            task.woken = Some((at, cpu));
        }
    }

    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.now = at;
        if let Some(cpu) = self.cpu(cpu) {
            cpu.running = Some((at, task));
        }
        let Some((woken, placed)) = self.task(task).and_then(|task| task.woken.take()) else {
            return;
        };
        self.put(&Wakeup {
            woken_ns: woken.0,
            ran_ns: Some(at.0),
            latency_ns: Some(at.since(woken).0),
            cpu: placed.0,
            ran_cpu: Some(cpu.0),
            tid: tid(task),
            task: self.task_name(task),
            waker_tid: None,
            trial: Some(self.trial),
        });
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        self.now = at;
        let why = match why {
            SwitchOut::Slept => "slept",
            SwitchOut::Preempted => "preempted",
            SwitchOut::Migrated => "migrated",
        };
        if let Some((from, _)) = self.cpu(cpu).and_then(|cpu| cpu.running.take()) {
            self.slice(cpu, task, from, Some(why), None);
        }
    }

    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.put(&Migration {
            t_ns: at.0,
            tid: tid(task),
            task: self.task_name(task),
            from_cpu: from.0,
            to_cpu: to.0,
            why: None,
            trial: Some(self.trial),
        });
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        let described = self.platform.domains.get(domain);
        let point = described
            .and_then(|domain| domain.points.iter().find(|point| point.frequency == frequency));
        self.put(&FrequencySample {
            t_ns: at.0,
            domain: self.domain_name(domain),
            claimed_khz: Some(frequency.0),
            delivered_khz: point.map(|point| point.effective.0),
            source: "model".to_owned(),
            condition: None,
            trial: Some(self.trial),
            governor: self.governors.get(domain).cloned(),
        });
    }

    fn idle(&mut self, at: Nanos, cpu: CpuId, state: Option<usize>) {
        self.now = at;
        let Some(known) = self.cpu(cpu) else { return };
        let before = std::mem::replace(&mut known.idle, state.map(|state| (at, state)));
        if let Some((from, state)) = before {
            self.idle_stay(cpu, state, from, None);
        }
    }

    fn task_util(&mut self, at: Nanos, task: TaskId, cpu: CpuId, util: u32, util_est: u32) {
        let signals = Some((util, util_est, cpu));
        let Some(known) = self.task(task).filter(|task| task.signals != signals) else { return };
        known.signals = signals;
        self.put(&UtilizationSample {
            t_ns: at.0,
            kind: "task".to_owned(),
            cpu: Some(cpu.0),
            tid: Some(tid(task)),
            task: Some(self.task_name(task)),
            util_avg: Some(util),
            runnable_avg: None,
            util_est: Some(util_est),
            trial: Some(self.trial),
        });
    }

    fn cpu_util(&mut self, at: Nanos, cpu: CpuId, util: u32, runnable: u32, util_est: u32) {
        let signals = Some((util, runnable, util_est));
        let Some(known) = self.cpu(cpu).filter(|cpu| cpu.signals != signals) else { return };
        known.signals = signals;
        self.put(&UtilizationSample {
            t_ns: at.0,
            kind: "cpu".to_owned(),
            cpu: Some(cpu.0),
            tid: None,
            task: None,
            util_avg: Some(util),
            runnable_avg: Some(runnable),
            util_est: Some(util_est),
            trial: Some(self.trial),
        });
    }

    /// Only what was decided: a governor hears of far more than it answers.
    fn governor(&mut self, at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision) {
        if decision.request.is_none() {
            return;
        }
        let mut step = GovernorStep {
            t_ns: at.0,
            domain: self.domain_name(domain),
            governor: self.governors.get(domain).cloned(),
            wake_at_ns: decision.wake_at.map(|at| at.0),
            why: Some(decision.why.to_owned()).filter(|why| !why.is_empty()),
            trial: Some(self.trial),
            ..GovernorStep::default()
        };
        describe(&mut step, event);
        match decision.request {
            Some(Request::Frequency { target, relation }) => {
                step.decision_khz = Some(target.0);
                let opps = self.platform.domains.get(domain).map(|domain| &domain.opps);
                step.resolved_khz =
                    opps.map(|opps| opps.resolve(target, opps.min(), opps.max(), relation).0);
            }
            Some(Request::Range { min, max }) => {
                (step.range_min_khz, step.range_max_khz) = (Some(min.0), Some(max.0));
            }
            Some(Request::Perf(perf)) => step.perf = Some(perf),
            Some(Request::Epp(epp)) => step.epp = Some(u32::from(epp)),
            None => {}
        }
        self.put(&step);
    }

    fn item_begun(&mut self, at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId) {
        if let Some(task) = self.task(task) {
            task.item = Some((item, released, at, cpu));
        }
    }

    fn item_ended(&mut self, at: Nanos, task: TaskId, item: u64, cpu: CpuId) {
        self.now = at;
        let begun = self.task(task).and_then(|task| task.item.take());
        if let Some(begun) = begun.filter(|begun| begun.0 == item) {
            self.item(task, begun, Some(cpu));
        }
    }

    fn mark(&mut self, at: Nanos, task: TaskId, name: &'static str) {
        self.put(&Marker {
            t_ns: at.0,
            cpu: None,
            tid: Some(tid(task)),
            task: Some(self.task_name(task)),
            name: name.to_owned(),
            trial: Some(self.trial),
        });
    }

    fn temperature(&mut self, at: Nanos, celsius: f64) {
        self.put(&TemperatureSample {
            t_ns: at.0,
            zone: "package".to_owned(),
            celsius,
            trial: Some(self.trial),
        });
    }
}

/// What kind of event it was, and the utilisation that it carried.
fn describe(step: &mut GovernorStep, event: &Event<'_>) {
    let (name, cpu) = match event {
        Event::Poll { .. } => ("poll", None),
        Event::Timer => ("timer", None),
        Event::Tick { cpu, .. } => ("tick", Some(*cpu)),
        Event::Idle { cpu, .. } => ("idle", Some(*cpu)),
        Event::Util { cpu, signals, .. } => {
            step.util = signals.iter().map(|signal| signal.util.max(signal.util_est)).max();
            step.max = signals.iter().map(|signal| signal.capacity).max().filter(|max| *max > 0);
            ("util", Some(*cpu))
        }
        Event::Applied { .. } => ("applied", None),
        Event::Limits { .. } => ("limits", None),
        Event::Cpus { .. } => ("cpus", None),
        Event::Temperature { .. } => ("temperature", None),
    };
    name.clone_into(&mut step.event);
    step.cpu = cpu.map(|cpu| cpu.0);
}
