//! From a tree of values to a scenario.

use super::error::{ScenarioError, suggestion};
use super::keys;
use super::model::{InterruptSpec, Record, Scenario};
use super::reader::{Fields, Item};
use super::tree::{Node, Place};
use super::{cgroup, features, governor, hint, load, task, text};
use crate::setup::Placement;
use crate::workload::Amount;
use flyball_platform::{DescriptionError, FrequencyControl, Kernel, Platform, is_file};
use flyball_units::{CpuId, Diagnostic, Nanos};

/// Where a scenario comes from, and how the files that it names are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The file's name for error messages.
    pub origin: &'a str,
    /// Name of a scenario that does not name itself.
    pub name: &'a str,
    /// Reads a file by its path as the scenario writes it; the error says what failed.
    pub open: &'a (dyn Fn(&str) -> Result<String, String> + Sync),
}

impl<'a> Source<'a> {
    /// A text that names no other files.
    pub fn text_only(origin: &'a str, name: &'a str) -> Source<'a> {
        Source { origin, name, open: &|path| Err(format!("expected no other file, found {path}")) }
    }
}

/// Phases above which a typing error is more likely than a wish.
const MAX_PHASES: i64 = 100_000;

/// Longest simulated time: a day.
const MAX_DURATION: Nanos = Nanos::from_secs(86_400);

/// Reads a scenario from TOML.
///
/// # Errors
/// Text that is no TOML, no scenario, or contradicts itself; with line and column.
pub fn read(text: &str, source: Source<'_>) -> Result<Scenario, ScenarioError> {
    from_tree(&text::parse(text, source.origin)?, source)
}

/// Reads a scenario from a tree, to which the command line may have added.
///
/// # Errors
/// As [`read`].
pub fn from_tree(root: &Node, source: Source<'_>) -> Result<Scenario, ScenarioError> {
    let top = Fields::new(source.origin, "", root, &[keys::TOP])?;
    let named = top.require("platform").map_err(|error| {
        error.hint("a scenario names a platform and a task; begin with a commented one")
    })?;
    let platform = platform(&named, source)?;
    let kernel = kernel(&top, &platform, source)?;
    let count = platform.cpus.len() as u32;
    let phases = top.integer_or("phases", 20, 1..=MAX_PHASES)? as u32;
    let (governors, (governor_cost, governor_cpu)) = governor::read(&top, &platform, &kernel)?;
    let duration = duration(&top)?;
    let mut cgroups = cgroup::read_all(&top)?;
    let tasks = task::read_all(&top, count, &cgroups, source)?;
    cgroup::add_of_programs(&mut cgroups, &tasks);
    hint::have_effect(&top, &tasks, &kernel)?;
    Ok(Scenario {
        name: top.get("name").map_or(Ok(source.name), |item| item.text())?.to_owned(),
        question: top.get("question").map(|item| item.text().map(str::to_owned)).transpose()?,
        governors,
        governor_cost,
        governor_cpu,
        controller_delay: top.duration_or("controller_delay", Nanos::ZERO)?,
        controller_busy: top.duration_or("controller_busy", Nanos::ZERO)?,
        measured_ticks: Vec::new(),
        measured_before: Vec::new(),
        measured_frequencies: Vec::new(),
        measured_care: Vec::new(),
        placement: placement(&top, &kernel)?,
        duration,
        seed: top.integer_or("seed", 1, 0..=i64::MAX)? as u64,
        phases,
        record: top.choice_or("record", Record::Summary, RECORDS)?,
        record_phase: record_phase(&top, phases)?,
        utilization: utilization(&top)?,
        load: top.get("load").map_or(Ok(Vec::new()), |item| {
            load::parse(item.text()?, count).map_err(|slip| item.mismatch(slip))
        })?,
        hints: hint::read_all(&top, &tasks)?,
        cgroups,
        tasks,
        interrupts: interrupts(&top, &platform)?,
        platform,
        kernel,
        text: text::print(root),
    })
}

const RECORDS: &[(&str, Record)] =
    &[("none", Record::None), ("summary", Record::Summary), ("full", Record::Full)];

fn record_phase(top: &Fields<'_>, phases: u32) -> Result<u32, ScenarioError> {
    let Some(item) = top.get("record_phase") else { return Ok(0) };
    let last = i64::from(phases) - 1;
    let phase = item.integer(0..=last).map_err(|error| match phases {
        1 => item
            .expected("0, as there is one phase")
            .hint("leave record_phase out, or simulate more phases"),
        _ => error.hint(format!("there are {phases} phases, numbered from 0")),
    })?;
    Ok(phase as u32)
}

fn duration(top: &Fields<'_>) -> Result<Nanos, ScenarioError> {
    let duration = top.span_or("duration", Nanos::from_secs(1))?;
    match top.get("duration") {
        Some(item) if duration > MAX_DURATION => Err(item.expected("at most 24h")),
        _ => Ok(duration),
    }
}

fn platform(item: &Item<'_>, source: Source<'_>) -> Result<Platform, ScenarioError> {
    let name = item.text()?;
    described(item, name, source, Platform::named, Platform::parse)
}

