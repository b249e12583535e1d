//! CORTEX's background-load text on the model of its machine: idle, medium and heavy load, with every window's CPU known,
//! so that windows on one kind of core can be compared with windows on the same kind.

use crate::context::Context;
use crate::function::Parameter::Text;
use crate::function::{Arguments, Function, function};
use crate::quantity::{Outcome, Quantity, Undecided};
use crate::simulation::reason;
use flyball_lab::experiment;
use flyball_lab::{Model, TrialRun};
use flyball_platform::Platform;
use flyball_stats::{geometric_mean, mean, median_of};
use flyball_units::{Duration, Nanos};
use std::collections::BTreeMap;

/// The functions of this room.
pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "model_load_change",
        &[Text, Text, Text],
        "mean execution under a load less that under another (given first), over the latter, of a kernel on the M1 model under macOS, %",
        change,
    ),
    function(
        "model_load_ratio",
        &[Text, Text, Text],
        "geometric mean over the kernels of medians under a load over those under another (given second), on one kind of core of the same model",
        ratio,
    ),
    function(
        "model_load_proven",
        &[Text],
        "share of trials on the same model in which a load's CPU time was what was asked for, %",
        proven,
    ),
];

/// Windows of each trial: enough for every phase, few enough to be quick.
const DURATION: Duration = Duration(Nanos::from_secs(20));
const FITTED: &str = "the kernels' cycles and memory time on each kind of core, to the modes of CORTEX's governor recordings";

/// Executions of one load and kernel, by kind of core.
#[derive(Clone, Debug, Default)]
struct Cell {
    by_core: BTreeMap<String, Vec<f64>>,
}

/// CORTEX's experiment on the model.
#[derive(Clone, Debug, Default)]
struct Loads {
    cells: BTreeMap<(String, String), Cell>,
    /// Of each load: trials with a proof that holds, and trials with a proof.
    proofs: BTreeMap<String, (usize, usize)>,
}

/// The simulation; it takes seconds, so the context keeps it.
fn simulate() -> Result<Loads, Undecided> {
    let model = Model::named("apple-m1-macos", None).map_err(reason)?;
    let mut experiment = experiment::named("cortex-load").map_err(reason)?;
    experiment.duration = DURATION;
    experiment.warmup = experiment.period;
    let run = model.plan(experiment).map_err(reason)?;
    let mut loads = Loads::default();
    for trial in run.simulate(0..run.plan().trials.len()).map_err(reason)? {
        loads.add(&trial, model.platform());
    }
    Ok(loads)
}

impl Loads {
    fn add(&mut self, trial: &TrialRun, platform: &Platform) {
        let condition = &trial.labels.condition;
        let load = condition.split(' ').next().unwrap_or(condition).to_owned();
        if let Some(proof) = &trial.proof {
            let (held, all) = self.proofs.entry(load.clone()).or_default();
            *held += usize::from(proof.proven);
            *all += 1;
        }
        let cell = self.cells.entry((load, trial.labels.workload.clone())).or_default();
        for window in trial.windows.iter().filter(|window| !window.warmup) {
            let cpu = window.cpu_before.and_then(|cpu| platform.cpus.get(cpu as usize));
            let core = cpu.map(|cpu| cpu.core_type.clone()).unwrap_or_default();
            cell.by_core.entry(core).or_default().push(window.exec_ns as f64 / 1e3);
        }
    }

    fn cell(&self, load: &str, kernel: &str) -> Result<&Cell, Undecided> {
        let found = self.cells.get(&(load.to_owned(), kernel.to_owned()));
        found.ok_or_else(|| Undecided::Reason(format!("no windows of {kernel} under {load}")))
    }
}

impl Cell {
    fn mean(&self) -> f64 {
        mean(&self.by_core.values().flatten().copied().collect::<Vec<f64>>())
    }

    /// Share of windows on E cores, %.
    fn e_share(&self) -> f64 {
        let all: usize = self.by_core.values().map(Vec::len).sum();
        100.0 * self.by_core.get("E").map_or(0, Vec::len) as f64 / all.max(1) as f64
    }
}

fn change(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (from, to, kernel) = (given.text(0)?, given.text(1)?, given.text(2)?);
    let loads = context.once(simulate)?;
    let (before, after) = (loads.cell(from, kernel)?, loads.cell(to, kernel)?);
    let change = 100.0 * (after.mean() / before.mean() - 1.0);
    Ok(Quantity::of(change).fitted(FITTED).note(format!(
        "{:.0} % of the windows on E cores under {from}, {:.0} % under {to}",
        before.e_share(),
        after.e_share()
    )))
}

fn ratio(context: &Context<'_>, given: &Arguments) -> Outcome {
    let (core, subject, baseline) = (given.text(0)?, given.text(1)?, given.text(2)?);
    let loads = context.once(simulate)?;
    let on =
        |cell: &Cell| cell.by_core.get(core).and_then(|times| median_of(times.iter().copied()));
    let mut ratios = Vec::new();
    for ((load, kernel), cell) in &loads.cells {
        let other = loads.cell(baseline, kernel)?;
        // A kernel that has no window on this kind of core under both loads compares nothing.
        if let (true, Some(a), Some(b)) = (load == subject, on(cell), on(other)) {
            ratios.push(a / b);
        }
    }
    let n = ratios.len();
    geometric_mean(&ratios)
        .map(|ratio| Quantity::of(ratio).fitted(FITTED).note(format!("{n} of 4 kernels")))
        .map_err(|_| Undecided::Reason(format!("no {core} windows under both loads")))
}

fn proven(context: &Context<'_>, given: &Arguments) -> Outcome {
    let load = given.text(0)?;
    match context.once(simulate)?.proofs.get(load) {
        Some((held, all)) => Ok(Quantity::of(100.0 * *held as f64 / *all as f64)),
        None => Err(Undecided::Reason(format!("no proof of load {load}"))),
    }
}
