//! Tables on disk as Parquet, and the door between a column in memory and a column on disk.

mod codes;
mod read;
mod write;

use std::collections::TryReserveError;
use std::ops::Range;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result as ParquetResult};

pub use read::Columns;
pub(crate) use read::read_table;
pub(crate) use write::{write_groups, write_table};

use crate::column::{Bits, Cells, Labels, Nullable, NullableLabels, Packed, Values};
use crate::kind::Kind;

/// Rows of a group: few enough to convert in little memory, many enough to scan fast.
pub(crate) const GROUP_ROWS: usize = 128 * 1024;

/// Cells decoded at a time.
const BATCH_ROWS: usize = 32 * 1024;

/// The rows of a group, and all that are left with it: memory for a column is asked for once.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    here: usize,
    left: usize,
}

/// A column that can go to Parquet and come back, whatever its type.
pub trait Column: Send + Sync {
    /// Writes the cells `rows`.
    ///
    /// # Errors
    /// A failing disk, or a writer of another type.
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()>;

    /// Adds the cells of a group from `reader`.
    ///
    /// # Errors
    /// A damaged file, a reader of another type, nulls where none may be.
    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()>;

    /// Adds the cells of a group from `pages` that hold codes of a dictionary; false where they do not, or the
    /// column has no use for codes.
    ///
    /// # Errors
    /// A damaged file.
    fn read_coded(&mut self, _pages: Box<dyn PageReader>, _rows: Rows) -> ParquetResult<bool> {
        Ok(false)
    }

    /// Adds `rows` nulls; false where the column knows no null.
    fn fill(&mut self, rows: usize) -> bool;

    /// Removes all cells.
    fn clear(&mut self);

    /// What its cells take of memory; distinct texts left out.
    fn bytes(&self) -> usize;

    /// Moves all cells out.
    fn take(&mut self) -> Cells;

    /// Gives texts other words, where `change` has some; other cells stay.
    fn rename(&mut self, _change: &mut dyn FnMut(&str) -> Option<String>) {}
}

/// The physical and logical Parquet type of a kind.
fn parquet_type(kind: Kind) -> (Physical, Option<LogicalType>) {
    let unsigned = |bit_width| Some(LogicalType::Integer { bit_width, is_signed: false });
    match kind {
        Kind::U32 => (Physical::INT32, unsigned(32)),
        Kind::U64 => (Physical::INT64, unsigned(64)),
        Kind::I32 => (Physical::INT32, None),
        Kind::I64 => (Physical::INT64, None),
        Kind::F64 => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    }
}

fn repetition(nullable: bool) -> Repetition {
    if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED }
}

/// A cell with a physical Parquet type. Unsigned integers keep their bits.
trait Primitive: Bits + Send + Sync {
    type Physical: DataType;
    fn encode(self) -> <Self::Physical as DataType>::T;
    fn decode(stored: &<Self::Physical as DataType>::T) -> Self;
    fn values(cells: Vec<Self>) -> Values;
}

macro_rules! primitives {
    ($($type:ty => $kind:ident, $physical:ident as $stored:ty),*) => {$(
        impl Primitive for $type {
            type Physical = $physical;
            fn encode(self) -> $stored {
                self as $stored
            }
            fn decode(stored: &$stored) -> Self {
                *stored as $type
            }
            fn values(cells: Vec<Self>) -> Values {
                Values::$kind(cells)
            }
        }
    )*};
}
primitives!(
    u32 => U32, Int32Type as i32,
    i32 => I32, Int32Type as i32,
    u64 => U64, Int64Type as i64,
    i64 => I64, Int64Type as i64,
    f64 => F64, DoubleType as f64,
    bool => Bool, BoolType as bool
);

fn mismatch(expected: &str) -> ParquetError {
    ParquetError::General(format!("the column is not of the type {expected}"))
}

fn put<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> ParquetResult<()> {
    let typed = T::get_column_writer_mut(writer).ok_or_else(|| mismatch("written"))?;
    typed.write_batch(values, levels, None).map(|_| ())
}

/// Reads `rows` cells in batches. `take(values, levels)` sees each batch: the values that are
/// there, and per cell a level, 1 with a value and 0 without; no levels mean no nulls.
fn take_all<T: DataType>(
    reader: ColumnReader,
    rows: usize,
    mut take: impl FnMut(&[T::T], &[i16]) -> ParquetResult<()>,
) -> ParquetResult<()> {
    let mut typed: ColumnReaderImpl<T> =
        T::get_column_reader(reader).ok_or_else(|| mismatch("expected"))?;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        values.clear();
        levels.clear();
        let wanted = BATCH_ROWS.min(rows - done);
        let (records, ..) = typed.read_records(wanted, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General(format!(
                "the column ends after {done} of {rows} rows"
            )));
        }
        take(&values, &levels)?;
        done += records;
    }
    Ok(())
}

fn no_room(error: TryReserveError) -> ParquetError {
    ParquetError::General(format!("{error} for as many rows as it says it has"))
}

fn no_nulls(levels: &[i16]) -> ParquetResult<()> {
    if levels.contains(&0) {
        return Err(ParquetError::General("the column holds nulls where none may be".to_owned()));
    }
    Ok(())
}

/// Adds `rows` cells, of which none is null.
fn take_plain<T: Primitive>(
    cells: &mut impl Extend<T>,
    reader: ColumnReader,
    rows: usize,
) -> ParquetResult<()> {
    take_all::<T::Physical>(reader, rows, |values, levels| {
        no_nulls(levels)?;
        cells.extend(values.iter().map(T::decode));
        Ok(())
    })
}

