//! One experiment on two kernels: boots in rounds, each in random order, pooled into one run.

use crate::experiment::Experiment;
use crate::machine::{BOARD_PACE, Board, Machine, MachineError};
use crate::plan::shuffled;
use crate::protocol::windows::Context;
use crate::session::{Destination, Progress, Silent};
use flyball_host::Host;
use flyball_run::manifest::{CheckOutcome, CheckRecord};
use flyball_run::pool::{Part, pool};
use flyball_run::{Run, RunState};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runs of the boots, in the directory of their pool.
pub const ROUNDS: &str = "rounds";

/// How often a round is done again in which this computer was too slow for a board, at most.
const AGAIN: u32 = 3;

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
/// A round in which this computer was too slow for a board is done again, both sides, and what it gave is kept beside the
/// others (`2-a.behind-1`). Nobody looks at what was measured for that.
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
    let mut behind = Vec::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(experiment.seed);
    for round in 0..rounds {
        let folder =
            |which: usize| dir.join(ROUNDS).join(format!("{}-{}", round + 1, ["a", "b"][which]));
        for again in 1.. {
            let mut both = Vec::new();
            for which in shuffled(sides.len(), &mut random) {
                let side = &sides[which];
                progress.note(&format!("round {} of {rounds}: {}", round + 1, side.label));
                let Some(run) = boot(host, side, experiment, context, folder(which))? else {
                    return Ok(None);
                };
                same_work(experiment, &run);
                both.push((which, round, run));
            }
            let slow = both.iter().find_map(|(which, _, run)| Some((*which, fell_behind(run)?)));
            let Some((which, found)) = slow.filter(|_| again <= AGAIN) else {
                runs.extend(both);
                break;
            };
            let found = format!("round {} of {}: {found}", round + 1, sides[which].label);
            progress.note(&format!("{found}: done again"));
            behind.push(found);
            for from in [folder(0), folder(1)] {
                let aside = from.with_extension(format!("behind-{again}"));
                fs_err::rename(&from, &aside).map_err(MachineError::File)?;
            }
        }
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (which, round, run) in &runs {
        parts.push(Part { label: Some(&sides[*which].label), round: *round, run });
    }
    let mut pooled = pool(&parts)?;
    pooled.manifest.kind = "ab".to_owned();
    pooled.manifest.order_drawn = true;
    pooled.manifest.checks.extend(done_again(&behind));
    pooled.manifest.command.clone_from(&context.origin.command);
    pooled.write_into(dir)?;
    Ok(Some(pooled.manifest.state))
}

/// The experiment on one side, in a boot of its own; None where the program was asked to end.
fn boot(
    host: &Arc<dyn Host>,
    side: &Side,
    experiment: &Experiment,
    context: &Context<'_>,
    to: PathBuf,
) -> Result<Option<Run>, MachineError> {
    let prepared = side.board.prepare(host, experiment.clone(), context)?;
    let outcome = prepared.run(host, &Destination::Dir(to.clone()), &mut Silent, None)?;
    Ok(if outcome.state == RunState::Interrupted { None } else { Some(Run::open(to)?) })
}

/// What a pooled run says of rounds that were done again, if any were.
fn done_again(behind: &[String]) -> Option<CheckRecord> {
    (!behind.is_empty()).then(|| CheckRecord {
        name: "rounds done again".to_owned(),
        outcome: CheckOutcome::Passed,
        object: "rounds in which this computer was too slow for a board".to_owned(),
        expected: format!("each done again, at most {AGAIN} times"),
        found: behind.join("; "),
        hint: None,
    })
}

/// What a run says of a board for which this computer was too slow, where nothing else makes it invalid.
fn fell_behind(run: &Run) -> Option<&str> {
    let mut failed =
        run.manifest.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let first = failed.next().filter(|check| check.name == BOARD_PACE)?;
    failed.next().is_none().then_some(&first.found)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(failed: &[&str]) -> Run {
        let mut run = Run::default();
        let check = |name: &&str| CheckRecord {
            name: (*name).to_owned(),
            outcome: CheckOutcome::Failed,
            found: "cpu2 lost 0.40 s of 4.00 s (10.0 %)".to_owned(),
            ..CheckRecord::default()
        };
        run.manifest.checks.extend(failed.iter().map(check));
        run
    }

    #[test]
    fn only_a_board_that_was_too_slow_is_a_reason_to_do_a_round_again() {
        assert_eq!(fell_behind(&run(&[])), None);
        assert!(fell_behind(&run(&[BOARD_PACE])).is_some());
        assert_eq!(fell_behind(&run(&["condition"])), None, "it would fail again");
        assert_eq!(fell_behind(&run(&[BOARD_PACE, "condition"])), None);
    }
}
