//! A log of frequency writes seen from outside the machine, one per line, times in seconds of the
//! logger's own clock. Lines that begin with `#` are comments.
//!
//! ```text
//! 5.900535 policy2 mhz=3000 cpu=2
//! 5.857351 cpu=1 cluster=0 mhz=600
//! ```

use std::path::Path;

use flyball_run::disk::{TEXT_BYTES, read_text};
use flyball_run::{Error, Result};

/// A frequency was asked of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// When it was seen, on the log's clock.
    pub t_ns: u64,
    /// The CPU that wrote it.
    pub cpu: u32,
    /// The frequency.
    pub khz: u64,
}

/// Reads a log, in order of time.
///
/// # Errors
/// The file cannot be read; a line that is not a write, with its number. The last line may be torn.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Write>> {
    let path = path.as_ref();
    let text =
        read_text(path, TEXT_BYTES).map_err(|error| Error::io(path, "to read it", &error))?;
    of_text(&text).map_err(|(line, found)| {
        Error::bad_input(
            format!("{}:{line}", path.display()),
            "SECONDS, cpu=N and mhz=N",
            format!("{found:?}"),
            "a log of frequency writes has one write per line, comments begin with #",
        )
    })
}

/// Reads the text of a log, in order of time.
///
/// # Errors
/// The number of the wrong line from 1, and what it holds.
pub fn of_text(text: &str) -> std::result::Result<Vec<Write>, (usize, String)> {
    let mut writes = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        match write(content) {
            Some(write) => writes.push(write),
            None if line.ends_with('\n') => {
                return Err((number + 1, content.chars().take(80).collect()));
            }
            None => {}
        }
    }
    writes.sort_by_key(|write| write.t_ns);
    Ok(writes)
}

fn write(line: &str) -> Option<Write> {
    let mut words = line.split_whitespace();
    let (whole, fraction) = words.next()?.split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let fraction = fraction.parse::<u64>().ok()? * 10_u64.pow(9 - digits);
    let t_ns = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    let (mut cpu, mut khz) = (None, None);
    for word in words {
        match word.split_once('=') {
            Some(("cpu", value)) => cpu = value.parse().ok(),
            Some(("mhz", value)) => khz = kilohertz(value),
            _ => {}
        }
    }
    Some(Write { t_ns, cpu: cpu?, khz: khz? })
}

/// MHz with up to three decimals.
fn kilohertz(mhz: &str) -> Option<u64> {
    let (whole, fraction) = mhz.split_once('.').unwrap_or((mhz, ""));
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 3)?;
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().ok()? };
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(fraction * 10_u64.pow(3 - digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_a_torn_end() {
        let text = "# a comment\n5.900535 policy2 mhz=3000 cpu=2\n5.857351 cpu=1 cluster=0 mhz=600.5\n6.1 cp";
        let expected = [
            Write { t_ns: 5_857_351_000, cpu: 1, khz: 600_500 },
            Write { t_ns: 5_900_535_000, cpu: 2, khz: 3_000_000 },
        ];
        assert_eq!(of_text(text).unwrap(), expected);
        assert_eq!(of_text("1.0 cpu=1 mhz=5\nx\n"), Err((2, "x".to_owned())));
        assert!(of_text("99999999999.0 cpu=1 mhz=5\n").is_err());
    }
}
