//! What was captured, as a run directory.

use super::session::Captured;
use flyball_events::import::{self, Added};
use flyball_events::recording::comm;
use flyball_run::manifest::{Machine, WorkloadRecord};
use flyball_run::{Manifest, Note, RunState, RunWriter, Warning};
use flyball_units::Nanos;
use std::path::{Path, PathBuf};

impl Captured {
    /// Turns the text into tables and closes the run that was begun with `manifest`; its directory,
    /// and what the reader of the text says of it. `now` is the time of the notes.
    ///
    /// # Errors
    /// A text that does not read; a full disk.
    pub fn into_run(
        &self,
        mut writer: RunWriter,
        manifest: Manifest,
        now: Nanos,
        interrupted: bool,
    ) -> flyball_run::Result<(PathBuf, Vec<Warning>)> {
        let mut added = import::add_to(&self.text, &mut writer, &import::Options::default())?;
        for message in self.notes.iter().chain([&self.cost.to_string()]) {
            writer.note(&Note {
                t_ns: Some(now.0),
                severity: "info".to_owned(),
                object: "capture".to_owned(),
                message: message.clone(),
                hint: None,
            })?;
        }
        let warnings = std::mem::take(&mut added.warnings);
        let dir = writer.finish(&merged(manifest, added, self, interrupted))?;
        Ok((dir, warnings))
    }
}

/// A program as a workload, by the name that the kernel gives its task.
pub fn workload(program: &[String]) -> Option<WorkloadRecord> {
    let name = Path::new(program.first()?).file_name()?.to_string_lossy();
    Some(WorkloadRecord { name: comm(&name), ..WorkloadRecord::default() })
}

/// What is known of the machine, and what the trace adds.
fn merged(
    mut manifest: Manifest,
    added: Added,
    captured: &Captured,
    interrupted: bool,
) -> Manifest {
    let from_trace = added.manifest;
    manifest.machine = match (manifest.machine, from_trace.machine) {
        (Some(known), Some(seen)) => Some(machine(known, seen)),
        (known, seen) => known.or(seen),
    };
    manifest.state = if interrupted { RunState::Interrupted } else { RunState::Complete };
    manifest.clocks = from_trace.clocks;
    manifest.source = from_trace.source;
    manifest.checks = from_trace.checks;
    manifest.checks.extend(captured.checks());
    manifest.overheads.push(captured.cost.overhead());
    manifest
}

/// The machine as the host tells it; what it does not tell comes from the events.
fn machine(mut known: Machine, seen: Machine) -> Machine {
    for cpu in &mut known.cpus {
        if let Some(same) = seen.cpus.iter().find(|seen| seen.cpu == cpu.cpu) {
            cpu.capacity = cpu.capacity.or(same.capacity);
            cpu.domain = cpu.domain.take().or_else(|| same.domain.clone());
        }
    }
    if known.domains.is_empty() {
        known.domains = seen.domains;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_named_as_its_task() {
        let program = ["/usr/bin/a-very-long-program-name".to_owned()];
        assert_eq!(workload(&program).unwrap().name, "a-very-long-pro");
        assert!(workload(&[]).is_none());
    }
}
