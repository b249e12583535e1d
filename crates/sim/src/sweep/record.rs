//! A scenario into a run directory.

use super::phases::{Progress, run_phases};
use super::run::phase_rows;
use crate::engine::SetupError;
use crate::record::{Outcome, Recorder, Stop, manifest, simulate};
use crate::scenario::{Record, Scenario};
use flyball_run::manifest::PlanRecord;
use flyball_run::{Manifest, RunState, RunWriter};
use flyball_units::Diagnostic;
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

impl Diagnostic for RunError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            RunError::Setup(error) => error,
            RunError::Run(error) => error,
        })
    }
}

/// Phases that are simulated before their results are written, per core: few enough that little is lost
/// with a process, many enough that no core waits.
const PHASES_PER_CORE: u32 = 8;

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Whether nothing is missing.
    pub whole: bool,
    /// The results of every phase that was simulated.
    pub outcomes: Vec<Outcome>,
    /// The run directory, where there is one.
    pub dir: Option<PathBuf>,
}

/// Simulates every phase and, where `writer` is given, writes what the scenario asks to keep. Where it was
/// stopped, what was finished is kept, and the directory says that it was interrupted.
///
/// # Errors
/// A setup that contradicts itself; a full or failing disk.
pub fn run(
    scenario: &Scenario,
    mut writer: Option<RunWriter>,
    stop: Stop<'_>,
    progress: Progress<'_>,
) -> Result<Ended, RunError> {
    let mut outcomes = Vec::new();
    let cores = u32::try_from(rayon::current_num_threads()).unwrap_or(1);
    let chunk = (PHASES_PER_CORE * cores).max(1);
    let mut from = 0;
    while from < scenario.phases && !stop() {
        let until = scenario.phases.min(from.saturating_add(chunk));
        let ran = run_phases(scenario, from..until, stop, progress)?;
        if let Some(writer) = &mut writer {
            phase_rows(&ran).iter().try_for_each(|row| writer.append(row))?;
            writer.flush()?;
        }
        outcomes.extend(ran);
        from = until;
    }
    let mut whole = outcomes.len() == scenario.phases as usize;
    let Some(mut writer) = writer else { return Ok(Ended { whole, outcomes, dir: None }) };
    if whole && scenario.record == Record::Full {
        let phase = scenario.record_phase;
        whole = record_phase(scenario, phase, phase, &mut writer, stop)?.is_some();
    }
    let mut manifest = begun(scenario);
    manifest.did(outcomes.len());
    manifest.state = if whole { RunState::Complete } else { RunState::Interrupted };
    let dir = writer.finish(&manifest)?;
    Ok(Ended { whole, outcomes, dir: Some(dir) })
}

/// The manifest of a run of a scenario that begins.
pub fn begun(scenario: &Scenario) -> Manifest {
    let plan = PlanRecord::of("phases", scenario.phases as usize);
    Manifest { plan, ..manifest("sim", scenario) }
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
