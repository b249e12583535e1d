//! The experiment for a program of the user's own.

use super::{Experiment, ExperimentError, Workload, quick};
use flyball_host::{Host, HostError, ProcessSpec, Status};
use flyball_units::{Diagnostic, Duration, ErrorKind, Nanos};

/// Runs that say how long the program takes.
pub const PILOTS: usize = 3;

/// Why there is no experiment for a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It does not start.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Asked to end.
    #[error("interrupted before the first window")]
    Interrupted,
    /// It fails.
    #[error("{name}: expected exit status 0, found {status:?}")]
    Failed {
        /// The program.
        name: String,
        /// How it ended.
        status: Status,
    },
}

impl Diagnostic for ProgramError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            ProgramError::Host(error) => Some(error),
            ProgramError::Experiment(error) => Some(error),
            ProgramError::Interrupted | ProgramError::Failed { .. } => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            ProgramError::Interrupted => ErrorKind::Interrupted,
            _ => self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ProgramError::Failed { .. } => Some(
                "a program that fails has no latency worth measuring; run it by hand first"
                    .to_owned(),
            ),
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}

/// The program, its name first, under idle and heavy load. Some runs of it say how long it takes; the
/// period leaves it twice that, so that a slower condition does not run into the next release.
///
/// # Errors
/// A program that does not start, or that fails.
pub fn of_program(
    program: &[String],
    host: &dyn Host,
    pilots: usize,
) -> Result<Experiment, ProgramError> {
    let (name, arguments) = match program {
        [name, arguments @ ..] => (name.as_str(), arguments),
        [] => ("", &[][..]),
    };
    let mut longest = Nanos::ZERO;
    for _ in 0..pilots {
        let mut child = host.spawn(&ProcessSpec::new(name, arguments))?;
        let Some(exit) = child.wait(None)? else { return Err(ProgramError::Interrupted) };
        if !exit.is_success() {
            return Err(ProgramError::Failed { name: name.to_owned(), status: exit.status });
        }
        longest = longest.max(exit.elapsed);
    }
    let period_ms = (2 * longest.0).div_ceil(1_000_000).max(20);
    let mut experiment = quick()?;
    experiment.name = "program".to_owned();
    experiment.question = Some(format!("Does background load change the latency of {name}?"));
    experiment.period = Duration::millis(period_ms);
    experiment.duration = Duration::millis((10 * period_ms).max(500));
    experiment.warmup = Duration::millis(period_ms);
    experiment.workloads =
        vec![Workload { command: Some(program.to_vec()), ..Workload::default() }];
    Ok(experiment)
}
