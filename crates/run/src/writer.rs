//! Writes a run directory: NDJSON appended while the run goes on, Parquet when it ends whole.
//!
//! Rows reach the operating system at the latest [`FLUSH_NS`] after they were appended, as long
//! as [`RunWriter::tick`] is called; a killed process then loses no more than that. They reach the
//! disk within [`KEPT_NS`]: a power cut loses no more than that.

mod sync;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_units::{ErrorKind, Nanos};
use fs_err as fs;

use crate::blocks::{Block, parse_files};
use crate::checksum::sealed;
use crate::disk::{self, DESCRIPTION_BYTES, Disk, DiskFile, RealDisk, read_text};
use crate::error::{Error, Result};
use crate::manifest::{self, Manifest, TableRecord};
use crate::name::run_name;
use crate::ndjson;
use crate::storage::{self, Column};
use crate::table::{AnyRow, AnyTable, Row, Table};
use crate::tables::*;
use crate::tally::Tally;
pub use sync::Syncer;

/// Rows are handed to the operating system at least this often.
pub const FLUSH_NS: u64 = 200_000_000;

/// Rows are on the disk at the latest this long after they were appended, where the disk syncs within
/// 0.3 s.
pub const KEPT_NS: u64 = 1_000_000_000;

/// Rows are handed over earlier when a table has buffered this many bytes.
const FLUSH_BYTES: usize = 64 * 1024;

/// Writes one run directory. Belongs to the writer thread, never to the measured one.
#[derive(Debug)]
pub struct RunWriter {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    appenders: Vec<Appender>,
    flushed_at: Option<Nanos>,
    syncer: Syncer,
    /// What was appended since somebody last took it, where anybody does.
    kept: Option<Box<Tables>>,
}

impl RunWriter {
    /// Makes the run directory `dir` and writes its manifest.
    ///
    /// # Errors
    /// Where `dir` exists and is not empty, or cannot be made or written.
    pub fn create(dir: impl Into<PathBuf>, manifest: &Manifest) -> Result<RunWriter> {
        RunWriter::create_synced_on(Arc::new(RealDisk), dir, manifest)
    }

    /// As [`RunWriter::create`] on a disk of another kind.
    ///
    /// # Errors
    /// As [`RunWriter::create`].
    pub fn create_synced_on(
        disk: Arc<dyn Disk>,
        dir: impl Into<PathBuf>,
        manifest: &Manifest,
    ) -> Result<RunWriter> {
        RunWriter::on(disk, dir.into(), manifest, true)
    }

    /// As [`RunWriter::create_synced_on`], but rows are synced when [`RunWriter::sync`] is
    /// called, and not by themselves.
    ///
    /// # Errors
    /// As [`RunWriter::create`].
    pub fn create_on(
        disk: Arc<dyn Disk>,
        dir: impl Into<PathBuf>,
        manifest: &Manifest,
    ) -> Result<RunWriter> {
        RunWriter::on(disk, dir.into(), manifest, false)
    }

