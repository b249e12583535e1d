//! What can go wrong.

use crate::protocol::windows::trial::TrialError;
use flyball_control::ControlError;
use flyball_host::HostError;
use flyball_units::{Diagnostic, Mismatch};
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
    /// The ramp of the thread's demand.
    #[error("condition \"{condition}\": {source}")]
    Ramp {
        /// The condition that asks for it.
        condition: String,
        /// Why there is none.
        source: Box<flyball_qos::QosError>,
    },
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// The simulation.
    #[error(transparent)]
    Model(#[from] flyball_sim::sweep::RunError),
    /// What was asked for makes no sense here.
    #[error(transparent)]
    BadInput(Mismatch),
}

impl Diagnostic for RampupError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            RampupError::Control { source, .. } => source.as_ref(),
            RampupError::Host { source, .. } => source,
            RampupError::Probe(error) => error,
            RampupError::Trial(error) => error,
            RampupError::Ramp { source, .. } => source.as_ref(),
            RampupError::Run(error) => error,
            RampupError::Model(error) => error,
            RampupError::BadInput(_) => return None,
        })
    }
}

impl RampupError {
    pub(crate) fn host(doing: &'static str, source: HostError) -> RampupError {
        RampupError::Host { doing, source }
    }
}
