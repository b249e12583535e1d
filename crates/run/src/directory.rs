//! The tolerant reader of run directories: the manifest at once, tables when they are asked for.

use std::path::{Path, PathBuf};

use flyball_units::ErrorKind;

use crate::blocks::parse_files;
use crate::checksum::{Checksum, broken_seal};
use crate::disk::{DESCRIPTION_BYTES, read_text};
use crate::error::{Error, Result};
use crate::manifest::{self, Manifest, TableRecord};
use crate::ndjson;
use crate::run::{Run, Warning, name_of};
use crate::storage::{self, Column, Columns};
use crate::table::{AnyTable, Table};
use crate::tables::*;
use crate::tally::Tally;
use crate::unfinished::Unfinished;

/// A run directory that was opened: what it says of itself. Its tables are still on disk.
#[derive(Debug)]
pub struct Directory {
    dir: PathBuf,
    /// The manifest as it was written, with the rows of each table that was closed.
    pub manifest: Manifest,
    /// Where its bytes are not those that were written, a sentence.
    changed: Option<String>,
}

/// Tables that were read, and what the reader had to say.
#[derive(Debug, Default)]
pub struct TablesRead {
    /// The rows.
    pub tables: Tables,
    /// What was left out or could not be known.
    pub warnings: Vec<Warning>,
    /// Tables that are not as they were when the run was closed, each as a sentence.
    pub lost: Vec<String>,
}

impl Directory {
    /// Reads the manifest of the directory `dir`.
    ///
    /// # Errors
    /// No manifest, or one that cannot be read.
    pub fn open(dir: impl AsRef<Path>) -> Result<Directory> {
        let dir = dir.as_ref();
        let (manifest, changed) = read_manifest(dir)?;
        Ok(Directory { dir: dir.to_owned(), manifest, changed })
    }

    /// The run's name.
    pub fn name(&self) -> String {
        name_of(Some(&self.dir), &self.manifest)
    }

    /// Reads the tables of which `columns` are asked for.
    ///
    /// # Errors
    /// A damaged Parquet file, a table of which not one line can be read.
    pub fn read(&self, columns: Columns<'_>) -> Result<TablesRead> {
        read_tables(&self.dir, columns, &self.manifest.tables)
    }

    /// What is missing of the run, before tables are read.
    pub fn unfinished(&self) -> Option<Unfinished> {
        let lost = self.changed.iter().cloned().collect();
        Unfinished::of(&self.dir, &self.manifest, &self.manifest.tables, lost)
    }

    /// The run in memory, with the `columns` that are asked for.
    pub(crate) fn into_run(mut self, columns: Columns<'_>) -> Result<Run> {
        let TablesRead { tables, warnings, lost } = self.read(columns)?;
        // They are of the files, not of the run: what is written again has its own.
        let closed = std::mem::take(&mut self.manifest.tables);
        let lost = self.changed.into_iter().chain(lost).collect();
        let unfinished = Unfinished::of(&self.dir, &self.manifest, &closed, lost);
        Ok(Run { dir: Some(self.dir), manifest: self.manifest, tables, unfinished, warnings })
    }
}

/// The tables of a run directory that was `closed` with some.
pub(crate) fn read_tables(
    dir: &Path,
    columns: Columns<'_>,
    closed: &[TableRecord],
) -> Result<TablesRead> {
    let mut read = TablesRead::default();
    macro_rules! open {
        ($field:ident, $table:ident) => {
            let record = closed.iter().find(|record| record.name == $table::SPEC.name);
            let (table, warnings) = (&mut read.tables.$field, &mut read.warnings);
            read.lost.extend(read_table(dir, columns, record, table, warnings)?);
        };
    }
    for_each_table!(open);
    Ok(read)
}

/// The manifest; and a sentence where its bytes are not those that were written.
fn read_manifest(dir: &Path) -> Result<(Manifest, Option<String>)> {
    let path = dir.join(manifest::FILE);
    let text = read_text(&path, DESCRIPTION_BYTES).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Error::new(
            ErrorKind::NotFound,
            dir.display(),
            "a run directory",
            format!("no {}", manifest::FILE),
            "name a run directory; another tool's file is imported first",
        ),
        std::io::ErrorKind::InvalidData => Error::bad_input(
            path.display(),
            "text in UTF-8",
            "other bytes",
            "restore the file from a copy",
        ),
        _ => Error::io(&path, "to read the manifest", &error),
    })?;
    let changed = broken_seal(&text).map(|found| format!("{} {found}", manifest::FILE));
    Ok((Manifest::from_toml(&text, &path.display().to_string())?, changed))
}

