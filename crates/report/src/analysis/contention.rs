//! Whether windows shared their CPU, or its other hardware thread, with something else.

use std::collections::BTreeSet;

use super::cell::Sample;
use super::disturbed::has;
use super::rows::CellRows;
use super::source::Context;

/// A CPU counts as loaded from this much on, percent.
const LOADED_PERCENT: f64 = 5.0;

/// Shares of a cell's windows, 0 to 1; none where the data do not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Contention {
    /// Windows with any of the causes below.
    pub any: Option<f64>,
    /// Preempted by something.
    pub preempted: Option<f64>,
    /// On a CPU that carried background load which may have taken it.
    pub shared_cpu: Option<f64>,
    /// On a CPU that carried background load which never ran while the window did: the thread had
    /// a real-time class, and the kernel counted no preemption. What is left is what both leave in
    /// caches and predictors.
    pub outranked: Option<f64>,
    /// On a CPU whose other hardware thread carried background load.
    pub shared_core: Option<f64>,
}

impl Contention {
    /// Windows on a CPU, or beside a hardware thread, that carried background load: no CPU is
    /// both.
    pub fn beside_load(&self) -> Option<f64> {
        self.shared_cpu.zip(self.shared_core).map(|(cpu, core)| cpu + core)
    }
}

/// Contention of a cell.
pub(super) fn measure(context: &Context<'_>, rows: &CellRows, samples: &[Sample]) -> Contention {
    let windows = &context.run.tables.windows;
    let loaded = loaded_cpus(context, &rows.condition);
    let siblings = siblings(context, &loaded);
    let placed = samples.iter().any(|sample| sample.cpu.is_some());
    let on =
        |cpus: &BTreeSet<u32>, sample: &Sample| sample.cpu.is_some_and(|cpu| cpus.contains(&cpu));
    let counted = |known: bool, of: &dyn Fn(&Sample) -> bool| {
        (known && !samples.is_empty()).then(|| {
            samples.iter().filter(|sample| of(sample)).count() as f64 / samples.len() as f64
        })
    };
    let counts_switches = has(&windows.preemptions, rows);
    let outranks = counts_switches && is_real_time(context, &rows.condition);
    let outranked = |sample: &Sample| outranks && on(&loaded, sample) && !sample.marks.preempted;
    let shared = |sample: &Sample| on(&loaded, sample) && !outranked(sample);
    Contention {
        any: counted(counts_switches || placed, &|sample| {
            sample.marks.preempted || shared(sample) || on(&siblings, sample)
        }),
        preempted: counted(counts_switches, &|sample| sample.marks.preempted),
        shared_cpu: counted(placed, &shared),
        outranked: counted(placed, &outranked),
        shared_core: counted(placed, &|sample| on(&siblings, sample)),
    }
}

/// Whether the measuring thread had a class that a load of the fair class cannot take the CPU from,
/// by what was read back in the thread itself.
fn is_real_time(context: &Context<'_>, condition: &str) -> bool {
    let record = context.run.manifest.condition(condition);
    let class = record.and_then(|record| record.scheduling_applied.as_deref()).unwrap_or_default();
    matches!(class.split(':').next(), Some("fifo" | "rr" | "deadline"))
}

/// CPUs that carried background load under a condition, by what was asked or achieved.
fn loaded_cpus(context: &Context<'_>, condition: &str) -> BTreeSet<u32> {
    let record = context.run.manifest.condition(condition).and_then(|found| found.load.as_ref());
    let mut cpus: BTreeSet<u32> = record
        .iter()
        .flat_map(|load| &load.cpus)
        .filter(|cpu| cpu.achieved_percent.unwrap_or(cpu.wanted_percent) >= LOADED_PERCENT)
        .map(|cpu| cpu.cpu)
        .collect();
    let load = &context.run.tables.load;
    // The condition's name is looked up once: a load has a row per interval and CPU.
    let Some(own) = load.condition.code_of(condition) else { return cpus };
    let achieved = load.cpu.iter().zip(&load.achieved_percent).enumerate();
    cpus.extend(
        achieved
            .filter(|(_, (_, percent))| **percent >= LOADED_PERCENT)
            .filter(|(row, _)| load.condition.codes().get(*row) == Some(own))
            .map(|(_, (cpu, _))| *cpu),
    );
    cpus
}

/// The other hardware threads of the loaded CPUs' cores, as far as they are not loaded too.
fn siblings(context: &Context<'_>, loaded: &BTreeSet<u32>) -> BTreeSet<u32> {
    let machine = context.run.manifest.machine.iter();
    machine
        .flat_map(|machine| &machine.cpus)
        .filter(|cpu| !loaded.contains(&cpu.cpu))
        .filter(|cpu| cpu.siblings.iter().any(|sibling| loaded.contains(sibling)))
        .map(|cpu| cpu.cpu)
        .collect()
}
