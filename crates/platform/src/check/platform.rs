//! Cores and the machine as a whole.

use super::{cpu_list, domain};
use crate::error::Problem;
use crate::file::At;
use crate::file::platform::{Balancer, Base, Cores, PlatformFile, Sampler, ThermalFile};
use crate::model::{
    ClockDomain, ClockReadings, Cpu, IdleBalanceCost, Paths, Platform, SamplerCost, Thermal,
    TickReading,
};
use crate::shipped::catalogue;
use flyball_units::{Capacity, CpuId, Nanos, nearest};
use std::collections::BTreeMap;
use std::ops::Range;

/// What runs on a platform that does not say otherwise.
const DEFAULT_KERNEL: &str = "linux-6.12";

/// What the file says of a CPU, before its domain is known.
struct Core {
    cpu: CpuId,
    core_type: String,
    capacity: u32,
    work_per_cycle: Option<f64>,
    siblings: Vec<CpuId>,
    thread_speed: f64,
    span: Range<usize>,
}

/// What the threads of a core do together, relative to one alone, where a platform does not say it.
const THREADS_TOGETHER: f64 = 1.25;

pub(super) fn build(name: String, file: PlatformFile) -> Result<Platform, Problem> {
    let mut sources = Vec::new();
    let cores = cores(&file.cores.value, &file.cores.span, &mut sources)?;
    let mut domains = Vec::new();
    for table in &file.domains.value {
        let groups = domain::groups(table, |cpu| siblings_of(&cores, cpu))?;
        let capacity = groups.iter().flatten().find_map(|cpu| cores.get(cpu));
        let capacity = Capacity(capacity.map_or(1024, |core| core.capacity));
        domains.extend(domain::build(table, groups, capacity, &mut sources)?);
    }
    domains.sort_by_key(|domain| domain.cpus.first().copied());
    let owner = owners(&file, &cores, &domains)?;
    let cpus = cpus(&cores, &domains, &owner)?;
    one_capacity_per_domain(&cores, &domains)?;
    let thermal = file.thermal.as_ref().map(thermal).transpose()?;
    let default_kernel = default_kernel(file.default_kernel.as_ref())?;
    match &file.base {
        Some(Base { source, .. }) => sources.push(("base".to_owned(), source.0.clone())),
        None => sources.push(("base".to_owned(), "assumed: 0 mW, not described".to_owned())),
    }
    if let Some(sampler) = &file.sampler {
        sources.push(("sampler".to_owned(), sampler.source.0.clone()));
    }
    if let Some(question) = &file.question {
        sources.push(("question".to_owned(), question.source.0.clone()));
    }
    if let Some(balancer) = &file.balancer {
        sources.push(("balancer".to_owned(), balancer.source.0.clone()));
    }
    if let Some(thermal) = &file.thermal {
        sources.push(("thermal".to_owned(), thermal.source.0.clone()));
    }
    let question = file.question.as_ref();
    let balancer = file.balancer.as_ref();
    Ok(Platform {
        name,
        title: file.title,
        notes: file.notes.trim().to_owned(),
        default_kernel,
        architecture: file.architecture,
        cpus,
        domains,
        base_power_mw: file.base.map_or(0.0, |base| base.power_mw.0),
        sampler: file.sampler.as_ref().map_or_else(SamplerCost::default, |sampler| SamplerCost {
            cycles: sampler.cycles,
            wake_cycles: sampler.wake_cycles.unwrap_or(0),
            ..SamplerCost::default()
        }),
        tick_reading: tick_reading(file.sampler.as_ref()),
        paths: Paths::default(),
        clock_readings: ClockReadings::default(),
        question_cycles: question.map_or(0, |question| question.next_cycles),
        tick_spread: question.map_or(Nanos::ZERO, |question| question.tick_us.0),
        round_spread: question.map_or(Nanos::ZERO, |question| question.round_us.0),
        balancer_latency: balancer
            .and_then(|of| of.latency_us.as_ref())
            .map_or(Nanos::ZERO, |of| of.0),
        idle_balance_cost: idle_balance_cost(balancer)?,
        thermal,
        sources,
    })
}

