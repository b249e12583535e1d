//! Files: from a trace to a run in memory or on disk.

use std::path::{Path, PathBuf};

use flyball_run::manifest::{Manifest, PlanRecord};
use flyball_run::{Error, Result, Run, RunWriter, Tables, Warning};
use fs_err as fs;

use super::builder::{Builder, Built};
use super::join::{Join, add as add_join, join};
use super::{manifest, pstates};
use crate::stream::{Item, Unit};
use crate::{Kind, Reader};

/// Torn lines above this share of a file mean that it is not a trace.
const TORN_SHARE_MAX: f64 = 0.10;

/// How to import a trace.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The trace's clock, as ftrace calls it (`mono`, `local`, ...); a trace does not say.
    pub clock: Option<String>,
    /// A log of frequency writes seen from outside, to be joined.
    pub pstates: Option<PathBuf>,
    /// Start time for the manifest, RFC 3339.
    pub created: String,
    /// Command line for the manifest.
    pub command: Vec<String>,
}

/// What became of a trace that went to disk.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The run directory.
    pub dir: PathBuf,
    /// Events that are understood.
    pub events: u64,
    /// Rows written.
    pub rows: u64,
    /// What the reader of the run has to know.
    pub warnings: Vec<Warning>,
    /// The log of frequency writes, where one was joined.
    pub join: Option<Join>,
}

/// Whether a file is a trace that is read here, by its content.
///
/// # Errors
/// The file cannot be read.
pub fn is_trace(path: impl AsRef<Path>) -> Result<bool> {
    Ok(Kind::of(path)?.is_some())
}

/// Imports a trace into memory.
///
/// # Errors
/// The file cannot be read, or is not a trace.
pub fn import(path: impl AsRef<Path>, options: &Options) -> Result<Run> {
    let (built, warnings, _) = read(path.as_ref(), options, |_| Ok(()))?;
    let Built { tables, manifest, .. } = built;
    Ok(Run { dir: None, manifest, tables, unfinished: None, warnings })
}

/// Imports a trace into the new run directory `dir`, in bounded memory.
///
/// # Errors
/// The file cannot be read, or is not a trace; the directory is not new; the disk is full.
pub fn import_to(
    path: impl AsRef<Path>,
    dir: impl Into<PathBuf>,
    options: &Options,
) -> Result<Imported> {
    let bytes = fs::metadata(path.as_ref()).map_or(0, |file| file.len());
    let plan = PlanRecord::of("bytes", usize::try_from(bytes).unwrap_or(usize::MAX));
    let running = Manifest { kind: "import".to_owned(), plan, ..Manifest::default() };
    let writer = RunWriter::create(dir, &running)?;
    let dir = writer.dir().to_owned();
    write(path.as_ref(), writer, options).inspect_err(|_| {
        // The directory was made for this trace alone: what is in it is half a run.
        let _ = fs::remove_dir_all(&dir);
    })
}

/// What a trace adds to a run that is being written.
#[derive(Clone, Debug)]
pub struct Added {
    /// CPUs, clock domains, clocks and checks, as far as the trace tells; the rest is default.
    pub manifest: Manifest,
    /// Events that are understood.
    pub events: u64,
    /// Rows written.
    pub rows: u64,
    /// What the reader of the run has to know; the table `notes` has it already.
    pub warnings: Vec<Warning>,
    /// The log of frequency writes, where one was joined.
    pub join: Option<Join>,
}

/// Appends the rows of a trace to a run that is being written, in bounded memory. What the trace
/// says about the machine is for the caller to take over.
///
/// # Errors
/// The file cannot be read, or is not a trace; the disk is full.
pub fn add_to(path: impl AsRef<Path>, writer: &mut RunWriter, options: &Options) -> Result<Added> {
    let mut rows = 0;
    let (built, warnings, join) = read(path.as_ref(), options, |builder| {
        if builder.is_full() {
            rows += append(writer, &builder.take())?;
        }
        Ok(())
    })?;
    rows += append(writer, &built.tables)?;
    let source = built.manifest.source.as_ref();
    let events = source.and_then(|source| source.files.first()).map_or(0, |file| file.rows);
    Ok(Added { manifest: built.manifest, events, rows, warnings, join })
}

