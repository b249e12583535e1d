//! What a setup must fulfil before a machine is made of it.

use super::{SetupError, deadline};
use crate::setup::{Bandwidth, Cgroup, Class, Prescribed, Setup, TaskSetup};
use flyball_governors::Governor;
use flyball_pelt::CAPACITY_SCALE;
use flyball_platform::{ClockDomain, FrequencyControl, IdleGovernor, Kernel, Platform};
use flyball_units::{Mismatch, Nanos};

/// Highest rate of the tick and of the statistics clock, in Hz.
const MAX_HZ: u32 = 100_000;

/// Checks everything that the engine relies on.
pub(super) fn check(setup: &Setup) -> Result<(), SetupError> {
    platform(&setup.platform)?;
    kernel(&setup.kernel)?;
    haltpoll(&setup.platform, &setup.kernel)?;
    let domains = setup.platform.domains.len();
    per_domain("governors", domains, setup.governors.len())?;
    per_domain("limits", domains, setup.limits.len())?;
    per_domain("initial", domains, setup.initial.len())?;
    let tick = Nanos(1_000_000_000 / u64::from(setup.kernel.hz));
    if setup.tick_phase >= tick {
        let found = setup.tick_phase;
        return Err(SetupError::Phase { name: "tick_phase", found, period: tick });
    }
    for (at, domain) in setup.platform.domains.iter().enumerate() {
        frequencies(setup, at, domain)?;
        if domain.control == FrequencyControl::Software {
            needs(&setup.platform, domain, setup.governors[at].as_ref())?;
        }
    }
    let cpus = setup.platform.cpus.len();
    if setup.governor_cost.cpu.0 as usize >= cpus {
        let task = "governor".to_owned();
        return Err(SetupError::UnknownCpu { task, cpu: setup.governor_cost.cpu, cpus });
    }
    prescribed(setup)?;
    let tasks = setup.tasks.len();
    if let Some(call) = setup.hints.iter().find(|call| call.task.0 as usize >= tasks) {
        return Err(SetupError::UnknownTask { what: "a hint", task: call.task.0, tasks });
    }
    setup.tasks.iter().try_for_each(|task| check_task(task, cpus))?;
    cgroups(setup)?;
    admit(setup)
}

/// What is prescribed is on the machine.
fn prescribed(setup: &Setup) -> Result<(), SetupError> {
    let Prescribed { frequencies, placements, care } = &setup.prescribed;
    let domains = setup.platform.domains.len();
    if !frequencies.is_empty() {
        per_domain("prescribed frequencies", domains, frequencies.len())?;
    }
    for (domain, changes) in setup.platform.domains.iter().zip(frequencies) {
        let has = |khz| domain.points.iter().any(|point| point.frequency == khz);
        if let Some(&(_, found)) = changes.iter().find(|(_, khz)| !has(*khz)) {
            return Err(SetupError::NoPoint {
                which: "prescribed",
                domain: domain.name.clone(),
                found,
            });
        }
    }
    let (cpus, tasks) = (setup.platform.cpus.len(), setup.tasks.len());
    if placements.len() > tasks {
        return Err(SetupError::UnknownTask { what: "a placement", task: tasks as u32, tasks });
    }
    let mut looked_after = care.iter().flat_map(|of| [of.cpu, of.by]);
    if let Some(cpu) = looked_after.find(|cpu| cpu.0 as usize >= cpus) {
        let what = format!("idle CPUs are looked after on {cpu}, the platform has {cpus} CPUs");
        return Err(SetupError::Platform { platform: setup.platform.name.clone(), what });
    }
    for (task, placed) in setup.tasks.iter().zip(placements) {
        if let Some(placed) = placed.iter().find(|placed| placed.cpu.0 as usize >= cpus) {
            return Err(SetupError::UnknownCpu { task: task.name.clone(), cpu: placed.cpu, cpus });
        }
    }
    Ok(())
}

