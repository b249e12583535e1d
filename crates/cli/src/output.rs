//! What commands print: data to stdout, talk to stderr.

use crate::args::{CheckFormat, Talk};
use crate::failure::Failure;
pub use flyball_console::{charset, color, lines, talk, unless_quiet, width};
use flyball_run::Warning;
use serde_json::Value;
use std::path::Path;

/// Writes data to stdout.
pub fn data(text: &str) -> Result<(), Failure> {
    flyball_console::data(text).map_err(|error| {
        Failure::input(format!("stdout: expected to write, found {error}"))
            .hint("look at what stdout is sent to: its file system may be full")
    })
}

/// Writes a result in the format that was asked for.
pub fn result(
    format: CheckFormat,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> Value,
) -> Result<(), Failure> {
    data(&match format {
        CheckFormat::Text => text(),
        CheckFormat::Json => format!("{:#}\n", json()),
    })
}

/// Tells where a run is: on stdout, unless that is the program's.
pub fn run_dir(dir: &Path, program: &[String], talk: Talk) -> Result<(), Failure> {
    match program.is_empty() {
        true => data(&format!("{}\n", dir.display()))?,
        false => unless_quiet(talk.quiet, &format!("run: {}", dir.display())),
    }
    Ok(())
}

/// Notes on a run.
pub fn notes(warnings: &[Warning]) {
    lines(warnings.iter().map(|it| format!("note: {}: {}", it.object, it.message)));
}
