//! The zoomable time line: every event of one or more runs in one self-contained page, without
//! network, from whole hours down to single nanoseconds.
//!
//! ```text
//! RunData -> collect (lanes: spans, steps, points) -> pack (columns, varints, deflate, base64) -> page
//! ```
//! Nothing is thinned here: the page holds every row that it names, and its script works out per
//! pixel what to draw, from sums and extremes, so that what it draws costs as much as there are
//! pixels and nothing that happened is without one.

mod collect;
mod frame;
mod pack;
mod perfetto;
mod spans;

use std::path::Path;

use flyball_units::{Diagnostic, ErrorKind};
use serde::Serialize;

use crate::analysis::RunData;
use crate::text;

/// Rows that a page may hold. Above, its text comes near the 512 MiB that browsers hold in one piece.
pub const MOST_ROWS: u64 = 50_000_000;

/// What to show, and how.
#[derive(Clone, Debug, Default)]
pub struct LanesOptions {
    /// Time zero of each run is its first mark whose text contains this; its begin where `None`.
    pub marker: Option<String>,
    /// Headline; made from the runs where `None`.
    pub title: Option<String>,
    /// Program and version for the footer, for example `flyball 0.1.0`.
    pub generator: Option<String>,
}

/// A rendered page.
#[derive(Clone, Debug)]
pub struct LanesPage {
    /// UTF-8 HTML.
    pub html: String,
    /// Rows that it holds.
    pub rows: u64,
    /// What could not be placed on the axis, and why; the page says it, too.
    pub notes: Vec<String>,
}

/// A time line as a file.
#[derive(Clone, Debug)]
pub struct LanesFile {
    /// What the file holds.
    pub bytes: Vec<u8>,
    /// Rows of tables in it.
    pub rows: u64,
    /// What could not be placed, and why.
    pub notes: Vec<String>,
}

/// The time line of some runs as `file` wants it by its name: a trace for perfetto's tools where it ends in `.pftrace`
/// or `.perfetto-trace`, the page otherwise.
///
/// # Errors
/// As [`render`].
pub fn for_file(
    runs: &[RunData],
    options: &LanesOptions,
    file: &Path,
) -> Result<LanesFile, LanesError> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("pftrace" | "perfetto-trace") => perfetto::trace(runs),
        _ => render(runs, options).map(|page| LanesFile {
            bytes: page.html.into_bytes(),
            rows: page.rows,
            notes: page.notes,
        }),
    }
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LanesError {
    /// No run has a row with a time.
    #[error("time line: expected runs with windows or with events, found neither")]
    Nothing,
    /// More than a browser can hold.
    #[error("time line: expected at most {MOST_ROWS} rows, found {found}")]
    TooMany {
        /// Rows of all runs.
        found: u64,
    },
    /// A figure that JSON cannot carry.
    #[error("time line: its description cannot be written: {0}")]
    Description(String),
}

impl Diagnostic for LanesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Nothing | Self::TooMany { .. } => ErrorKind::BadInput,
            Self::Description(_) => ErrorKind::Own,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Nothing => "record the scheduler's events, or all events of a simulation",
            Self::TooMany { .. } => "name fewer runs, or capture for a shorter time",
            Self::Description(_) => "send the run directory with a bug report",
        };
        Some(hint.to_owned())
    }
}

/// How the rows of a lane are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    /// From, to and what; none overlaps another.
    Spans,
    /// A value that holds until the next.
    Steps,
    /// A value at a moment.
    Points,
}

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Measured windows, dispatch to end.
    Windows,
    /// Frequency of a clock domain, kHz.
    Frequency,
    /// Who ran on a CPU.
    Cpu,
    /// Idle states of a CPU.
    Idle,
    /// Utilisation of a CPU's run queue, capacity scale.
    CpuUtil,
    /// Utilisation of a task, capacity scale.
    TaskUtil,
    /// Gaps in the recording.
    Lost,
    /// Marks.
    Marks,
}

/// One lane: a line of the description and a piece of the packed data.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Lane {
    /// Index of its group.
    pub group: usize,
    /// What it shows.
    pub kind: Kind,
    /// How it is read.
    pub shape: Shape,
    /// Its name.
    pub name: String,
    /// The CPU, where it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Index of the task in its group, where it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<usize>,
    /// Index of the CPU's core type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<usize>,
    /// Rows.
    pub rows: usize,
    /// Which block of packed data it is in.
    pub block: usize,
    /// Its first byte there.
    pub at: usize,
    /// Further columns behind the usual ones.
    pub extra: usize,
}

/// A task of a group.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TaskRow {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// How long it ran, ns.
    pub ran: u64,
    /// How often it got a CPU.
    pub slices: u64,
}

/// One recording: a run, or one trial of it. Times in its lanes count from its begin.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Group {
    /// Its name.
    pub name: String,
    /// Length, ns.
    pub length: u64,
    /// Where time zero lies, ns behind the begin.
    pub zero: u64,
    /// The tasks, those that ran longest first.
    pub tasks: Vec<TaskRow>,
    /// Texts that rows of idle states, windows and marks refer to.
    pub texts: Vec<String>,
}

/// Everything but the columns.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Description {
    pub groups: Vec<Group>,
    pub lanes: Vec<Lane>,
    /// Names of the kinds of core, the smallest first.
    pub cores: Vec<String>,
    /// Raw and packed lengths of the blocks are in their elements; this is how many there are.
    pub blocks: usize,
    /// Rows in all lanes.
    pub rows: u64,
    /// What could not be shown, and why.
    pub notes: Vec<String>,
}

/// The page of some runs, beneath one another on one axis.
///
/// # Errors
/// [`LanesError`]: nothing to show, or too much.
pub fn render(runs: &[RunData], options: &LanesOptions) -> Result<LanesPage, LanesError> {
    let found = runs.iter().map(|run| collect::rows(&run.tables)).sum();
    if found > MOST_ROWS {
        return Err(LanesError::TooMany { found });
    }
    let (mut description, packer) = collect::all(runs, options);
    if description.rows == 0 {
        return Err(LanesError::Nothing);
    }
    let blocks = packer.finish();
    description.blocks = blocks.len();
    let title = options.title.clone().unwrap_or_else(|| {
        let names: Vec<String> = runs.iter().map(|run| text::plain(&run.name)).collect();
        format!("Time line of {}", names.join(", "))
    });
    let json = serde_json::to_string(&description)
        .map_err(|error| LanesError::Description(error.to_string()))?;
    let html = frame::page(&title, &json, &blocks, options.generator.as_deref());
    Ok(LanesPage { html, rows: description.rows, notes: description.notes })
}
