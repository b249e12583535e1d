//! What the manifest of a model run says: the machine, what ran, and what the figures rest on.

use super::{ConditionSetup, Model, ModelRun, events, parameters};
use crate::machine::Machine as _;
use crate::plan::PlannedCondition;
use flyball_platform::{ClockDomain, Kernel, Platform, catalogue};
use flyball_run::manifest::{
    ClockRecord, ConditionRecord, CpuRecord, DomainRecord, IdleStateRecord, Machine, PlanRecord,
    WorkloadRecord,
};
use flyball_run::{Manifest, Note};
use toml::{Table, Value};

/// The manifest before the first trial. Nothing in it depends on the computer, the time or the
/// place where it was made: the command is the one that repeats the run.
pub(super) fn manifest(run: &ModelRun) -> Manifest {
    let command = ["flyball", "bench", "--machine", &run.model.name()];
    Manifest {
        kind: "bench".to_owned(),
        plan: PlanRecord::of("trials", run.plan.trials.len()),
        command: command.into_iter().map(str::to_owned).collect(),
        seed: Some(run.experiment.seed),
        experiment: run.experiment.text(),
        flyball: run.flyball.clone(),
        machine: Some(machine(&run.model)),
        workloads: workloads(run),
        clocks: clocks(run),
        ..Manifest::default()
    }
}

fn clocks(run: &ModelRun) -> Vec<ClockRecord> {
    let events: &[&str] = if run.events { &events::TABLES } else { &[] };
    let tables = ["windows", "frequency", "load", "notes"];
    tables.iter().chain(events).map(|table| clock(table)).collect()
}

fn clock(table: &str) -> ClockRecord {
    ClockRecord { table: table.to_owned(), clock: "virtual".to_owned(), ..ClockRecord::default() }
}

/// The machine that a run names where it is a model that ships, as `model:NAME,kernel=K`.
pub fn shipped_model(machine: &Machine) -> Option<String> {
    let title = machine.cpu_model.as_deref()?.strip_prefix("model of ")?;
    let (kernel, _) = machine.kernel.as_deref()?.split_once(" at ")?;
    let mut platforms = catalogue().platforms.iter();
    let own = |name: &str| Platform::named(name).is_ok_and(|platform| platform.title == title);
    let platform = platforms.find(|entry| own(entry.name))?;
    Kernel::named(kernel).ok()?;
    Some(format!("model:{},kernel={kernel}", platform.name))
}

/// The platform and the kernel as a machine.
pub(super) fn machine(model: &Model) -> Machine {
    let (platform, kernel) = (&model.platform, &model.kernel);
    Machine {
        cpu_model: Some(format!("model of {}", platform.title)),
        kernel: Some(format!("{} at {} Hz", kernel.name, kernel.hz)),
        virtualisation: Some("none".to_owned()),
        core_type_evidence: Some("the platform's description".to_owned()),
        cpus: platform
            .cpus
            .iter()
            .map(|cpu| {
                let domain = platform.domains.get(cpu.domain);
                CpuRecord {
                    cpu: cpu.id.0,
                    core_type: Some(cpu.core_type.clone()),
                    capacity: Some(cpu.capacity.0),
                    max_khz: domain.map(|domain| domain.opps.max().0),
                    domain: domain.map(|domain| domain.name.clone()),
                    siblings: cpu.siblings.iter().map(|sibling| sibling.0).collect(),
                    idle_balance_costs_ns: Vec::new(),
                    isolated: Some(false),
                    online: Some(true),
                }
            })
            .collect(),
        domains: platform.domains.iter().map(domain_record).collect(),
        idle_states: platform.domains.first().map(idle_states).unwrap_or_default(),
        ..Machine::default()
    }
}

fn domain_record(domain: &ClockDomain) -> DomainRecord {
    let (min, max) = (Some(domain.opps.min().0), Some(domain.opps.max().0));
    DomainRecord {
        name: domain.name.clone(),
        cpus: domain.cpus.iter().map(|cpu| cpu.0).collect(),
        driver: Some("model".to_owned()),
        min_khz: min,
        max_khz: max,
        limit_min_khz: min,
        limit_max_khz: max,
        available_khz: domain.opps.as_slice().iter().map(|opp| opp.frequency.0).collect(),
        declared_latency_ns: domain.transition.declared_latency.map(|latency| latency.0),
        ..DomainRecord::default()
    }
}

fn idle_states(domain: &ClockDomain) -> Vec<IdleStateRecord> {
    let record = |state: &flyball_platform::IdleState| IdleStateRecord {
        name: state.name.clone(),
        exit_latency_us: Some(state.exit_latency.0 / 1_000),
        residency_us: Some(state.target_residency.0 / 1_000),
        disabled: Some(false),
    };
    domain.idle.iter().map(record).collect()
}

