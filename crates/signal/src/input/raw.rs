//! Raw 32-bit floats, little-endian, sample-major: what the sources' harness replays.

use super::file::read_bounded;
use super::{InputError, Recording};
use std::path::Path;

/// Reads a file of raw floats; see [`parse_raw`].
///
/// # Errors
/// The file cannot be read, is empty, or does not hold whole samples of all channels.
pub fn read_raw(path: &Path, rate_hz: f64, channels: usize) -> Result<Recording, InputError> {
    parse_raw(&read_bounded(path)?, &path.display().to_string(), rate_hz, channels)
}

/// Microvolts as `f32`, little-endian, `[t][c]`. NaN stays NaN.
///
/// # Errors
/// No data, or not whole samples of all channels.
pub fn parse_raw(
    bytes: &[u8],
    source: &str,
    rate_hz: f64,
    channels: usize,
) -> Result<Recording, InputError> {
    let (values, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let hint = "the file is cut off, or it is not 32-bit floats";
        let expected = "a multiple of 4 bytes";
        return Err(InputError::new(source, "size", expected, bytes.len(), hint));
    }
    let samples = values.iter().map(|&value| f32::from_le_bytes(value)).collect();
    Recording::new(source, rate_hz, channels, samples, None)
}
