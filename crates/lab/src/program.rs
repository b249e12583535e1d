//! Programs of the user's own: run once by themselves before anything is measured.

use crate::experiment::ExperimentError;
use flyball_host::{Exit, Host, HostError, Output, ProcessSpec, Status};
use flyball_units::{Diagnostic, ErrorKind};

/// Lines of its output that a program which failed is quoted with.
const SHOWN: usize = 10;

/// A program that cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It failed by itself.
    #[error("{what} of {program}: expected exit status 0, found {found}{output}")]
    Failed {
        /// Its name.
        program: String,
        /// `setup`, `run` or `preparation`.
        what: &'static str,
        /// How it ended.
        found: Status,
        /// The end of what it wrote to standard error.
        output: String,
    },
    /// What came out is no experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The user asked to end.
    #[error("interrupted before anything was measured")]
    Interrupted,
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
            ProgramError::Failed { what, .. } => Some(
                match *what {
                    "run" => "a program that fails is often faster than one that works; run it by hand first",
                    "work tree" => "name two commits of the repository that you are in",
                    "build" => "run it by hand in a checkout of that commit",
                    _ => "run it by hand first",
                }
                .to_owned(),
            ),
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}

/// Runs a program that has to succeed.
pub(crate) fn succeed(
    host: &dyn Host,
    program: &str,
    what: &'static str,
    spec: ProcessSpec,
) -> Result<Exit, ProgramError> {
    let spec = ProcessSpec { stderr: Output::Capture, ..spec };
    let exit = host.spawn(&spec)?.wait(None)?.ok_or(ProgramError::Interrupted)?;
    if exit.is_success() {
        return Ok(exit);
    }
    let said = String::from_utf8_lossy(&exit.stderr);
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n    ");
    Err(ProgramError::Failed {
        program: program.to_owned(),
        what,
        found: exit.status,
        output: if last.is_empty() { String::new() } else { format!("\n    {last}") },
    })
}