fn kernel(
    top: &Fields<'_>,
    platform: &Platform,
    source: Source<'_>,
) -> Result<Kernel, ScenarioError> {
    let mut kernel = match top.get("kernel") {
        Some(item) => {
            // A version alone is read as a number.
            let name = item.text().map_err(|error| error.hint("a name, such as linux-6.12"))?;
            described(&item, name, source, Kernel::named, Kernel::parse)?
        }
        None => Kernel::named(&platform.default_kernel)
            .map_err(|error| ScenarioError::new(source.origin, error.to_string()))?,
    };
    if let Some(item) = top.get("hz") {
        let hz = item.integer(10..=10_000)? as u32;
        // Where the statistics clock is the tick, it stays the tick.
        if kernel.stat_hz == kernel.hz {
            kernel.stat_hz = hz;
        }
        kernel.hz = hz;
    }
    if let Some(item) = top.get("latency_limit") {
        kernel.latency_limit = Some(item.duration()?);
    }
    if let Some(item) = top.get("features") {
        kernel.features = features::read(&item, kernel.features)?;
    }
    Ok(kernel)
}

/// What ships under a name, or a file.
fn described<T>(
    item: &Item<'_>,
    name: &str,
    source: Source<'_>,
    named: impl Fn(&str) -> Result<T, DescriptionError>,
    parse: impl Fn(&str, &str) -> Result<T, DescriptionError>,
) -> Result<T, ScenarioError> {
    if is_file(name) {
        let text = (source.open)(name).map_err(|error| item.wrong(error))?;
        return parse(&text, name).map_err(|error| item.wrong(&error).maybe_hint(error.hint()));
    }
    // The item says already that it is about a platform or a kernel.
    named(name).map_err(|error| item.wrong(&error.message).maybe_hint(error.hint()))
}

fn placement(top: &Fields<'_>, kernel: &Kernel) -> Result<Placement, ScenarioError> {
    let default = match kernel.capacity_aware || kernel.energy_aware {
        true => Placement::CapacityAware,
        false => Placement::PreviousOrIdle,
    };
    let choices = [
        ("previous-or-idle", Placement::PreviousOrIdle),
        ("capacity-aware", Placement::CapacityAware),
        ("consolidating", Placement::Consolidating),
    ];
    top.choice_or("placement", default, &choices)
}

fn utilization(top: &Fields<'_>) -> Result<Vec<u32>, ScenarioError> {
    let Some(item) = top.get("utilization") else { return Ok(vec![450, 1000]) };
    item.list()?.iter().map(|item| Ok(item.integer(1..=1024)? as u32)).collect()
}

fn interrupts(top: &Fields<'_>, platform: &Platform) -> Result<Vec<InterruptSpec>, ScenarioError> {
    let Some(list) = top.get("interrupt") else { return Ok(Vec::new()) };
    let one = |item: &Item<'_>| {
        let fields = item.fields(&[keys::INTERRUPT])?;
        let work = fields.require("work")?.amount()?;
        let cpus = match fields.get("cpus") {
            Some(item) => on_machine(&item, platform.cpus.len() as u32)?,
            None => platform.cpus.iter().map(|cpu| cpu.id).collect(),
        };
        Ok(InterruptSpec {
            cpus,
            mean: fields.require("mean")?.interval()?,
            work: nonzero(&fields.require("work")?, work)?,
            memory: fields.duration_or("memory", Nanos::ZERO)?,
        })
    };
    list.list()?.iter().map(one).collect()
}

/// CPUs that the machine has.
pub(super) fn on_machine(item: &Item<'_>, count: u32) -> Result<Vec<CpuId>, ScenarioError> {
    let cpus = item.cpus()?;
    match cpus.iter().find(|cpu| cpu.0 >= count) {
        Some(cpu) => {
            Err(item.wrong(format!("expected CPUs 0 to {}, found {cpu}", count.saturating_sub(1))))
        }
        None => Ok(cpus),
    }
}

/// Work that is something.
pub(super) fn nonzero(item: &Item<'_>, amount: Amount) -> Result<Amount, ScenarioError> {
    if amount.is_zero() { Err(item.expected("work above 0")) } else { Ok(amount) }
}

/// `uclamp_min` and `uclamp_max`.
pub(super) fn clamps(
    item: &Item<'_>,
    fields: &Fields<'_>,
    defaults: (u32, u32),
) -> Result<(u32, u32), ScenarioError> {
    let clamp = |key: &str, default: u32| fields.integer_or(key, default.into(), 0..=1024);
    let (min, max) = (clamp("uclamp_min", defaults.0)?, clamp("uclamp_max", defaults.1)?);
    if min > max {
        let message = format!("expected uclamp_min at most uclamp_max, found {min} and {max}");
        return Err(item.wrong(message));
    }
    Ok((min as u32, max as u32))
}

/// The error of a name that nothing has.
pub(super) fn unknown_name(
    item: &Item<'_>,
    what: &str,
    name: &str,
    known: &[&str],
) -> ScenarioError {
    item.wrong(format!("expected {what}, found \"{name}\"")).maybe_hint(suggestion(name, known))
}

impl Scenario {
    /// Name of the governor of the first clock domain that software rules; None where hardware
    /// rules all of them.
    pub fn governor_in_charge(&self) -> Option<&str> {
        let domains = self.platform.domains.iter().zip(&self.governors);
        let mut ruled = domains.filter(|(domain, _)| domain.control == FrequencyControl::Software);
        ruled.next().map(|(_, spec)| spec.name.as_str())
    }

    /// Checks the scenario against the engine once, so that no phase can fail later.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn check(&self, origin: &str) -> Result<(), ScenarioError> {
        let built = self.setup(0);
        crate::engine::Machine::new(built.setup).map(drop).map_err(|error| ScenarioError {
            origin: origin.to_owned(),
            place: None::<Place>,
            hint: error.hint(),
            message: error.to_string(),
        })
    }
}
