//! A run in memory.

use flyball_units::ErrorKind;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::directory::Directory;
use crate::disk::{Disk, MemoryDisk, RealDisk};
use crate::error::{Error, Result};
use crate::manifest::{self, Manifest, RunState, TableRecord};
use crate::storage::{self, Columns};
use crate::table::Table;
use crate::tables::*;
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
        Directory::open(dir)?.into_run(columns)
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
        name_of(self.dir.as_deref(), &self.manifest)
    }
}

/// The name of a run in `dir`, or nowhere yet.
pub(crate) fn name_of(dir: Option<&Path>, manifest: &Manifest) -> String {
    let named = dir.and_then(Path::file_name);
    named.map_or_else(|| manifest.kind.clone(), |name| name.to_string_lossy().into_owned())
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
