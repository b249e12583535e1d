//! Writes a run directory: NDJSON appended while the run goes on, Parquet when it ends whole.
//!
//! Rows reach the operating system at the latest [`FLUSH_NS`] after they were appended, as long
//! as [`RunWriter::tick`] is called; a killed process then loses no more than that.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flyball_units::Nanos;
use fs_err as fs;

use crate::blocks::{Block, parse_files};
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::{self, Manifest};
use crate::name::run_name;
use crate::ndjson;
use crate::storage::{self, Column};
use crate::table::{AnyTable, Row, Table};
use crate::tables::*;
use crate::tally::Tally;

/// Rows are handed to the operating system at least this often.
pub const FLUSH_NS: u64 = 200_000_000;

/// Rows are handed over earlier when a table has buffered this many bytes.
const FLUSH_BYTES: usize = 64 * 1024;

/// Writes one run directory. Belongs to the writer thread, never to the measured one.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    appenders: Vec<Appender>,
    flushed_at: Option<Nanos>,
}

impl RunWriter {
    /// Makes the run directory `dir` and writes its manifest.
    ///
    /// # Errors
    /// Where `dir` exists and is not empty, or cannot be made or written.
    pub fn create(dir: impl Into<PathBuf>, manifest: &Manifest) -> Result<RunWriter> {
        let dir = make_dir(dir.into(), manifest)?;
        let appenders = registry().iter().map(|table| Appender::new(&dir, table.name)).collect();
        Ok(RunWriter { dir, appenders, flushed_at: None })
    }

    /// Makes a new run directory below `root`, named after the start time (seconds since 1970,
    /// UTC) and the manifest's kind; a suffix `-2`, `-3`, ... keeps two apart.
    ///
    /// # Errors
    /// As [`RunWriter::create`].
    pub fn create_below(root: &Path, unix_s: u64, manifest: &Manifest) -> Result<RunWriter> {
        RunWriter::create(new_dir_below(root, unix_s, &manifest.kind)?, manifest)
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Begins the table of these rows: it will be there when the run ends, be it empty. A table
    /// that is missing says that nobody looked.
    ///
    /// # Errors
    /// A full or failing disk.
    pub fn begin<R: Row>(&mut self) -> Result<()> {
        let name = R::Table::SPEC.name;
        match self.appenders.iter_mut().find(|appender| appender.table == name) {
            Some(appender) => appender.begin(),
            None => Ok(()),
        }
    }

    /// Appends one row of any table.
    ///
    /// # Errors
    /// A value that NDJSON cannot carry; a full disk. Rows that were appended before stay.
    pub fn append<R: Row>(&mut self, row: &R) -> Result<()> {
        let name = R::Table::SPEC.name;
        let Some(appender) = self.appenders.iter_mut().find(|appender| appender.table == name)
        else {
            return Err(Error::bad_input(
                name,
                "a table of the registry",
                "none of that name",
                "report this as a bug",
            ));
        };
        ndjson::encode(row, &mut appender.buffer)?;
        if appender.buffer.len() >= FLUSH_BYTES { appender.flush() } else { Ok(()) }
    }

    /// Appends a measured window.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn window(&mut self, row: &Window) -> Result<()> {
        self.append(row)
    }

