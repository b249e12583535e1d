//! What can go wrong in a trial.

use flyball_host::HostError;
use flyball_units::{Diagnostic, ErrorKind};

/// An error of a trial, a probe or the telemetry.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The machine refused something that a measurement cannot do without.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was to be done.
        what: &'static str,
        /// The machine's reason.
        source: HostError,
    },
    /// The plan asks for something that is no plan.
    #[error("trial {trial}: expected {expected}, found {found}")]
    Plan {
        /// The trial.
        trial: u32,
        /// What a plan needs.
        expected: &'static str,
        /// What it says.
        found: String,
    },
    /// The frequency probe.
    #[error(transparent)]
    Probe(#[from] flyball_probe::ProbeError),
    /// The source's windows do not fit the workload.
    #[error("windows for {kernel}: expected {expected} samples (window x channels), found {found}")]
    WindowLength {
        /// The kernel.
        kernel: &'static str,
        /// Samples that the workload needs.
        expected: usize,
        /// Samples that the source gives.
        found: usize,
    },
    /// A thread could not be started or ended by itself.
    #[error("the {thread} thread: expected it to run to its end, found {found}")]
    Thread {
        /// Which thread.
        thread: &'static str,
        /// What happened.
        found: String,
    },
    /// The run directory could not be written.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// The ramp of the thread's demand.
    #[error(transparent)]
    Ramp(#[from] flyball_qos::QosError),
}

impl TrialError {
    /// A host's error, with what it prevented.
    pub(crate) fn host(what: &'static str, source: HostError) -> TrialError {
        TrialError::Host { what, source }
    }
}

impl Diagnostic for TrialError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            TrialError::Host { source, .. } => Some(source),
            TrialError::Probe(error) => Some(error),
            TrialError::Run(error) => Some(error),
            TrialError::Ramp(error) => Some(error),
            _ => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            TrialError::Plan { .. } => ErrorKind::BadInput,
            _ => self.inner().map_or(ErrorKind::Invalid, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            TrialError::Plan { .. } => {
                "give a period and a deadline above zero, or zero for both: back to back"
            }
            TrialError::WindowLength { .. } => {
                "use an input with the workload's number of channels and its window"
            }
            TrialError::Thread { .. } => {
                "check the limits on threads and memory (ulimit -u, ulimit -v)"
            }
            _ => return self.inner().and_then(Diagnostic::hint),
        };
        Some(hint.to_owned())
    }
}
