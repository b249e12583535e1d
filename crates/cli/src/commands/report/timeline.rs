//! `flyball report --timeline FILE`: every event of the runs in one page to zoom into.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_report::analysis::RunData;
use flyball_report::lanes::{LanesError, LanesOptions, LanesPage, render};
use flyball_run::disk::write_file;
use std::path::Path;

/// Writes the page; what it holds.
///
/// # Errors
/// Nothing with a time in the runs, too much of it, or a place that cannot be written.
pub fn write(runs: &[RunData], marker: Option<&String>, file: &Path) -> Result<LanesPage, Failure> {
    let generator = Some(format!("flyball {}", env!("CARGO_PKG_VERSION")));
    let options = LanesOptions { marker: marker.cloned(), generator, ..LanesOptions::default() };
    let page = render(runs, &options).map_err(|error| {
        let exit = match error {
            LanesError::Nothing | LanesError::TooMany { .. } => Exit::BadInput,
            LanesError::Description(_) => Exit::Own,
        };
        Failure::new(exit, &error).hint(error.hint())
    })?;
    write_file(file, page.html.as_bytes()).map_err(|error| Failure::io(&error))?;
    Ok(page)
}
