//! Importers of others' data: one file per format, all ending in a [`Run`].
//!
//! Bad input names the file, the line, what was expected and what was found. A wrong row is left
//! out, counted and noted; a file with too many of them is refused.

mod benchmarks;
mod coremark;
mod cortex;
mod cortex_line;
mod criterion;
mod csv_map;
mod csv_rows;
mod cyclictest;
mod detect;
mod ftalat;
mod go_benchmark;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod line_shape;
mod loadrec;
mod pyperf;
mod pytest_benchmark;
mod sampled;

use std::path::Path;

pub use csv_map::ColumnMap;
pub use detect::{Format, detect};

use crate::disk::{TEXT_BYTES, read_text as read_text_of};
use crate::error::{Error, Result};
use crate::manifest::{FileRecord, Manifest, RunState, SourceRecord};
use crate::name::{NAME_BYTES, check_length};
use crate::run::{Run, Warning};
use crate::storage::Columns;
use crate::tables::Note;
use crate::tally::Tally;

/// How to import.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The format; found out from the content where absent.
    pub format: Option<Format>,
    /// Columns of a CSV file; see [`ColumnMap`].
    pub map: ColumnMap,
    /// Rate of the counter that a file's times are in, in ticks per second, where the file does not
    /// tell (FTaLaT).
    pub counter_hz: Option<f64>,
    /// Which columns to keep in memory.
    pub columns: Columns<'a>,
    /// Start time for the manifest, RFC 3339.
    pub created: String,
    /// Command line for the manifest.
    pub command: Vec<String>,
}

/// Imports a file or a folder.
///
/// # Errors
/// No such file, an unknown format, a file without a good row or with too many bad ones.
pub fn import(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Run> {
    import_path(path.as_ref(), options)
}

fn import_path(path: &Path, options: &Options<'_>) -> Result<Run> {
    let format = match options.format {
        Some(format) => format,
        None => detect(path)?,
    };
    let mut run = format.import(path, options)?;
    if format == Format::Run {
        return Ok(run);
    }
    let windows = &run.tables.windows;
    for name in windows.workload.names().iter().chain(windows.condition.names()) {
        check_length(name).map_err(|found| {
            let (expected, hint) = (format!("names of at most {NAME_BYTES} bytes"), "shorten it");
            Error::bad_input(path.display(), expected, found, hint)
        })?;
    }
    options.columns.prune(&mut run.tables.windows);
    options.columns.prune(&mut run.tables.frequency);
    run.manifest.kind = "import".to_owned();
    run.manifest.state = RunState::Complete;
    run.manifest.created = options.created.clone();
    run.manifest.command = options.command.clone();
    run.tables.notes = Default::default();
    for warning in &run.warnings {
        run.tables.notes.push(Note {
            t_ns: None,
            severity: "warning".to_owned(),
            object: warning.object.clone(),
            message: warning.message.clone(),
            hint: warning.hint.clone(),
        });
    }
    Ok(run)
}

/// Opens a run directory, or imports anything else: what `flyball report PATH` reads.
///
/// # Errors
/// As [`Run::open`] and [`import`].
pub fn load(path: impl AsRef<Path>, options: &Options<'_>) -> Result<Run> {
    let path = path.as_ref();
    if Run::is_run(path) { Run::open_with(path, options.columns) } else { import(path, options) }
}

/// An empty imported run by `tool`.
fn new_run(tool: &str) -> Run {
    let source = SourceRecord { tool: tool.to_owned(), ..SourceRecord::default() };
    Run { manifest: Manifest { source: Some(source), ..Manifest::default() }, ..Run::default() }
}

/// Records what became of a file, and warns of what was left out.
fn record_file(run: &mut Run, name: String, bytes: u64, tally: &Tally) {
    if let Some(message) = tally.remark() {
        run.warnings.push(Warning { object: name.clone(), message, hint: None });
    }
    if let Some(source) = &mut run.manifest.source {
        source.files.push(FileRecord {
            path: name,
            bytes,
            rows: tally.rows,
            torn_lines: tally.torn,
            skipped: tally.skipped,
        });
    }
}

/// Reads a whole text file of moderate size.
fn read_text(path: &Path) -> Result<String> {
    let failed = |error: std::io::Error| Error::io(path, "to read it", &error);
    read_text_of(path, TEXT_BYTES).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => Error::bad_input(
            path.display(),
            format!("at most {} MiB in this format", TEXT_BYTES >> 20),
            "more",
            "split the file",
        ),
        std::io::ErrorKind::InvalidData => {
            Error::bad_input(path.display(), "text in UTF-8", "other bytes", "is this a text file?")
        }
        _ => failed(error),
    })
}

/// A file's name without its directory.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
