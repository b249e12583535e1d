//! Files: a bounded read, and the choice of the reader by the file's name.

use super::{InputError, Recording, read_csv, read_edf, read_raw};
use std::io::Read;
use std::path::Path;

/// Largest file read, 1 GiB: three hours of 64 channels at 512 Hz in EDF are less than that. What
/// a header claims never decides how much is allocated; what the file holds does.
const MAX_BYTES: u64 = 1 << 30;

/// What is stated beside a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    /// Sampling rate in Hz. Needed for CSV and raw files; checked against an EDF header.
    pub rate_hz: Option<f64>,
    /// Number of channels. Needed for raw files; checked against the others.
    pub channels: Option<usize>,
}

/// Reads a recording by its name's ending: `.edf`, `.csv`, `.tsv` or `.txt`; `.f32`, `.raw` or
/// `.bin`.
///
/// # Errors
/// An unknown ending, a missing statement, a statement the file contradicts, or the reader's own.
pub fn open(path: &Path, given: Given) -> Result<Recording, InputError> {
    let object = path.display().to_string();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let rate = || {
        given.rate_hz.ok_or_else(|| {
            let hint = "state the sampling rate, such as rate_hz = 160";
            InputError::new(&object, "rate_hz", "a rate (the format holds none)", "none", hint)
        })
    };
    let recording = match ending.as_str() {
        "edf" => read_edf(path)?,
        "csv" | "tsv" | "txt" => read_csv(path, rate()?)?,
        "f32" | "raw" | "bin" => {
            let channels = given.channels.ok_or_else(|| {
                let hint = "state the number of channels, such as channels = 64";
                let expected = "a number (the format holds none)";
                InputError::new(&object, "channels", expected, "none", hint)
            })?;
            read_raw(path, rate()?, channels)?
        }
        _ => {
            let expected = "a name ending in .edf, .csv, .tsv, .txt, .f32, .raw or .bin";
            let hint = "rename the file after its format, or convert it to EDF or CSV";
            let found = format!("`.{ending}`");
            return Err(InputError::new(&object, "format", expected, found, hint));
        }
    };
    recording.require(given)?;
    Ok(recording)
}

/// The whole content of a file of at most [`MAX_BYTES`].
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, InputError> {
    let io = |source| InputError::Io { path: path.to_owned(), source };
    let file = fs_err::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        let object = path.display().to_string();
        let hint = "cut a part of the recording; a bench loops over it anyway";
        let expected = format!("at most {MAX_BYTES} bytes");
        return Err(InputError::new(&object, "size", expected, "more", hint));
    }
    Ok(bytes)
}
