//! `--trace`: the scheduler's events beside what is measured or played, in the same run directory.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_capture::trace::{Capture, CaptureError, Captured, Group, Options};
use flyball_events::import;
use flyball_host::Host;
use flyball_lab::protocol::windows::{Beside, Destination};
use flyball_run::manifest::{CheckOutcome, CheckRecord};
use flyball_run::{Manifest, Note, RunWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A capture that runs while windows are measured.
pub struct Trace {
    capture: Option<Capture>,
    text: PathBuf,
    quiet: bool,
    /// What of ours is still in tracefs.
    left: Vec<String>,
}

/// The groups that `--trace[=GROUPS]` names; None where it names none.
///
/// # Errors
/// A name that no group has.
pub fn groups(text: &str) -> Result<Option<Vec<Group>>, Failure> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let usage = |error: String| Failure::new(Exit::Usage, format!("--trace: expected {error}"));
    Group::parse_list(text).map(Some).map_err(usage)
}

impl Trace {
    /// Starts to capture `groups`, or what the kernel has of the usual ones, before the run directory
    /// is made: without permission nothing is left.
    ///
    /// # Errors
    /// No permission, no tracefs, no such group, no place for the trace's text.
    pub fn start(
        host: &Arc<dyn Host>,
        destination: &Destination,
        groups: Option<Vec<Group>>,
        quiet: bool,
    ) -> Result<Trace, Failure> {
        // Beside the run: the directory itself must be new or empty when the bench makes it.
        let folder = match destination {
            Destination::Below(root) => root.as_path(),
            Destination::Dir(dir) => dir.parent().unwrap_or(Path::new("")),
        };
        if !folder.as_os_str().is_empty() {
            fs_err::create_dir_all(folder).map_err(|error| Failure::io(&error))?;
        }
        let text = folder.join(format!(".trace-{}.txt", std::process::id()));
        let options = Options { groups, buffer_bytes: None };
        let capture = Capture::start(host, &text, &options).map_err(|error| {
            let _ = fs_err::remove_file(&text);
            Failure::from(error)
        })?;
        if !quiet {
            for note in capture.notes() {
                output::talk(&format!("trace: {note}"));
            }
        }
        Ok(Trace { capture: Some(capture), text, quiet, left: Vec::new() })
    }

    /// Whether tracefs is as it was.
    ///
    /// # Errors
    /// Something of ours is still in it.
    pub fn restored(&self) -> Result<(), Failure> {
        match self.left.is_empty() {
            true => Ok(()),
            false => Err(Failure::new(
                Exit::RestoreFailed,
                format!("tracefs is not as it was: {}", self.left.join("; ")),
            )
            .hint("try again with: sudo flyball capture --recover")),
        }
    }

    /// Writes what was captured; the text itself goes.
    fn write(
        &mut self,
        captured: &Captured,
        writer: &mut RunWriter,
        manifest: &mut Manifest,
    ) -> flyball_run::Result<Vec<CheckRecord>> {
        self.left.clone_from(&captured.left);
        let added = import::add_to(&captured.text, writer, &import::Options::default())?;
        let cost = captured.cost.to_string();
        for message in captured.notes.iter().chain([&cost]) {
            writer.note(&note("info", message.clone()))?;
        }
        if !self.quiet {
            output::talk(&format!("trace: {cost}"));
        }
        let known = |table: &str| manifest.clocks.iter().any(|clock| clock.table == table);
        let clocks: Vec<_> =
            added.manifest.clocks.into_iter().filter(|clock| !known(&clock.table)).collect();
        manifest.clocks.extend(clocks);
        manifest.overheads.push(captured.cost.overhead());
        let mut checks = added.manifest.checks;
        checks.extend(captured.checks());
        Ok(checks)
    }
}

impl Beside for Trace {
    fn finish(
        &mut self,
        writer: &mut RunWriter,
        manifest: &mut Manifest,
    ) -> flyball_run::Result<Vec<CheckRecord>> {
        let Some(capture) = self.capture.take() else { return Ok(Vec::new()) };
        match capture.stop() {
            Ok(captured) => self.write(&captured, writer, manifest),
            Err(error) => Ok(vec![failed(writer, &error)?]),
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // It is in the tables, or worth nothing; a failure leaves a file that its name explains.
        let _ = fs_err::remove_file(&self.text);
    }
}

/// The windows are good without their trace; that there is none is said.
fn failed(writer: &mut RunWriter, error: &CaptureError) -> flyball_run::Result<CheckRecord> {
    writer.note(&note("error", error.to_string()))?;
    Ok(CheckRecord {
        name: "trace".to_owned(),
        outcome: CheckOutcome::Failed,
        object: "capture beside the windows".to_owned(),
        expected: "events of the whole run".to_owned(),
        found: error.to_string(),
        hint: error.hint(),
    })
}

fn note(severity: &str, message: String) -> Note {
    let (severity, object) = (severity.to_owned(), "capture".to_owned());
    Note { t_ns: None, severity, object, message, hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_or_left_to_the_command() {
        assert_eq!(groups("").unwrap(), None);
        assert_eq!(groups("sched").unwrap(), Some(vec![Group::Sched]));
        assert_eq!(groups("nonsense").unwrap_err().exit, Exit::Usage);
    }
}
