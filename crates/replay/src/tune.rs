//! The tunables of a governor that meet a goal with the least energy.

mod text;

pub use text::{json, text};

use crate::error::ReplayError;
use crate::goal::{Goal, Rank};
use crate::outcome::Outcome;
use crate::play::play;
use crate::search::{Axis, search};
use crate::shadow::create;
use crate::subject::Subject;
use flyball_sim::record::Stop;
use flyball_units::GovernorSpec;
use rayon::prelude::*;
use serde::Serialize;

/// A tunable with its smallest and largest value.
type Range = (&'static str, i64, i64);

/// Tunables that are searched where none is named, with the range that makes sense: the whole range
/// of a tunable may be days.
const USUAL: &[(&str, &[Range])] = &[
    ("schedutil", &[("rate_limit_us", 0, 100_000)]),
    (
        "ondemand",
        &[
            ("sampling_rate", 1_000, 500_000),
            ("up_threshold", 1, 100),
            ("sampling_down_factor", 1, 100),
        ],
    ),
    (
        "conservative",
        &[
            ("sampling_rate", 1_000, 500_000),
            ("up_threshold", 21, 100),
            ("down_threshold", 1, 79),
            ("freq_step", 1, 100),
        ],
    ),
    ("powerd", &[("poll_ival", 5, 2_000), ("cpu_running_mark", 1, 100), ("cpu_idle_mark", 0, 100)]),
    ("powerd++", &[("load", 1, 1024), ("poll", 5, 2_000), ("samples", 1, 20)]),
];

/// What is searched.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The governor, with the tunables that it begins with.
    pub start: GovernorSpec,
    /// The tunables that are varied.
    pub axes: Vec<(String, Axis)>,
    /// What is to be reached.
    pub goal: Goal,
    /// Further starts of the search.
    pub restarts: usize,
    /// Replays at most.
    pub budget: usize,
}

/// What came of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Tuned {
    /// The best tunables, and the governor's others that were set.
    pub best: String,
    /// The varied tunables with their values.
    pub values: Vec<(String, i64)>,
    /// With these, on what was searched.
    pub outcome: Outcome,
    /// With those of the start, on what was searched.
    pub before: Outcome,
    /// The same two on what was held out: the search never saw it.
    pub held_out: Option<(Outcome, Outcome)>,
    /// Whether the goal is met, on what was searched.
    pub met: bool,
    /// Whether it is met on what was held out.
    pub met_held_out: Option<bool>,
    /// Different settings that were tried.
    pub tried: usize,
}

/// The axes: `wanted` as NAME or NAME=FROM..TO, or the usual ones.
///
/// # Errors
/// No such tunable; no range; nothing usual for this governor.
pub fn axes(choice: &GovernorSpec, wanted: &[String]) -> Result<Vec<(String, Axis)>, ReplayError> {
    let wrong = |found: String| ReplayError::usage("tunable", "NAME or NAME=FROM..TO", found);
    let governor = create(choice).map_err(|error| wrong(error.to_string()))?;
    let tunables = governor.tunables();
    let usual = USUAL.iter().find(|(name, _)| *name == choice.name).map(|(_, axes)| *axes);
    let usual = usual.unwrap_or_default();
    if wanted.is_empty() {
        let axes: Vec<(String, Axis)> =
            usual.iter().map(|&(name, min, max)| (name.to_owned(), Axis { min, max })).collect();
        if axes.is_empty() {
            let names: Vec<&str> = tunables.iter().map(|tunable| tunable.name).collect();
            return Err(ReplayError::usage("tunable", "what to vary", "nothing").hint(format!(
                "{} has {}: give a range, such as NAME=1..100",
                choice.name,
                if names.is_empty() { "no tunables".to_owned() } else { names.join(", ") }
            )));
        }
        return Ok(axes);
    }
    let axis = |text: &String| {
        let (name, range) = match text.split_once('=') {
            Some((name, range)) => (name.trim(), Some(range)),
            None => (text.trim(), None),
        };
        let known = tunables.iter().find(|tunable| tunable.name == name);
        let known = known.ok_or_else(|| {
            let names: Vec<&str> = tunables.iter().map(|tunable| tunable.name).collect();
            wrong(format!("`{name}`")).hint(format!("{} has {}", choice.name, names.join(", ")))
        })?;
        let (min, max) = match range {
            Some(range) => range
                .split_once("..")
                .and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)))
                .ok_or_else(|| wrong(format!("{range:?}")))?,
            None => usual
                .iter()
                .find(|(usual, ..)| *usual == name)
                .map_or((known.min, known.max), |&(_, min, max)| (min, max)),
        };
        if !(known.min <= min && min < max && max <= known.max) {
            let range = format!("a range inside {}..{}", known.min, known.max);
            return Err(ReplayError::usage("tunable", range, format!("{min}..{max}")));
        }
        Ok((name.to_owned(), Axis { min, max }))
    };
    wanted.iter().map(axis).collect()
}

