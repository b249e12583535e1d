//! The two streams. Control characters from names that others chose never reach them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use crate::pulse::said;
use flyball_report::text::harmless;
use std::io::{ErrorKind, IsTerminal, Result, Write};

/// Writes data to stdout. A reader that has closed the pipe (`| head`) is not an error.
///
/// # Errors
/// What stdout is sent to does not take it.
pub fn data(text: &str) -> Result<()> {
    said();
    let text = harmless(text, std::io::stdout().is_terminal());
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Says something on stderr; nobody listening is not an error.
pub fn talk(text: &str) {
    said();
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(text, false));
}

/// Says something to who has not asked for silence.
pub fn unless_quiet(quiet: bool, text: &str) {
    if !quiet {
        talk(text);
    }
}

/// Says several lines.
pub fn lines(lines: impl IntoIterator<Item = String>) {
    lines.into_iter().for_each(|line| talk(&line));
}
