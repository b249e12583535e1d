//! A scenario into a run directory.

use super::phases::{Progress, run_phases};
use super::run::phase_rows;
use crate::engine::SetupError;
use crate::record::{Outcome, Recorder, Stop, manifest, simulate};
use crate::scenario::{Record, Scenario};
use flyball_run::{RunState, RunWriter};
use std::path::PathBuf;

/// A scenario that could not be run or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine refuses it.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
}

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The results of every phase.
    pub outcomes: Vec<Outcome>,
    /// The run directory, where there is one.
    pub dir: Option<PathBuf>,
}

/// Simulates every phase and, where `writer` is given, writes what the scenario asks to keep; None
/// where it was stopped: the directory then says that it was interrupted.
///
/// # Errors
/// A setup that contradicts itself; a full or failing disk.
pub fn run(
    scenario: &Scenario,
    writer: Option<RunWriter>,
    stop: Stop<'_>,
    progress: Progress<'_>,
) -> Result<Option<Ended>, RunError> {
    let outcomes = run_phases(scenario, stop, progress)?;
    let Some(mut writer) = writer else {
        return Ok(outcomes.map(|outcomes| Ended { outcomes, dir: None }));
    };
    let mut manifest = manifest("sim", scenario);
    let Some(outcomes) = outcomes else {
        manifest.state = RunState::Interrupted;
        writer.finish(&manifest)?;
        return Ok(None);
    };
    for row in phase_rows(&outcomes) {
        writer.append(&row)?;
    }
    let mut whole = true;
    if scenario.record == Record::Full {
        let phase = scenario.record_phase;
        whole = record_phase(scenario, phase, phase, &mut writer, stop)?.is_some();
    }
    manifest.state = if whole { RunState::Complete } else { RunState::Interrupted };
    let dir = writer.finish(&manifest)?;
    Ok(whole.then_some(Ended { outcomes, dir: Some(dir) }))
}

/// Simulates one phase and writes its every event as the trial `trial`; None where it was stopped.
///
/// # Errors
/// As [`run`].
pub fn record_phase(
    scenario: &Scenario,
    phase: u32,
    trial: u32,
    writer: &mut RunWriter,
    stop: Stop<'_>,
) -> Result<Option<Outcome>, RunError> {
    let built = scenario.setup(phase);
    let mut recorder = Recorder::new(writer, scenario, &built, trial);
    let outcome = simulate(scenario, phase, Some(&mut recorder), stop)?;
    recorder.check()?;
    Ok(outcome)
}
