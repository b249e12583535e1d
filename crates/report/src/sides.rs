//! Two sides of runs: several on a side are repeats of one thing.

use crate::analysis::RunData;
use flyball_run::Run;
use flyball_run::pool::{Part, pool};
use std::path::PathBuf;

/// Why runs cannot be two sides.
#[derive(Debug, thiserror::Error)]
pub enum SidesError {
    /// Some hold windows and some do not, or they hold neither windows nor events.
    #[error("expected runs that all hold windows or all hold events, found {0}")]
    Mixed(String),
    /// Runs of different work.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
}

/// Two sides of runs of which the first `baseline` are what the others are judged against. Where one has
/// several, windows become one run per side in which each run is one repeat: what differs between runs is
/// then not mistaken for what differs between the sides. Recordings of events stay apart and are marked.
///
/// # Errors
/// Runs that hold neither, or some the one and some the other; runs of different work.
pub fn of(mut runs: Vec<RunData>, baseline: usize) -> Result<Vec<RunData>, SidesError> {
    let measured = runs.iter().filter(|run| !run.tables.windows.is_empty()).count();
    let odd = runs.iter().find(|run| {
        !run.tables.trials.is_empty()
            || !run.tables.rampups.is_empty()
            || (measured > 0 && run.tables.windows.is_empty())
    });
    if let Some(odd) = odd {
        return Err(SidesError::Mixed(odd.path.clone()));
    }
    if measured == 0 {
        runs.iter_mut().take(baseline).for_each(|run| run.against = true);
        return Ok(runs);
    }
    if runs.len() == 2 {
        return Ok(runs);
    }
    let subjects = runs.split_off(baseline.min(runs.len()));
    [runs, subjects].into_iter().map(one).collect()
}

/// The runs of a side as one. Even a single run is one repeat: there are others on the other side.
fn one(side: Vec<RunData>) -> Result<RunData, SidesError> {
    let name = match side.as_slice() {
        [] => String::new(),
        [only] => only.name.clone(),
        [first, more @ ..] => format!("{} and {} more", first.name, more.len()),
    };
    let mut warnings = Vec::new();
    let mut runs = Vec::with_capacity(side.len());
    for RunData { name: _, path, manifest, tables, unfinished, warnings: told, .. } in side {
        warnings.extend(told);
        let dir = Some(PathBuf::from(path));
        runs.push(Run { dir, manifest, tables, unfinished, ..Run::default() });
    }
    let parts: Vec<Part<'_>> =
        (0..).zip(&runs).map(|(round, run)| Part { label: None, round, run }).collect();
    let pooled = pool(&parts)?;
    Ok(RunData { warnings, pooled: runs.len(), ..RunData::new(name.clone(), name, pooled) })
}