fn workloads(run: &ModelRun) -> Vec<WorkloadRecord> {
    let experiment = &run.experiment;
    let record = |workload: &crate::experiment::Workload| {
        let known = parameters(experiment, workload).ok();
        let mut params = Table::new();
        if let Some((_, parameters)) = &known {
            params.insert("rate_hz".into(), parameters.rate_hz.into());
            let numbers = [
                ("window", parameters.window),
                ("hop", parameters.hop),
                ("channels", parameters.channels),
            ];
            for (name, value) in numbers {
                params.insert(name.into(), integer(value as u64));
            }
        }
        WorkloadRecord {
            name: workload.label(),
            description: known
                .map(|(kernel, _)| format!("cost of: {}", kernel.about()))
                .unwrap_or_default(),
            kernel: workload.kernel.clone().unwrap_or_default(),
            form: workload.form.clone(),
            deadline_ns: Some(experiment.deadline().nanos()),
            period_ns: Some(experiment.period.nanos()),
            params,
        }
    };
    experiment.workloads.iter().map(record).collect()
}

/// A condition's record: `log` has what was asked and what became of the load; added here is what
/// the model had in force.
pub(super) fn condition(
    run: &ModelRun,
    planned: &PlannedCondition,
    setup: &ConditionSetup,
    mut log: ConditionRecord,
) -> ConditionRecord {
    let mut applied = Table::new();
    let cpus = planned.cpus.clone().unwrap_or_else(|| setup.site.usable.clone());
    applied.insert("cpus".into(), cpus.to_string().into());
    for (domain, control) in run.model.platform.domains.iter().zip(&setup.domains) {
        let (min, max) = control.limits.unwrap_or((domain.opps.min(), domain.opps.max()));
        let mut table = Table::new();
        table.insert("governor".into(), control.in_force().into());
        table.insert("min_khz".into(), integer(min.0));
        table.insert("max_khz".into(), integer(max.0));
        if !control.by_hardware {
            for tunable in control.read_back() {
                table.insert(tunable.name.to_owned(), Value::Integer(tunable.value));
            }
        }
        applied.insert(format!("domain_{}", domain.name), Value::Table(table));
    }
    if let Some(limit) = planned.asked.settings.idle_latency {
        applied.insert("idle_latency_us".into(), integer(limit.0 / 1_000));
    }
    if let Some((least, most)) = planned.asked.settings.clamp() {
        applied.insert("uclamp_min".into(), integer(u64::from(least)));
        applied.insert("uclamp_max".into(), integer(u64::from(most)));
    }
    if let Some(multiplier) = planned.asked.settings.response_ramp {
        applied.insert("response_ramp".into(), integer(u64::from(multiplier)));
    }
    let governors: Vec<&str> = setup.domains.iter().map(|control| control.in_force()).collect();
    log.governor = governors.first().map(|name| (*name).to_owned());
    log.scheduling_applied = Some(planned.asked.scheduling.0.to_string());
    log.degraded.clone_from(&setup.degraded);
    log.applied = applied;
    log
}

fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// What the figures of the run rest on.
pub(super) fn notes(run: &ModelRun) -> Vec<Note> {
    let mut notes =
        vec![info("model", format!("costs of the kernels: {}", run.model.costs.source))];
    for (workload, costs) in run.experiment.workloads.iter().zip(&run.works) {
        let mut seen: Vec<&str> = Vec::new();
        for (cpu, cost) in run.model.platform.cpus.iter().zip(costs) {
            if seen.contains(&cpu.core_type.as_str()) {
                continue;
            }
            seen.push(&cpu.core_type);
            let own_cycles = cost.work.cycles as f64 / cpu.work_per_cycle;
            let origin = match cost.measured {
                true => "measured on this kind of core",
                false => "assumed: another kind's cycles, by the platform's work per cycle",
            };
            notes.push(info(
                &format!("workload {}", workload.label()),
                format!(
                    "on {}: {:.0} cycles and {:.2} us for memory per window, largest misfit \
                     {:.2} % ({origin})",
                    cpu.core_type,
                    own_cycles,
                    cost.work.memory.as_micros_f64(),
                    100.0 * cost.residual
                ),
            ));
        }
    }
    for (planned, setup) in run.plan.conditions.iter().zip(&run.conditions) {
        let object = format!("condition {}", planned.name);
        notes.extend(setup.load.notes.iter().map(|note| info(&object, note.clone())));
    }
    notes
}

/// A remark without a time.
pub(super) fn info(object: &str, message: String) -> Note {
    Note { t_ns: None, severity: "info".to_owned(), object: object.to_owned(), message, hint: None }
}
