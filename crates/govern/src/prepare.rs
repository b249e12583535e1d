//! What a daemon would do on this machine, found out before anything is changed.

use crate::domain::{Facts, describe};
use crate::engine::thermometer;
use crate::{DomainRecord, Engine, GovernError, Governed, SourceKind, Times, Trail, Way, rules};
use flyball_control::{ControlError, Machine, Moving, Plan, Settings, plan};
use flyball_governors::{Domain, Needs, Tunable, catalogue};
use flyball_host::{Host, Policy};
use flyball_units::{CpuId, CpuSet, KiloHertz, Mismatch, Nanos};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// The kernel's governor that takes a frequency from user space.
const USERSPACE: &str = "userspace";

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The governor, by its name in the catalogue.
    pub governor: String,
    /// Tunables to set before it starts.
    pub tunables: Vec<(String, i64)>,
    /// CPUs whose clock domains are ruled; all where none are given.
    pub cpus: Option<CpuSet>,
    /// Where busy and idle times come from.
    pub source: SourceKind,
    /// Decide, but write nothing.
    pub shadow: bool,
}

/// What would be done.
#[derive(Clone, Debug, Serialize)]
pub struct Outline {
    /// The governor's name.
    pub governor: String,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Whether nothing is written.
    pub shadow: bool,
    /// What it needs.
    pub needs: Needs,
    /// Its tunables, as they are in the first domain.
    pub tunables: Vec<Tunable>,
    /// Where busy and idle times come from.
    pub source: SourceKind,
    /// What is certain of them.
    pub resolution_ns: Nanos,
    /// Time between two polls, where it polls.
    pub interval_ns: Option<Nanos>,
    /// The clock domains.
    pub domains: Vec<DomainOutline>,
    /// What is written once, at the beginning, and restored at the end.
    pub plan: Option<Plan>,
    /// What is approximated, or should be known.
    pub notes: Vec<String>,
}

/// One clock domain of an outline.
#[derive(Clone, Debug, Serialize)]
pub struct DomainOutline {
    /// The policy.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Its online CPUs.
    pub cpus: Vec<CpuId>,
    /// Its operating points.
    pub points_khz: Vec<KiloHertz>,
    /// Lower limit.
    pub min_khz: KiloHertz,
    /// Upper limit.
    pub max_khz: KiloHertz,
    /// Frequency at the start.
    pub current_khz: KiloHertz,
    /// The files that are written with every change.
    pub files: Vec<PathBuf>,
}

/// A daemon that could run.
#[derive(Debug)]
pub struct Prepared {
    /// What it would do.
    pub outline: Outline,
    /// What is held for it; none in the shadow.
    pub request: Option<Settings>,
    wish: Wish,
    way: Way,
    times: Times,
    domains: Vec<(Policy, DomainRecord, Domain)>,
}

/// Looks at the machine and works out what a daemon would do. Nothing is changed.
///
/// # Errors
/// A governor, tunable or CPU that is not there; a need that is not met; polls that come too fast;
/// a machine without cpufreq.
pub fn prepare(host: &dyn Host, wish: &Wish) -> Result<Prepared, GovernError> {
    let thermometer = thermometer(host).map_err(GovernError::host("opening the thermometer"))?;
    let has_thermometer = thermometer.is_some();
    rules::make(&wish.governor, &wish.tunables, has_thermometer)?;
    let whole = Settings { governor: Some(USERSPACE.to_owned()), ..Settings::default() };
    let machine = Machine::read(host, &whole);
    let machine = machine.map_err(GovernError::host("reading what can be ruled"))?;
    let (way, request, planned) = hold(wish, &machine)?;
    let ruled = |policy: &&Policy| planned.domains.iter().any(|held| held.policy == policy.id);
    let policies: Vec<&Policy> = machine.policies.iter().filter(ruled).collect();
    let cpus = policies.iter().fold(CpuSet::new(), |all, policy| all.union(&policy.cpus));
    let times = Times::open(host, wish.source, &cpus)?;
    let facts = Facts::read(host, rules::stat_hz(times.resolution()));
    let mut notes = facts.notes.clone();
    notes.extend(planned.notes.iter().cloned());
    let mut domains = Vec::new();
    let mut first = None;
    for policy in policies {
        let Some((record, view)) = describe(host, policy, &machine.online, &facts)? else {
            notes.push(format!("policy{}: left out, all of its CPUs are offline", policy.id));
            continue;
        };
        if policy.available_khz.is_empty() {
            notes.push(format!(
                "policy{}: its driver lists no frequencies: points every 100 MHz",
                policy.id
            ));
        }
        // On a trial object: starting one may change what its tunables are.
        let mut trial = rules::make(&wish.governor, &wish.tunables, has_thermometer)?;
        trial.start(&view, host.now());
        times.allows(trial.as_ref())?;
        first.get_or_insert(trial);
        domains.push((policy.clone(), record, view));
    }
    let Some(first) = first else { return Err(nothing()) };
    let needs = first.needs();
    if let Some(hz) = needs.tick_hz {
        notes.push(format!(
            "{} counts ticks of the kernel; here they are polls at {hz} Hz, and a CPU that was busy \
             for more than half of the time between two counts as busy",
            first.name()
        ));
    }
    if way == Way::Limits && !wish.shadow {
        notes.push(
            "the driver has no governor userspace: both limits are set to the frequency, under the \
             governor that is there"
                .to_owned(),
        );
    }
    let entry = catalogue().iter().find(|entry| entry.name == first.name());
    let outline = Outline {
        governor: first.name().to_owned(),
        summary: entry.map_or("", |entry| entry.summary),
        shadow: wish.shadow,
        needs,
        tunables: first.tunables(),
        source: times.kind(),
        resolution_ns: times.resolution(),
        interval_ns: match needs.tick_hz {
            Some(hz) => Some(Nanos(1_000_000_000 / u64::from(hz.max(1)))),
            None => first.poll_interval(),
        },
        domains: domains.iter().map(|(policy, record, _)| outlined(policy, record, way)).collect(),
        plan: (!wish.shadow).then_some(planned),
        notes,
    };
    let request = (!wish.shadow).then_some(request);
    Ok(Prepared { outline, request, wish: wish.clone(), way, times, domains })
}