fn idle_balance_cost(balancer: Option<&Balancer>) -> Result<IdleBalanceCost, Problem> {
    let near = balancer.and_then(|of| of.idle_cost_us).map_or(Nanos::ZERO, |of| of.0);
    let Some(all) = balancer.and_then(|of| of.idle_cost_all_us.as_ref()) else {
        return Ok(IdleBalanceCost { near, all: near });
    };
    match (near, all.value.0) {
        (near, all) if near > Nanos::ZERO && all >= near => Ok(IdleBalanceCost { near, all }),
        (near, found) => {
            let message = match near {
                Nanos::ZERO => "expected `idle_cost_us` beside it, found none".to_owned(),
                near => format!("expected {near} or more, which `idle_cost_us` is, found {found}"),
            };
            Err(Problem::at(&all.span, message))
        }
    }
}

fn tick_reading(sampler: Option<&Sampler>) -> TickReading {
    let assumed = TickReading::default();
    let busy_cycles = sampler.and_then(|it| it.tick_cycles).unwrap_or(assumed.busy_cycles);
    let idle_more = assumed.idle_cycles - assumed.busy_cycles;
    TickReading {
        busy_cycles,
        idle_cycles: sampler
            .and_then(|it| it.idle_tick_cycles)
            .unwrap_or(busy_cycles.saturating_add(idle_more)),
        jitter: sampler.and_then(|it| it.tick_jitter_us.as_ref()).map_or(assumed.jitter, |it| it.0),
    }
}

/// One that ships: a description names no files.
fn default_kernel(file: Option<&At<String>>) -> Result<String, Problem> {
    let Some(file) = file else { return Ok(DEFAULT_KERNEL.to_owned()) };
    let names = || catalogue().kernels.iter().map(|entry| entry.name);
    if names().any(|name| name == file.value) {
        return Ok(file.value.clone());
    }
    let all: Vec<&str> = names().collect();
    let message =
        format!("expected a shipped kernel ({}), found \"{}\"", all.join(", "), file.value);
    let problem = Problem::at(&file.span, message);
    Err(match nearest(&file.value, names()) {
        Some(near) => problem.with_hint(format!("did you mean \"{near}\"?")),
        None => problem,
    })
}

/// Every CPU once, from 0 without gaps, with capacities on the kernel's scale.
fn cores(
    tables: &[Cores],
    span: &Range<usize>,
    sources: &mut Vec<(String, String)>,
) -> Result<BTreeMap<CpuId, Core>, Problem> {
    let mut all: BTreeMap<CpuId, Core> = BTreeMap::new();
    for table in tables {
        sources.push((format!("cores.{}", table.core_type), table.source.0.clone()));
        for core in cores_of(table)? {
            if let Some(other) = all.get(&core.cpu) {
                return Err(Problem::at(
                    &table.cpus.span,
                    format!(
                        "expected each CPU in one table of cores, found {} in {} too",
                        core.cpu, other.core_type
                    ),
                ));
            }
            all.insert(core.cpu, core);
        }
    }
    let gap = all.keys().zip(0..).find(|(cpu, expected)| cpu.0 != *expected);
    if let Some((cpu, expected)) = gap {
        return Err(Problem::at(
            span,
            format!("expected CPUs from 0 without gaps, found {cpu} after {expected} CPUs"),
        ));
    }
    match all.values().map(|core| core.capacity).max() {
        None => Err(Problem::at(span, "expected at least one table of cores, found none")),
        Some(1024) => Ok(all),
        Some(largest) => Err(Problem::at(
            span,
            format!("expected the largest core to have capacity 1024, found {largest}"),
        )
        .with_hint("capacities are relative to the largest core at its highest frequency")),
    }
}

