//! `[[cgroup]]`: control groups, and which of them a task is in.

use super::error::ScenarioError;
use super::keys;
use super::model::{TaskSpec, Workload};
use super::parse::{clamps, unknown_name};
use super::reader::{Fields, Item};
use crate::setup::{Bandwidth, Cgroup};
use flyball_units::{Mismatch, Nanos};

/// All control groups of a scenario.
pub fn read_all(top: &Fields<'_>) -> Result<Vec<Cgroup>, ScenarioError> {
    let Some(list) = top.get("cgroup") else { return Ok(Vec::new()) };
    let mut groups: Vec<Cgroup> = Vec::new();
    for item in &list.list()? {
        let group = read(item)?;
        if groups.iter().any(|other| other.name == group.name) {
            let name = &group.name;
            return Err(item.wrong(format!("expected names that differ, found \"{name}\" twice")));
        }
        groups.push(group);
    }
    Ok(groups)
}

/// Adds the groups that rt-app's threads name and the scenario does not describe: they limit nothing.
pub fn add_of_programs(groups: &mut Vec<Cgroup>, tasks: &[TaskSpec]) {
    let programs = tasks.iter().filter_map(|task| match &task.workload {
        Workload::RtApp(program) => Some(program),
        _ => None,
    });
    let threads = programs.flat_map(|program| &program.threads);
    for name in threads.filter_map(|thread| thread.taskgroup.as_ref()) {
        if groups.iter().all(|group| group.name != *name) {
            groups.push(Cgroup::named(name));
        }
    }
}

fn read(item: &Item<'_>) -> Result<Cgroup, ScenarioError> {
    let fields = item.fields(&[keys::CGROUP])?;
    let named = fields.require("name")?;
    let name = named.text()?;
    if !is_folder_name(name) {
        let expected =
            "a name of letters, digits, `-` and `_`, as it becomes a folder on a machine";
        return Err(named.expected(expected));
    }
    let (least, most) = Cgroup::WEIGHTS;
    let weight = fields.integer_or(
        "cpu_weight",
        Cgroup::DEFAULT_WEIGHT.into(),
        least.into()..=most.into(),
    )?;
    let (uclamp_min, uclamp_max) = clamps(item, &fields, (0, 1024))?;
    let bandwidth = bandwidth(&fields)?;
    Ok(Cgroup { name: name.to_owned(), bandwidth, weight: weight as u32, uclamp_min, uclamp_max })
}

fn is_folder_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= Cgroup::NAME_LENGTH && name.chars().all(fits)
}

/// `50ms/100ms`, or the quota alone.
fn bandwidth(fields: &Fields<'_>) -> Result<Option<Bandwidth>, ScenarioError> {
    let burst = fields.get("cpu_max_burst");
    let Some(item) = fields.get("cpu_max") else {
        return match burst {
            Some(item) => Err(item.wrong("expected cpu_max beside it, found none")),
            None => Ok(None),
        };
    };
    let saved = burst.as_ref().map_or(Ok(Nanos::ZERO), Item::duration)?;
    let text = item.text()?;
    let times: Result<Vec<Nanos>, Mismatch> =
        text.split('/').map(|time| time.trim().parse()).collect();
    let limit = times.and_then(|times| match *times {
        [quota] => Bandwidth::new(quota, Bandwidth::DEFAULT_PERIOD, saved),
        [quota, period] => Bandwidth::new(quota, period, saved),
        _ => Err(Mismatch::text("QUOTA/PERIOD such as 50ms/100ms", text)),
    });
    limit.map(Some).map_err(|slip| {
        let form = "QUOTA/PERIOD with units, such as 50ms/100ms, where the file has 50000 100000; no limit: leave it out";
        item.wrong(slip.line()).hint(form)
    })
}

/// The position of the group that a task names.
pub fn position(item: &Item<'_>, groups: &[Cgroup]) -> Result<usize, ScenarioError> {
    let name = item.text()?;
    groups.iter().position(|group| group.name == name).ok_or_else(|| {
        let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        let error = unknown_name(item, "a control group", name, &names);
        if names.is_empty() {
            error.hint("add:\n  [[cgroup]]\n  name = \"web\"\n  cpu_max = \"50ms/100ms\"")
        } else {
            error
        }
    })
}
