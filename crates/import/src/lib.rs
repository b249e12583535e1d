//! Importers of other tools' results: one file per format, all ending in a [`Run`].
//!
//! Bad input names the file, the line, what was expected and what was found. A wrong row is left
//! out, counted and noted; a file with too many of them is refused.

mod benchmarks;
mod cortex_line;
mod csv_map;
mod formats;
mod line_shape;
mod reading;
mod sampled;

pub use csv_map::ColumnMap;
pub use formats::{Format, detect};

use flyball_run::manifest::RunState;
use flyball_run::name::{NAME_BYTES, check_length};
use flyball_run::run::Run;
use flyball_run::storage::Columns;
use flyball_run::tables::Note;
use flyball_run::{Error, Result};
use std::path::Path;

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