fn cores_of(table: &Cores) -> Result<Vec<Core>, Problem> {
    let capacity = &table.capacity;
    if !(1..=1024).contains(&capacity.value) {
        return Err(Problem::at(
            &capacity.span,
            format!("expected a capacity of 1 to 1024, found {}", capacity.value),
        ));
    }
    if let Some(work) = &table.work_per_cycle
        && !(0.001..=1000.0).contains(&work.value)
    {
        return Err(Problem::at(
            &work.span,
            format!("expected work per cycle of 0.001 to 1000, found {}", work.value),
        ));
    }
    let cpus = cpu_list::parse(&table.cpus)?;
    let threads = table.threads_per_core.as_ref().map_or(1, |threads| threads.value) as usize;
    if threads == 0 || !cpus.len().is_multiple_of(threads) {
        let span =
            table.threads_per_core.as_ref().map_or(&table.cpus.span, |threads| &threads.span);
        return Err(Problem::at(
            span,
            format!("expected a divisor of {} CPUs, found {threads}", cpus.len()),
        ));
    }
    let thread_speed = match &table.thread_speed {
        Some(speed) if !(speed.value > 0.0 && speed.value <= 1.0) => {
            let found = format!("expected a speed above 0 to 1, found {}", speed.value);
            return Err(Problem::at(&speed.span, found));
        }
        Some(speed) => speed.value,
        None => (THREADS_TOGETHER / threads as f64).min(1.0),
    };
    let core = |group: &[CpuId], cpu: CpuId| Core {
        cpu,
        thread_speed,
        core_type: table.core_type.clone(),
        capacity: capacity.value,
        work_per_cycle: table.work_per_cycle.as_ref().map(|work| work.value),
        siblings: group.iter().copied().filter(|other| *other != cpu).collect(),
        span: table.capacity.span.clone(),
    };
    Ok(cpus
        .chunks(threads)
        .flat_map(|group| group.iter().map(|cpu| core(group, *cpu)).collect::<Vec<_>>())
        .collect())
}

fn siblings_of(cores: &BTreeMap<CpuId, Core>, cpu: CpuId) -> Vec<CpuId> {
    cores.get(&cpu).map(|core| core.siblings.clone()).unwrap_or_default()
}

/// The position of each CPU's domain.
fn owners(
    file: &PlatformFile,
    cores: &BTreeMap<CpuId, Core>,
    domains: &[ClockDomain],
) -> Result<BTreeMap<CpuId, usize>, Problem> {
    let span_of = |name: &str| {
        let table = file.domains.value.iter().find(|table| name.starts_with(&table.name.value));
        table.map_or(&file.domains.span, |table| &table.cpus.span)
    };
    let mut owner = BTreeMap::new();
    for (position, domain) in domains.iter().enumerate() {
        if let Some(other) = domains.iter().take(position).find(|other| other.name == domain.name) {
            return Err(Problem::at(
                span_of(&other.name),
                format!("expected different names of domains, found \"{}\" twice", domain.name),
            ));
        }
        for cpu in &domain.cpus {
            if !cores.contains_key(cpu) {
                return Err(Problem::at(
                    span_of(&domain.name),
                    format!("expected CPUs that `cores` describes, found {cpu}"),
                ));
            }
            if let Some(first) = owner.insert(*cpu, position) {
                let first = domains.get(first).map_or("", |domain| domain.name.as_str());
                return Err(Problem::at(
                    span_of(&domain.name),
                    format!(
                        "expected each CPU in one clock domain, found {cpu} in \"{first}\" and \"{}\"",
                        domain.name
                    ),
                ));
            }
        }
    }
    match cores.keys().find(|cpu| !owner.contains_key(cpu)) {
        Some(cpu) => Err(Problem::at(
            &file.domains.span,
            format!("expected every CPU in a clock domain, found {cpu} in none"),
        )),
        None => Ok(owner),
    }
}

