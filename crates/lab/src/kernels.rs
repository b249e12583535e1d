//! One experiment on two kernels: boots in rounds, each in random order, pooled into one run.

use crate::experiment::Experiment;
use crate::machine::{Board, Machine, MachineError};
use crate::plan::shuffled;
use crate::protocol::windows::Context;
use crate::session::{Destination, Progress, Silent};
use flyball_host::Host;
use flyball_run::pool::{Part, pool};
use flyball_run::{Run, RunState};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

/// The runs of the boots, in the directory of their pool.
pub const ROUNDS: &str = "rounds";

/// A kernel to compare.
#[derive(Debug)]
pub struct Side {
    /// What the tables call it.
    pub label: String,
    /// Where it boots.
    pub board: Board,
}

/// Runs the experiment in every round on both sides, in an order drawn from its seed, each in a boot of its own, and pools the runs
/// into `dir`; how the pool ended. None where the program was asked to end.
///
/// # Errors
/// A board that fails; runs of different work.
pub fn alternate(
    host: &Arc<dyn Host>,
    sides: &[Side; 2],
    experiment: &mut Experiment,
    context: &Context<'_>,
    rounds: u32,
    dir: &Path,
    progress: &mut dyn Progress,
) -> Result<Option<RunState>, MachineError> {
    let mut runs = Vec::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(experiment.seed);
    for round in 0..rounds {
        for which in shuffled(sides.len(), &mut random) {
            let side = &sides[which];
            progress.note(&format!("round {} of {rounds}: {}", round + 1, side.label));
            let to = dir.join(ROUNDS).join(format!("{}-{}", round + 1, ["a", "b"][which]));
            let prepared = side.board.prepare(host, experiment.clone(), context)?;
            let outcome = prepared.run(host, &Destination::Dir(to.clone()), &mut Silent, None)?;
            if outcome.state == RunState::Interrupted {
                return Ok(None);
            }
            let run = Run::open(&to)?;
            same_work(experiment, &run);
            runs.push((which, round, run));
        }
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (which, round, run) in &runs {
        parts.push(Part { label: Some(&sides[*which].label), round: *round, run });
    }
    let mut pooled = pool(&parts)?;
    pooled.manifest.kind = "ab".to_owned();
    pooled.manifest.command.clone_from(&context.origin.command);
    pooled.write_into(dir)?;
    Ok(Some(pooled.manifest.state))
}

/// What the first boot found to be enough work for a window, all others take.
fn same_work(experiment: &mut Experiment, run: &Run) {
    for (workload, record) in experiment.workloads.iter_mut().zip(&run.manifest.workloads) {
        let found = record.params.get("batch").and_then(|batch| batch.as_integer());
        let found = found.and_then(|batch| u32::try_from(batch).ok()).and_then(NonZeroU32::new);
        if workload.batch.is_none() {
            workload.batch = found.or(Some(NonZeroU32::MIN));
        }
    }
}
