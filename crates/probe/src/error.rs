//! What can go wrong in a probe.

use flyball_host::HostError;
use flyball_units::CpuId;

/// An error of the probe. [`ProbeError::hint`] says what to do about it.
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

impl ProbeError {
    /// What to do about it, in one line.
    pub fn hint(&self) -> String {
        match self {
            ProbeError::Host(source) => source.hint().unwrap_or_default(),
            ProbeError::Counter { .. } => {
                "measure with the probe off: the counter of this machine does not run".to_owned()
            }
            ProbeError::Thread => {
                "check the limits on threads and memory (ulimit -u, ulimit -v)".to_owned()
            }
        }
    }
}