/// The CPUs with their work per cycle, which follows from capacity and frequency where a file
/// leaves it out: `capacity / 1024 x f_max of the largest core / own f_max`.
fn cpus(
    cores: &BTreeMap<CpuId, Core>,
    domains: &[ClockDomain],
    owner: &BTreeMap<CpuId, usize>,
) -> Result<Vec<Cpu>, Problem> {
    let top = |cpu: CpuId| {
        owner.get(&cpu).and_then(|at| domains.get(*at)).map_or(1.0, |d| d.opps.max().0 as f64)
    };
    let largest = cores.values().find(|core| core.capacity == 1024);
    let reference = largest.map_or(1.0, |core| top(core.cpu) * core.work_per_cycle.unwrap_or(1.0));
    let work = |core: &Core| {
        core.work_per_cycle
            .unwrap_or_else(|| f64::from(core.capacity) / 1024.0 * reference / top(core.cpu))
    };
    let speed = |core: &Core| work(core) * top(core.cpu);
    for core in cores.values() {
        // Contradicting orders only: firmware's capacities are rounded, and may be off.
        let slower =
            cores.values().find(|o| o.capacity > core.capacity && speed(o) < speed(core) * 0.999);
        if let Some(other) = slower {
            return Err(Problem::at(
                &core.span,
                format!(
                    "expected capacities in the order of speed at the highest frequency, found {} for {} and {} for \
                     the slower {}",
                    core.capacity, core.core_type, other.capacity, other.core_type
                ),
            )
            .with_hint("speed = work_per_cycle x highest frequency"));
        }
    }
    Ok(cores
        .values()
        .map(|core| Cpu {
            id: core.cpu,
            core_type: core.core_type.clone(),
            capacity: Capacity(core.capacity),
            domain: owner.get(&core.cpu).copied().unwrap_or_default(),
            work_per_cycle: work(core),
            siblings: core.siblings.clone(),
            thread_speed: core.thread_speed,
        })
        .collect())
}

/// A governor sees one capacity per policy.
fn one_capacity_per_domain(
    cores: &BTreeMap<CpuId, Core>,
    domains: &[ClockDomain],
) -> Result<(), Problem> {
    for domain in domains {
        let mut members = domain.cpus.iter().filter_map(|cpu| cores.get(cpu));
        let Some(first) = members.next() else { continue };
        if let Some(other) = members.find(|core| core.capacity != first.capacity) {
            return Err(Problem::at(
                &other.span,
                format!(
                    "expected one capacity in clock domain \"{}\", found {} ({}) and {} ({})",
                    domain.name, first.capacity, first.cpu, other.capacity, other.cpu
                ),
            ));
        }
    }
    Ok(())
}

fn thermal(file: &ThermalFile) -> Result<Thermal, Problem> {
    let temperature = |value: f64| (-100.0..=200.0).contains(&value);
    if !temperature(file.ambient_c.value) {
        return Err(Problem::at(
            &file.ambient_c.span,
            format!("expected -100 to 200 degrees, found {}", file.ambient_c.value),
        ));
    }
    let mut lower = file.ambient_c.value;
    for limit in [&file.throttle_c, &file.critical_c].into_iter().flatten() {
        if !temperature(limit.value) || limit.value <= lower {
            return Err(Problem::at(
                &limit.span,
                format!(
                    "expected ambient < throttle < critical temperature, at most 200, found {} after {lower}",
                    limit.value
                ),
            ));
        }
        lower = limit.value;
    }
    if file.time_constant_s.value.0 <= 0.0 {
        return Err(Problem::at(
            &file.time_constant_s.span,
            "expected a time constant above 0, found 0",
        ));
    }
    Ok(Thermal {
        ambient_c: file.ambient_c.value,
        resistance_k_per_w: file.resistance_k_per_w.value.0,
        time_constant_s: file.time_constant_s.value.0,
        throttle_c: file.throttle_c.as_ref().map(|limit| limit.value),
        critical_c: file.critical_c.as_ref().map(|limit| limit.value),
    })
}
