//! The figures that are compared, of one playing or of one simulated phase.

use crate::protocol::score::{BEGIN, END};
use flyball_events::questions::rise::{Rise, Target};
use flyball_events::recording::{Steps, comm};
use flyball_events::{Missing, Recording};
use flyball_platform::Platform;
use flyball_run::Run;
use flyball_sim::record::Outcome;
use flyball_sim::scenario::{Built, Scenario};
use flyball_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a figure is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "quantity", rename_all = "snake_case")]
pub enum Quantity {
    /// Time in nanoseconds until a task's util_avg reaches a level, from its first mark or its start.
    TimeToUtilization {
        /// The task.
        task: String,
        /// The level.
        level: u32,
    },
    /// Share of the time, in percent, that a clock domain is at an operating point.
    Residency {
        /// The clock domain.
        domain: String,
        /// The operating point.
        khz: u64,
    },
    /// Time that a clock domain's CPUs are busy at an operating point, in percent of one CPU's time.
    BusyResidency {
        /// The clock domain.
        domain: String,
        /// The operating point.
        khz: u64,
    },
    /// Share of the time, in percent, that tasks of one name run on a kind of core.
    Running {
        /// The tasks' common name.
        task: String,
        /// The kind of core.
        core_type: String,
    },
}

/// Figures by what they are; a time that never came is None.
pub type Figures = BTreeMap<Quantity, Option<f64>>;

/// Of one simulated phase.
pub fn of_outcome(scenario: &Scenario, built: &Built, outcome: &Outcome) -> Figures {
    let mut figures = Figures::new();
    let elapsed = outcome.summary.elapsed;
    for group in &built.groups {
        let value = |name: &str| outcome.value(&group.name, name);
        for level in &scenario.utilization {
            let time = value(&format!("util_{level}_ns"));
            figures.insert(time_to(&group.name, *level), time);
        }
        for core_type in core_types(&scenario.platform) {
            let ran = value(&format!("on_{core_type}_ns")).unwrap_or(0.0);
            figures.insert(running(&group.name, core_type), Some(percent(ran, elapsed)));
        }
    }
    for domain in &outcome.summary.domains {
        for point in &domain.residency {
            let share = percent(point.time.0 as f64, elapsed);
            figures.insert(residency(&domain.name, point.frequency.0), Some(share));
            let busy = percent(point.busy.0 as f64, elapsed);
            figures.insert(busy_residency(&domain.name, point.frequency.0), Some(busy));
        }
    }
    figures
}

/// Of one playing with its trace.
///
/// # Errors
/// A mark or an event that a playing has and this run lacks.
pub fn of_run(scenario: &Scenario, built: &Built, run: &Run) -> Result<Figures, Missing> {
    let recording = span(&Recording::of(run))?;
    let (begin, end) = (recording.span().from_ns, recording.span().to_ns);
    let elapsed = Nanos(end.saturating_sub(begin));
    let mut figures = Figures::new();
    for group in &built.groups {
        let members = built.setup.tasks.get(group.tasks.start as usize..group.tasks.end as usize);
        let names: Vec<String> =
            members.unwrap_or_default().iter().map(|task| comm(&task.name)).collect();
        times(&mut figures, scenario, &recording, &group.name, names.first())?;
        let mut on: BTreeMap<&str, u64> = BTreeMap::new();
        for slice in recording.slices() {
            let ours = names.contains(&recording.task(slice.tid).name);
            let Some(cpu) = scenario.platform.cpus.get(slice.cpu as usize).filter(|_| ours) else {
                continue;
            };
            *on.entry(cpu.core_type.as_str()).or_default() += slice.length_ns();
        }
        for core_type in core_types(&scenario.platform) {
            let ran = on.get(core_type).copied().unwrap_or(0) as f64;
            figures.insert(running(&group.name, core_type), Some(percent(ran, elapsed)));
        }
    }
    for domain in &scenario.platform.domains {
        let Some(first) = domain.cpus.first() else { continue };
        let steps = frequency(run, &recording, first.0);
        let spent = |from: u64, to: u64, at: &mut BTreeMap<u64, u64>| {
            for segment in steps.segments(from, to) {
                if let Some(khz) = segment.value {
                    *at.entry(khz).or_default() += segment.to_ns - segment.from_ns;
                }
            }
        };
        let points = || domain.points.iter().map(|point| (point.frequency.0, 0)).collect();
        let mut at: BTreeMap<u64, u64> = points();
        spent(begin, end, &mut at);
        for (khz, time) in at {
            let share = percent(time as f64, elapsed);
            figures.insert(residency(&domain.name, khz), Some(share));
        }
        let mut busy: BTreeMap<u64, u64> = points();
        let here = |cpu: u32| domain.cpus.iter().any(|id| id.0 == cpu);
        for slice in recording.slices().filter(|slice| here(slice.cpu)) {
            spent(slice.from_ns, slice.to_ns, &mut busy);
        }
        for (khz, time) in busy {
            let share = percent(time as f64, elapsed);
            figures.insert(busy_residency(&domain.name, khz), Some(share));
        }
    }
    Ok(figures)
}

