//! From the playings on the board to the comparison.

use super::cause::{EXPERIMENTS, Kernels, explain};
use super::figures::{of_outcome, of_run, span};
use super::given::{Given, given};
use super::guest::{LOST_SHARE, Playing, Rehearsed};
use super::informed::informed;
use super::judge::{Agreement, Sides, judge};
use super::one_step::{OneStep, one_step};
use super::text;
use flyball_events::{Missing, Recording};
use flyball_host::Host;
use flyball_run::RunWriter;
use flyball_run::disk::write_file;
use flyball_sim::record::Outcome;
use flyball_sim::scenario::Scenario;
use flyball_sim::sweep::{RunError, begun};
use flyball_units::{Diagnostic, ErrorKind, Nanos};
use serde_json::{Value, json};
use std::path::Path;

/// The model's run, in the directory of the comparison.
const MODEL: &str = "model";
/// That of a model that was given nothing of the guest.
const ALONE: &str = "model-alone";
/// The comparison as data.
pub const RESULT: &str = "comparison.json";

/// A comparison.
#[derive(Debug)]
pub struct Compared {
    /// As data, which [`RESULT`] holds.
    pub json: Value,
    /// For people.
    pub text: String,
    /// Whether something differs.
    pub differs: bool,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The board was too slow for every playing.
    #[error(
        "{dir}: expected CPUs of the board that lose at most {:.0} % of their time, found {:.0} % \
         in the best of {playings} playings",
        100.0 * LOST_SHARE,
        100.0 * .best
    )]
    Slow {
        /// The directory of the comparison.
        dir: String,
        /// The smallest share that was lost.
        best: f64,
        /// The playings.
        playings: usize,
    },
    /// A playing lacks what is compared.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The simulation.
    #[error(transparent)]
    Simulation(#[from] RunError),
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// The file of the result.
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl Diagnostic for CompareError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            CompareError::Simulation(error) => Some(error),
            CompareError::Run(error) => Some(error),
            CompareError::File(error) => Some(error),
            CompareError::Missing(_) | CompareError::Slow { .. } => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            CompareError::Slow { .. } => ErrorKind::Invalid,
            _ => self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            CompareError::Slow { .. } => {
                Some("run it again while this machine has nothing else to do".to_owned())
            }
            CompareError::Missing(missing) => Some(missing.hint().to_owned()),
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}

/// Simulates the scenario with what was measured on the board and without, and judges; runs and
/// result go into `dir`. With `earlier`, what a board gave before, the model predicts: it has nothing
/// of these playings. None where the program was asked to end.
///
/// # Errors
/// No playing that counts; a playing without what is compared; a full disk.
pub fn compare(
    host: &dyn Host,
    scenario: &Scenario,
    rehearsed: &Rehearsed,
    earlier: Option<Given>,
    dir: &Path,
) -> Result<Option<Compared>, CompareError> {
    if rehearsed.playings.is_empty() {
        return Err(CompareError::Slow {
            dir: dir.display().to_string(),
            best: rehearsed.slow.iter().map(|slow| slow.lost_share).fold(1.0, f64::min),
            playings: rehearsed.slow.len(),
        });
    }
    for playing in &rehearsed.playings {
        // It has its beginning and its end.
        in_playing(playing, span(&Recording::of(&playing.run)))?;
    }
    let built = scenario.setup(0);
    let runs = rehearsed.playings.iter().map(|playing| &playing.run);
    let given = given(scenario, &built, runs)?;
    let informed =
        |kernels: Kernels| informed(scenario, earlier.as_ref().unwrap_or(&given), kernels);
    let stop = || host.interrupted() > 0;
    let simulate = |scenario: &Scenario, name: &str| {
        let writer = RunWriter::create(dir.join(name), &begun(scenario))?;
        let ended = flyball_sim::sweep::run(scenario, Some(writer), &stop, &|_| ())?;
        let figures = |outcome: &Outcome| match stop() {
            true => Ok(None),
            false => of_outcome(scenario, &built, outcome).map(Some),
        };
        let figures = ended.outcomes.iter().map(figures).collect::<Result<Option<Vec<_>>, _>>();
        let figures = figures.map_err(RunError::from)?;
        Ok::<_, CompareError>(figures.filter(|_| ended.whole))
    };
    let (Some(model), Some(alone)) =
        (simulate(&informed(Kernels::default()), MODEL)?, simulate(scenario, ALONE)?)
    else {
        return Ok(None);
    };
    let board = rehearsed
        .playings
        .iter()
        .map(|playing| in_playing(playing, of_run(scenario, &built, &playing.run)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut ahead = OneStep::default();
    for playing in &rehearsed.playings {
        ahead.add(in_playing(playing, one_step(scenario, &built, &playing.run))?);
    }
    let tick = Nanos(1_000_000_000 / u64::from(scenario.kernel.hz));
    let again = earlier.is_none();
    let mut lines = judge(Sides { board: &board, model: &model, alone: &alone, again }, tick);
    if again && lines.iter().any(|line| line.agreement == Agreement::Differs) {
        let mut experiments = [const { Vec::new() }; 5];
        for ((name, kernels), figures) in EXPERIMENTS.into_iter().zip(&mut experiments) {
            match simulate(&informed(kernels), name)? {
                Some(found) => *figures = found,
                None => return Ok(None),
            }
        }
        explain(&mut lines, &board, &experiments, tick);
    }
    let json = json!({
        "scenario": scenario.name,
        "platform": scenario.platform.name,
        "model_kernel": scenario.kernel.name,
        "board_kernel": rehearsed.release,
        "phases": model.len(),
        "given": given.summary(),
        "predicted_from": earlier.as_ref().map(Given::summary),
        "boots": rehearsed.boots,
        "playings": rehearsed.playings.iter().map(|playing| json!({
            "run": playing.dir, "lost_share": playing.lost_share,
        })).collect::<Vec<_>>(),
        "left_out": rehearsed.slow,
        "lines": lines,
        "one_step": ahead,
    });
    write_file(&dir.join(RESULT), format!("{json:#}\n").as_bytes())?;
    let text = text::text(scenario, rehearsed, (model.len(), !again), &lines, &ahead, dir);
    let differs = !ahead.agrees() || lines.iter().any(|line| line.agreement == Agreement::Differs);
    Ok(Some(Compared { json, text, differs }))
}

/// What is missing is missing in this playing.
fn in_playing<T>(playing: &Playing, found: Result<T, Missing>) -> Result<T, Missing> {
    found.map_err(|mut missing| {
        missing.object = format!("{}: {}", playing.dir.display(), missing.object);
        missing
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::Run;

    #[test]
    fn a_playing_without_its_marker_is_named() {
        let playing = Playing { dir: "boot-1/2".into(), lost_share: 0.0, run: Run::default() };
        let missing = in_playing(&playing, span(&Recording::of(&playing.run)));
        let error = CompareError::from(missing.expect_err("no marker"));
        assert!(error.to_string().starts_with("boot-1/2: marker `scenario begin`"), "{error}");
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.hint().is_some_and(|hint| hint.contains("`markers`")), "{error:?}");
    }
}
