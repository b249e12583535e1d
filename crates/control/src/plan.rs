//! From settings to the files to write, in the order that the kernel needs.

use crate::domain::domain;
use crate::machine::{CPU, Machine};
use crate::{ControlError, Moving, Settings, boost};
use flyball_host::Policy;
use flyball_units::{Frequency, KiloHertz, Mismatch, Nanos};
use serde::Serialize;
use std::path::PathBuf;

/// A file and its value, before and while it is held. Equal ones are not written, but watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The file.
    pub path: PathBuf,
    /// What it has; empty where that is not known before an earlier step.
    pub old: String,
    /// What it gets.
    pub new: String,
}

impl Step {
    pub(crate) fn new(path: PathBuf, old: impl ToString, new: impl ToString) -> Step {
        Step { path, old: old.to_string(), new: new.to_string() }
    }

    /// Whether something has to be written.
    pub fn is_change(&self) -> bool {
        self.old != self.new
    }
}

/// A clock domain as it is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Number of the policy.
    pub policy: u32,
    /// Its CPUs.
    pub cpus: flyball_units::CpuSet,
    /// Its driver.
    pub driver: Option<String>,
    /// The one frequency that it is held at, where it is.
    #[serde(rename = "pinned_khz")]
    pub pinned: Option<KiloHertz>,
}

/// A tunable to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tuning {
    /// Number of the policy; where the driver has one set of tunables for all, the first one's.
    pub policy: u32,
    /// The governor that is then in force.
    pub governor: String,
    /// Upstream name.
    pub name: String,
    /// What it gets.
    pub value: i64,
}

/// What will be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Switches of boost: the limits are looked up again after them.
    pub switches: Vec<Step>,
    /// Everything else, in order.
    pub steps: Vec<Step>,
    /// Tunables, set once their governor is in force: their files come with it.
    pub tunables: Vec<Tuning>,
    /// The clock domains that are held.
    pub domains: Vec<Held>,
    /// Only idle states that wake within this time.
    #[serde(rename = "idle_latency_ns")]
    pub idle_latency: Option<Nanos>,
    /// What the owner of the hold will write meanwhile, in all of the domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moving: Option<Moving>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Plan {
    /// All steps, in order.
    pub fn all(&self) -> impl Iterator<Item = &Step> {
        self.switches.iter().chain(&self.steps)
    }

    /// Whether the files of policy `id` move during the hold, and which.
    pub(crate) fn moving_in(&self, id: u32) -> &'static [&'static str] {
        match self.moving {
            Some(moving) if self.domains.iter().any(|domain| domain.policy == id) => moving.files(),
            _ => &[],
        }
    }

    /// Paths of all files that move during the hold.
    pub(crate) fn moving_paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.domains.iter().flat_map(|domain| {
            let folder = PathBuf::from(format!("{CPU}/cpufreq/policy{}", domain.policy));
            self.moving_in(domain.policy).iter().map(move |name| folder.join(name))
        })
    }
}

/// Plans what `settings` asks for on `machine`, as it is now.
///
/// # Errors
/// What the machine cannot do, or what makes no sense on it. Nothing is read or written.
pub fn plan(settings: &Settings, machine: &Machine) -> Result<Plan, ControlError> {
    let mut plan =
        Plan { idle_latency: settings.idle_latency, moving: settings.moving, ..Plan::default() };
    if !settings.needs_cpufreq() {
        return Ok(plan);
    }
    let policies = selected(settings, machine, &mut plan.notes)?;
    if let Some(on) = settings.boost {
        plan.switches = boost::steps(on, machine, &policies)?;
        if settings.needs_limits() && plan.switches.iter().any(Step::is_change) {
            plan.notes.push("boost may move the limits: frequencies are looked up after it".into());
        }
    }
    in_range(settings, &policies)?;
    for policy in policies {
        domain(settings, policy, &mut plan)?;
    }
    if let Some(percent) = machine.max_perf_percent.filter(|_| settings.boost.is_none()) {
        plan.notes.push(format!(
            "intel_pstate/max_perf_pct is {percent}: higher limits have no effect beyond it"
        ));
    }
    Ok(plan)
}

/// The policies of the CPUs that were asked for.
fn selected<'a>(
    settings: &Settings,
    machine: &'a Machine,
    notes: &mut Vec<String>,
) -> Result<Vec<&'a Policy>, ControlError> {
    if machine.policies.is_empty() {
        return Err(ControlError::Unsupported(
            Mismatch::value(
                "cpufreq policies",
                "none: the kernel has no say in the frequency (a virtual machine, no driver, or \
                    the firmware decides)",
            )
            .at(format!("{CPU}/cpufreq"))
            .hint("keep the cores busy instead, so that they stay fast while you measure"),
        ));
    }
    let Some(cpus) = &settings.domains_of else { return Ok(machine.policies.iter().collect()) };
    let domain = |policy: &&Policy| policy.cpus.iter().any(|cpu| cpus.contains(cpu));
    let policies: Vec<&Policy> = machine.policies.iter().filter(domain).collect();
    let covered = |cpu| policies.iter().any(|policy| policy.cpus.contains(cpu));
    if let Some(cpu) = cpus.iter().find(|cpu| !covered(*cpu) || !machine.online.contains(*cpu)) {
        return Err(ControlError::BadInput(
            Mismatch::value(
                format!("CPUs that are online and have a clock domain: {}", machine.online),
                format!("{cpu}"),
            )
            .at("cpus"),
        ));
    }
    for policy in &policies {
        if policy.cpus.iter().any(|cpu| !cpus.contains(cpu)) {
            let (id, all) = (policy.id, &policy.cpus);
            notes.push(format!("policy{id} is one clock for CPUs {all}: all of them are held"));
        }
    }
    Ok(policies)
}

/// Refuses frequencies that no domain has; where one has it, the others take their nearest end.
fn in_range(settings: &Settings, policies: &[&Policy]) -> Result<(), ControlError> {
    let asked = [("frequency", settings.frequency), ("min", settings.min), ("max", settings.max)];
    for (option, frequency) in asked {
        let Some(Frequency::At(khz)) = frequency else { continue };
        let ranges = policies
            .iter()
            .filter_map(|policy| Some((policy.hardware_min_khz?, policy.hardware_max_khz?)));
        let ranges: Vec<_> = ranges.collect();
        // With boost on, the range may become wider.
        let reach = |(low, high): &(KiloHertz, KiloHertz)| {
            *low <= khz && (khz <= *high || settings.boost == Some(true))
        };
        if !ranges.is_empty() && !ranges.iter().any(reach) {
            let low = ranges.iter().map(|(low, _)| *low).min().unwrap_or_default();
            let high = ranges.iter().map(|(_, high)| *high).max().unwrap_or_default();
            return Err(ControlError::BadInput(
                Mismatch::value(
                    format!("{} to {} MHz", low.0 / 1_000, high.0 / 1_000),
                    Frequency::At(khz),
                )
                .at(option.to_owned())
                .hint("min and max stand for the ends of the hardware's range"),
            ));
        }
    }
    Ok(())
}
