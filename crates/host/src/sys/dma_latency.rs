//! `/dev/cpu_dma_latency`: a bound on the wake-up latency of idle states, held while open.

use crate::{Call, Errno, HostError};
use flyball_units::Nanos;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// The device.
pub(crate) const PATH: &str = "/dev/cpu_dma_latency";

/// Holds the bound; dropping it lifts the bound again.
#[derive(Debug)]
pub struct IdleLatencyHold {
    limit: Nanos,
    // Held open, never read: the kernel lifts the request when it closes, also after a crash.
    _device: Option<File>,
}

impl IdleLatencyHold {
    /// Opens the device and writes the bound, a 32-bit number of microseconds in native order.
    pub(crate) fn open(limit: Nanos) -> Result<IdleLatencyHold, HostError> {
        let fail =
            |error: std::io::Error| HostError::call(Call::HoldIdleLatency, PATH, Errno::of(&error));
        let micros = i32::try_from(limit.0 / 1_000).map_err(|_| {
            HostError::malformed(PATH, "at most 2147483647 us", &format!("{} us", limit.0 / 1_000))
        })?;
        let mut device = OpenOptions::new().write(true).open(PATH).map_err(fail)?;
        device.write_all(&micros.to_ne_bytes()).map_err(fail)?;
        Ok(IdleLatencyHold { limit: Nanos::from_micros(micros as u64), _device: Some(device) })
    }

    /// A bound on a machine that has no time.
    pub(crate) fn recorded(limit: Nanos) -> IdleLatencyHold {
        IdleLatencyHold { limit, _device: None }
    }

    /// The bound that was written.
    pub fn limit(&self) -> Nanos {
        self.limit
    }
}