    /// Appends a frequency sample.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn frequency(&mut self, row: &FrequencySample) -> Result<()> {
        self.append(row)
    }

    /// Appends a load sample.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn load(&mut self, row: &LoadSample) -> Result<()> {
        self.append(row)
    }

    /// Appends a remark.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn note(&mut self, row: &Note) -> Result<()> {
        self.append(row)
    }

    /// Hands the buffered rows to the operating system if the last time is [`FLUSH_NS`] ago.
    /// Call it several times a second, with any monotonic clock.
    ///
    /// # Errors
    /// As [`RunWriter::flush`].
    pub fn tick(&mut self, now: Nanos) -> Result<()> {
        let due = self.flushed_at.is_none_or(|at| now.since(at).0 >= FLUSH_NS);
        if due {
            self.flushed_at = Some(now);
            self.flush()?;
        }
        Ok(())
    }

    /// Hands all buffered rows to the operating system.
    ///
    /// # Errors
    /// A full or failing disk. What is not yet written stays buffered: a later call continues
    /// exactly where this one stopped.
    pub fn flush(&mut self) -> Result<()> {
        self.appenders.iter_mut().try_for_each(Appender::flush)
    }

    /// Replaces the manifest, atomically.
    ///
    /// # Errors
    /// A full or failing disk; the old manifest then stays.
    pub fn update_manifest(&mut self, manifest: &Manifest) -> Result<()> {
        write_manifest(&self.dir, manifest)
    }

    /// Ends the run: the manifest as given, then every table from NDJSON to Parquet. The NDJSON
    /// goes only when its Parquet is whole and on disk.
    ///
    /// # Errors
    /// A full or failing disk: the NDJSON then stays, and the run reads as it is.
    pub fn finish(mut self, manifest: &Manifest) -> Result<PathBuf> {
        self.flush()?;
        self.appenders.iter_mut().try_for_each(Appender::sync)?;
        write_manifest(&self.dir, manifest)?;
        macro_rules! convert {
            ($field:ident, $table:ident) => {
                convert_table(&self.dir, &mut $table::default())?;
            };
        }
        for_each_table!(convert);
        Ok(self.dir)
    }
}

/// Turns a table's NDJSON into Parquet in bounded memory, row group by row group. `group` says which
/// table: an empty one, which holds the group that is being filled.
fn convert_table(dir: &Path, group: &mut dyn AnyTable) -> Result<()> {
    let spec = group.spec();
    let lines = dir.join(format!("{}.ndjson", spec.name));
    if !lines.exists() {
        return Ok(());
    }
    let fresh = group.maker();
    storage::write_groups(dir, &spec, &mut |target| {
        let mut tally = Tally::default();
        let parse = |block: &Block| {
            let mut rows = fresh();
            let counted = ndjson::decode(block, &mut *rows);
            (rows, counted)
        };
        parse_files(std::slice::from_ref(&lines), parse, |_, (rows, counted)| {
            group.absorb(rows);
            tally.absorb(counted);
            if group.rows() >= storage::GROUP_ROWS {
                target.group(group, 0..group.rows())?;
                group.stored_mut().into_iter().for_each(Column::clear);
            }
            Ok(())
        })?;
        if let Some(remark) = tally.remark() {
            let hint = "another program wrote to this file; the NDJSON stays, and reads as it is";
            return Err(Error::bad_input(
                lines.display(),
                "the lines that were written",
                remark,
                hint,
            ));
        }
        if group.rows() == 0 { Ok(()) } else { target.group(group, 0..group.rows()) }
    })?;
    fs::remove_file(&lines)
        .map_err(|error| Error::io(&lines, "to remove what is now Parquet", &error))
}

/// Makes an empty directory below `root`, named after the start time (seconds since 1970, UTC) and
/// the kind of run, for another program to write the run into.
///
/// # Errors
/// A directory that cannot be made.
pub fn new_dir_below(root: &Path, unix_s: u64, kind: &str) -> Result<PathBuf> {
    fs::create_dir_all(root)
        .map_err(|error| Error::io(root, "to make the directory of runs", &error))?;
    let name = run_name(unix_s, kind);
    for attempt in 1..=9_999_u32 {
        let dir = match attempt {
            1 => root.join(&name),
            n => root.join(format!("{name}-{n}")),
        };
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(&dir, "to make the run directory", &error)),
        }
    }
    Err(Error::new(
        ErrorKind::Storage,
        root.join(&name).display(),
        "a free name",
        "9999 runs of this second",
        "choose another place for the run directory",
    ))
}

