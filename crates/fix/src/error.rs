//! Why a search could not be done.

use flyball_lab::protocol::windows::BenchError;
use flyball_stats::StatsError;
use flyball_units::{Diagnostic, ErrorKind, Mismatch};

/// An error of a search. The machine is as it was, unless the bench's error says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// An experiment that does not suit a search.
    #[error(transparent)]
    Unsuited(Mismatch),
    /// A stage could not be measured.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A stage was measured, and must not be believed.
    #[error("{stage}: the run is not valid: {why}")]
    Invalid {
        /// The stage.
        stage: String,
        /// The checks that failed.
        why: String,
    },
    /// The machine.
    #[error(transparent)]
    Host(#[from] flyball_host::HostError),
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// Too little was measured to say anything.
    #[error("{condition}: {source}")]
    Stats {
        /// The condition.
        condition: String,
        /// What is missing.
        source: StatsError,
    },
    /// The user asked to end.
    #[error("interrupted; all is as it was, and what was measured is kept")]
    Interrupted,
}

impl Diagnostic for FixError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            FixError::Bench(error) => Some(error),
            FixError::Host(error) => Some(error),
            FixError::Run(error) => Some(error),
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            FixError::Invalid { .. } => ErrorKind::Invalid,
            FixError::Interrupted => ErrorKind::Interrupted,
            _ => self.inner().map_or(ErrorKind::BadInput, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            FixError::Stats { source, .. } => Some(source.hint().to_owned()),
            FixError::Invalid { .. } => {
                Some("find what disturbs the machine, then try again".to_owned())
            }
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}
