//! One line of NDJSON per row.

use crate::blocks::Block;
use crate::column::Field;
use crate::error::{Error, Result};
use crate::table::{AnyRow, AnyTable};
use crate::tally::Tally;
use flyball_units::ErrorKind;
use serde::Serialize;

/// Adds `row` as one line at the end of `buffer`; `buffer` is as before where it fails.
///
/// # Errors
/// Where a value has no JSON form: NaN or an infinity.
pub(crate) fn encode(row: &dyn AnyRow, buffer: &mut Vec<u8>) -> Result<()> {
    let table = row.spec().name;
    if let Some(column) = row.unwritable() {
        return Err(Error::new(
            ErrorKind::BadInput,
            format!("{table}.{column}"),
            "a finite number",
            "NaN or an infinity",
            "store null where a figure is unknown",
        ));
    }
    let start = buffer.len();
    if let Err(error) = row.write_json(buffer) {
        buffer.truncate(start);
        return Err(Error::bad_input(
            table,
            "a row that JSON can carry",
            error.to_string(),
            "report this as a bug",
        ));
    }
    buffer.push(b'\n');
    Ok(())
}

/// Adds a column of a row, `"name":value`, to the row's object; nothing where it is absent.
///
/// # Errors
/// A value that has no JSON form.
pub(crate) fn field<F: Field + Serialize>(
    key: &str,
    value: &F,
    buffer: &mut Vec<u8>,
) -> serde_json::Result<()> {
    if value.is_null() {
        return Ok(());
    }
    if !buffer.ends_with(b"{") {
        buffer.push(b',');
    }
    buffer.extend_from_slice(key.as_bytes());
    serde_json::to_writer(buffer, value)
}

/// Adds the rows of a block to `table`; what is not a row is counted. A line without its newline that
/// is not a row is torn: the writer was killed there.
pub(crate) fn decode(block: &Block, table: &mut dyn AnyTable) -> Tally {
    let mut tally = Tally::default();
    for (line, whole) in block.lines() {
        tally.lines += 1;
        match table.push_line(line) {
            Ok(()) => tally.rows += 1,
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Err(error) => tally.bad(!whole, error.to_string()),
        }
    }
    tally
}
