//! How long a task stays on each kind of core before it moves to a larger one: the "time on the
//! little core".

use std::collections::BTreeSet;

use serde::Serialize;

use crate::Missing;
use crate::recording::{Ran, Recording, Task};

/// A task's way from smaller to larger CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stages {
    /// The task.
    pub task: Task,
    /// In order; each on a larger capacity than all before.
    pub stages: Vec<Stage>,
    /// Whether every CPU that it ran on has a known capacity; CPUs without one end no stage.
    pub capacities_known: bool,
    /// Time in gaps of the recording before the last stage: a move in one comes too late here.
    pub lost_ns: u64,
}

/// The time until the first move to a larger CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The kind of core that it began on.
    pub core_type: Option<String>,
    /// The largest capacity of the stage's CPUs.
    pub capacity: Option<u32>,
    /// The CPUs that it ran on, ascending.
    pub cpus: Vec<u32>,
    /// When it first ran there.
    pub from_ns: u64,
    /// When it moved to a larger CPU: the recorded move before it first ran there, or that run
    /// where no move was recorded; none where it never did.
    pub left_ns: Option<u64>,
    /// Time that it ran in this stage.
    pub ran_ns: u64,
}

impl Stages {
    /// Of one task from the begin of the recording's span.
    ///
    /// # Errors
    /// The task did not run.
    pub fn of(recording: &Recording<'_>, tid: u32) -> Result<Stages, Missing> {
        let task = recording.task(tid);
        let slices = recording.slices_in_time(tid);
        let capacity =
            |slice: &Ran| recording.topology().cpu(slice.cpu).and_then(|cpu| cpu.capacity);
        let mut stages: Vec<Stage> = Vec::new();
        let mut cpus = BTreeSet::new();
        let moves: Vec<(u64, u32)> = recording.moves(tid).collect();
        let mut gave_up_ns = 0;
        for slice in slices.iter() {
            let capacity = capacity(&slice);
            let larger = stages.last().is_none_or(|stage| match (stage.capacity, capacity) {
                (Some(largest), Some(capacity)) => capacity > largest,
                _ => false,
            });
            if larger {
                if let Some(stage) = stages.last_mut() {
                    stage.left_ns = Some(moved(&moves, &slice, gave_up_ns));
                }
                cpus.clear();
                stages.push(begin(recording, &slice, capacity));
            }
            let another = cpus.insert(slice.cpu);
            gave_up_ns = slice.to_ns;
            if let Some(stage) = stages.last_mut() {
                stage.capacity = stage.capacity.or(capacity);
                stage.ran_ns = stage.ran_ns.saturating_add(slice.length_ns());
                if another {
                    stage.cpus = cpus.iter().copied().collect();
                }
            }
        }
        let Some(last) = stages.last() else {
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "slices"));
        };
        let lost_ns = recording.gaps().overlap_ns(None, recording.span().from_ns, last.from_ns);
        let capacities_known = slices.iter().all(|slice| capacity(&slice).is_some());
        Ok(Stages { task, stages, capacities_known, lost_ns })
    }
}

/// When the task moved to the CPU of `slice`, after it gave its last CPU up.
fn moved(moves: &[(u64, u32)], slice: &Ran, gave_up_ns: u64) -> u64 {
    let between = |t_ns: u64| (gave_up_ns..=slice.from_ns).contains(&t_ns);
    let mine = moves.iter().filter(|&&(t_ns, cpu)| cpu == slice.cpu && between(t_ns));
    mine.map(|&(t_ns, _)| t_ns).min().unwrap_or(slice.from_ns)
}

fn begin(recording: &Recording<'_>, slice: &Ran, capacity: Option<u32>) -> Stage {
    Stage {
        core_type: recording.topology().core_type(slice.cpu),
        capacity,
        cpus: Vec::new(),
        from_ns: slice.from_ns,
        left_ns: None,
        ran_ns: 0,
    }
}
