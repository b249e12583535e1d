//! Decisions as a run directory: the tables `governor`, `frequency` and `notes`.

use crate::log::{Entry, Note, Sink};
use crate::prepare::Outline;
use flyball_governors::{Decision, Request};
use flyball_run::manifest::ClockRecord;
use flyball_run::{FrequencySample, GovernorStep, Manifest, RunState, RunWriter};
use flyball_units::KiloHertz;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The writer's end: rows as they come.
pub struct RunSink {
    writer: Arc<Mutex<Option<RunWriter>>>,
    governor: String,
}

/// A run that is being written.
pub struct Recording {
    writer: Arc<Mutex<Option<RunWriter>>>,
    manifest: Manifest,
}

impl RunSink {
    /// Makes the run directory; `manifest` says who asks, and on which machine.
    ///
    /// # Errors
    /// A folder that is not empty, or cannot be made.
    pub fn begin(
        dir: &Path,
        manifest: Manifest,
        outline: &Outline,
    ) -> flyball_run::Result<(RunSink, Recording)> {
        let clock = |table: &str| ClockRecord {
            table: table.to_owned(),
            clock: "monotonic".to_owned(),
            ..ClockRecord::default()
        };
        let manifest =
            Manifest { clocks: ["governor", "frequency", "notes"].map(clock).to_vec(), ..manifest };
        let mut writer = RunWriter::create(dir, &manifest)?;
        writer.begin::<GovernorStep>()?;
        writer.begin::<FrequencySample>()?;
        for note in &outline.notes {
            writer.note(&flyball_run::Note {
                t_ns: None,
                severity: "info".to_owned(),
                object: "govern".to_owned(),
                message: note.clone(),
                hint: None,
            })?;
        }
        let writer = Arc::new(Mutex::new(Some(writer)));
        let sink = RunSink { writer: Arc::clone(&writer), governor: outline.governor.clone() };
        Ok((sink, Recording { writer, manifest }))
    }
}

impl Recording {
    /// Ends it, complete or interrupted.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(mut self, complete: bool) -> flyball_run::Result<PathBuf> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else { return Ok(PathBuf::new()) };
        self.manifest.state = if complete { RunState::Complete } else { RunState::Interrupted };
        if complete {
            self.manifest.did_all();
        }
        writer.finish(&self.manifest)
    }
}

impl Sink for RunSink {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = writer.as_mut() else { return Ok(()) };
        let wrong = |error: flyball_run::Error| error.to_string();
        match entry {
            Entry::Start { t_ns, domain, governor, view, decision, .. } => {
                self.governor.clone_from(governor);
                let step = step(decision, None);
                let row = GovernorStep {
                    t_ns: t_ns.0,
                    domain: domain.clone(),
                    governor: Some(governor.clone()),
                    event: "start".to_owned(),
                    ..step
                };
                writer.append(&row).map_err(wrong)?;
                let sample = self.sample(t_ns.0, domain, view.current_khz, "scaling_cur_freq");
                writer.frequency(&sample).map_err(wrong)
            }
            Entry::Step {
                t_ns,
                domain,
                event,
                decision,
                resolved_khz,
                written,
                machine_khz,
                ..
            } => {
                let row = GovernorStep {
                    t_ns: t_ns.0,
                    domain: (*domain).to_owned(),
                    governor: Some(self.governor.clone()),
                    event: event.name().to_owned(),
                    cpu: event.cpu().map(|cpu| cpu.0),
                    ..step(decision, *resolved_khz)
                };
                writer.append(&row).map_err(wrong)?;
                let changed = resolved_khz.filter(|_| *written).map(|khz| (khz, "request"));
                let seen = machine_khz.map(|khz| (khz, "scaling_cur_freq"));
                for (khz, source) in changed.into_iter().chain(seen) {
                    writer.frequency(&self.sample(t_ns.0, domain, khz, source)).map_err(wrong)?;
                }
                Ok(())
            }
            Entry::Set { t_ns, name, value } => {
                let message = format!("{name} was set to {value}");
                writer.note(&note(t_ns.0, "info", "govern", message)).map_err(wrong)
            }
            Entry::Note { t_ns, domain, note: what } => {
                let severity = match what {
                    Note::Late { .. } | Note::DomainBack | Note::GovernorBack | Note::Ended => {
                        "info"
                    }
                    _ => "warning",
                };
                let message = serde_json::to_string(what).unwrap_or_default();
                let object = domain.unwrap_or("govern");
                writer.note(&note(t_ns.0, severity, object, message)).map_err(wrong)
            }
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.as_mut().map_or(Ok(()), |writer| writer.flush().map_err(|error| error.to_string()))
    }
}

impl RunSink {
    fn sample(&self, t_ns: u64, domain: &str, khz: KiloHertz, source: &str) -> FrequencySample {
        FrequencySample {
            t_ns,
            domain: domain.to_owned(),
            claimed_khz: Some(khz.0),
            source: source.to_owned(),
            governor: Some(self.governor.clone()),
            ..FrequencySample::default()
        }
    }
}

fn note(t_ns: u64, severity: &str, object: &str, message: String) -> flyball_run::Note {
    flyball_run::Note {
        t_ns: Some(t_ns),
        severity: severity.to_owned(),
        object: object.to_owned(),
        message,
        hint: None,
    }
}

fn step(decision: &Decision, resolved: Option<KiloHertz>) -> GovernorStep {
    let mut step = GovernorStep {
        wake_at_ns: decision.wake_at.map(|at| at.0),
        why: Some(decision.why.to_owned()).filter(|why| !why.is_empty()),
        resolved_khz: resolved.map(|khz| khz.0),
        ..GovernorStep::default()
    };
    match decision.request {
        Some(Request::Frequency { target, .. }) => step.decision_khz = Some(target.0),
        Some(Request::Range { min, max }) => {
            (step.range_min_khz, step.range_max_khz) = (Some(min.0), Some(max.0));
        }
        Some(Request::Perf(perf)) => step.perf = Some(perf),
        Some(Request::Epp(epp)) => step.epp = Some(u32::from(epp)),
        _ => {}
    }
    step
}
