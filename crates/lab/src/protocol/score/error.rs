//! What stops a scenario from being played.

use flyball_host::{Errno, HostError};
use flyball_qos::QosError;
use flyball_units::{Diagnostic, ErrorKind};

/// A scenario that this machine can't play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The scenario asks for what only a model has, or names a CPU that is not there.
    #[error("{object}: expected {expected}, found {found}")]
    Unplayable {
        /// The key or task.
        object: String,
        /// What a machine can do.
        expected: String,
        /// What is asked for.
        found: String,
    },
    /// There is no CPU to play on.
    #[error("expected a CPU that may be used, found none")]
    NoCpu,
    /// The ramp of the tasks' clamps cannot be followed here.
    #[error("clamp_ramp: {0}")]
    Ramp(#[from] QosError),
    /// A control group cannot be had.
    #[error("[[cgroup]]: {error}")]
    Cgroup {
        /// What failed.
        error: HostError,
    },
    /// The machine refused a call.
    #[error("task {task}: {error}")]
    Host {
        /// The task that it was for.
        task: String,
        /// The refusal.
        error: HostError,
    },
}

impl PlayError {
    pub(crate) fn unplayable(
        object: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> PlayError {
        let (object, expected, found) = (object.into(), expected.into(), found.into());
        PlayError::Unplayable { object, expected, found }
    }
}

impl Diagnostic for PlayError {
    fn kind(&self) -> ErrorKind {
        match self {
            PlayError::Unplayable { .. } => ErrorKind::BadInput,
            PlayError::Ramp(error) => error.kind(),
            PlayError::Host { .. } | PlayError::Cgroup { .. } | PlayError::NoCpu => {
                ErrorKind::Unsupported
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            PlayError::Unplayable { .. } => Some("run it on the model".to_owned()),
            PlayError::Ramp(error) => error.hint(),
            PlayError::NoCpu => None,
            PlayError::Cgroup { .. } => Some(
                "control groups need root, or a group of one's own (docs/playing.md)".to_owned(),
            ),
            PlayError::Host { error, .. } if error.errno() == Some(Errno::EOPNOTSUPP) => Some(
                "clamps need a kernel with CONFIG_UCLAMP_TASK: leave uclamp_min and uclamp_max out, or take another kernel"
                    .to_owned(),
            ),
            PlayError::Host { .. } => Some(
                "real-time classes, negative nice values and clamps need root or CAP_SYS_NICE"
                    .to_owned(),
            ),
        }
    }
}
