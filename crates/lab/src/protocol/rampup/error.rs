//! What can go wrong.

use crate::protocol::windows::trial::TrialError;
use flyball_control::ControlError;
use flyball_host::HostError;
use thiserror::Error;

/// A ramp-up that could not be measured.
#[derive(Debug, Error)]
pub enum RampupError {
    /// A setting of the machine.
    #[error("condition \"{condition}\": {source}")]
    Control {
        /// The condition that asks for it.
        condition: String,
        /// Why it failed.
        source: Box<ControlError>,
    },
    /// A call to the machine.
    #[error("{doing}: {source}")]
    Host {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: HostError,
    },
    /// The frequency probe.
    #[error(transparent)]
    Probe(#[from] flyball_probe::ProbeError),
    /// The spinning thread.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// The simulation.
    #[error(transparent)]
    Model(#[from] flyball_sim::sweep::RunError),
    /// What was asked for makes no sense here.
    #[error("{object}: expected {expected}, found {found}")]
    BadInput {
        /// The option or the thing.
        object: String,
        /// What would have been right.
        expected: String,
        /// What was there.
        found: String,
    },
}

impl RampupError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            RampupError::Control { source, .. } => source.hint(),
            RampupError::Host { source, .. } => source.hint(),
            RampupError::Probe(error) => Some(error.hint()).filter(|hint| !hint.is_empty()),
            RampupError::Trial(error) => Some(error.hint()).filter(|hint| !hint.is_empty()),
            RampupError::Run(error) => Some(error.hint().to_owned()),
            RampupError::Model(_) | RampupError::BadInput { .. } => None,
        }
    }

    pub(crate) fn host(doing: &'static str, source: HostError) -> RampupError {
        RampupError::Host { doing, source }
    }
}