/// Searches on `subject`, and looks at `held_out` once at the end. `progress` hears how many settings
/// were tried.
///
/// # Errors
/// A replay's own; nothing that could be tried.
pub fn tune(
    plan: &Plan,
    subject: &Subject,
    held_out: Option<&Subject>,
    stop: Stop<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Tuned, ReplayError> {
    let before = play(subject, &plan.start, None, stop)?;
    let mut tried = 0;
    let mut evaluate = |points: &[Vec<i64>]| -> Result<Vec<Option<Rank>>, ReplayError> {
        let one = |point: &Vec<i64>| -> Result<Option<Rank>, ReplayError> {
            let choice = with(plan, point);
            if create(&choice).is_err() {
                // Tunables whose ranges depend on each other: not a setting.
                return Ok(None);
            }
            Ok(Some(plan.goal.rank(&play(subject, &choice, None, stop)?)))
        };
        let ranks = points.par_iter().map(one).collect();
        tried += points.len();
        progress(tried);
        ranks
    };
    let axes: Vec<Axis> = plan.axes.iter().map(|(_, axis)| axis.clone()).collect();
    let start = values(&plan.start, &plan.axes)?;
    let found = search(&axes, &start, plan.restarts, plan.budget, &mut evaluate)?;
    let found = found.ok_or_else(|| {
        ReplayError::usage("tunable", "settings that the governor takes", "none in the range")
    })?;
    // What was there before stays, unless something is better.
    let best = if plan.goal.rank(&before) <= found.rank {
        plan.start.clone()
    } else {
        with(plan, &found.point)
    };
    let outcome = play(subject, &best, None, stop)?;
    let held_out = match held_out {
        None => None,
        Some(rest) => Some((play(rest, &best, None, stop)?, play(rest, &plan.start, None, stop)?)),
    };
    let point = values(&best, &plan.axes)?;
    Ok(Tuned {
        values: plan.axes.iter().map(|(name, _)| name.clone()).zip(point).collect(),
        met: plan.goal.is_met(&outcome),
        met_held_out: held_out.as_ref().map(|(best, _)| plan.goal.is_met(best)),
        best: best.to_string(),
        outcome,
        before,
        held_out,
        tried: found.tried,
    })
}

/// The governor of the start with other values of the axes.
fn with(plan: &Plan, point: &[i64]) -> GovernorSpec {
    let varied = |name: &String| plan.axes.iter().any(|(axis, _)| axis == name);
    let kept = plan.start.tunables.iter().filter(|(name, _)| !varied(name)).cloned();
    let names = plan.axes.iter().map(|(name, _)| name.clone());
    GovernorSpec {
        name: plan.start.name.clone(),
        tunables: kept.chain(names.zip(point.iter().copied())).collect(),
    }
}

/// What the axes' tunables are under a choice.
fn values(choice: &GovernorSpec, axes: &[(String, Axis)]) -> Result<Vec<i64>, ReplayError> {
    let governor = create(choice)
        .map_err(|error| ReplayError::usage("governor", "a governor", error.to_string()))?;
    let tunables = governor.tunables();
    let value = |(name, axis): &(String, Axis)| {
        tunables.iter().find(|tunable| tunable.name == name).map_or(axis.min, |t| t.value)
    };
    Ok(axes.iter().map(value).collect())
}

/// Commands that set the varied tunables on a real machine; empty where the governor is in no kernel.
pub fn commands(tuned: &Tuned, governor: &str) -> Vec<String> {
    const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
    let get =
        |name: &str| tuned.values.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    match governor {
        "schedutil" | "ondemand" | "conservative" => {
            let mut lines =
                vec![format!("echo {governor} | sudo tee {CPUFREQ}/policy*/scaling_governor")];
            for (name, value) in &tuned.values {
                // Some drivers have one set of tunables for all policies, others one each.
                lines.push(format!(
                    "for f in {CPUFREQ}/{{,policy*/}}{governor}/{name}; do [ -e \"$f\" ] && \
                     echo {value} | sudo tee \"$f\"; done"
                ));
            }
            lines
        }
        "powerd" => {
            let flag = |flag: &str, name: &str| get(name).map(|value| format!("{flag} {value}"));
            let flags = [
                flag("-p", "poll_ival"),
                flag("-r", "cpu_running_mark"),
                flag("-i", "cpu_idle_mark"),
            ];
            let flags: Vec<String> = flags.into_iter().flatten().collect();
            vec![format!("sysrc powerd_flags=\"{}\" && service powerd restart", flags.join(" "))]
        }
        "powerd++" => {
            let load = get("load").map(|load| format!("-a {:.3}", load as f64 / 1024.0));
            let poll = get("poll").map(|poll| format!("-p {poll}ms"));
            let samples = get("samples").map(|samples| format!("-s {samples}"));
            let flags: Vec<String> = [load, poll, samples].into_iter().flatten().collect();
            vec![format!(
                "sysrc powerdxx_flags=\"{}\" && service powerdxx restart",
                flags.join(" ")
            )]
        }
        _ => Vec::new(),
    }
}
