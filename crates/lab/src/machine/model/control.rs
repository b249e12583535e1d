//! What a condition asks of the frequency control, on each clock domain of a platform.

use super::{ConditionSetup, Model};
use crate::machine::error::MachineError;
use crate::plan::PlannedCondition;
use flyball_control::{SETTINGS, Scope, Settings};
use flyball_governors::{Governor, Tunable};
use flyball_host::Scheduling;
use flyball_load::{Placement, Site};
use flyball_platform::{ClockDomain, FrequencyControl, rule};
use flyball_sim::setup::Class;
use flyball_units::{CpuSet, Frequency, KiloHertz, Relation};

/// One clock domain under one condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DomainControl {
    /// The governor's name, as registered.
    pub governor: &'static str,
    /// Tunables to set on it.
    pub tunables: Vec<(String, i64)>,
    /// Policy limits, where they are not the hardware's.
    pub limits: Option<(KiloHertz, KiloHertz)>,
    /// Whether the hardware decides, whatever the governor says.
    pub by_hardware: bool,
}

impl DomainControl {
    /// The governor with its tunables. They were checked when the condition was prepared.
    pub(super) fn governor(&self) -> Option<Box<dyn Governor>> {
        let mut governor = flyball_governors::create(self.governor).ok()?;
        for (name, value) in &self.tunables {
            governor.set(name, *value).ok()?;
        }
        Some(governor)
    }

    /// The tunables as they are after setting: what a user reads back.
    pub(super) fn read_back(&self) -> Vec<Tunable> {
        self.governor().map(|governor| governor.tunables()).unwrap_or_default()
    }
}

impl ConditionSetup {
    pub(super) fn new(
        model: &Model,
        condition: &PlannedCondition,
        online: &CpuSet,
        degrade: bool,
    ) -> Result<ConditionSetup, MachineError> {
        let mut remarks = Remarks { condition: &condition.name, degrade, degraded: Vec::new() };
        let asked = &condition.asked;
        for setting in SETTINGS.iter().filter(|setting| setting.scope == Scope::Hardware) {
            if setting.told(&asked.settings).is_some() {
                remarks.add(setting.name.to_owned(), "the model has no such setting".to_owned())?;
            }
        }
        let settings = &asked.settings;
        let ramps = settings.response_ramp.is_some() && model.kernel.ramps_by_clamps();
        if (ramps || settings.clamp().is_some()) && !model.kernel.uclamp {
            let kernel = &model.kernel.name;
            remarks.add("uclamp".to_owned(), format!("the kernel {kernel} has no uclamp"))?;
        }
        class(asked.scheduling.0, &mut remarks)?;
        let domains = domains(model, condition, &mut remarks)?;
        let measured = condition.cpus.clone().unwrap_or_else(|| online.clone());
        let site = Site { usable: online.clone(), measured };
        let load = Placement::of(&asked.load, &site).map_err(|source| MachineError::Load {
            condition: condition.name.clone(),
            source: Box::new(source.into()),
        })?;
        Ok(ConditionSetup { domains, load, site, degraded: remarks.degraded })
    }
}

/// What cannot be applied: an error, or a remark where the experiment allows to degrade.
pub(super) struct Remarks<'a> {
    condition: &'a str,
    degrade: bool,
    degraded: Vec<String>,
}

impl Remarks<'_> {
    fn add(&mut self, setting: String, reason: String) -> Result<(), MachineError> {
        if !self.degrade {
            let condition = self.condition.to_owned();
            return Err(MachineError::NotApplied { condition, setting, reason });
        }
        self.degraded.push(format!("{setting}: {reason}"));
        Ok(())
    }
}

/// The scheduling class of the measured task.
pub(super) fn class(
    scheduling: Scheduling,
    remarks: &mut Remarks<'_>,
) -> Result<Class, MachineError> {
    if !matches!(
        scheduling,
        Scheduling::Other { .. }
            | Scheduling::Fifo { .. }
            | Scheduling::RoundRobin { .. }
            | Scheduling::Deadline { .. }
    ) {
        remarks.add(
            format!("scheduling {scheduling}"),
            "the model has the classes other, fifo, rr and deadline".to_owned(),
        )?;
    }
    Ok(class_of(scheduling))
}

/// The class in the simulation. One task of a priority does not feel a round robin's slice, and
/// the measured task is the only one.
pub(super) fn class_of(scheduling: Scheduling) -> Class {
    match scheduling {
        Scheduling::Other { nice } => Class::Fair { nice: nice.clamp(-20, 19) as i8 },
        Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => {
            Class::Fifo { priority: priority.clamp(1, 99) as u8 }
        }
        Scheduling::Deadline { runtime, deadline, period } => {
            Class::Deadline { runtime, deadline, period }
        }
        _ => Class::Fair { nice: 0 },
    }
}

