//! CSV: one row per sample, one column per channel, microvolts.
//!
//! - The separator is the first of comma, semicolon and tab that the first row holds.
//! - A first row with a cell that is no number is the header. If its first column is called `t`,
//!   `time`, `time_s`, `time_ms` or `timestamp`, it is left out: it is no channel.
//! - An empty cell, or `nan`, is a missing sample. Lines that start with `#` are skipped.

use super::file::read_bounded;
use super::{InputError, Recording};
use ::csv::{ReaderBuilder, StringRecord, Trim};
use std::path::Path;

const TIME_COLUMNS: [&str; 5] = ["t", "time", "time_s", "time_ms", "timestamp"];

/// Reads a CSV file; see [`parse_csv`].
///
/// # Errors
/// The file cannot be read, or its content is no table of numbers.
pub fn read_csv(path: &Path, rate_hz: f64) -> Result<Recording, InputError> {
    parse_csv(&read_bounded(path)?, &path.display().to_string(), rate_hz)
}

/// A table of numbers, with or without a header.
///
/// # Errors
/// No data, rows of different lengths, a cell that is no number: with line and column.
pub fn parse_csv(bytes: &[u8], source: &str, rate_hz: f64) -> Result<Recording, InputError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator(bytes))
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(bytes);
    let mut row = StringRecord::new();
    let mut table = Table::default();
    while reader.read_record(&mut row).map_err(|error| unreadable(source, &error))? {
        table.add(&row, source)?;
    }
    let channels = table.columns.saturating_sub(table.skipped);
    Recording::new(source, rate_hz, channels, table.samples, table.labels)
}

fn separator(bytes: &[u8]) -> u8 {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let first = lines.find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let holds = |separator: &u8| first.is_some_and(|line| line.contains(separator));
    [b',', b';', b'\t'].into_iter().find(holds).unwrap_or(b',')
}

fn unreadable(source: &str, error: &::csv::Error) -> InputError {
    let line = error.position().map_or(0, ::csv::Position::line);
    let what = format!("line {line}");
    let (expected, found) = match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            (format!("{expected_len} columns"), len.to_string())
        }
        _ => ("text in UTF-8".to_owned(), error.to_string()),
    };
    InputError::new(source, what, expected, found, "is the file cut off, or of another format?")
}

/// What has been read so far.
#[derive(Default)]
struct Table {
    columns: usize,
    /// Leading columns that are no channels: 0 or 1.
    skipped: usize,
    labels: Option<Vec<String>>,
    samples: Vec<f32>,
}

impl Table {
    fn add(&mut self, row: &StringRecord, source: &str) -> Result<(), InputError> {
        if self.columns == 0 {
            self.columns = row.len();
            if row.iter().any(|cell| number(cell).is_none()) {
                self.take_header(row);
                return Ok(());
            }
        }
        for (column, cell) in row.iter().enumerate().skip(self.skipped) {
            let value = number(cell).ok_or_else(|| {
                let line = row.position().map_or(0, ::csv::Position::line);
                let what = format!("line {line}, column {}", column + 1);
                let hint = "every column but a leading time must be a channel in microvolts";
                InputError::new(source, what, "a number", format!("`{cell}`"), hint)
            })?;
            self.samples.push(value);
        }
        Ok(())
    }

    fn take_header(&mut self, row: &StringRecord) {
        let first = row.get(0).unwrap_or_default().to_ascii_lowercase();
        self.skipped = usize::from(TIME_COLUMNS.contains(&first.as_str()));
        self.labels = Some(row.iter().skip(self.skipped).map(str::to_owned).collect());
    }
}

fn number(cell: &str) -> Option<f32> {
    if cell.is_empty() { Some(f32::NAN) } else { cell.parse().ok() }
}