/// The kernel admits deadline tasks on all CPUs only, and up to 95 % of these (`sched_rt_runtime_us`).
fn admit(setup: &Setup) -> Result<(), SetupError> {
    let cpus = setup.platform.cpus.iter();
    let most = deadline::bandwidth(950, 1000)
        * cpus.map(|cpu| u64::from(cpu.capacity.0)).sum::<u64>()
        / u64::from(CAPACITY_SCALE);
    let mut reserved = 0;
    for task in &setup.tasks {
        let Class::Deadline { runtime, deadline, period } = task.class else { continue };
        let wrong =
            |slip| Err(SetupError::Deadline { task: task.name.clone(), slip: Box::new(slip) });
        if let Err(slip) = Class::deadline(runtime, deadline, period) {
            return wrong(slip);
        }
        if setup.kernel.version.is_none() {
            let system = &setup.kernel.name;
            return wrong(Mismatch::value("deadline tasks on a Linux kernel only", system));
        }
        if !task.allowed.is_empty() {
            return wrong(Mismatch::value("a deadline task on all CPUs", "some"));
        }
        reserved += deadline::bandwidth(runtime.0, period.0);
        if reserved > most {
            let percent = |part: u64| part * 100 / deadline::bandwidth(1, 1);
            let expected = format!("at most {} % of a CPU for deadline tasks", percent(most));
            return wrong(Mismatch::value(expected, format!("{} % with it", percent(reserved))));
        }
    }
    Ok(())
}

fn cgroups(setup: &Setup) -> Result<(), SetupError> {
    let groups = setup.cgroups.len();
    if let Some(task) = setup.tasks.iter().find(|task| task.cgroup.is_some_and(|g| g >= groups)) {
        let (task, number) = (task.name.clone(), task.cgroup.unwrap_or_default());
        return Err(SetupError::UnknownCgroup { task, number, groups });
    }
    for group in &setup.cgroups {
        let wrong =
            |slip| Err(SetupError::Cgroup { cgroup: group.name.clone(), slip: Box::new(slip) });
        if setup.kernel.version.is_none() {
            let system = &setup.kernel.name;
            return wrong(Mismatch::value("control groups on a Linux kernel only", system));
        }
        let (least, most) = Cgroup::WEIGHTS;
        if !(least..=most).contains(&group.weight) {
            return wrong(Mismatch::value(format!("a weight of {least} to {most}"), group.weight));
        }
        let (min, max) = (group.uclamp_min, group.uclamp_max);
        if min > max || max > CAPACITY_SCALE {
            let expected = "uclamp_min at most uclamp_max, and that at most 1024";
            return wrong(Mismatch::value(expected, format!("{min} and {max}")));
        }
        if let Some(Bandwidth { quota, period, burst }) = group.bandwidth
            && let Err(slip) = Bandwidth::new(quota, period, burst)
        {
            return wrong(slip);
        }
    }
    Ok(())
}

fn per_domain(list: &'static str, expected: usize, found: usize) -> Result<(), SetupError> {
    if expected == found { Ok(()) } else { Err(SetupError::PerDomain { list, expected, found }) }
}

fn platform(platform: &Platform) -> Result<(), SetupError> {
    if platform.cpus.is_empty() {
        return Err(SetupError::NoCpu { platform: platform.name.clone() });
    }
    let wrong = |what| Err(SetupError::Platform { platform: platform.name.clone(), what });
    for (at, cpu) in platform.cpus.iter().enumerate() {
        let named = platform.domains.get(cpu.domain).is_some_and(|d| d.cpus.contains(&cpu.id));
        if cpu.id.0 as usize != at || !named {
            return wrong(format!("{} is not where its number and its domain say", cpu.id));
        }
        if !(1..=1024).contains(&cpu.capacity.0) {
            return wrong(format!("{}: capacity {} is outside 1..=1024", cpu.id, cpu.capacity.0));
        }
        if !(cpu.work_per_cycle.is_finite() && cpu.work_per_cycle > 0.0) {
            return wrong(format!("{}: work per cycle {}", cpu.id, cpu.work_per_cycle));
        }
    }
    for (at, domain) in platform.domains.iter().enumerate() {
        let name = &domain.name;
        let same = domain.points.iter().map(|p| p.frequency);
        if !same.eq(domain.opps.as_slice().iter().map(|opp| opp.frequency)) {
            return wrong(format!("domain `{name}`: points are not its operating points"));
        }
        if domain.points.iter().any(|point| point.effective.0 == 0) {
            return wrong(format!("domain `{name}`: a point without effective speed"));
        }
        let known = |id: &flyball_units::CpuId| {
            platform.cpus.get(id.0 as usize).is_some_and(|cpu| cpu.domain == at)
        };
        if domain.cpus.is_empty() || !domain.cpus.iter().all(known) {
            return wrong(format!("domain `{name}` names a CPU that is not its own, or none"));
        }
        if domain.transition.grid == Some(Nanos::ZERO) {
            return wrong(format!("domain `{name}`: a grid of 0 ns"));
        }
        if matches!(domain.control, FrequencyControl::Demand { period: Nanos::ZERO, .. }) {
            return wrong(format!("domain `{name}`: demand is looked at every 0 ns"));
        }
    }
    Ok(())
}