fn domains(
    model: &Model,
    condition: &PlannedCondition,
    remarks: &mut Remarks<'_>,
) -> Result<Vec<DomainControl>, MachineError> {
    let asked = &condition.asked.settings;
    let wrong =
        |message: String| MachineError::Frequency { condition: condition.name.clone(), message };
    let name = match (&asked.governor, asked.frequency) {
        (_, Some(_)) => "performance",
        (Some(name), None) => known(name, condition)?,
        (None, None) => known(&model.kernel.default_governor, condition)?,
    };
    let mut tunables: Vec<(String, i64)> = asked.tunables.clone().into_iter().collect();
    check_tunables(name, &tunables, condition)?;
    with_the_kernels_own(model, name, &mut tunables);
    let selected = &asked.domains_of;
    let as_is = asked.governor.is_none() && asked.frequency.or(asked.min).or(asked.max).is_none();
    let mut domains = Vec::new();
    for domain in &model.platform.domains {
        if selected.as_ref().is_some_and(|cpus| !domain.cpus.iter().any(|cpu| cpus.contains(*cpu)))
        {
            domains.push(as_it_comes(model, domain, condition)?);
            continue;
        }
        let by_hardware = domain.control != FrequencyControl::Software;
        if by_hardware && !as_is {
            remarks.add(
                format!("frequency control of domain {}", domain.name),
                format!("on {} the hardware decides", model.platform.name),
            )?;
        }
        let limits = match asked.frequency {
            Some(frequency) => {
                let held = resolve(domain, frequency, Relation::L);
                Some((held, held))
            }
            None => range(domain, asked).map_err(wrong)?,
        };
        domains.push(DomainControl {
            governor: name,
            tunables: tunables.clone(),
            limits: limits.filter(|_| !by_hardware),
            by_hardware,
        });
    }
    Ok(domains)
}

/// A domain that a condition has nothing to do with.
fn as_it_comes(
    model: &Model,
    domain: &ClockDomain,
    condition: &PlannedCondition,
) -> Result<DomainControl, MachineError> {
    let governor = known(&model.kernel.default_governor, condition)?;
    let mut tunables = Vec::new();
    with_the_kernels_own(model, governor, &mut tunables);
    let by_hardware = domain.control != FrequencyControl::Software;
    Ok(DomainControl { governor, tunables, limits: None, by_hardware })
}

/// What the kernel's administrator set holds where the condition says nothing.
fn with_the_kernels_own(model: &Model, governor: &str, tunables: &mut Vec<(String, i64)>) {
    if let Some((tunable, value)) = rule::tunable_of(governor, &model.kernel)
        && !tunables.iter().any(|(name, _)| name == tunable)
    {
        tunables.push((tunable.to_owned(), value));
    }
}

/// The registered name of a governor.
fn known(name: &str, condition: &PlannedCondition) -> Result<&'static str, MachineError> {
    let created = flyball_governors::create(name);
    created
        .map(|governor| governor.name())
        .map_err(|source| MachineError::Governor { condition: condition.name.clone(), source })
}

fn check_tunables(
    name: &'static str,
    tunables: &[(String, i64)],
    condition: &PlannedCondition,
) -> Result<(), MachineError> {
    let Ok(mut governor) = flyball_governors::create(name) else { return Ok(()) };
    for (tunable, value) in tunables {
        governor.set(tunable, *value).map_err(|source| MachineError::Tunable {
            condition: condition.name.clone(),
            source,
        })?;
    }
    Ok(())
}

/// Policy limits on a domain; None where they are the hardware's.
fn range(
    domain: &ClockDomain,
    limits: &Settings,
) -> Result<Option<(KiloHertz, KiloHertz)>, String> {
    if limits.min.or(limits.max).is_none() {
        return Ok(None);
    }
    let min = limits.min.map_or(domain.opps.min(), |min| resolve(domain, min, Relation::L));
    let max = limits.max.map_or(domain.opps.max(), |max| resolve(domain, max, Relation::H));
    if min > max {
        return Err(format!(
            "expected limits around an operating point of domain {}, found none from {min} to {max}",
            domain.name
        ));
    }
    Ok(Some((min, max)))
}

/// The operating point of a domain for a frequency that is asked for.
fn resolve(domain: &ClockDomain, asked: Frequency, relation: Relation) -> KiloHertz {
    let (min, max) = (domain.opps.min(), domain.opps.max());
    match asked {
        Frequency::Min => min,
        Frequency::Max => max,
        Frequency::At(frequency) => domain.opps.resolve(frequency, min, max, relation),
    }
}

impl DomainControl {
    /// Who chooses the frequency: the governor's name, or `hardware`.
    pub(super) fn in_force(&self) -> &'static str {
        if self.by_hardware { "hardware" } else { self.governor }
    }
}
