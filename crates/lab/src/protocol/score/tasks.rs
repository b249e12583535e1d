//! What is played: the tasks of a scenario, as far as a real machine can have them.

use crate::protocol::score::PlayError;
use flyball_governors::ResponseRamp;
use flyball_sim::scenario::Scenario;
use flyball_sim::setup::{Cgroup, Class, Creator, TaskId, TaskSetup};
use flyball_units::{CpuSet, Nanos};

/// The tasks of one playing.
pub struct Score {
    /// The scenario's tasks and its load, in the model's order.
    pub tasks: Vec<TaskSetup>,
    /// The control groups of these.
    pub cgroups: Vec<Cgroup>,
    /// Of each task: how long after its release an item of it is due, where that is limited.
    pub deadlines: Vec<Option<Nanos>>,
    /// The multiplier of the ramp that the lower clamps of all of them follow, where they have one.
    pub ramp: Option<u32>,
    /// How long it lasts.
    pub duration: Nanos,
    /// Seed of the tasks' random streams, the same as in the model.
    pub seed: u64,
}

impl Score {
    /// The tasks of a scenario's phase; phases differ in what is random only, because nobody chooses
    /// the phase of a real tick.
    ///
    /// # Errors
    /// What only a model has: scheduler features and hints, a utilisation to begin with, a task that is
    /// an interrupt, different ramps of clamps; CPUs that are not among `online`.
    pub fn new(scenario: &Scenario, phase: u32, online: &CpuSet) -> Result<Score, PlayError> {
        if let Some(hint) = scenario.hints.first() {
            let found = format!("a hint for task {}", hint.task);
            return Err(PlayError::unplayable("[[hint]]", "no hints: no kernel takes them", found));
        }
        if !scenario.interrupts.is_empty() {
            let found = format!("{} kinds of interrupts", scenario.interrupts.len());
            let expected = "no interrupts: a machine has its own";
            return Err(PlayError::unplayable("[[interrupt]]", expected, found));
        }
        let built = scenario.setup(phase);
        let mut tasks = built.setup.tasks;
        // A machine has its own.
        if let Some(TaskId(controller)) = built.setup.controller.task {
            tasks.remove(controller as usize);
        }
        for task in &tasks {
            check(task, online)?;
        }
        let ramp = ramp(&tasks)?;
        let deadline = |task: u32| {
            let group = built.groups.iter().find(|group| group.tasks.contains(&task));
            group.and_then(|group| group.deadline)
        };
        Ok(Score {
            deadlines: (0..tasks.len() as u32).map(deadline).collect(),
            tasks,
            cgroups: built.setup.cgroups,
            ramp,
            duration: built.setup.duration,
            seed: built.setup.seed,
        })
    }
}

fn check(task: &TaskSetup, online: &CpuSet) -> Result<(), PlayError> {
    let object = || format!("task {}", task.name);
    let refuse = |expected: &str, found: String| PlayError::unplayable(object(), expected, found);
    if let Some(cpu) = task.allowed.iter().find(|cpu| !online.contains(**cpu)) {
        return Err(refuse(&format!("CPUs among {online}"), cpu.to_string()));
    }
    if let Creator::Cpu(cpu) = task.creator {
        return Err(refuse("no creator_cpu: a kernel chooses it", cpu.to_string()));
    }
    if let Some(util) = task.initial_util {
        return Err(refuse("no initial_util: a kernel chooses it", util.to_string()));
    }
    if let Some(multiplier) = task.rampup_multiplier {
        let expected = "no rampup_multiplier: no released kernel has it";
        return Err(refuse(expected, multiplier.to_string()));
    }
    match task.class {
        Class::Fair { .. } | Class::Fifo { .. } | Class::Deadline { .. } => Ok(()),
        Class::Stop | Class::Interrupt => {
            Err(refuse("a class of tasks", "one of the kernel's own".to_owned()))
        }
    }
}

/// The ramp of all tasks: one controller follows it, for every thread of the playing.
fn ramp(tasks: &[TaskSetup]) -> Result<Option<u32>, PlayError> {
    let ramps = tasks.iter().map(|task| task.clamp_ramp.map(ResponseRamp::multiplier));
    let mut ramps: Vec<Option<u32>> = ramps.collect();
    ramps.dedup();
    match ramps.as_slice() {
        [] => Ok(None),
        [ramp] => Ok(*ramp),
        _ => Err(PlayError::unplayable("clamp_ramp", "the same for all tasks", "different ones")),
    }
}
