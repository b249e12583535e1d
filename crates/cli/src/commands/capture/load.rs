//! `flyball capture load`: what each CPU does, per interval.

use crate::args::{CaptureLoadArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::time;
use crate::{machine, output, program, runs};
use flyball_capture::load::{Counting, Options, Recorded, Recorder};
use flyball_host::{Host, Input, Topology, Wake};
use flyball_lab::machine::describe::describe;
use flyball_run::{ActivitySample, Manifest, Note, RunState, RunWriter};
use flyball_units::Nanos;
use std::path::PathBuf;
use std::sync::Arc;

/// How often rows are written.
const ROUND: Nanos = Nanos::from_secs(1);

pub fn run(args: &CaptureLoadArgs, talk: Talk) -> Result<Exit, Failure> {
    let options = options(args)?;
    let duration = args.duration.as_deref().map(|text| time("--duration", text)).transpose()?;
    let host = machine::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let topology = Topology::discover(host.as_ref())?;
    let manifest = Manifest {
        machine: Some(describe(&topology, host.as_ref())),
        ..runs::manifest("load", runs::seconds(host.as_ref()))
    };
    let recorder = Recorder::start(&host, &topology, &options)?;
    let mut writer = runs::create(args.out.as_deref(), host.as_ref(), &manifest)?;
    writer.begin::<ActivitySample>()?;
    let mut recording =
        Recording { host: Arc::clone(&host), recorder, writer, manifest, failed: None };
    if !talk.quiet {
        output::talk(&format!(
            "recording every {} ms, counting {}",
            options.interval.0 as f64 / 1e6,
            recording.recorder.counting().name()
        ));
    }
    let ended = match duration {
        Some(duration) => recording.wait(duration.0),
        None => {
            let program = &args.program;
            program::run(host.as_ref(), program, Input::Empty, &mut || recording.round())
        }
    };
    let interrupted = host.interrupted() > 0;
    let finished = recording.finish(interrupted, talk);
    let around = |failure: Failure| match args.program.is_empty() {
        true => failure,
        false => failure.around_a_program(),
    };
    let dir = finished.map_err(around)?;
    let ended = ended.inspect_err(|_| {
        // CMD did not start: nothing was asked to be recorded.
        let _ = fs_err::remove_dir_all(&dir);
    })?;
    match args.program.is_empty() {
        true => output::data(&format!("{}\n", dir.display()))?,
        false if !talk.quiet => output::talk(&format!("run: {}", dir.display())),
        false => {}
    }
    Ok(ended)
}

fn options(args: &CaptureLoadArgs) -> Result<Options, Failure> {
    let interval = time("--interval", &args.interval)?.0;
    if !(1_000_000..=1_000_000_000).contains(&interval.0) {
        let text = format!("--interval: expected 1ms to 1s, found {}", args.interval);
        return Err(Failure::new(Exit::Usage, text));
    }
    let counting = match args.source.as_deref() {
        None => None,
        Some("events") => Some(Counting::Events),
        Some("cpuidle") => Some(Counting::Cpuidle),
        Some("schedstat") => Some(Counting::Schedstat),
        Some("stat") => Some(Counting::Stat),
        Some(other) => {
            let text =
                format!("--source: expected events, cpuidle, schedstat or stat, found \"{other}\"");
            return Err(Failure::new(Exit::Usage, text));
        }
    };
    Ok(Options { interval, counting })
}

/// A recording that goes on, and where it goes.
struct Recording {
    host: Arc<dyn Host>,
    recorder: Recorder,
    writer: RunWriter,
    manifest: Manifest,
    /// The first failure.
    failed: Option<Failure>,
}

/// Keeps the first failure.
fn keep<E: Into<Failure>>(failed: &mut Option<Failure>, result: Result<(), E>) {
    if failed.is_none() {
        *failed = result.err().map(Into::into);
    }
}

impl Recording {
    /// Writes what is known by now; a failure is told at the end, when CMD is done.
    fn round(&mut self) {
        let Recording { recorder, writer, failed, .. } = self;
        let drained = recorder.drain(&mut |row| keep(failed, writer.append(&row)));
        keep(failed, drained);
        keep(failed, writer.tick(self.host.now()));
    }

    fn wait(&mut self, duration: Nanos) -> Result<Exit, Failure> {
        let end = self.host.now() + duration;
        while self.host.now() < end {
            let next = (self.host.now() + ROUND).min(end);
            if self.host.sleep_until(next)? == Wake::Interrupted {
                return Ok(Exit::Interrupted);
            }
            self.round();
        }
        Ok(Exit::Ok)
    }

    fn finish(mut self, interrupted: bool, talk: Talk) -> Result<PathBuf, Failure> {
        let Recording { recorder, writer, failed, .. } = &mut self;
        // The recorder goes with its thread; what it leaves is rows.
        let recorded = recorder.stop(&mut |row| keep(failed, writer.append(&row)))?;
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        self.close(&recorded, interrupted, talk)
    }

    fn close(
        mut self,
        recorded: &Recorded,
        interrupted: bool,
        talk: Talk,
    ) -> Result<PathBuf, Failure> {
        let cost = format!(
            "recording took {:.3} % of one CPU, {:.3} % of it counting",
            recorded.cost_percent, recorded.counting_percent
        );
        for message in recorded.notes.iter().chain([&cost]) {
            self.writer.note(&Note {
                t_ns: None,
                severity: "info".to_owned(),
                object: "load recorder".to_owned(),
                message: message.clone(),
                hint: None,
            })?;
            if !talk.quiet {
                output::talk(message);
            }
        }
        let mut manifest = self.manifest;
        manifest.state = if interrupted { RunState::Interrupted } else { RunState::Complete };
        manifest.workloads.push(recorded.workload.clone());
        manifest.overheads.clone_from(&recorded.overheads);
        manifest.checks.clone_from(&recorded.checks);
        manifest.clocks.push(recorded.clock.clone());
        Ok(self.writer.finish(&manifest)?)
    }
}