/// Changes the manifest of a run that is already closed, atomically.
///
/// # Errors
/// No manifest there, or one that cannot be read or written; it then stays as it was.
pub fn amend(dir: &Path, change: &mut dyn FnMut(&mut Manifest)) -> Result<()> {
    let path = dir.join(manifest::FILE);
    let text = fs::read_to_string(&path)
        .map_err(|error| Error::io(&path, "to read the manifest", &error))?;
    let mut manifest = Manifest::from_toml(&text, &path.display().to_string())?;
    change(&mut manifest);
    write_manifest(dir, &manifest)
}

/// Makes the run directory `dir` with its manifest; refuses one with files in it.
pub(crate) fn make_dir(dir: PathBuf, manifest: &Manifest) -> Result<PathBuf> {
    let dir = empty_dir(dir)?;
    write_manifest(&dir, manifest)?;
    Ok(dir)
}

/// Makes the directory `dir`; refuses one with files in it.
///
/// # Errors
/// As [`RunWriter::create`].
pub fn empty_dir(dir: impl Into<PathBuf>) -> Result<PathBuf> {
    let dir = dir.into();
    fs::create_dir_all(&dir)
        .map_err(|error| Error::io(&dir, "to make the run directory", &error))?;
    let mut entries =
        fs::read_dir(&dir).map_err(|error| Error::io(&dir, "to list the run directory", &error))?;
    if entries.next().is_some() {
        return Err(Error::bad_input(
            dir.display(),
            "a new or empty directory",
            "one with files in it",
            "choose another place for the run directory",
        ));
    }
    Ok(dir)
}

/// Appends the lines of one table. The file is made with the first line.
#[derive(Debug)]
struct Appender {
    table: &'static str,
    path: PathBuf,
    file: Option<fs::File>,
    buffer: Vec<u8>,
}

impl Appender {
    fn new(dir: &Path, table: &'static str) -> Appender {
        Appender {
            table,
            path: dir.join(format!("{table}.ndjson")),
            file: None,
            buffer: Vec::new(),
        }
    }

    /// Writes the buffer out. A write that stops half-way (a disk that fills up) leaves the rest
    /// in the buffer, so that nothing is written twice and nothing is lost.
    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        let outcome = self.write_out(&mut done);
        self.buffer.drain(..done.min(self.buffer.len()));
        outcome.map_err(|error| {
            let expected = format!("to append {} bytes", self.buffer.len());
            Error::io(&self.path, expected, &error)
        })
    }

    /// Makes the file, if it is not there yet.
    fn begin(&mut self) -> Result<()> {
        let opened = self.open().map(drop);
        opened.map_err(|error| Error::io(&self.path, "to begin the table", &error))
    }

    fn open(&mut self) -> io::Result<&mut fs::File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => {
                Ok(none.insert(fs::OpenOptions::new().append(true).create(true).open(&self.path)?))
            }
        }
    }

    fn write_out(&mut self, done: &mut usize) -> io::Result<()> {
        self.open()?;
        let Some(file) = &mut self.file else { return Ok(()) };
        while let Some(rest) = self.buffer.get(*done..).filter(|rest| !rest.is_empty()) {
            match file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => *done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        match &self.file {
            Some(file) => file.sync_all().map_err(|error| Error::io(&self.path, "to sync", &error)),
            None => Ok(()),
        }
    }
}

/// Writes the manifest beside the old one, then swaps: a reader sees the one or the other.
pub(crate) fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<()> {
    let path = dir.join(manifest::FILE);
    replace(&path, manifest.to_toml()?.as_bytes())
        .map_err(|error| Error::io(&path, "to write the manifest", &error))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("toml.tmp");
    let written = fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        // The disk is full: do not leave half a manifest in the way. Failing here changes nothing.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    storage::sync_dir(path.parent().unwrap_or(Path::new(".")))
}