fn kernel(kernel: &Kernel) -> Result<(), SetupError> {
    for (name, hz) in [("hz", kernel.hz), ("stat_hz", kernel.stat_hz)] {
        if !(1..=MAX_HZ).contains(&hz) {
            return Err(SetupError::Rate { kernel: kernel.name.clone(), name, hz });
        }
    }
    Ok(())
}

/// haltpoll polls in the first state, whatever that is.
fn haltpoll(platform: &Platform, kernel: &Kernel) -> Result<(), SetupError> {
    if kernel.idle_governor != IdleGovernor::Haltpoll {
        return Ok(());
    }
    let polls = |domain: &&ClockDomain| domain.idle.first().is_some_and(|state| state.polling);
    match platform.domains.iter().find(|domain| domain.idle.len() > 1 && !polls(domain)) {
        Some(domain) => Err(SetupError::Platform {
            platform: platform.name.clone(),
            what: format!(
                "domain `{}`: haltpoll needs a first idle state with polling = true",
                domain.name
            ),
        }),
        None => Ok(()),
    }
}

fn frequencies(setup: &Setup, at: usize, domain: &ClockDomain) -> Result<(), SetupError> {
    if let Some((min, max)) = setup.limits[at] {
        let holds = |f| min <= f && f <= max;
        if !domain.opps.as_slice().iter().any(|opp| holds(opp.frequency)) {
            return Err(SetupError::Limits { domain: domain.name.clone(), min, max });
        }
    }
    match setup.initial[at] {
        Some(found) if domain.opps.index_of(found).is_none() => {
            Err(SetupError::NoPoint { which: "initial", domain: domain.name.clone(), found })
        }
        _ => Ok(()),
    }
}

fn needs(
    platform: &Platform,
    domain: &ClockDomain,
    governor: &dyn Governor,
) -> Result<(), SetupError> {
    if governor.needs().temperature && platform.thermal.is_none() {
        return Err(SetupError::Need {
            domain: domain.name.clone(),
            governor: governor.name(),
            need: "the package's temperature",
        });
    }
    Ok(())
}

fn check_task(task: &TaskSetup, cpus: usize) -> Result<(), SetupError> {
    if let Some(&cpu) = task.allowed.iter().find(|cpu| cpu.0 as usize >= cpus) {
        return Err(SetupError::UnknownCpu { task: task.name.clone(), cpu, cpus });
    }
    let (priority, nice) = match task.class {
        Class::Fair { nice } => (1, i64::from(nice)),
        Class::Fifo { priority } => (i64::from(priority), 0),
        Class::Deadline { .. } | Class::Stop | Class::Interrupt => (1, 0),
    };
    let clamp = |value: u32| i64::from(value);
    for (name, found, min, max) in [
        ("nice", nice, -20, 19),
        ("priority", priority, 1, 99),
        ("uclamp_min", clamp(task.uclamp_min), 0, 1024),
        ("uclamp_max", clamp(task.uclamp_max), 0, 1024),
        ("initial_util", clamp(task.initial_util.unwrap_or(0)), 0, 1024),
        ("initial_util_est", clamp(task.initial_util_est), 0, 1024),
    ] {
        if !(min..=max).contains(&found) {
            let task = task.name.clone();
            return Err(SetupError::TaskRange { task, name, found, min, max });
        }
    }
    Ok(())
}
