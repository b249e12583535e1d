//! Reads a table from Parquet: only the columns asked for, all cores, tolerant of columns that
//! are missing (where they may be null) and of columns that are new.

use std::io::{self, BufReader, Read};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use fs_err as fs;
use parquet::basic::Type as Physical;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, FileReader, Length};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;

use super::{Column, Rows};
use crate::disk::ReadAt;
use crate::error::{Error, Result};
use crate::table::{AnyTable, ColumnSpec, Table};

/// Which columns to read. The others stay empty: `row` then finds none, the columns' own
/// readers do.
#[derive(Debug, Clone, Copy, Default)]
pub enum Columns<'a> {
    /// Every column of every table.
    #[default]
    All,
    /// Only these, as (table, column).
    Only(&'a [(&'a str, &'a str)]),
}

impl Columns<'_> {
    /// Whether `column` of `table` is asked for.
    pub fn takes(&self, table: &str, column: &str) -> bool {
        match self {
            Columns::All => true,
            Columns::Only(list) => list.contains(&(table, column)),
        }
    }

    /// Whether any column of `table` is asked for.
    pub(crate) fn takes_any(&self, table: &str) -> bool {
        match self {
            Columns::All => true,
            Columns::Only(list) => list.iter().any(|(wanted, _)| *wanted == table),
        }
    }

    /// Empties the columns that are not asked for.
    pub fn prune(&self, table: &mut impl Table) {
        self.prune_any(table);
    }

    /// [`Columns::prune`] of a table whose rows' type is not known.
    pub(crate) fn prune_any(&self, table: &mut dyn AnyTable) {
        if matches!(self, Columns::All) {
            return;
        }
        let spec = table.spec();
        for (column_spec, column) in spec.columns.iter().zip(table.stored_mut()) {
            if !self.takes(spec.name, column_spec.name) {
                column.clear();
            }
        }
    }
}

/// Reads the columns of `path` that `columns` asks for into `table`, which is empty before, and tells the
/// number of rows; where this fails, it holds what was read until then.
///
/// # Errors
/// A file that cannot be read, is damaged, or lacks a column that may not be null.
pub(crate) fn read_table(
    path: &Path,
    columns: Columns<'_>,
    table: &mut dyn AnyTable,
) -> Result<u64> {
    let file =
        fs::File::open(path).map_err(|error| Error::io(path, "to read the table", &error))?;
    // A damaged file can trip assertions inside the Parquet library; that is bad input, too.
    let outcome = catch_unwind(AssertUnwindSafe(|| read_file(file, columns, table)))
        .unwrap_or_else(|_| {
            Err(ParquetError::General("damage that the Parquet library trips over".to_owned()))
        });
    outcome.map_err(|error| {
        Error::bad_input(
            path.display(),
            "a whole Parquet table",
            error.to_string(),
            "restore the file from a copy; other tables of the run still read",
        )
    })
}

fn read_file(file: fs::File, columns: Columns<'_>, table: &mut dyn AnyTable) -> ParquetResult<u64> {
    let reader = SerializedFileReader::new(Positioned::new(file)?)?;
    let spec = table.spec();
    let wanted: Vec<(&ColumnSpec, &mut dyn Column)> = spec
        .columns
        .iter()
        .zip(table.stored_mut())
        .filter(|(column, _)| columns.takes(spec.name, column.name))
        .collect();
    // Each by itself: columns of nulls cost nothing, and lie together.
    let wanted = wanted.into_par_iter().with_max_len(1);
    wanted.try_for_each(|(spec, column)| read_column(&reader, spec, column))?;
    Ok(u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0))
}

fn read_column(
    reader: &SerializedFileReader<Positioned>,
    spec: &ColumnSpec,
    column: &mut dyn Column,
) -> ParquetResult<()> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let position = schema.columns().iter().position(|stored| stored.path().parts() == [spec.name]);
    let mut left = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| ParquetError::General("a negative number of rows".to_owned()))?;
        let group_rows = Rows { here: rows, left: left.max(rows) };
        left = left.saturating_sub(rows);
        let nulls = |position: usize| {
            group.metadata().columns().get(position)?.statistics()?.null_count_opt()
        };
        match position {
            // Nothing to decode.
            Some(position) if nulls(position) == Some(rows as u64) && column.fill(rows) => {}
            Some(position) => {
                let named = |error| ParquetError::General(format!("{}: {error}", spec.name));
                let pages = is_plain_text(&schema.column(position));
                let pages = pages.then(|| group.get_column_page_reader(position)).transpose()?;
                let coded = pages.map(|pages| column.read_coded(pages, group_rows)).transpose();
                if coded.map_err(named)? != Some(true) {
                    column.read(group.get_column_reader(position)?, group_rows).map_err(named)?;
                }
            }
            None if column.fill(rows) => {}
            None => return Err(ParquetError::General(format!("no column {}", spec.name))),
        }
    }
    Ok(())
}

/// Whether a column is of texts, one in each row.
fn is_plain_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Physical::BYTE_ARRAY
        && (column.max_def_level(), column.max_rep_level()) == (0, 0)
}

/// A file read at given positions. The library's own reader of files moves one cursor that all
/// columns share, and so cannot read two columns at a time.
struct Positioned {
    file: Arc<fs::File>,
    len: u64,
}

impl Positioned {
    fn new(file: fs::File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Positioned { file: Arc::new(file), len })
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(Cursor { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // A damaged length must not ask for all memory.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} end behind the file"
            )));
        }
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, start)?;
        Ok(buffer.into())
    }
}

/// One reader's own position in a shared file.
struct Cursor {
    file: Arc<fs::File>,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
