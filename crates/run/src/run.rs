//! A run in memory, and the tolerant reader of run directories.

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::blocks::parse_files;
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::{self, Manifest, RunState};
use crate::ndjson;
use crate::storage::{self, Column, Columns};
use crate::table::AnyTable;
use crate::tables::{Tables, for_each_table};
use crate::tally::Tally;
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

    /// Whether `path` is a run directory.
    pub fn is_run(path: &Path) -> bool {
        path.join(manifest::FILE).is_file()
    }

    /// Writes the run as a new directory `dir`, as Parquet. The reader's warnings become notes.
    ///
    /// # Errors
    /// Where `dir` exists and is not empty, or the disk is full.
    pub fn write(&self, dir: impl Into<PathBuf>) -> Result<PathBuf> {
        self.write_to(dir.into())
    }

    fn write_to(&self, dir: PathBuf) -> Result<PathBuf> {
        let running = Manifest { state: RunState::Running, ..self.manifest.clone() };
        let dir = writer::make_dir(dir, &running)?;
        self.write_tables(&dir)?;
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
        self.write_tables(dir)
    }

    fn write_tables(&self, dir: &Path) -> Result<()> {
        macro_rules! write {
            ($field:ident, $table:ident) => {
                if !self.tables.$field.is_empty() {
                    storage::write_table(dir, &self.tables.$field)?;
                }
            };
        }
        for_each_table!(write);
        writer::write_manifest(dir, &self.manifest)
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
    let manifest = read_manifest(dir)?;
    let mut run = Run { dir: Some(dir.to_owned()), manifest, ..Run::default() };
    if run.manifest.state == RunState::Running {
        run.warnings.push(Warning {
            object: dir.join(manifest::FILE).display().to_string(),
            message: "the run did not end: it is still running, or it was killed".to_owned(),
            hint: Some(
                "what was written until then is here; at most the last second is lost".to_owned(),
            ),
        });
    }
    macro_rules! open {
        ($field:ident, $table:ident) => {
            read_table(dir, columns, &mut run.tables.$field, &mut run.warnings)?;
        };
    }
    for_each_table!(open);
    Ok(run)
}

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let path = dir.join(manifest::FILE);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
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
    Manifest::from_toml(&text, &path.display().to_string())
}

/// Reads one table. The whole Parquet wins over NDJSON that is still there.
fn read_table(
    dir: &Path,
    columns: Columns<'_>,
    table: &mut dyn AnyTable,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let name = table.spec().name;
    if !columns.takes_any(name) {
        return Ok(());
    }
    let path = |extension| dir.join(format!("{name}.{extension}"));
    let (parquet, lines) = (path("parquet"), path("ndjson"));
    if !parquet.exists() {
        return if lines.exists() { read_lines(&lines, columns, table, warnings) } else { Ok(()) };
    }
    match storage::read_table(&parquet, columns, table) {
        Ok(()) => {
            if lines.exists() {
                warnings.push(Warning {
                    object: lines.display().to_string(),
                    message: "left over beside a whole Parquet table; not read".to_owned(),
                    hint: Some(format!("rm {}", lines.display())),
                });
            }
            Ok(())
        }
        Err(error) if lines.exists() => {
            warnings.push(Warning {
                object: error.object().to_owned(),
                message: format!("{error}; read the NDJSON beside it instead"),
                hint: Some(format!("rm {}", parquet.display())),
            });
            table.stored_mut().into_iter().for_each(Column::clear);
            read_lines(&lines, columns, table, warnings)
        }
        Err(error) => Err(error),
    }
}

fn read_lines(
    path: &Path,
    columns: Columns<'_>,
    table: &mut dyn AnyTable,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
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
    Ok(())
}
