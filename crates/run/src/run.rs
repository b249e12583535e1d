//! A run in memory, and the tolerant reader of run directories.

use flyball_units::ErrorKind;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::blocks::parse_files;
use crate::checksum::{Checksum, broken_seal};
use crate::disk::{DESCRIPTION_BYTES, Disk, MemoryDisk, RealDisk, read_text};
use crate::error::{Error, Result};
use crate::manifest::{self, Manifest, RunState, TableRecord};
use crate::ndjson;
use crate::storage::{self, Column, Columns};
use crate::table::{AnyTable, Table};
use crate::tables::*;
use crate::tally::Tally;
use crate::unfinished::Unfinished;
use crate::writer;

/// A run in memory: opened from its directory, or imported.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Its directory; none where it was imported and not yet written.
    pub dir: Option<PathBuf>,
    /// What the run is.
    pub manifest: Manifest,
    /// Its rows.
    pub tables: Tables,
    /// What is missing; none of a run that is whole.
    pub unfinished: Option<Unfinished>,
    /// What the reader had to leave out or could not know.
    pub warnings: Vec<Warning>,
}

/// A remark of a reader: nothing is dropped in silence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file it is about.
    pub object: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Run {
    /// Opens a run directory: Parquet where it is there, NDJSON otherwise.
    ///
    /// # Errors
    /// No manifest or one that cannot be read, a damaged Parquet file, a table of which not one
    /// line can be read. A torn last line, missing tables, unknown columns and missing nullable
    /// columns are not errors; what was left out is in [`Run::warnings`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Run> {
        Run::open_with(dir, Columns::All)
    }

    /// Opens a run directory and reads only some columns, so that a large run stays small.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_with(dir: impl AsRef<Path>, columns: Columns<'_>) -> Result<Run> {
        open(dir.as_ref(), columns)
    }

    /// What it holds, in a few words.
    pub fn outline(&self) -> String {
        let Tables { windows, frequency, trials, .. } = &self.tables;
        match trials.len() {
            0 => format!(
                "{} windows, {} frequency samples, {} conditions",
                windows.len(),
                frequency.len(),
                self.manifest.conditions.len()
            ),
            trials => format!("{trials} measurements of switches"),
        }
    }

    /// Whether `path` is a run directory.
    pub fn is_run(path: &Path) -> bool {
        path.join(manifest::FILE).is_file()
    }

    /// Writes the run as a new directory `dir`, as Parquet. The reader's warnings become notes.
    ///
    /// # Errors
    /// Where `dir` exists and is not empty, or the disk is full.
    pub fn write(&self, dir: impl Into<PathBuf>) -> Result<PathBuf> {
        self.write_on(&RealDisk, dir)
    }

    /// As [`Run::write`] on a disk of another kind.
    ///
    /// # Errors
    /// As [`Run::write`].
    pub fn write_on(&self, disk: &dyn Disk, dir: impl Into<PathBuf>) -> Result<PathBuf> {
        // Whoever finds it half-way knows what is missing.
        let tables = self.counted();
        let running = Manifest { state: RunState::Running, tables, ..self.manifest.clone() };
        let dir = writer::make_dir(disk, dir.into(), &running)?;
        self.write_tables(disk, &dir)?;
        Ok(dir)
    }

    /// Writes the run, as Parquet, into a directory that may have other files, but no run.
    ///
    /// # Errors
    /// A run that is there already; a full disk.
    pub fn write_into(&self, dir: &Path) -> Result<()> {
        if Run::is_run(dir) {
            return Err(Error::bad_input(
                dir.display(),
                "a directory without a run",
                "one with a run",
                "choose another place for the run directory",
            ));
        }
        self.write_tables(&RealDisk, dir)
    }

    /// The files of the run's directory, written in memory: their names and what they hold.
    ///
    /// # Errors
    /// A value that a table cannot hold.
    pub fn files(&self) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let disk = MemoryDisk::default();
        self.write_tables(&disk, Path::new(""))?;
        Ok(disk.files())
    }

    /// The tables that have rows, as they stand in the manifest before they are written.
    fn counted(&self) -> Vec<TableRecord> {
        let mut counted = Vec::new();
        macro_rules! count {
            ($field:ident, $table:ident) => {
                if !self.tables.$field.is_empty() {
                    let (name, rows) = ($table::SPEC.name, self.tables.$field.len() as u64);
                    counted.push(TableRecord { name: name.to_owned(), rows, checksum: None });
                }
            };
        }
        for_each_table!(count);
        counted
    }

    fn write_tables(&self, disk: &dyn Disk, dir: &Path) -> Result<()> {
        let mut tables = Vec::new();
        macro_rules! write {
            ($field:ident, $table:ident) => {
                if !self.tables.$field.is_empty() {
                    tables.push(storage::write_table(disk, dir, &self.tables.$field)?);
                }
            };
        }
        for_each_table!(write);
        writer::write_manifest(disk, dir, &Manifest { tables, ..self.manifest.clone() })
    }

    /// The run's name: its directory's, or its kind.
    pub fn name(&self) -> String {
        let named = self.dir.as_deref().and_then(Path::file_name);
        named.map_or_else(|| self.manifest.kind.clone(), |name| name.to_string_lossy().into_owned())
    }
}

