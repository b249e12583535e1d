//! Why a search could not be done.

use flyball_lab::protocol::windows::BenchError;
use flyball_stats::StatsError;

/// An error of a search. The machine is as it was, unless the bench's error says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// An experiment that does not suit a search.
    #[error("{object}: expected {expected}, found {found}")]
    Unsuited {
        /// What was looked at.
        object: String,
        /// What a search needs.
        expected: String,
        /// What was there.
        found: String,
    },
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

impl FixError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            FixError::Bench(error) => error.hint(),
            FixError::Host(error) => error.hint(),
            FixError::Run(error) => Some(error.hint().to_owned()),
            FixError::Stats { source, .. } => Some(source.hint().to_owned()),
            FixError::Invalid { .. } => {
                Some("find what disturbs the machine, then try again".to_owned())
            }
            FixError::Unsuited { .. } | FixError::Interrupted => None,
        }
    }
}
