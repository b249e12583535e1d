//! The terminal: data to stdout, talk to stderr. Nothing else prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use crate::args::{CheckFormat, Talk};
use crate::failure::Failure;
use flyball_host::Host;
use flyball_report::text::harmless;
use flyball_report::timeline::Charset;
use flyball_run::Warning;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Writes data to stdout. A reader that has closed the pipe (`| head`) is not an error.
pub fn data(text: &str) -> Result<(), Failure> {
    let text = harmless(text, std::io::stdout().is_terminal());
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("stdout: expected to write, found {error}"))
                .hint("look at what stdout is sent to: its file system may be full"))
        }
        _ => Ok(()),
    }
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
    warnings
        .iter()
        .for_each(|warning| talk(&format!("note: {}: {}", warning.object, warning.message)));
}

/// Says something on stderr; nobody listening is not an error.
pub fn talk(text: &str) {
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

/// Whether stdout is a terminal that wants colour.
pub fn color(host: &dyn Host) -> bool {
    let refused = host.env("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = host.env("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
}

/// Columns to use: the terminal's, or `COLUMNS`; a file has room for whole tables.
pub fn width(host: &dyn Host) -> usize {
    let columns = host.env("COLUMNS").and_then(|text| text.parse().ok());
    columns
        .or_else(|| terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0)))
        .unwrap_or(100)
        .clamp(60, 200)
}

/// What plots are drawn with: blocks where the locale says UTF-8.
pub fn charset(host: &dyn Host) -> Charset {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| host.env(name).filter(|value| !value.is_empty()));
    match locale.is_some_and(|value| value.to_lowercase().replace('-', "").contains("utf8")) {
        true => Charset::Blocks,
        false => Charset::Ascii,
    }
}
