//! What every importer does with a file: reads it, and records what became of it.

use flyball_run::disk::{TEXT_BYTES, read_text as read_text_of};
use flyball_run::manifest::{FileRecord, Manifest, SourceRecord};
use flyball_run::run::{Run, Warning};
use flyball_run::tally::Tally;
use flyball_run::{Error, Result};
use std::path::Path;

/// An empty imported run by `tool`.
pub(crate) fn new_run(tool: &str) -> Run {
    let source = SourceRecord { tool: tool.to_owned(), ..SourceRecord::default() };
    Run { manifest: Manifest { source: Some(source), ..Manifest::default() }, ..Run::default() }
}

/// Records what became of a file, and warns of what was left out.
pub(crate) fn record_file(run: &mut Run, name: String, bytes: u64, tally: &Tally) {
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
pub(crate) fn read_text(path: &Path) -> Result<String> {
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
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
