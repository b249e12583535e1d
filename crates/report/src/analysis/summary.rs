//! A run in one line, and its conditions in one number each.

use flyball_run::manifest::{Machine, OverheadRecord};
use flyball_run::{Manifest, RunState, Unfinished};
use flyball_stats::{self as stats, Prepared, Statistic};

use super::cell::CellData;
use super::source::Context;
use crate::model::{GeometricMean, Missing, Overhead, RunSummary};

/// Where the data came from.
pub(super) fn run_summary(context: &Context<'_>) -> RunSummary {
    let manifest = &context.run.manifest;
    let windows = &context.run.tables.windows;
    let machine = manifest.machine.as_ref();
    RunSummary {
        name: context.name.clone(),
        kind: manifest.kind.clone(),
        state: state(manifest.state).to_owned(),
        unfinished: unfinished(context).as_ref().map(missing),
        created: manifest.created.clone(),
        machine: machine.map(in_one_line).unwrap_or_default(),
        windows: windows.warmup.iter().filter(|warmup| !**warmup).count() as u64,
        duration_s: context.seconds(context.end_ns),
        seed: manifest.seed,
        core_types: machine.and_then(core_types),
        overheads: manifest.overheads.iter().map(overhead).collect(),
        path: context.run.path.clone(),
        pooled: context.run.pooled.max(1) as u64,
        command: (!manifest.command.is_empty()).then(|| manifest.command.join(" ")),
        tool: Some(tool(manifest)),
    }
}

/// `flyball 0.1.0 (1a2b3c4)`, `cortex, imported by flyball 0.1.0`.
fn tool(manifest: &Manifest) -> String {
    let commit = manifest.flyball.commit.as_ref().map(|commit| format!(" ({commit})"));
    let ours = format!("flyball {}{}", manifest.flyball.version, commit.unwrap_or_default());
    match &manifest.source {
        Some(source) => format!("{}, imported by {ours}", source.tool),
        None => ours,
    }
}

/// What the reader of its directory found; of a run that never had one, what its state says.
fn unfinished(context: &Context<'_>) -> Option<Unfinished> {
    let state = context.run.manifest.state;
    let stopped =
        || (state == RunState::Interrupted).then(|| Unfinished { state, ..Unfinished::default() });
    context.run.unfinished.clone().or_else(stopped)
}

/// What is missing of a run that is not whole.
fn missing(unfinished: &Unfinished) -> Missing {
    let plan = unfinished.plan.as_ref();
    Missing {
        what: plan.map(|plan| plan.what.clone()),
        planned: plan.map(|plan| plan.planned),
        done: plan.and_then(|plan| plan.done),
        missing: unfinished.missing(),
        text: unfinished.to_string(),
    }
}

/// What a run's state means for its figures, where it means anything.
pub(super) fn state_warning(context: &Context<'_>) -> Option<String> {
    let name = &context.name;
    (context.run.manifest.state == RunState::Invalid)
        .then(|| format!("{name} is invalid: its figures must not be used"))
}

fn state(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Invalid => "invalid",
        RunState::Unknown => "unknown",
    }
}

fn overhead(record: &OverheadRecord) -> Overhead {
    Overhead {
        name: record.name.clone(),
        median_us: record.median_ns / 1e3,
        p99_us: record.p99_ns.unwrap_or(record.median_ns) / 1e3,
    }
}

/// CPU, number of CPUs, kernel, virtualisation: what is known of them.
pub(super) fn in_one_line(machine: &Machine) -> String {
    let cpus = machine.cpu_count.or(u32::try_from(machine.cpus.len()).ok()).filter(|n| *n > 0);
    let virtualised = machine.virtualisation.as_deref().filter(|name| *name != "none");
    [
        machine.board.as_ref().map(|board| format!("virtual board {}", board.platform)),
        machine.cpu_model.clone(),
        cpus.map(|n| super::words::count(u64::from(n), "CPU")),
        machine.kernel.clone(),
        virtualised.map(|name| format!("{name} guest")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

/// Core types with their numbers of CPUs, and what told: `4 E, 4 P (cpu_capacity)`.
fn core_types(machine: &Machine) -> Option<String> {
    let mut types: Vec<&str> =
        machine.cpus.iter().filter_map(|cpu| cpu.core_type.as_deref()).collect();
    types.sort_unstable();
    let counts: Vec<String> = types
        .chunk_by(|a, b| a == b)
        .filter_map(|chunk| Some(format!("{} {}", chunk.len(), chunk.first()?)))
        .collect();
    match (counts.is_empty(), &machine.core_type_evidence) {
        (true, _) => None,
        (false, Some(evidence)) => Some(format!("{} ({evidence})", counts.join(", "))),
        (false, None) => Some(counts.join(", ")),
    }
}

/// Geometric mean of the workloads' medians per run and condition.
pub(super) fn geometric_means(contexts: &[Context<'_>], cells: &[CellData]) -> Vec<GeometricMean> {
    let mut means = Vec::new();
    for context in contexts {
        let of_run = || cells.iter().filter(|cell| cell.run == context.index);
        for condition in super::pairs::conditions(context, cells) {
            let cells: Vec<&CellData> =
                of_run().filter(|cell| cell.model.condition == condition).collect();
            let prepared: Vec<&Prepared> = cells.iter().map(|cell| &cell.prepared).collect();
            let options = context.options.bootstrap();
            let mean = stats::geometric_mean_of(&prepared, Statistic::Median, &options);
            means.extend(mean.ok().map(|mean| GeometricMean {
                run: context.name.clone(),
                condition,
                workloads: cells.iter().map(|cell| cell.model.workload.clone()).collect(),
                median_us: mean.estimate,
            }));
        }
    }
    means
}
