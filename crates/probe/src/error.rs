//! What can go wrong in a probe.

use flyball_host::HostError;
use flyball_units::{CpuId, Diagnostic, ErrorKind};

/// An error of the probe.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The machine refused something that the probe cannot do without.
    #[error("cannot calibrate the probe: {0}")]
    Host(HostError),
    /// The counter does not time the probe's chain.
    #[error("frequency probe on {cpu}: expected a chain to take hundreds of ticks, found {found}")]
    Counter {
        /// The CPU.
        cpu: CpuId,
        /// What the counter said.
        found: String,
    },
    /// The calibrating thread did not end by itself.
    #[error("the calibration thread: expected it to run to its end, found a panic")]
    Thread,
}

impl Diagnostic for ProbeError {
    fn kind(&self) -> ErrorKind {
        match self {
            ProbeError::Host(source) => source.kind(),
            ProbeError::Counter { .. } | ProbeError::Thread => ErrorKind::Invalid,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            ProbeError::Host(source) => return source.hint(),
            ProbeError::Counter { .. } => {
                "measure with the probe off: the counter of this machine does not run"
            }
            ProbeError::Thread => "check the limits on threads and memory (ulimit -u, ulimit -v)",
        };
        Some(hint.to_owned())
    }
}
