//! A recording and the run directory that it goes into.

use super::recorder::{Recorded, Recorder};
use super::source::Counting;
use crate::trace::CaptureError;
use flyball_host::{Host, HostError, Wake};
use flyball_run::{ActivitySample, Manifest, Note, RunState, RunWriter};
use flyball_units::{Diagnostic, Nanos};
use std::path::PathBuf;
use std::sync::Arc;

/// How often rows are written.
const ROUND: Nanos = Nanos::from_secs(1);

/// Why a recording is not whole.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The recorder.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The run directory.
    #[error(transparent)]
    Run(#[from] flyball_run::Error),
}

impl Diagnostic for RecordingError {
    fn inner(&self) -> Option<&dyn Diagnostic> {
        Some(match self {
            RecordingError::Capture(error) => error,
            RecordingError::Run(error) => error,
        })
    }
}

/// A recording that goes on, and where it goes.
pub struct Recording {
    host: Arc<dyn Host>,
    recorder: Recorder,
    writer: RunWriter,
    manifest: Manifest,
    /// The first failure.
    failed: Option<RecordingError>,
}

/// Keeps the first failure.
fn keep<E: Into<RecordingError>>(failed: &mut Option<RecordingError>, result: Result<(), E>) {
    if failed.is_none() {
        *failed = result.err().map(Into::into);
    }
}

impl Recording {
    /// Writes the rows of `recorder` into the run that was begun with `manifest`.
    ///
    /// # Errors
    /// A full disk.
    pub fn new(
        host: &Arc<dyn Host>,
        recorder: Recorder,
        mut writer: RunWriter,
        manifest: Manifest,
    ) -> flyball_run::Result<Recording> {
        writer.begin::<ActivitySample>()?;
        Ok(Recording { host: Arc::clone(host), recorder, writer, manifest, failed: None })
    }

    /// What is counted.
    pub fn counting(&self) -> Counting {
        self.recorder.counting()
    }

    /// Writes what is known by now, to be called every second or so; a failure is told at the end.
    pub fn round(&mut self) {
        let Recording { recorder, writer, failed, .. } = self;
        let drained = recorder.drain(&mut |row| keep(failed, writer.append(&row)));
        keep(failed, drained);
        keep(failed, writer.tick(self.host.now()));
    }

    /// Records for this long, or until the program is asked to end.
    ///
    /// # Errors
    /// A clock that refuses.
    pub fn wait(&mut self, duration: Nanos) -> Result<Wake, HostError> {
        let end = self.host.now() + duration;
        while self.host.now() < end {
            let next = (self.host.now() + ROUND).min(end);
            if self.host.sleep_until(next)? == Wake::Interrupted {
                return Ok(Wake::Interrupted);
            }
            self.round();
        }
        Ok(Wake::OnTime)
    }

    /// Ends it; the run directory, and what the user should know.
    ///
    /// # Errors
    /// The first failure of the recording, or of its end.
    pub fn finish(mut self, interrupted: bool) -> Result<(PathBuf, Vec<String>), RecordingError> {
        let Recording { recorder, writer, failed, .. } = &mut self;
        // The recorder goes with its thread; what it leaves is rows.
        let recorded = recorder.stop(&mut |row| keep(failed, writer.append(&row)))?;
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        self.close(&recorded, interrupted)
    }

    fn close(
        mut self,
        recorded: &Recorded,
        interrupted: bool,
    ) -> Result<(PathBuf, Vec<String>), RecordingError> {
        let cost = format!(
            "recording took {:.3} % of one CPU, {:.3} % of it counting",
            recorded.cost_percent, recorded.counting_percent
        );
        let messages: Vec<String> = recorded.notes.iter().cloned().chain([cost]).collect();
        for message in &messages {
            self.writer.note(&Note {
                t_ns: None,
                severity: "info".to_owned(),
                object: "load recorder".to_owned(),
                message: message.clone(),
                hint: None,
            })?;
        }
        let mut manifest = self.manifest;
        manifest.state = if interrupted { RunState::Interrupted } else { RunState::Complete };
        if !interrupted {
            manifest.did_all();
        }
        manifest.workloads.push(recorded.workload.clone());
        manifest.overheads.clone_from(&recorded.overheads);
        manifest.checks.clone_from(&recorded.checks);
        manifest.clocks.push(recorded.clock.clone());
        Ok((self.writer.finish(&manifest)?, messages))
    }
}
