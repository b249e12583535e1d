//! Writes a table as Parquet: snappy, row groups, the schema's texts as metadata.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::{GROUP_ROWS, parquet_type, repetition};
use crate::checksum::Checksum;
use crate::disk::{self, Disk, DiskFile};
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::manifest::TableRecord;
use crate::table::{AnyTable, TableSpec};

/// Writes one Parquet file beside its final name; it appears under it only when whole.
pub(crate) struct TableWriter<'a> {
    path: &'a Path,
    rows: usize,
    writer: SerializedFileWriter<Summed>,
}

/// Writes a table in one go.
///
/// # Errors
/// A full or failing disk; there is then no file of that name.
pub(crate) fn write_table(
    disk: &dyn Disk,
    dir: &Path,
    table: &dyn AnyTable,
) -> Result<TableRecord> {
    let rows = table.rows();
    write_groups(disk, dir, &table.spec(), &mut |writer| {
        (0..rows)
            .step_by(GROUP_ROWS)
            .try_for_each(|start| writer.group(table, start..rows.min(start + GROUP_ROWS)))
    })
}

/// Opens the file, lets `fill` write its row groups, and swaps it in when whole and on disk.
pub(crate) fn write_groups(
    disk: &dyn Disk,
    dir: &Path,
    spec: &TableSpec,
    fill: &mut dyn FnMut(&mut TableWriter<'_>) -> Result<()>,
) -> Result<TableRecord> {
    let path: PathBuf = dir.join(format!("{}.parquet", spec.name));
    let mut record = TableRecord { name: spec.name.to_owned(), ..TableRecord::default() };
    disk::swap_in(disk, &path, |file| -> Result<(), Failed> {
        let schema = schema(spec).map_err(|error| parquet_error(&path, &error))?;
        let summed = Summed { file: Arc::clone(file), sum: Checksum::default() };
        let writer = SerializedFileWriter::new(summed, schema, properties(spec))
            .map_err(|error| parquet_error(&path, &error))?;
        let mut table = TableWriter { path: &path, rows: 0, writer };
        fill(&mut table)?;
        record.rows = table.rows as u64;
        let summed = table.writer.into_inner().map_err(|error| parquet_error(&path, &error))?;
        record.checksum = Some(summed.sum.text());
        Ok(())
    })
    .map_err(|failed| match failed {
        Failed::Told(error) => error,
        Failed::Disk(error) => Error::io(&path, "to write the table", &error),
    })?;
    Ok(record)
}

/// Either shape of a failure, until the path is added.
enum Failed {
    Told(Error),
    Disk(io::Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Told(error)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Disk(error)
    }
}

/// A file whose bytes are summed up as they are written.
struct Summed {
    file: Arc<dyn DiskFile>,
    sum: Checksum,
}

impl io::Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.add(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TableWriter<'_> {
    /// Writes the `rows` of `table` as one row group.
    ///
    /// # Errors
    /// A full or failing disk.
    pub fn group(&mut self, table: &dyn AnyTable, rows: std::ops::Range<usize>) -> Result<()> {
        self.rows += rows.len();
        self.put_group(table, rows).map_err(|error| parquet_error(self.path, &error))
    }

    fn put_group(
        &mut self,
        table: &dyn AnyTable,
        rows: std::ops::Range<usize>,
    ) -> ParquetResult<()> {
        let mut group = self.writer.next_row_group()?;
        for column in table.stored() {
            let Some(mut target) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema".to_owned()));
            };
            column.write(rows.clone(), target.untyped())?;
            target.close()?;
        }
        group.close().map(|_| ())
    }
}

fn schema(spec: &TableSpec) -> ParquetResult<TypePtr> {
    let fields = spec
        .columns
        .iter()
        .map(|column| {
            let (physical, logical) = parquet_type(column.kind);
            Type::primitive_type_builder(column.name, physical)
                .with_repetition(repetition(column.nullable))
                .with_logical_type(logical)
                .build()
                .map(Arc::new)
        })
        .collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder(spec.name).with_fields(fields).build().map(Arc::new)
}

fn properties(spec: &TableSpec) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("flyball {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(texts(spec)));
    for column in spec.columns {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            Kind::Text => properties.set_column_dictionary_enabled(path, true),
            // Times and counts differ little from row to row.
            Kind::U32 | Kind::U64 | Kind::I32 | Kind::I64 => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            Kind::F64 | Kind::Bool => properties,
        };
    }
    Arc::new(properties.build())
}

/// What the table and its columns mean, for readers that have the file alone.
fn texts(spec: &TableSpec) -> Vec<KeyValue> {
    let text = |key: String, doc: &str| KeyValue::new(key, crate::table::one_line(doc));
    std::iter::once(text("flyball.table".to_owned(), spec.doc))
        .chain(
            spec.columns.iter().map(|column| text(format!("flyball.{}", column.name), column.doc)),
        )
        .collect()
}

/// The operating system's error inside a Parquet error, so that a full disk is named as one.
fn parquet_error(path: &Path, error: &ParquetError) -> Error {
    if let ParquetError::External(inner) = error
        && let Some(io) = inner.downcast_ref::<io::Error>()
    {
        return Error::io(path, "to write the table", io);
    }
    Error::new(
        flyball_units::ErrorKind::Storage,
        path.display(),
        "to write the table",
        error.to_string(),
        "the NDJSON beside it, if any, is kept; check the disk",
    )
}
