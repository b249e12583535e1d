//! One line of NDJSON per row.

use crate::blocks::Block;
use crate::error::{Error, Result};
use crate::table::{AnyTable, Row, Table};
use crate::tally::Tally;
use flyball_units::ErrorKind;

/// Adds `row` as one line at the end of `buffer`; `buffer` is as before where it fails.
///
/// # Errors
/// Where a value has no JSON form: NaN or an infinity.
pub fn encode<R: Row>(row: &R, buffer: &mut Vec<u8>) -> Result<()> {
    let table = R::Table::SPEC.name;
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
    if let Err(error) = serde_json::to_writer(&mut *buffer, row) {
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
