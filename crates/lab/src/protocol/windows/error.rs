//! Why a bench could not be run, or must not be believed.

use crate::experiment::ExperimentError;
use crate::protocol::windows::trial::{Degraded, TrialError};
use crate::workloads::WorkloadError;
use flyball_control::ControlError;
use flyball_host::HostError;
use flyball_load::LoadError;
use flyball_units::{Diagnostic, Duration, ErrorKind};

/// An error of a bench. What had been measured is in the run directory all the same.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A workload or the input.
    #[error(transparent)]
    Workload(Box<WorkloadError>),
    /// The machine.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A trial, the probe or the telemetry.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The load.
    #[error("condition \"{condition}\": {source}")]
    Load {
        /// The condition.
        condition: String,
        /// What went wrong.
        source: Box<LoadError>,
    },
    /// The settings of the machine.
    #[error("condition \"{condition}\": {source}")]
    Settings {
        /// The condition.
        condition: String,
        /// What went wrong.
        source: Box<ControlError>,
    },
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
    /// A setting that could not be applied, in an experiment that does not allow to degrade.
    #[error("condition \"{condition}\": cannot apply {}: {}", .setting.setting, .setting.reason)]
    NotApplied {
        /// The condition.
        condition: String,
        /// The setting.
        setting: Degraded,
    },
    /// Other programs do not leave the CPUs alone.
    #[error(
        "this machine: expected less than 5 % of the CPUs used by others for a second within {limit}, found {by}"
    )]
    NotQuiet {
        /// How long it was waited for.
        limit: Duration,
        /// Who uses how much.
        by: String,
    },
}

impl From<flyball_probe::ProbeError> for BenchError {
    fn from(error: flyball_probe::ProbeError) -> BenchError {
        BenchError::Trial(error.into())
    }
}

impl From<WorkloadError> for BenchError {
    fn from(error: WorkloadError) -> BenchError {
        BenchError::Workload(Box::new(error))
    }
}

impl BenchError {
    /// Whether a setting of the machine is not as it was.
    pub fn left_changed(&self) -> bool {
        matches!(self, BenchError::Settings { source, .. } if source.kind() == ErrorKind::Restore)
    }
}

impl Diagnostic for BenchError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            BenchError::Experiment(error) => error,
            BenchError::Workload(error) => error.as_ref(),
            BenchError::Host(error) => error,
            BenchError::Trial(error) => error,
            BenchError::Load { source, .. } => source.as_ref(),
            BenchError::Settings { source, .. } => source.as_ref(),
            BenchError::Run(error) => error,
            BenchError::NotApplied { .. } | BenchError::NotQuiet { .. } => return None,
        })
    }

    fn kind(&self) -> ErrorKind {
        match self {
            BenchError::NotQuiet { .. } => ErrorKind::Undecided,
            _ => self.inner().map_or(ErrorKind::Unsupported, Diagnostic::kind),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            BenchError::NotQuiet { .. } => Some(
                "end those programs, wait longer, or measure beside them and allow blocks that they disturb to be \
                 done again: retry = 8"
                    .to_owned(),
            ),
            BenchError::NotApplied { setting, .. } => Some(format!(
                "{}{}or set degrade = true to measure without it; every figure then says so",
                setting.hint,
                if setting.hint.is_empty() { "" } else { "\n" }
            )),
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}
