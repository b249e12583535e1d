//! The tables that ship: comma-separated, a line of names first, written by `scripts/reproduce-data`.

use crate::quantity::Undecided;
use flate2::read::GzDecoder;
use std::io::Read;
use std::str::FromStr;

/// CORTEX's windows without warm-up: folder, condition, kernel, execution in nanoseconds.
pub(super) const WINDOWS: &[u8] = include_bytes!("../../data/cortex-windows.csv.gz");
/// CORTEX's frequency logs: condition, then what policies 0 and 4 claimed in kHz, once a second.
pub(super) const CLAIMED: &[u8] = include_bytes!("../../data/cortex-frequency.csv.gz");
/// Figures of the i.MX8's scores: set-up, row, number of runs, mean, median.
pub(super) const SCORES: &str = include_str!("../../data/imx8qm-scores.csv");

/// The text of a packed table.
pub(super) fn unpacked(packed: &[u8]) -> Result<String, Undecided> {
    let mut text = String::new();
    let read = GzDecoder::new(packed).read_to_string(&mut text);
    read.map_err(|error| Undecided::Unreadable(error.to_string()))?;
    Ok(text)
}

/// The rows of a table of `N` columns.
pub(super) fn rows<const N: usize>(
    text: &str,
) -> impl Iterator<Item = Result<[&str; N], Undecided>> {
    text.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let found = fields.len();
        fields.try_into().map_err(|_| {
            Undecided::Unreadable(format!("expected {N} columns, found {found} in `{line}`"))
        })
    })
}

/// A number of a table.
pub(super) fn number<T: FromStr>(field: &str) -> Result<T, Undecided> {
    let wrong = |_| Undecided::Unreadable(format!("expected a number, found `{field}`"));
    field.trim().parse().map_err(wrong)
}