/// The stretch of a recording in which the scenario was played.
pub(super) fn span<'a>(recording: &Recording<'a>) -> Result<Recording<'a>, Missing> {
    let (begin, end) = (recording.marker(BEGIN)?.t_ns, recording.marker(END)?.t_ns);
    Ok(recording.between(begin, end))
}

/// Times to levels of utilisation, from the task's first mark, else from when it first ran.
fn times(
    figures: &mut Figures,
    scenario: &Scenario,
    recording: &Recording<'_>,
    group: &str,
    name: Option<&String>,
) -> Result<(), Missing> {
    let Some(name) = name else { return Ok(()) };
    let task = recording.find(name)?;
    let end = recording.span().to_ns;
    let mark = recording.marks().find(|mark| mark.tid == Some(task.tid)).map(|mark| mark.t_ns);
    let first = || recording.slices_of(task.tid).first().map(|slice| slice.from_ns);
    let since = mark.or_else(first).unwrap_or(recording.span().from_ns);
    let targets: Vec<Target> = scenario.utilization.iter().map(|l| Target::Value(*l)).collect();
    let rise = Rise::of(&recording.between(since, end), task.tid, &targets)?;
    for (level, time) in scenario.utilization.iter().zip(&rise.times) {
        let after = time.outcome.after_ns().map(|after| after as f64);
        figures.insert(time_to(group, *level), after);
    }
    Ok(())
}

/// The frequency of a CPU from the begin of the recording's span on: what cpufreq said last before that
/// is in force until the first change.
pub(super) fn frequency(run: &Run, recording: &Recording<'_>, cpu: u32) -> Steps<u64> {
    let begin = recording.span().from_ns;
    let changes = recording.frequency_of_cpu(cpu).unwrap_or_default();
    if changes.at(begin).is_some() {
        return changes;
    }
    let rows = &run.tables.frequency;
    let domain = recording.topology().cpu(cpu).and_then(|cpu| cpu.domain.as_deref());
    let claimed = (0..rows.len())
        .filter(|&row| rows.domain.get(row) == domain && domain.is_some())
        .filter_map(|row| Some((*rows.t_ns.get(row)?, rows.claimed_khz.get(row)?)))
        .filter(|(t_ns, _)| *t_ns <= begin)
        .max_by_key(|(t_ns, _)| *t_ns);
    let points = claimed.map(|(_, khz)| (begin, khz)).into_iter();
    Steps::from_points(points.chain(changes.points().iter().copied()).collect())
}

fn time_to(task: &str, level: u32) -> Quantity {
    Quantity::TimeToUtilization { task: task.to_owned(), level }
}

fn residency(domain: &str, khz: u64) -> Quantity {
    Quantity::Residency { domain: domain.to_owned(), khz }
}

fn busy_residency(domain: &str, khz: u64) -> Quantity {
    Quantity::BusyResidency { domain: domain.to_owned(), khz }
}

fn running(task: &str, core_type: &str) -> Quantity {
    Quantity::Running { task: task.to_owned(), core_type: core_type.to_owned() }
}

fn percent(ns: f64, of: Nanos) -> f64 {
    100.0 * ns / of.0.max(1) as f64
}

/// The kinds of core, in the platform's order.
fn core_types(platform: &Platform) -> Vec<&str> {
    let mut list: Vec<&str> = Vec::new();
    for cpu in &platform.cpus {
        if !list.contains(&cpu.core_type.as_str()) {
            list.push(&cpu.core_type);
        }
    }
    list
}
