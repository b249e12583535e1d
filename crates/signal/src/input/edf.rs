//! European Data Format: EDF (Kemp et al., Electroencephalogr. Clin. Neurophysiol. 82, 1992) and
//! EDF+ (Kemp and Olivan, Clin. Neurophysiol. 114, 2003), 16 bits.
//!
//! - Digital values become physical ones by the header's ranges, volts of any prefix become
//!   microvolts; channels of another unit keep it.
//! - The channel `EDF Annotations` of EDF+ is skipped.
//! - All other channels must have one rate. Interrupted files (EDF+D) are refused: the windows
//!   would run across the gaps.
//! - A file whose number of records is -1 (not closed by its recorder) ends with its last whole
//!   record; any other must have exactly the length that its header states.

mod header;

use super::file::read_bounded;
use super::{InputError, Recording};
use header::{Header, Signal};
use std::path::Path;

/// Reads an EDF or EDF+ file; see [`parse_edf`].
///
/// # Errors
/// The file cannot be read, or its content is refused.
pub fn read_edf(path: &Path) -> Result<Recording, InputError> {
    parse_edf(&read_bounded(path)?, &path.display().to_string())
}

/// A whole EDF or EDF+C file.
///
/// # Errors
/// A header field that is no number or out of range, a file that is cut off, interrupted (EDF+D),
/// of mixed rates, 24 bits (BDF), or without signals.
pub fn parse_edf(bytes: &[u8], source: &str) -> Result<Recording, InputError> {
    let header = Header::parse(bytes, source)?;
    let per_record = common_length(&header.signals, source)?;
    let records = count_records(&header, bytes.len(), source)?;
    let kept: Vec<&Signal> = header.signals.iter().filter(|signal| !signal.annotations).collect();
    let channels = kept.len();

    // At most twice the file's size: `count_records` has seen that the records are there.
    let mut samples = vec![0.0_f32; records * per_record * channels];
    let data = &bytes[header.bytes..];
    let frames = per_record * channels;
    for (record, out) in
        data.chunks_exact(header.record_bytes()).zip(samples.chunks_exact_mut(frames))
    {
        let mut rest = record;
        let mut channel = 0;
        for signal in &header.signals {
            let (own, after) = rest.split_at(2 * signal.per_record);
            rest = after;
            if signal.annotations {
                continue;
            }
            let values = own.as_chunks::<2>().0;
            for (target, &value) in out[channel..].iter_mut().step_by(channels).zip(values) {
                *target = signal.microvolts(i16::from_le_bytes(value));
            }
            channel += 1;
        }
    }
    let labels = kept.iter().map(|signal| signal.label.clone()).collect();
    let rate_hz = per_record as f64 / header.record_seconds;
    Recording::new(source, rate_hz, channels, samples, Some(labels))
}

/// Samples per record, the same for all signals that are kept.
fn common_length(signals: &[Signal], source: &str) -> Result<usize, InputError> {
    let mut kept = signals.iter().filter(|signal| !signal.annotations);
    let Some(first) = kept.next() else {
        let hint = "the file holds annotations only: use the recording they belong to";
        return Err(InputError::new(source, "signals", "at least 1", "0", hint));
    };
    if let Some(other) = kept.find(|signal| signal.per_record != first.per_record) {
        let expected =
            format!("one rate, {} samples per record as {}", first.per_record, first.label);
        let found = format!("{} in {}", other.per_record, other.label);
        let hint = "export the channels of one rate to a file of their own";
        return Err(InputError::new(source, "rates", expected, found, hint));
    }
    Ok(first.per_record)
}

/// Whole records in the file, checked against the header's number.
fn count_records(header: &Header, length: usize, source: &str) -> Result<usize, InputError> {
    let data = length - header.bytes;
    let found = data / header.record_bytes();
    let Some(claimed) = header.records else {
        return Ok(found);
    };
    let expected = (claimed as u128) * (header.record_bytes() as u128);
    if expected != data as u128 {
        let expected = format!("{claimed} records of {} bytes", header.record_bytes());
        let found = format!("{data} bytes ({found} whole records)");
        let hint = "the file is cut off or damaged: copy it again, or repair it with an EDF tool";
        return Err(InputError::new(source, "data", expected, found, hint));
    }
    Ok(found)
}
