//! The scheduler's events beside what is measured or played, in the same run directory.

use crate::session::{Destination, SideRecorder};
use flyball_capture::trace::{Capture, CaptureError, Captured, Group, Options};
use flyball_events::import;
use flyball_host::Host;
use flyball_run::manifest::{CheckOutcome, CheckRecord};
use flyball_run::{Manifest, Note, RunWriter};
use flyball_units::{Diagnostic, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why events could not be recorded, or tracefs is not as it was.
#[derive(Debug, thiserror::Error)]
pub enum EventRecorderError {
    /// The capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The folder of the trace's text.
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    /// Something of ours is still in tracefs.
    #[error("tracefs is not as it was: {}", .0.join("; "))]
    Left(Vec<String>),
}

impl Diagnostic for EventRecorderError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            EventRecorderError::Capture(error) => Some(error),
            EventRecorderError::Folder(error) => Some(error),
            EventRecorderError::Left(_) => None,
        }
    }

    fn kind(&self) -> ErrorKind {
        self.inner().map_or(ErrorKind::Restore, Diagnostic::kind)
    }

    fn hint(&self) -> Option<String> {
        match self {
            EventRecorderError::Left(_) => {
                Some("recover what is left in tracefs, as root".to_owned())
            }
            _ => self.inner().and_then(Diagnostic::hint),
        }
    }
}

/// A capture that runs during a measurement.
pub struct EventRecorder {
    capture: Option<Capture>,
    text: PathBuf,
    /// What of ours is still in tracefs.
    left: Vec<String>,
    /// What it cost, once it has ended.
    cost: Option<String>,
}

impl EventRecorder {
    /// Starts to capture `groups`, or what the kernel has of the usual ones, before the run directory
    /// is made: without permission nothing is left.
    ///
    /// # Errors
    /// No permission, no tracefs, no such group, no place for the trace's text.
    pub fn start(
        host: &Arc<dyn Host>,
        destination: &Destination,
        groups: Option<Vec<Group>>,
    ) -> Result<EventRecorder, EventRecorderError> {
        // Beside the run: the directory itself must be new or empty when the bench makes it.
        let folder = match destination {
            Destination::Below(root) => root.as_path(),
            Destination::Dir(dir) => dir.parent().unwrap_or(Path::new("")),
        };
        if !folder.as_os_str().is_empty() {
            fs_err::create_dir_all(folder)?;
        }
        let text = folder.join(format!(".trace-{}.txt", std::process::id()));
        let options = Options { groups, buffer_bytes: None };
        let capture = Capture::start(host, &text, &options).inspect_err(|_| {
            let _ = fs_err::remove_file(&text);
        })?;
        Ok(EventRecorder { capture: Some(capture), text, left: Vec::new(), cost: None })
    }

    /// What the user should know of it: what the kernel lacks, then, once it has ended, its cost.
    pub fn notes(&self) -> Vec<String> {
        let lacks = self.capture.iter().flat_map(Capture::notes);
        lacks.map(ToString::to_string).chain(self.cost.clone()).collect()
    }

    /// Whether tracefs is as it was.
    ///
    /// # Errors
    /// Something of ours is still in it.
    pub fn restored(&self) -> Result<(), EventRecorderError> {
        match self.left.is_empty() {
            true => Ok(()),
            false => Err(EventRecorderError::Left(self.left.clone())),
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
        self.cost = Some(cost);
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

impl SideRecorder for EventRecorder {
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

impl Drop for EventRecorder {
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