impl<T: Primitive> Column for Vec<T> {
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let cells = self.get(rows).unwrap_or_default();
        let stored: Vec<_> = cells.iter().map(|cell| cell.encode()).collect();
        put::<T::Physical>(writer, &stored, None)
    }

    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()> {
        self.try_reserve_exact(rows.left).map_err(no_room)?;
        take_plain::<T>(self, reader, rows.here)
    }

    fn fill(&mut self, _rows: usize) -> bool {
        false
    }

    fn clear(&mut self) {
        *self = Vec::new();
    }

    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }

    fn take(&mut self) -> Cells {
        Cells { rows: self.len(), values: T::values(std::mem::take(self)), valid: None }
    }
}

impl<T: Primitive> Column for Packed<T> {
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let stored: Vec<_> = rows.filter_map(|row| self.get(row)).map(T::encode).collect();
        put::<T::Physical>(writer, &stored, None)
    }

    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()> {
        self.try_reserve(rows.left).map_err(no_room)?;
        take_plain::<T>(self, reader, rows.here)
    }

    fn fill(&mut self, _rows: usize) -> bool {
        false
    }

    fn clear(&mut self) {
        *self = Packed::default();
    }

    fn bytes(&self) -> usize {
        Packed::bytes(self)
    }

    fn take(&mut self) -> Cells {
        let rows = self.len();
        Cells { rows, values: T::values(std::mem::take(self).into_vec()), valid: None }
    }
}

impl<T: Primitive> Column for Nullable<T> {
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let stored: Vec<_> = rows.clone().filter_map(|row| self.get(row)).map(T::encode).collect();
        let levels: Vec<i16> = rows.map(|row| i16::from(self.get(row).is_some())).collect();
        put::<T::Physical>(writer, &stored, Some(&levels))
    }

    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()> {
        let end = self.len().saturating_add(rows.left);
        take_all::<T::Physical>(reader, rows.here, |values, levels| {
            if values.is_empty() {
                self.extend(levels.iter().map(|_| None), false);
                return Ok(());
            }
            self.try_reserve(end).map_err(no_room)?;
            if levels.is_empty() || values.len() == levels.len() {
                self.extend(values.iter().map(|value| Some(T::decode(value))), true);
                return Ok(());
            }
            spread(values, levels, |value| self.push(value.map(T::decode)))
        })
    }

    fn fill(&mut self, rows: usize) -> bool {
        self.extend((0..rows).map(|_| None), false);
        true
    }

    fn clear(&mut self) {
        *self = Nullable::default();
    }

    fn bytes(&self) -> usize {
        Nullable::bytes(self)
    }

    fn take(&mut self) -> Cells {
        let rows = self.len();
        let (values, valid) = Nullable::take(self);
        Cells { values: T::values(values), valid: Some(valid), rows }
    }
}

/// Gives each cell its value, or none, by its level.
fn spread<V>(values: &[V], levels: &[i16], mut give: impl FnMut(Option<&V>)) -> ParquetResult<()> {
    if levels.is_empty() {
        values.iter().for_each(|value| give(Some(value)));
        return Ok(());
    }
    let mut values = values.iter();
    for &level in levels {
        match level {
            0 => give(None),
            _ => match values.next() {
                Some(value) => give(Some(value)),
                None => return Err(ParquetError::General("fewer values than promised".to_owned())),
            },
        }
    }
    Ok(())
}

fn text(stored: &ByteArray) -> ParquetResult<&str> {
    stored.as_utf8()
}

impl Column for Labels {
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let names: Vec<ByteArray> =
            self.names().iter().map(|name| ByteArray::from(&**name)).collect();
        let codes = rows.filter_map(|row| self.codes().get(row));
        let stored: Vec<ByteArray> =
            codes.filter_map(|code| names.get(code as usize).cloned()).collect();
        put::<ByteArrayType>(writer, &stored, None)
    }

    fn read_coded(&mut self, pages: Box<dyn PageReader>, rows: Rows) -> ParquetResult<bool> {
        codes::read(self, pages, rows)
    }

    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()> {
        take_all::<ByteArrayType>(reader, rows.here, |values, levels| {
            no_nulls(levels)?;
            values.iter().try_for_each(|value| text(value).map(|value| self.push(value)))
        })
    }

    fn fill(&mut self, _rows: usize) -> bool {
        false
    }

    fn clear(&mut self) {
        *self = Labels::default();
    }

    fn bytes(&self) -> usize {
        self.codes().bytes()
    }

    fn take(&mut self) -> Cells {
        Labels::take(self)
    }

    fn rename(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        Labels::rename(self, change);
    }
}

impl Column for NullableLabels {
    fn write(&self, rows: Range<usize>, writer: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let stored: Vec<ByteArray> =
            rows.clone().filter_map(|row| self.get(row)).map(ByteArray::from).collect();
        let levels: Vec<i16> = rows.map(|row| i16::from(self.get(row).is_some())).collect();
        put::<ByteArrayType>(writer, &stored, Some(&levels))
    }

    fn read(&mut self, reader: ColumnReader, rows: Rows) -> ParquetResult<()> {
        take_all::<ByteArrayType>(reader, rows.here, |values, levels| {
            values.iter().try_for_each(|value| text(value).map(|_| ()))?;
            spread(values, levels, |value| self.push(value.and_then(|value| text(value).ok())))
        })
    }

    fn fill(&mut self, rows: usize) -> bool {
        (0..rows).for_each(|_| self.push(None));
        true
    }

    fn clear(&mut self) {
        *self = NullableLabels::default();
    }

    fn bytes(&self) -> usize {
        NullableLabels::bytes(self)
    }

    fn take(&mut self) -> Cells {
        NullableLabels::take(self)
    }

    fn rename(&mut self, change: &mut dyn FnMut(&str) -> Option<String>) {
        NullableLabels::rename(self, change);
    }
}
