//! What the events of the same run say of the spins: the kernel's utilisation, and where the task ran.

use super::LEVELS;
use super::series::Series;
use crate::kinds::Rows;
use flyball_events::Recording;
use flyball_events::questions::rise::{Rise, Target};
use flyball_run::name::RAMPUP_TASK;
use std::collections::BTreeMap;

/// Of the repetitions of a cell, in their order.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Time from the wake-up until the task's util_avg reaches a level, in nanoseconds; none where it
    /// never does. Empty without recorded utilisation.
    pub utilization: BTreeMap<u32, Vec<Option<f64>>>,
    /// Time of the spins on each kind of core, in nanoseconds. Empty where there is but one kind.
    pub cores: BTreeMap<String, Vec<f64>>,
}

/// Reads them.
pub fn of(run: &Rows<'_>, members: &[&Series]) -> Events {
    let mut events = Events::default();
    let kinds = kinds(run);
    let targets = LEVELS.map(Target::Value);
    let mut whole: BTreeMap<Option<u32>, Recording<'_>> = BTreeMap::new();
    for one in members {
        let recording = whole.entry(one.trial).or_insert_with(|| match one.trial {
            Some(trial) => Recording::new(run.tables, run.manifest, Some(trial)),
            None => Recording::new(run.tables, run.manifest, None),
        });
        let recording = recording.between(one.begin_ns, one.begin_ns + one.spin_ns);
        let tid = one.tid.or_else(|| recording.find(RAMPUP_TASK).ok().map(|task| task.tid));
        let rise = tid.and_then(|tid| Rise::of(&recording, tid, &targets).ok());
        for time in rise.iter().flat_map(|rise| &rise.times) {
            let after = time.outcome.after_ns().map(|after| after as f64);
            events.utilization.entry(time.level).or_default().push(after);
        }
        if kinds.len() < 2 {
            continue;
        }
        let slices = tid.map(|tid| recording.slices_of(tid)).unwrap_or_default();
        let seen = slices.iter().map(|slice| (slice.cpu, slice.length_ns()));
        let on: Vec<(u32, u64)> = if slices.is_empty() { sampled(one) } else { seen.collect() };
        for (kind, cpus) in &kinds {
            let here = on.iter().filter(|(cpu, _)| cpus.contains(cpu));
            let time: u64 = here.map(|(_, length)| length).sum();
            events.cores.entry(kind.clone()).or_default().push(time as f64);
        }
    }
    events
}

/// Without events: from the sample that saw a CPU first to the next that saw another one.
fn sampled(one: &Series) -> Vec<(u32, u64)> {
    let ends = one.cpus.iter().skip(1).map(|(from, _)| *from).chain([one.spin_ns]);
    // The first sample begins some ticks behind the wake-up.
    let begins = [0].into_iter().chain(one.cpus.iter().skip(1).map(|(from, _)| *from));
    let spans = begins.zip(ends).map(|(from, to): (u64, u64)| to.saturating_sub(from));
    one.cpus.iter().map(|(_, cpu)| *cpu).zip(spans).collect()
}

/// The kinds of core with their CPUs.
fn kinds(run: &Rows<'_>) -> BTreeMap<String, Vec<u32>> {
    let mut kinds: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for cpu in run.manifest.machine.iter().flat_map(|machine| &machine.cpus) {
        if let Some(kind) = &cpu.core_type {
            kinds.entry(kind.clone()).or_default().push(cpu.cpu);
        }
    }
    kinds
}
