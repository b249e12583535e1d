//! Measurements into a run directory, as they are made.

use crate::protocol::switches::TransitionError;
use crate::protocol::switches::methods::Sink;
use flyball_run::manifest::{ClockRecord, Flyball, Machine};
use flyball_run::name::REFUSED;
use flyball_run::{Manifest, Note, RunState, RunWriter, SwitchTrial};
use std::path::Path;

/// What the manifest says besides what was measured.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Start, RFC 3339; empty on a model.
    pub created: String,
    /// The command line.
    pub command: Vec<String>,
    /// Version and commit of the program.
    pub flyball: Flyball,
    /// The machine.
    pub machine: Machine,
    /// Clock of the times: `monotonic` or `virtual`.
    pub clock: String,
    /// Seed of the waits.
    pub seed: u64,
}

/// Rows between two writes to the disk.
const FLUSH_ROWS: u64 = 256;

/// A run directory that is being written.
pub struct Recorder<'a> {
    writer: RunWriter,
    manifest: Manifest,
    rows: u64,
    progress: &'a mut dyn FnMut(usize, usize, &str),
}

impl<'a> Recorder<'a> {
    /// Makes the directory `dir`.
    ///
    /// # Errors
    /// Where it cannot be made, or holds something.
    pub fn create(
        dir: &Path,
        about: About,
        progress: &'a mut dyn FnMut(usize, usize, &str),
    ) -> Result<Recorder<'a>, TransitionError> {
        let manifest = Manifest {
            kind: "transition".to_owned(),
            created: about.created,
            command: about.command,
            seed: Some(about.seed),
            flyball: about.flyball,
            machine: Some(about.machine),
            clocks: vec![ClockRecord {
                table: "trials".to_owned(),
                clock: about.clock,
                ..ClockRecord::default()
            }],
            ..Manifest::default()
        };
        let mut writer = RunWriter::create(dir, &manifest)?;
        writer.begin::<SwitchTrial>()?;
        Ok(Recorder { writer, manifest, rows: 0, progress })
    }

    /// A remark.
    ///
    /// # Errors
    /// A full disk.
    pub fn note(&mut self, object: &str, message: &str) -> Result<(), TransitionError> {
        self.remark("info", object, message)
    }

    fn remark(
        &mut self,
        severity: &str,
        object: &str,
        message: &str,
    ) -> Result<(), TransitionError> {
        self.writer.note(&Note {
            t_ns: None,
            severity: severity.to_owned(),
            object: object.to_owned(),
            message: message.to_owned(),
            hint: None,
        })?;
        Ok(())
    }

    /// Ends the run.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(self, state: RunState) -> Result<(), TransitionError> {
        let manifest = Manifest { state, ..self.manifest };
        self.writer.finish(&manifest)?;
        Ok(())
    }
}

impl Sink for Recorder<'_> {
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError> {
        // One run may measure several domains, each from 0.
        self.writer.append(&SwitchTrial { seq: self.rows, ..trial })?;
        self.rows += 1;
        if self.rows.is_multiple_of(FLUSH_ROWS) {
            self.writer.flush()?;
        }
        Ok(())
    }

    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError> {
        self.remark(REFUSED, object, why)
    }

    fn progress(&mut self, done: usize, all: usize, now: &str) {
        (self.progress)(done, all, now);
    }
}
