//! Measurements into a run directory, as they are made.

use crate::protocol::switches::TransitionError;
use crate::protocol::switches::methods::Sink;
use crate::session::{Destination, Origin, Outcome, Progress};
use flyball_host::Host;
use flyball_run::manifest::{ClockRecord, Machine, PlanRecord};
use flyball_run::name::REFUSED;
use flyball_run::{Manifest, Note, RunState, RunWriter, SwitchTrial};

/// A run directory that is being written.
pub struct Recorder<'a> {
    writer: RunWriter,
    manifest: Manifest,
    rows: u64,
    /// Measurements that count.
    kept: usize,
    host: &'a dyn Host,
    progress: &'a mut dyn Progress,
    tenth: Option<usize>,
}

impl<'a> Recorder<'a> {
    /// Makes the directory. `clock` is that of the times: `monotonic` or `virtual`; `created` is
    /// empty on a model.
    ///
    /// # Errors
    /// Where it cannot be made, or holds something.
    pub fn create(
        host: &'a dyn Host,
        destination: &Destination,
        origin: &Origin,
        (machine, clock, created): (Machine, &str, String),
        (seed, planned): (u64, usize),
        progress: &'a mut dyn Progress,
    ) -> Result<Recorder<'a>, TransitionError> {
        let manifest = Manifest {
            kind: "transition".to_owned(),
            created,
            plan: PlanRecord::of("measurements", planned),
            command: origin.command.clone(),
            seed: Some(seed),
            flyball: origin.flyball.clone(),
            machine: Some(machine),
            clocks: vec![ClockRecord {
                table: "trials".to_owned(),
                clock: clock.to_owned(),
                ..ClockRecord::default()
            }],
            ..Manifest::default()
        };
        let mut writer = destination.begin(host, &manifest)?;
        writer.begin::<SwitchTrial>()?;
        Ok(Recorder { writer, manifest, rows: 0, kept: 0, host, progress, tenth: None })
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

    /// Ends the run as its measurement ended: what was measured until an error or an interruption
    /// is kept.
    ///
    /// # Errors
    /// That of the measurement, but for an interruption; a full disk.
    pub fn finish(self, measured: Result<(), TransitionError>) -> Result<Outcome, TransitionError> {
        let state = match &measured {
            Ok(()) => RunState::Complete,
            Err(TransitionError::Interrupted) => RunState::Interrupted,
            Err(_) => RunState::Invalid,
        };
        let mut manifest = Manifest { state, ..self.manifest };
        if state == RunState::Complete {
            // What the machine refused is told in the notes.
            manifest.plan = PlanRecord::of("measurements", self.kept);
        }
        manifest.did(self.kept);
        let dir = self.writer.finish(&manifest)?;
        self.progress.closing();
        match measured {
            Ok(()) | Err(TransitionError::Interrupted) => {
                Ok(Outcome { dir, state, invalid: Vec::new() })
            }
            Err(error) => Err(error),
        }
    }
}

impl Sink for Recorder<'_> {
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError> {
        // One run may measure several domains, each from 0.
        self.kept += usize::from(trial.rejected.is_none());
        self.writer.append(&SwitchTrial { seq: self.rows, ..trial })?;
        self.rows += 1;
        self.writer.tick(self.host.now())?;
        // A model has no ears of its own.
        match self.host.interrupted() {
            0 => Ok(()),
            _ => Err(TransitionError::Interrupted),
        }
    }

    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError> {
        self.remark(REFUSED, object, why)
    }

    fn progress(&mut self, done: usize, all: usize, now: &str) {
        // Ten lines are enough for anybody.
        let tenth = 10 * done / all.max(1);
        if self.tenth.replace(tenth) != Some(tenth) {
            self.progress.note(&format!("{:>3} %  {now}", 100 * done / all.max(1)));
        }
    }
}