pub(crate) fn nothing() -> GovernError {
    GovernError::Unsupported(
        Mismatch::value("a clock domain with a CPU that is online", "none")
            .at("/sys/devices/system/cpu/cpufreq"),
    )
}

/// How the domains are told, and what has to be held for that.
fn hold(wish: &Wish, machine: &Machine) -> Result<(Way, Settings, Plan), ControlError> {
    let limits = Settings {
        moving: Some(Moving::Limits),
        domains_of: wish.cpus.clone(),
        ..Settings::default()
    };
    let planned = plan(&limits, machine)?;
    let ruled = |policy: &&Policy| planned.domains.iter().any(|held| held.policy == policy.id);
    let offers = |policy: &Policy| policy.available_governors.iter().any(|name| name == USERSPACE);
    if !machine.policies.iter().filter(ruled).all(offers) {
        return Ok((Way::Limits, limits, planned));
    }
    let speed =
        Settings { governor: Some(USERSPACE.to_owned()), moving: Some(Moving::Speed), ..limits };
    let planned = plan(&speed, machine)?;
    Ok((Way::Speed, speed, planned))
}

fn outlined(policy: &Policy, record: &DomainRecord, way: Way) -> DomainOutline {
    let files: &[&str] = match way {
        Way::Speed => &["scaling_setspeed"],
        Way::Limits => &["scaling_min_freq", "scaling_max_freq"],
    };
    let folder = PathBuf::from(policy.path());
    DomainOutline {
        name: format!("policy{}", policy.id),
        driver: policy.driver.clone(),
        cpus: record.cpus.clone(),
        points_khz: record.points_khz.clone(),
        min_khz: record.min_khz,
        max_khz: record.max_khz,
        current_khz: record.current_khz,
        files: files.iter().map(|name| folder.join(name)).collect(),
    }
}

impl Prepared {
    /// The domains' names, for a log.
    pub fn names(&self) -> Vec<String> {
        self.outline.domains.iter().map(|domain| domain.name.clone()).collect()
    }

    /// Opens the files and makes the engine. What is held must be held by now.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(self, host: &Arc<dyn Host>, trail: Trail) -> Result<Engine, GovernError> {
        let thermometer =
            thermometer(host.as_ref()).map_err(GovernError::host("opening the thermometer"))?;
        let way = (!self.wish.shadow).then_some(self.way);
        let mut opened = Vec::new();
        for (number, (policy, record, view)) in (0_u16..).zip(self.domains) {
            let governor =
                rules::make(&self.wish.governor, &self.wish.tunables, thermometer.is_some())?;
            let folder = PathBuf::from(policy.path());
            opened.push(Governed::open(
                host.as_ref(),
                &folder,
                (policy, number),
                (record, view),
                (governor, way),
            )?);
        }
        Ok(Engine::new(Arc::clone(host), opened, self.times, thermometer, trail))
    }
}