/// The newest run below `root`, by name: names begin with the time of the start.
///
/// # Errors
/// Where `root` cannot be listed or holds no run.
pub fn newest_run(root: impl AsRef<Path>) -> Result<PathBuf> {
    let root = root.as_ref();
    let none = |found: &str| {
        Error::new(
            ErrorKind::NotFound,
            root.display(),
            "at least one run",
            found,
            "measure one, or name a run directory",
        )
    };
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(none("no such directory"));
        }
        Err(error) => return Err(Error::io(root, "to list the runs", &error)),
    };
    let runs = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| Run::is_run(path));
    runs.max_by_key(|path| name_order(path)).ok_or_else(|| none("none"))
}

/// `...-bench-10` is newer than `...-bench-9`.
fn name_order(path: &Path) -> (String, u32) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-').map(|(stem, suffix)| (stem, suffix.parse())) {
        Some((stem, Ok(number))) => (stem.to_owned(), number),
        _ => (name, 1),
    }
}

fn open(dir: &Path, columns: Columns<'_>) -> Result<Run> {
    let (manifest, changed) = read_manifest(dir)?;
    let mut run = Run { dir: Some(dir.to_owned()), manifest, ..Run::default() };
    // They are of the files, not of the run: what is written again has its own.
    let closed = std::mem::take(&mut run.manifest.tables);
    let mut lost: Vec<String> = changed.into_iter().collect();
    macro_rules! open {
        ($field:ident, $table:ident) => {
            let record = closed.iter().find(|record| record.name == $table::SPEC.name);
            let (table, warnings) = (&mut run.tables.$field, &mut run.warnings);
            lost.extend(read_table(dir, columns, record, table, warnings)?);
        };
    }
    for_each_table!(open);
    run.unfinished = Unfinished::of(dir, &run.manifest, &closed, lost);
    Ok(run)
}

/// The tables of a run directory alone.
pub(crate) fn tables(dir: &Path, columns: Columns<'_>) -> Result<Tables> {
    let (mut tables, mut warnings) = (Tables::default(), Vec::new());
    macro_rules! open {
        ($field:ident, $table:ident) => {
            read_table(dir, columns, None, &mut tables.$field, &mut warnings)?;
        };
    }
    for_each_table!(open);
    Ok(tables)
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
    let rows = match (parquet.exists(), lines.exists()) {
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
    Ok(short.map(|closed| match (rows, parquet.exists() || lines.exists()) {
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
            columns.prune(&mut *rows);
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
