//! `[[hint]]`: hints about tasks that the scheduler gets, one call each.

use super::error::{ScenarioError, suggestion};
use super::keys;
use super::model::{HintSpec, TaskSpec};
use super::reader::{Fields, Item};
use crate::setup::Hint;
use flyball_platform::Kernel;

/// Highest ramp-up multiplier, also of the task's own key.
pub(super) const MAX_MULTIPLIER: i64 = 16;

/// A kind of hint, by its value.
type Kind = fn(u32) -> Hint;

/// The kinds of hints; a call sets one.
const TYPES: &[(&str, Kind)] = &[("rampup_multiplier", Hint::RampupMultiplier)];

/// All hints about the tasks of a scenario.
pub fn read_all(top: &Fields<'_>, tasks: &[TaskSpec]) -> Result<Vec<HintSpec>, ScenarioError> {
    let Some(list) = top.get("hint") else { return Ok(Vec::new()) };
    list.list()?.iter().map(|item| read(item, tasks)).collect()
}

fn read(item: &Item<'_>, tasks: &[TaskSpec]) -> Result<HintSpec, ScenarioError> {
    let fields = item.fields(&[keys::HINT])?;
    let named = fields.require("task")?;
    let name = named.text()?;
    let told =
        tasks.iter().find(|task| task.name == name || task.names().iter().any(|n| n == name));
    let Some(told) = told else {
        let names: Vec<String> = tasks.iter().flat_map(TaskSpec::names).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(named
            .wrong(format!("expected a task, found \"{name}\""))
            .maybe_hint(suggestion(name, &names)));
    };
    let at = fields.require("at")?;
    let time = at.duration()?;
    if time < told.start {
        let (name, start) = (&told.name, told.start);
        return Err(at.expected(&format!("a time from the start of `{name}` on, {start}")));
    }
    let (_, default) = TYPES[0];
    let hint = fields.choice_or("type", default, TYPES)?;
    let value = fields.require("value")?.integer(0..=MAX_MULTIPLIER)? as u32;
    Ok(HintSpec { at: time, task: name.to_owned(), hint: hint(value) })
}

/// A ramp-up multiplier without the patches that read it would be without effect, and a ramp of clamps without clamps.
pub fn have_effect(
    top: &Fields<'_>,
    tasks: &[TaskSpec],
    kernel: &Kernel,
) -> Result<(), ScenarioError> {
    if let Some(task) = tasks.iter().find(|task| task.clamp_ramp.is_some() && !kernel.uclamp)
        && let Some(item) = top.get("task")
    {
        let expected = "expected a kernel with utilisation clamps for clamp_ramp, found";
        return Err(item.wrong(format!("task `{}`: {expected} {}", task.name, kernel.name)));
    }
    let features = &kernel.features;
    if features.util_est_ramp_up || features.zero_multiplier_disables_util_est {
        return Ok(());
    }
    let about = |item: Item<'_>, what: &str| {
        item.wrong(format!(
            "{what}: expected a kernel that reads rampup_multiplier, found {} without \
             features.util_est_ramp_up",
            kernel.name
        ))
        .hint("switch the series on: features.series = true")
    };
    let hinted = tasks.iter().find(|task| task.rampup_multiplier.is_some());
    match (hinted, top.get("task"), top.get("hint")) {
        (Some(task), Some(item), _) => Err(about(item, &format!("task `{}`", task.name))),
        (_, _, Some(item)) if !item.list()?.is_empty() => Err(about(item, "a hint")),
        _ => Ok(()),
    }
}