    fn on(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        manifest: &Manifest,
        threaded: bool,
    ) -> Result<RunWriter> {
        let dir = make_dir(disk.as_ref(), dir, manifest)?;
        let appenders = registry().iter().map(|table| Appender::new(&dir, table.name)).collect();
        let syncer = Syncer::new(Arc::clone(&disk), &dir, threaded);
        Ok(RunWriter { disk, dir, appenders, flushed_at: None, syncer, kept: None })
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
            Some(appender) => appender.begin(self.disk.as_ref(), &mut self.syncer),
            None => Ok(()),
        }
    }

    /// Appends one row of any table.
    ///
    /// # Errors
    /// A value that NDJSON cannot carry; a full disk. Rows that were appended before stay.
    pub fn append(&mut self, row: &dyn AnyRow) -> Result<()> {
        let name = row.spec().name;
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
        appender.rows += 1;
        if let Some(kept) = &mut self.kept {
            row.push_to(kept);
        }
        match appender.buffer.len() >= FLUSH_BYTES {
            true => appender.flush(self.disk.as_ref(), &mut self.syncer),
            false => Ok(()),
        }
    }

    /// The rows that were appended since the last call, beside those on the disk; from the first call on.
    pub fn take_rows(&mut self) -> Tables {
        *self.kept.replace(Box::default()).unwrap_or_default()
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
        let (disk, syncer) = (self.disk.as_ref(), &mut self.syncer);
        self.appenders.iter_mut().try_for_each(|appender| appender.flush(disk, syncer))
    }

    /// Hands all buffered rows to the disk, and returns when they are there.
    ///
    /// # Errors
    /// As [`RunWriter::flush`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.syncer.sync()
    }

    /// Replaces the manifest, atomically. The rows before it are on the disk first: what the manifest says to
    /// be done is there.
    ///
    /// # Errors
    /// A full or failing disk; the old manifest then stays.
    pub fn update_manifest(&mut self, manifest: &Manifest) -> Result<()> {
        self.sync()?;
        write_manifest(self.disk.as_ref(), &self.dir, manifest)
    }

    /// Ends the run: the rows, the manifest as given with the tables as they are, then every table from
    /// NDJSON to Parquet, and their checksums in the manifest. The NDJSON goes only when all of that is
    /// on the disk.
    ///
    /// # Errors
    /// A full or failing disk: the NDJSON then stays, and the run reads as it is.
    pub fn finish(mut self, manifest: &Manifest) -> Result<PathBuf> {
        self.sync()?;
        let (disk, dir) = (self.disk.as_ref(), self.dir.as_path());
        let rows_of = |appender: &Appender| TableRecord {
            name: appender.table.to_owned(),
            rows: appender.rows,
            checksum: None,
        };
        let begun = self.appenders.iter().filter(|appender| appender.file.is_some());
        let mut closed = Manifest { tables: begun.map(rows_of).collect(), ..manifest.clone() };
        write_manifest(disk, dir, &closed)?;
        macro_rules! convert {
            ($field:ident, $table:ident) => {
                convert_table(disk, dir, &mut $table::default(), &mut closed.tables)?;
            };
        }
        for_each_table!(convert);
        if closed.tables.is_empty() {
            return Ok(self.dir);
        }
        write_manifest(disk, dir, &closed)?;
        for table in &closed.tables {
            let lines = dir.join(format!("{}.ndjson", table.name));
            disk.remove(&lines)
                .map_err(|error| Error::io(&lines, "to remove what is now Parquet", &error))?;
        }
        disk.sync_dir(dir).map_err(|error| Error::io(dir, "to sync the run directory", &error))?;
        Ok(self.dir)
    }
}

/// Turns a table's NDJSON into Parquet in bounded memory, row group by row group, if it is among those
/// that were `begun`. `group` says which table: an empty one, which holds the group that is being filled.
fn convert_table(
    disk: &dyn Disk,
    dir: &Path,
    group: &mut dyn AnyTable,
    begun: &mut [TableRecord],
) -> Result<()> {
    let spec = group.spec();
    let Some(record) = begun.iter_mut().find(|record| record.name == spec.name) else {
        return Ok(());
    };
    let lines = dir.join(format!("{}.ndjson", spec.name));
    let fresh = group.maker();
    let written = storage::write_groups(disk, dir, &spec, &mut |target| {
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
        let others = (tally.rows != record.rows)
            .then(|| format!("{} rows where {} were written", tally.rows, record.rows));
        if let Some(found) = tally.remark().or(others) {
            let hint = "another program wrote to this file; the NDJSON stays, and reads as it is";
            return Err(Error::bad_input(
                lines.display(),
                "the lines that were written",
                found,
                hint,
            ));
        }
        if group.rows() == 0 { Ok(()) } else { target.group(group, 0..group.rows()) }
    })?;
    *record = written;
    Ok(())
}

/// Makes an empty directory below `root`, named after the start time (seconds since 1970, UTC) and
/// the kind of run, for another program to write the run into.
///
/// # Errors
/// A directory that cannot be made.
pub fn new_dir_below(root: &Path, unix_s: u64, kind: &str) -> Result<PathBuf> {
    disk::create_dir_all(&RealDisk, root)
        .map_err(|error| Error::io(root, "to make the directory of runs", &error))?;
    let name = run_name(unix_s, kind);
    for attempt in 1..=9_999_u32 {
        let dir = match attempt {
            1 => root.join(&name),
            n => root.join(format!("{name}-{n}")),
        };
        match RealDisk.create_dir(&dir).and_then(|()| RealDisk.sync_dir(root)) {
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
    let text = read_text(&path, DESCRIPTION_BYTES)
        .map_err(|error| Error::io(&path, "to read the manifest", &error))?;
    let mut manifest = Manifest::from_toml(&text, &path.display().to_string())?;
    change(&mut manifest);
    write_manifest(&RealDisk, dir, &manifest)
}

/// Makes the run directory `dir` with its manifest; refuses one with files in it.
pub(crate) fn make_dir(disk: &dyn Disk, dir: PathBuf, manifest: &Manifest) -> Result<PathBuf> {
    let dir = empty_dir_on(disk, dir)?;
    // Of two at the same time one has the directory; and whoever looks finds no manifest or a whole one.
    let claim = dir.join(CLAIM);
    match disk.create(&claim) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(&dir)),
        Err(error) => return Err(Error::io(&claim, "to begin the run directory", &error)),
    }
    let made = match dir.join(manifest::FILE).exists() {
        // Another one was done between the look and the claim.
        true => Err(taken(&dir)),
        false => write_manifest(disk, &dir, manifest),
    };
    // If it stays, it is in nobody's way: the manifest is there, or nothing is.
    let _ = disk.remove(&claim);
    made.map(|()| dir)
}

