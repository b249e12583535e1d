//! `[[task]]`: what runs.

use super::error::ScenarioError;
use super::hint::MAX_MULTIPLIER;
use super::kinds::{KINDS, Kind};
use super::model::{TaskSpec, Workload};
use super::parse::{Source, clamps, on_machine, unknown_name};
use super::reader::{Fields, Item};
use super::{cgroup, keys};
use crate::setup::{Cgroup, Class, Creator, TaskId};
use crate::workload::rt_app;
use flyball_governors::ResponseRamp;
use flyball_run::name::{NAME_BYTES, check_name};
use flyball_units::{CpuId, Mismatch, Nanos};
use std::collections::BTreeSet;

/// Tasks above which a typing error is more likely than a wish.
const MAX_COUNT: i64 = 10_000;

/// All tasks of a scenario on a machine with `cpus` CPUs.
pub fn read_all(
    top: &Fields<'_>,
    cpus: u32,
    cgroups: &[Cgroup],
    source: Source<'_>,
) -> Result<Vec<TaskSpec>, ScenarioError> {
    let list =
        top.require("task").map_err(|error| error.hint("add:\n  [[task]]\n  kind = \"rampup\""))?;
    let items = list.list()?;
    if items.is_empty() {
        return Err(list.expected("at least one task"));
    }
    let mut tasks: Vec<TaskSpec> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for item in &items {
        let task = read(item, cpus, cgroups, source, &tasks)?;
        for name in task.names() {
            if let Err(found) = check_name(&name) {
                return Err(item.wrong(format!(
                    "expected a name of one line and at most {NAME_BYTES} bytes, found {found}"
                )));
            }
            if names.contains(&name) {
                return Err(item
                    .wrong(format!("expected names that differ, found \"{name}\" twice"))
                    .hint("give each task a name of its own: name = \"...\""));
            }
            names.insert(name);
        }
        if names.len() > MAX_COUNT as usize {
            return Err(item.wrong(format!("expected at most {MAX_COUNT} tasks in all")));
        }
        tasks.push(task);
    }
    Ok(tasks)
}

/// One `[[task]]`; those `before` it may be its parent.
fn read(
    item: &Item<'_>,
    cpus: u32,
    cgroups: &[Cgroup],
    source: Source<'_>,
    before: &[TaskSpec],
) -> Result<TaskSpec, ScenarioError> {
    let kind = kind(item)?;
    let fields = item.fields(&[keys::TASK, kind.keys])?;
    let optional = |key: &str, max: i64| {
        fields.get(key).map(|item| item.integer(0..=max).map(|value| value as u32)).transpose()
    };
    let (workload, deadline) = (kind.read)(&fields, source)?;
    let parent = fields.get("parent").map(|item| parent(&item, before)).transpose()?;
    if let Some(item) = fields.get("parent").filter(|_| parent.is_some_and(has_deadlines)) {
        return Err(item.wrong("expected a task that may fork, found one with deadlines"));
    }
    let creator_cpu = fields
        .get("creator_cpu")
        .map(|item| match parent {
            Some(_) => Err(item.wrong("expected parent or creator_cpu, found both")),
            None => item.integer(0..=i64::from(cpus) - 1).map(|cpu| CpuId(cpu as u32)),
        })
        .transpose()?;
    // What the parent's hint is, its children never learn.
    let inherited = parent.map_or(Inherited::default(), Inherited::of);
    let (uclamp_min, uclamp_max) =
        clamps(item, &fields, (inherited.uclamp_min, inherited.uclamp_max))?;
    let start = fields.duration_or("start", inherited.start)?;
    if let Some(item) = fields.get("start").filter(|_| start < inherited.start) {
        return Err(item.expected("a time at which its parent has started"));
    }
    let spec = TaskSpec {
        name: fields.get("name").map_or(Ok(kind.name), |item| item.text())?.to_owned(),
        count: fields.integer_or("count", 1, 1..=MAX_COUNT)? as u32,
        class: fields.get("class").map_or(Ok(inherited.class), |item| class(&item))?,
        cpus: fields.get("cpus").map_or(Ok(inherited.cpus), |item| on_machine(&item, cpus))?,
        cgroup: match fields.get("cgroup") {
            Some(item) => Some(cgroup::position(&item, cgroups)?),
            None => inherited.cgroup,
        },
        uclamp_min,
        uclamp_max,
        rampup_multiplier: optional("rampup_multiplier", MAX_MULTIPLIER)?,
        clamp_ramp: fields.get("clamp_ramp").map(|item| clamp_ramp(&item)).transpose()?,
        start,
        creator: match (parent, creator_cpu) {
            (Some(parent), _) => Creator::Task(number_of(parent, before)),
            (None, Some(cpu)) => Creator::Cpu(cpu),
            (None, None) => Creator::Nobody,
        },
        initial_util: optional("initial_util", 1024)?,
        workload,
        measured: Vec::new(),
        deadline,
    };
    check_deadline(&spec, &fields)?;
    if let Workload::RtApp(program) = &spec.workload {
        check_rt_app(program, &fields, cpus)?;
    }
    Ok(spec)
}

/// What a task has that does not say it: its parent's, or the defaults.
struct Inherited {
    class: Class,
    cpus: Vec<CpuId>,
    cgroup: Option<usize>,
    uclamp_min: u32,
    uclamp_max: u32,
    start: Nanos,
}

impl Default for Inherited {
    fn default() -> Inherited {
        Inherited {
            class: Class::Fair { nice: 0 },
            cpus: Vec::new(),
            cgroup: None,
            uclamp_min: 0,
            uclamp_max: 1024,
            start: Nanos::ZERO,
        }
    }
}

