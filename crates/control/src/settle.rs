//! Reading a setting back, with the patience that the kernel needs.

use crate::ControlError;
use flyball_host::Host;
use flyball_units::Nanos;
use std::path::Path;

/// The kernel hands a new limit to a worker, which makes it the policy's some time later.
const PATIENCE: Nanos = Nanos::from_secs(2);
/// The first pause between two looks; each is twice the one before.
const FIRST_PAUSE: Nanos = Nanos::from_micros(200);
const LONGEST_PAUSE: Nanos = Nanos::from_millis(20);

/// Waits until `path` shows `value`.
///
/// # Errors
/// The system's, or [`ControlError::NotTaken`] where the file shows something else for 2 s.
pub(crate) fn read_back(host: &dyn Host, path: &Path, value: &str) -> Result<(), ControlError> {
    let mut pause = FIRST_PAUSE;
    let mut waited = Nanos::ZERO;
    loop {
        let seen = read(host, path);
        if seen.as_deref() == Ok(value) {
            return Ok(());
        }
        if waited >= PATIENCE {
            let found =
                seen.map_err(|source| ControlError::host(format!("reading {value} back"), source))?;
            return Err(ControlError::NotTaken {
                object: path.display().to_string(),
                expected: value.to_owned(),
                found,
            });
        }
        wait(host, pause);
        waited = waited + pause;
        pause = Nanos(pause.0 * 2).min(LONGEST_PAUSE);
    }
}

/// The text of a small file.
pub(crate) fn read(host: &dyn Host, path: &Path) -> Result<String, flyball_host::HostError> {
    host.read(path).map(|text| text.trim().to_owned())
}

/// Waits even while the program is being asked to end, which cuts the host's sleep short: the
/// kernel needs its time all the same.
pub(crate) fn wait(host: &dyn Host, time: Nanos) {
    let _ = host.wait_streams(&[], host.now() + time);
}

/// For errors.
pub(crate) fn writing(path: &Path, value: &str) -> String {
    format!("setting {} to {value}", path.file_name().unwrap_or_default().to_string_lossy())
}