/// What a run directory has in it until its manifest is there.
const CLAIM: &str = "run.toml.claim";

/// Makes the directory `dir`; refuses one with files in it.
///
/// # Errors
/// As [`RunWriter::create`].
pub fn empty_dir(dir: impl Into<PathBuf>) -> Result<PathBuf> {
    empty_dir_on(&RealDisk, dir.into())
}

fn empty_dir_on(disk: &dyn Disk, dir: PathBuf) -> Result<PathBuf> {
    disk::create_dir_all(disk, &dir)
        .map_err(|error| Error::io(&dir, "to make the run directory", &error))?;
    check_empty(&dir)?;
    Ok(dir)
}

/// Refuses a place where a run directory cannot be made: one with files in it, or no directory.
///
/// # Errors
/// As [`RunWriter::create`]; a place where nothing is yet is none.
pub fn check_empty(dir: &Path) -> Result<()> {
    use io::ErrorKind::{NotFound, Unsupported};
    let mut entries = match fs::read_dir(dir) {
        // Where there is no file system (WebAssembly), there is nothing in the way either.
        Err(error) if matches!(error.kind(), NotFound | Unsupported) => return Ok(()),
        entries => entries.map_err(|error| Error::io(dir, "to list the run directory", &error))?,
    };
    if entries.next().is_some() { Err(taken(dir)) } else { Ok(()) }
}

fn taken(dir: &Path) -> Error {
    Error::bad_input(
        dir.display(),
        "a new or empty directory",
        "one with files in it",
        "choose another place for the run directory",
    )
}

/// Appends the lines of one table. The file is made with the first line.
#[derive(Debug)]
struct Appender {
    table: &'static str,
    path: PathBuf,
    /// The file, and its number at the syncer.
    file: Option<(Arc<dyn DiskFile>, usize)>,
    buffer: Vec<u8>,
    /// Rows that were appended, those in the buffer included.
    rows: u64,
}

impl Appender {
    fn new(dir: &Path, table: &'static str) -> Appender {
        let path = dir.join(format!("{table}.ndjson"));
        Appender { table, path, file: None, buffer: Vec::new(), rows: 0 }
    }

    /// Writes the buffer out. A write that stops half-way (a disk that fills up) leaves the rest
    /// in the buffer, so that nothing is written twice and nothing is lost.
    fn flush(&mut self, disk: &dyn Disk, syncer: &mut Syncer) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let (file, number) = self.open(disk, syncer)?;
        let mut done = 0;
        let outcome = write_out(file.as_ref(), &self.buffer, &mut done);
        self.buffer.drain(..done.min(self.buffer.len()));
        let synced = syncer.written(number);
        outcome.map_err(|error| {
            let expected = format!("to append {} bytes", self.buffer.len());
            Error::io(&self.path, expected, &error)
        })?;
        synced
    }

    /// Makes the file, if it is not there yet.
    fn begin(&mut self, disk: &dyn Disk, syncer: &mut Syncer) -> Result<()> {
        self.open(disk, syncer).map(drop)
    }

    fn open(&mut self, disk: &dyn Disk, syncer: &mut Syncer) -> Result<(Arc<dyn DiskFile>, usize)> {
        if let Some((file, number)) = &self.file {
            return Ok((Arc::clone(file), *number));
        }
        let file = disk
            .append(&self.path)
            .map_err(|error| Error::io(&self.path, "to begin the table", &error))?;
        let number = syncer.add(&self.path, Arc::clone(&file))?;
        self.file = Some((Arc::clone(&file), number));
        Ok((file, number))
    }
}

/// Writes `bytes`, and counts those that are written.
fn write_out(file: &dyn DiskFile, bytes: &[u8], done: &mut usize) -> io::Result<()> {
    while let Some(rest) = bytes.get(*done..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => *done += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the manifest beside the old one, then swaps: a reader sees the one or the other.
pub(crate) fn write_manifest(disk: &dyn Disk, dir: &Path, manifest: &Manifest) -> Result<()> {
    let path = dir.join(manifest::FILE);
    disk::replace(disk, &path, sealed(&manifest.to_toml()?).as_bytes())
        .map_err(|error| Error::io(&path, "to write the manifest", &error))
}