fn write(path: &Path, mut writer: RunWriter, options: &Options) -> Result<Imported> {
    let added = add_to(path, &mut writer, options)?;
    let dir = writer.finish(&added.manifest)?;
    let Added { events, rows, warnings, join, .. } = added;
    Ok(Imported { dir, events, rows, warnings, join })
}

/// Reads the whole file; after each item `each` may take the rows so far. What it leaves is in the end
/// all here.
fn read(
    path: &Path,
    options: &Options,
    mut each: impl FnMut(&mut Builder) -> Result<()>,
) -> Result<(Built, Vec<Warning>, Option<Join>)> {
    let failed = |error: &std::io::Error| Error::io(path, "to read it", error);
    let mut reader = Reader::open(path)?;
    let mut builder = Builder::new();
    let mut refused = None;
    let outcome = reader.for_each(|item: Item<'_>| -> std::io::Result<()> {
        builder.item(item);
        if let Err(error) = each(&mut builder) {
            refused = Some(error);
            return Err(std::io::ErrorKind::Other.into());
        }
        Ok(())
    });
    if let Some(error) = refused {
        return Err(error);
    }
    outcome.map_err(|error| failed(&error))?;
    check(&reader)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut built = builder.finish();
    let (header, counts) = (reader.header(), reader.counts());
    let tool = reader.kind().tool();
    manifest::of_file(&mut built.manifest, (tool, &name), header, counts, options.clock.as_deref());
    built.manifest.created.clone_from(&options.created);
    built.manifest.command.clone_from(&options.command);
    let mut warnings = manifest::warnings(&name, header, counts, &built);
    let joined = match &options.pstates {
        Some(log) => Some(joined(log, &mut built, &mut warnings)?),
        None => None,
    };
    for warning in &warnings {
        manifest::note(&mut built.tables, warning);
    }
    Ok((built, warnings, joined))
}

/// Joins a log of frequency writes; its rows go to the table `frequency` on the trace's clock.
fn joined(log: &Path, built: &mut Built, warnings: &mut Vec<Warning>) -> Result<Join> {
    let writes = pstates::read(log)?;
    let join = join(&built.tables.frequency, built.manifest.machine.as_ref(), &writes, built.span)
        .map_err(|found| {
            Error::bad_input(
                log.display(),
                "frequency writes of the machine and the time of the trace",
                found,
                "name the log that was written while the trace was recorded",
            )
        })?;
    let name = log.file_name().unwrap_or(log.as_os_str()).to_string_lossy().into_owned();
    add_join(built, &name, &writes, &join);
    for message in join.sentences() {
        warnings.push(Warning { object: name.clone(), message, hint: None });
    }
    Ok(join)
}

/// Refuses a file without an event, and one that is mostly something else.
pub fn check(reader: &Reader) -> Result<()> {
    let (path, counts, unit) = (reader.path(), reader.counts(), reader.counts().unit);
    let first = counts.first_torn.first();
    let object = match first {
        Some(torn) if unit == Unit::Line => format!("{}:{}", path.display(), torn.line),
        _ => path.display().to_string(),
    };
    let hint = reader.kind().hint();
    let events = counts.records + counts.unknown_events();
    if counts.records == 0 {
        let found = match first {
            Some(torn) => format!("none in {} {unit}s ({torn})", counts.lines),
            None => format!("none in {} {unit}s, {events} of other kinds", counts.lines),
        };
        return Err(Error::bad_input(object, "an event of scheduler or clocks", found, hint));
    }
    let bad = counts.torn.saturating_sub(1) as f64;
    if bad > TORN_SHARE_MAX * (events + counts.torn) as f64 {
        let found = format!("{} torn of {} {unit}s", counts.torn, counts.lines);
        return Err(Error::bad_input(object, format!("at most 10 % torn {unit}s"), found, hint));
    }
    Ok(())
}

/// Appends all rows of the tables that a trace fills.
fn append(writer: &mut RunWriter, tables: &Tables) -> Result<u64> {
    let mut rows = 0;
    macro_rules! append {
        ($($table:ident),+) => {$(
            for row in (0..tables.$table.len()).filter_map(|row| tables.$table.row(row)) {
                writer.append(&row)?;
                rows += 1;
            }
        )+};
    }
    append!(
        slices,
        wakeups,
        migrations,
        idle,
        interrupts,
        frequency,
        utilization,
        capacity,
        markers,
        governor,
        lost,
        notes
    );
    Ok(rows)
}