/// Reads one table. The whole Parquet wins over NDJSON that is still there. What is missing of the table
/// as it was when the run was closed comes back as a sentence.
fn read_table(
    dir: &Path,
    columns: Columns<'_>,
    closed: Option<&TableRecord>,
    table: &mut dyn AnyTable,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    let name = table.spec().name;
    if !columns.takes_any(name) {
        return Ok(None);
    }
    let path = |extension| dir.join(format!("{name}.{extension}"));
    let (parquet, lines) = (path("parquet"), path("ndjson"));
    // What cannot be looked at is not taken for what is not there.
    let is_there = |path: &Path| {
        path.try_exists().map_err(|error| Error::io(path, "to look for the table", &error))
    };
    let (is_whole, has_lines) = (is_there(&parquet)?, is_there(&lines)?);
    let rows = match (is_whole, has_lines) {
        (true, beside) => match read_parquet(&parquet, columns, closed, table) {
            Ok(rows) => {
                if beside {
                    warnings.push(Warning {
                        object: lines.display().to_string(),
                        message: "left over beside a whole Parquet table; not read".to_owned(),
                        hint: Some(format!("rm {}", lines.display())),
                    });
                }
                rows
            }
            Err(error) if beside => {
                warnings.push(Warning {
                    object: error.object().to_owned(),
                    message: format!("{error}; read the NDJSON beside it instead"),
                    hint: Some(format!("rm {}", parquet.display())),
                });
                table.stored_mut().into_iter().for_each(Column::clear);
                read_lines(&lines, columns, table, warnings)?
            }
            Err(error) => return Err(error),
        },
        (false, true) => read_lines(&lines, columns, table, warnings)?,
        (false, false) => 0,
    };
    let short = closed.filter(|closed| rows != closed.rows);
    Ok(short.map(|closed| match (rows, is_whole || has_lines) {
        (_, false) => format!("the table {name} of {} rows is missing", closed.rows),
        (rows, true) => format!("the table {name} has {rows} of {} rows", closed.rows),
    }))
}

/// The rows of a Parquet table; its bytes are those that were written.
fn read_parquet(
    path: &Path,
    columns: Columns<'_>,
    closed: Option<&TableRecord>,
    table: &mut dyn AnyTable,
) -> Result<u64> {
    if let Some(expected) = closed.and_then(|closed| closed.checksum.as_ref()) {
        let found = Checksum::of_file(path)
            .map_err(|error| Error::io(path, "to read the table", &error))?;
        if found != *expected {
            return Err(Error::bad_input(
                path.display(),
                format!("the table as it was written, {expected}"),
                format!("other bytes, {found}"),
                "restore the file from a copy: the disk, or another program, changed it",
            ));
        }
    }
    storage::read_table(path, columns, table)
}

/// The number of rows that the lines hold.
fn read_lines(
    path: &Path,
    columns: Columns<'_>,
    table: &mut dyn AnyTable,
    warnings: &mut Vec<Warning>,
) -> Result<u64> {
    let mut tally = Tally::default();
    let fresh = table.maker();
    parse_files(
        &[path.to_owned()],
        |block| {
            let mut rows = fresh();
            let counted = ndjson::decode(block, &mut *rows);
            columns.prune_any(&mut *rows);
            (rows, counted)
        },
        |_, (rows, counted)| {
            table.absorb(rows);
            tally.absorb(counted);
            Ok(())
        },
    )?;
    let object = path.display().to_string();
    if tally.skipped > 0 && tally.rows == 0 {
        tally.check(&object, "row of this table")?;
    }
    if let Some(message) = tally.remark() {
        let hint = (tally.skipped == 0)
            .then(|| "a run that was killed ends so; nothing else is lost".to_owned());
        warnings.push(Warning { object, message, hint });
    }
    Ok(tally.rows)
}
