//! The frequency while a task ran: what the task itself got, wherever it was.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::residency::{Share, Tally};
use crate::Missing;
use crate::recording::{Recording, Task};

/// Time that a task ran at each frequency, by the kind of core it ran on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunningFrequency {
    /// The task.
    pub task: Task,
    /// By core type, in order of the first CPU of each.
    pub cores: Vec<CoreFrequency>,
    /// Mean frequency over the time that is known, weighted by time.
    pub mean_khz: Option<f64>,
    /// Time it ran at a frequency that nobody recorded.
    pub unknown_ns: u64,
    /// Time it ran in gaps of the recording.
    pub lost_ns: u64,
}

/// Time at each frequency on one kind of core.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreFrequency {
    /// The kind of core; none where the CPUs have none.
    pub core_type: Option<String>,
    /// The CPUs of this kind that it ran on, ascending.
    pub cpus: Vec<u32>,
    /// Running time at each frequency in kHz, ascending.
    pub values: Vec<Share<u64>>,
}

impl RunningFrequency {
    /// Of one task.
    ///
    /// # Errors
    /// The task did not run, or no frequency was recorded for any CPU it ran on.
    pub fn of(recording: &Recording<'_>, tid: u32) -> Result<RunningFrequency, Missing> {
        let task = recording.task(tid);
        let slices = recording.slices_in_time(tid);
        if slices.is_empty() {
            return Err(Missing::rows(format!("task {} ({tid})", task.name), "slices"));
        }
        let cpus: BTreeSet<u32> = slices.iter().map(|slice| slice.cpu).collect();
        let of_cpu = |&cpu: &u32| Some((cpu, (recording.frequency_of_cpu(cpu)?, 0)));
        let mut steps: BTreeMap<u32, _> = cpus.iter().filter_map(of_cpu).collect();
        if steps.is_empty() {
            return Err(Missing::rows(
                format!("the CPUs of task {} ({tid})", task.name),
                "frequency",
            ));
        }
        let mut cores = BTreeMap::<Option<String>, (BTreeSet<u32>, Tally<u64>)>::new();
        for &cpu in &cpus {
            let (of_kind, _) = cores.entry(recording.topology().core_type(cpu)).or_default();
            of_kind.insert(cpu);
        }
        let kinds: BTreeMap<u32, Option<String>> =
            cpus.iter().map(|&cpu| (cpu, recording.topology().core_type(cpu))).collect();
        let (mut unknown_ns, mut lost_ns) = (0_u64, 0_u64);
        for slice in slices.iter() {
            let tally = kinds.get(&slice.cpu).and_then(|kind| cores.get_mut(kind));
            let Some((_, tally)) = tally else { continue };
            let Some((steps, near)) = steps.get_mut(&slice.cpu) else {
                unknown_ns = unknown_ns.saturating_add(slice.length_ns());
                continue;
            };
            for segment in steps.segments_near(near, slice.from_ns, slice.to_ns) {
                let (from, to) = (segment.from_ns, segment.to_ns);
                let lost = recording.gaps().overlap_ns(None, from, to);
                lost_ns = lost_ns.saturating_add(lost);
                match segment.value {
                    Some(khz) => tally.add(khz, from, to - lost),
                    None => unknown_ns = unknown_ns.saturating_add(to - from - lost),
                }
            }
        }
        let mut cores: Vec<CoreFrequency> = cores
            .into_iter()
            .map(|(core_type, (cpus, tally))| CoreFrequency {
                core_type,
                cpus: cpus.into_iter().collect(),
                values: tally.shares(),
            })
            .collect();
        cores.sort_by_key(|core| core.cpus.first().copied());
        let mean_khz = mean(&cores);
        Ok(RunningFrequency { task, cores, mean_khz, unknown_ns, lost_ns })
    }
}

fn mean(cores: &[CoreFrequency]) -> Option<f64> {
    let shares = || cores.iter().flat_map(|core| &core.values);
    let time: f64 = shares().map(|share| share.residency_ns as f64).sum();
    let cycles: f64 = shares().map(|share| share.residency_ns as f64 * share.value as f64).sum();
    (time > 0.0).then(|| cycles / time)
}
