//! The figures that are compared, of one playing or of one simulated phase.

use super::clocks::Clocks;
use super::readings::Readings;
use super::{on_cpu, speed_up};
use crate::protocol::score::{BEGIN, END};
use flyball_events::questions::rise::{Rise, Target};
use flyball_events::recording::{Ran, comm};
use flyball_events::{Missing, Recording};
use flyball_platform::Platform;
use flyball_run::Run;
use flyball_sim::engine::SetupError;
use flyball_sim::record::{Outcome, Quantiles};
use flyball_sim::scenario::{Built, Group, Scenario};
use flyball_sim::setup::Class;
use flyball_units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a figure is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "quantity", rename_all = "snake_case")]
pub enum Quantity {
    /// Response time of a task's items, from the release to the end, in nanoseconds.
    Response {
        /// The tasks' common name.
        task: String,
        /// Of the items of one playing: 50 or 99.
        percentile: u8,
    },
    /// Time in nanoseconds until a task's util_avg reaches a level, from its first mark or its start.
    TimeToUtilization {
        /// The task.
        task: String,
        /// The level.
        level: u32,
    },
    /// For how long a task runs since it last slept until the CPU under it has a share of the machine's highest
    /// frequency, in nanoseconds: the mean over its wake-ups.
    TimeToSpeed {
        /// The tasks' common name.
        task: String,
        /// The share.
        percent: u8,
    },
    /// Mean frequency of a clock domain while its CPUs are busy, in kHz.
    BusyFrequency {
        /// The clock domain.
        domain: String,
    },
    /// Mean power of a clock domain's busy CPUs by the platform's table, in milliwatts.
    BusyPower {
        /// The clock domain.
        domain: String,
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

/// Percentiles of the response that are compared.
const PERCENTILES: [u8; 2] = [50, 99];

/// Figures by what they are; a time that never came, and a mean of nothing, is None.
pub type Figures = BTreeMap<Quantity, Option<f64>>;

/// Of one simulated phase.
///
/// # Errors
/// A setup that contradicts itself.
pub fn of_outcome(
    scenario: &Scenario,
    built: &Built,
    outcome: &Outcome,
) -> Result<Figures, SetupError> {
    let mut figures = Figures::new();
    let elapsed = outcome.summary.elapsed;
    for group in &built.groups {
        let value = |name: &str| outcome.value(&group.name, name);
        if value("items").is_some_and(|items| items > 0.0) {
            for percentile in PERCENTILES {
                let time = value(&format!("response_p{percentile}_ns"));
                figures.insert(response(&group.name, percentile), time);
            }
        }
        if is_fair(built, group) {
            for level in &scenario.utilization {
                let time = value(&format!("util_{level}_ns"));
                figures.insert(time_to(&group.name, *level), time);
            }
        }
        for core_type in core_types(&scenario.platform) {
            let ran = value(&format!("on_{core_type}_ns")).unwrap_or(0.0);
            figures.insert(running(&group.name, core_type), Some(percent(ran, elapsed)));
        }
    }
    for domain in &outcome.summary.domains {
        let busy = domain.residency.iter().map(|point| (point.frequency.0, point.busy.0));
        add_busy(&mut figures, scenario, &domain.name, busy, elapsed);
    }
    let run = speed_up::phase(scenario, outcome.phase)?;
    let recording = Recording::of(&run);
    let clocks = Clocks::of(&scenario.platform, &run, &recording);
    let slices: Vec<Ran> = recording.slices().collect();
    add_times_to_speed(&mut figures, scenario, built, &recording, (&slices, &clocks));
    Ok(figures)
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
    let clocks = Clocks::of(&scenario.platform, run, &recording);
    let slices = on_cpu::slices(
        &recording,
        &clocks,
        &Readings::of_run(&scenario.platform, scenario.kernel.rules, run),
    );
    add_times_to_speed(&mut figures, scenario, built, &recording, (&slices, &clocks));
    for group in &built.groups {
        let names = names(built, group);
        if is_fair(built, group) {
            times(&mut figures, scenario, &recording, &group.name, names.first())?;
        }
        let own = |slice: &&Ran| names.contains(&recording.task(slice.tid).name);
        let mut responses = Quantiles::default();
        for item in recording.items().filter(|item| names.contains(&recording.task(item.tid).name))
        {
            if let Some(ended_ns) = item.ended_ns {
                responses.add(ended_ns.saturating_sub(item.released_ns));
            }
        }
        if responses.count() > 0 {
            for percentile in PERCENTILES {
                let time = responses.quantile(f64::from(percentile) / 100.0);
                let time = time.map(|time| time as f64);
                figures.insert(response(&group.name, percentile), time);
            }
        }
        let mut on: BTreeMap<&str, u64> = BTreeMap::new();
        for slice in slices.iter().filter(own) {
            let Some(cpu) = scenario.platform.cpus.get(slice.cpu as usize) else { continue };
            *on.entry(cpu.core_type.as_str()).or_default() += slice.length_ns();
        }
        for core_type in core_types(&scenario.platform) {
            let ran = on.get(core_type).copied().unwrap_or(0) as f64;
            figures.insert(running(&group.name, core_type), Some(percent(ran, elapsed)));
        }
    }
    for domain in &scenario.platform.domains {
        let first = domain.cpus.first().and_then(|first| clocks.steps().get(first.0 as usize));
        let Some(steps) = first else { continue };
        let spent = |from: u64, to: u64, at: &mut BTreeMap<u64, u64>| {
            for segment in steps.segments(from, to) {
                if let Some(khz) = segment.value {
                    *at.entry(khz).or_default() += segment.to_ns - segment.from_ns;
                }
            }
        };
        let mut busy: BTreeMap<u64, u64> =
            domain.points.iter().map(|point| (point.frequency.0, 0)).collect();
        let here = |cpu: u32| domain.cpus.iter().any(|id| id.0 == cpu);
        for slice in slices.iter().filter(|slice| here(slice.cpu)) {
            spent(slice.from_ns, slice.to_ns, &mut busy);
        }
        add_busy(&mut figures, scenario, &domain.name, busy.into_iter(), elapsed);
    }
    Ok(figures)
}

/// The kernel's names of a group's tasks.
fn names(built: &Built, group: &Group) -> Vec<String> {
    let members = built.setup.tasks.get(group.tasks.start as usize..group.tasks.end as usize);
    members.unwrap_or_default().iter().map(|task| comm(&task.name)).collect()
}

fn add_times_to_speed(
    figures: &mut Figures,
    scenario: &Scenario,
    built: &Built,
    recording: &Recording<'_>,
    (slices, clocks): (&[Ran], &Clocks<'_>),
) {
    let khz = speed_up::level(&scenario.platform);
    for group in &built.groups {
        let names = names(built, group);
        let own = |slice: &&Ran| names.contains(&comm(&recording.task(slice.tid).name));
        let time = speed_up::mean_ns(slices.iter().filter(own).copied(), clocks.steps(), khz);
        let task = group.name.clone();
        figures.insert(Quantity::TimeToSpeed { task, percent: speed_up::PERCENT }, time);
    }
}

/// What the busy time of a domain's CPUs at each operating point (kHz, ns) says.
fn add_busy(
    figures: &mut Figures,
    scenario: &Scenario,
    domain: &str,
    busy: impl Iterator<Item = (u64, u64)>,
    elapsed: Nanos,
) {
    let points = scenario.platform.domains.iter().find(|own| own.name == domain);
    let power = |khz: u64| {
        let point = points?.points.iter().find(|point| point.frequency.0 == khz)?;
        Some(point.busy_power_mw)
    };
    let (mut time, mut cycles, mut energy) = (0.0, 0.0, 0.0);
    for (khz, ns) in busy {
        let ns = ns as f64;
        time += ns;
        cycles += ns * khz as f64;
        energy += ns * power(khz).unwrap_or(f64::NAN);
        let busy = Quantity::BusyResidency { domain: domain.to_owned(), khz };
        figures.insert(busy, Some(percent(ns, elapsed)));
    }
    let domain = || domain.to_owned();
    let mean = (time > 0.0).then(|| cycles / time);
    figures.insert(Quantity::BusyFrequency { domain: domain() }, mean);
    let power = (energy > 0.0).then(|| energy / elapsed.0.max(1) as f64);
    figures.insert(Quantity::BusyPower { domain: domain() }, power);
}

/// Whether its tasks have a utilisation of their own: the kernel keeps none of real-time tasks.
fn is_fair(built: &Built, group: &Group) -> bool {
    let first = built.setup.tasks.get(group.tasks.start as usize);
    first.is_some_and(|task| matches!(task.class, Class::Fair { .. }))
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

fn time_to(task: &str, level: u32) -> Quantity {
    Quantity::TimeToUtilization { task: task.to_owned(), level }
}

fn response(task: &str, percentile: u8) -> Quantity {
    Quantity::Response { task: task.to_owned(), percentile }
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
