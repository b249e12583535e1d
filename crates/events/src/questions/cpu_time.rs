//! Who ran on each CPU, and for how long in sum.

use std::collections::BTreeMap;

use ahash::HashMap;

use serde::Serialize;

use crate::Missing;
use crate::recording::{Ran, Recording, Task};

/// Running time on one CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CpuTime {
    /// The CPU.
    pub cpu: u32,
    /// Its kind of core.
    pub core_type: Option<String>,
    /// Time that any task ran.
    pub busy_ns: u64,
    /// Time in gaps of the recording: what ran then may be missing from `busy_ns`.
    pub lost_ns: u64,
    /// By task, the longest first.
    pub tasks: Vec<TaskTime>,
}

/// Running time of one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskTime {
    /// The task.
    pub task: Task,
    /// Time that it ran on this CPU.
    pub ran_ns: u64,
}

impl CpuTime {
    /// Of every CPU that ran anything, ascending.
    ///
    /// # Errors
    /// No slice in the span.
    pub fn all(recording: &Recording<'_>) -> Result<Vec<CpuTime>, Missing> {
        CpuTime::of_slices(recording, recording.slices())
    }

    /// The same with only one task's running time.
    ///
    /// # Errors
    /// The task did not run in the span.
    pub fn of_task(recording: &Recording<'_>, tid: u32) -> Result<Vec<CpuTime>, Missing> {
        CpuTime::of_slices(recording, recording.slices_in_table(tid))
    }

    fn of_slices(
        recording: &Recording<'_>,
        slices: impl Iterator<Item = Ran>,
    ) -> Result<Vec<CpuTime>, Missing> {
        let mut sums = HashMap::<(u32, u32), u64>::default();
        for slice in slices {
            let sum = sums.entry((slice.cpu, slice.tid)).or_default();
            *sum = sum.saturating_add(slice.length_ns());
        }
        let mut ran = BTreeMap::<u32, BTreeMap<u32, u64>>::new();
        for ((cpu, tid), sum) in sums {
            ran.entry(cpu).or_default().insert(tid, sum);
        }
        if ran.is_empty() {
            return Err(Missing::rows("running time", "slices"));
        }
        Ok(ran.into_iter().map(|(cpu, tasks)| cpu_time(recording, cpu, tasks)).collect())
    }
}

fn cpu_time(recording: &Recording<'_>, cpu: u32, tasks: BTreeMap<u32, u64>) -> CpuTime {
    let span = recording.span();
    let busy_ns = tasks.values().fold(0, |sum: u64, &ran| sum.saturating_add(ran));
    let mut tasks: Vec<TaskTime> = tasks
        .into_iter()
        .map(|(tid, ran_ns)| TaskTime { task: recording.task(tid), ran_ns })
        .collect();
    tasks.sort_by_key(|time| std::cmp::Reverse(time.ran_ns));
    CpuTime {
        cpu,
        core_type: recording.topology().core_type(cpu),
        busy_ns,
        lost_ns: recording.gaps().overlap_ns(Some(cpu), span.from_ns, span.to_ns),
        tasks,
    }
}