impl Inherited {
    fn of(parent: &TaskSpec) -> Inherited {
        Inherited {
            class: parent.class,
            cpus: parent.cpus.clone(),
            cgroup: parent.cgroup,
            uclamp_min: parent.uclamp_min,
            uclamp_max: parent.uclamp_max,
            start: parent.start,
        }
    }
}

/// The task that forks this one: one of those above it.
fn parent<'t>(item: &Item<'_>, before: &'t [TaskSpec]) -> Result<&'t TaskSpec, ScenarioError> {
    let name = item.text()?;
    let threads = |task: &&TaskSpec| !matches!(task.workload, Workload::RtApp(_));
    let found = before.iter().filter(threads).find(|task| task.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> =
            before.iter().filter(threads).map(|task| task.name.as_str()).collect();
        unknown_name(item, "a task above this one", name, &names)
    })
}

/// The number of a task's first, which those above it come before.
fn number_of(task: &TaskSpec, before: &[TaskSpec]) -> TaskId {
    let above = before.iter().take_while(|other| !std::ptr::eq(*other, task));
    TaskId(above.map(|other| other.names().len() as u32).sum())
}

/// The multiplier of a ramp.
fn clamp_ramp(item: &Item<'_>) -> Result<u32, ScenarioError> {
    item.integer(1..=i64::from(ResponseRamp::LARGEST)).map(|value| value as u32)
}

fn kind(item: &Item<'_>) -> Result<&'static Kind, ScenarioError> {
    let fields = item.any_fields()?;
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let named = fields
        .require("kind")
        .map_err(|error| error.hint(format!("kinds: {}", names.join(", "))))?;
    let name = named.text()?;
    KINDS
        .iter()
        .find(|kind| kind.name == name)
        .ok_or_else(|| unknown_name(&named, "a kind of task", name, &names))
}

/// `fair`, `nice:5`, `fifo:80`, `deadline:2ms/20ms`, `deadline:2ms/10ms/20ms`.
fn class(item: &Item<'_>) -> Result<Class, ScenarioError> {
    let text = item.text()?;
    let (word, number) = text.split_once(':').map_or((text, None), |(w, n)| (w, Some(n.trim())));
    match (word.trim(), number) {
        ("fair", None) => return Ok(Class::Fair { nice: 0 }),
        ("nice", Some(nice)) => {
            let nice = nice.parse().ok().filter(|nice| (-20..=19).contains(nice));
            let nice = nice.ok_or_else(|| item.expected("a nice value from -20 to 19"))?;
            return Ok(Class::Fair { nice });
        }
        ("fifo", Some(priority)) => {
            let priority = priority.parse().ok().filter(|priority| (1..=99).contains(priority));
            let priority =
                priority.ok_or_else(|| item.expected("a real-time priority from 1 to 99"))?;
            return Ok(Class::Fifo { priority });
        }
        ("deadline", Some(times)) => {
            let times: Result<Vec<Nanos>, _> = times.split('/').map(str::parse).collect();
            let class = times.and_then(|times| match *times {
                [runtime, period] => Class::deadline(runtime, period, period),
                [runtime, deadline, period] => Class::deadline(runtime, deadline, period),
                _ => Err(Mismatch::text("RUNTIME/PERIOD or RUNTIME/DEADLINE/PERIOD", text)),
            });
            return class.map_err(|error| item.wrong(error.line()));
        }
        _ => {}
    }
    let known = ["fair", "nice:5", "fifo:80", "deadline:2ms/20ms"];
    let expected = format!("a scheduling class ({})", known.join(", "));
    Err(unknown_name(item, &expected, text, &known))
}

fn has_deadlines(spec: &TaskSpec) -> bool {
    matches!(spec.class, Class::Deadline { .. })
}

/// The kernel admits a deadline task on all CPUs only, and its class has no clamps.
fn check_deadline(spec: &TaskSpec, fields: &Fields<'_>) -> Result<(), ScenarioError> {
    if !has_deadlines(spec) {
        return Ok(());
    }
    let key = ["cpus", "uclamp_min", "uclamp_max", "clamp_ramp", "initial_util"]
        .into_iter()
        .find_map(|key| fields.get(key));
    match key {
        Some(item) => Err(item.wrong("expected a deadline task without this, found it").hint(
            "its CPUs are all, and its class has neither clamps nor a utilisation of its own",
        )),
        None => Ok(()),
    }
}

/// What the file says about its threads must not be said twice, and must fit the machine.
fn check_rt_app(
    program: &rt_app::Program,
    fields: &Fields<'_>,
    cpus: u32,
) -> Result<(), ScenarioError> {
    for key in [
        "count",
        "parent",
        "creator_cpu",
        "class",
        "cpus",
        "uclamp_min",
        "uclamp_max",
        "start",
        "initial_util",
    ] {
        if let Some(item) = fields.get(key) {
            return Err(item
                .wrong("expected this in the rt-app file, found it here")
                .hint("rt-app's own keys: instance, policy, priority, cpus, util_min, delay"));
        }
    }
    let listed = program.threads.iter().flat_map(|thread| &thread.cpus);
    match listed.clone().find(|cpu| cpu.0 >= cpus) {
        Some(cpu) => {
            let item = fields.require("kind")?;
            Err(item.wrong(format!(
                "expected threads on CPUs 0 to {}, found {cpu}",
                cpus.saturating_sub(1)
            )))
        }
        None => Ok(()),
    }
}
