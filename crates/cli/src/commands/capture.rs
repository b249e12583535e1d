//! `flyball capture`: what this machine does while a program runs.

mod load;

use crate::args::{CaptureArgs, CaptureCommand, CaptureTraceArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::duration;
use crate::{machine, output, program, runs};
use flyball_capture::trace::{Capture, Group, Options, bytes, recover, workload};
use flyball_host::{Input, Topology};
use flyball_lab::machine::describe::describe;
use flyball_lab::session::EventRecorderError;
use flyball_run::Manifest;
use flyball_run::manifest::PlanRecord;
use std::path::Path;

/// The trace's text in the run directory: every number of the tables can be looked up there.
const TEXT: &str = "trace.txt";

pub fn run(args: &CaptureArgs, talk: Talk) -> Result<Exit, Failure> {
    match &args.what {
        Some(CaptureCommand::Trace(args)) => trace(args, talk),
        Some(CaptureCommand::Load(args)) => load::run(args, talk),
        None => clean(talk),
    }
}

/// `--recover`.
fn clean(talk: Talk) -> Result<Exit, Failure> {
    let recovered = recover(machine::real().as_ref())?;
    if !talk.quiet {
        output::lines(recovered.lines());
    }
    Ok(Exit::Ok)
}

fn trace(args: &CaptureTraceArgs, talk: Talk) -> Result<Exit, Failure> {
    let options = options(args)?;
    let duration = duration(args.during.duration.as_deref())?;
    let host = machine::with_faults(args.during.faults.as_deref())?;
    host.catch_interrupts()?;
    let machine = Topology::discover(host.as_ref()).ok().map(|it| describe(&it, host.as_ref()));
    let mut manifest = Manifest {
        plan: PlanRecord::time(duration),
        machine,
        workloads: workload(&args.during.program).into_iter().collect(),
        ..runs::manifest("capture", runs::seconds(host.as_ref()))
    };
    let writer = runs::create(args.during.out.as_deref(), host.as_ref(), &manifest)?;
    let dir = writer.dir().to_owned();
    let started = Capture::start(&host, &dir.join(TEXT), &options);
    let capture = started.inspect_err(|_| {
        // The directory was made for this capture alone, and nothing was captured.
        let _ = fs_err::remove_dir_all(&dir);
    })?;
    if !talk.quiet {
        output::lines(capture.lines());
    }
    let begun = host.now();
    let ended = match duration {
        Some(time) => host.sleep_until(host.now() + time).map(Exit::from).map_err(Failure::from),
        None => program::run(host.as_ref(), &args.during.program, Input::Empty, &mut || {}),
    };
    let interrupted = host.interrupted() > 0;
    match interrupted {
        true => manifest.did((host.now().since(begun).0 / 1_000_000) as usize),
        false => manifest.did_all(),
    }
    let captured = capture.stop();
    let ended = ended.inspect_err(|_| {
        let _ = fs_err::remove_dir_all(&dir);
    })?;
    let now = host.now();
    let finished = captured.map_err(Failure::from).and_then(|captured| {
        let (dir, warnings) = captured.into_run(writer, manifest, now, interrupted)?;
        Ok((dir, warnings, captured))
    });
    let (dir, warnings, captured) =
        finished.map_err(|failure| after_cmd(failure, &args.during.program, &dir))?;
    if !talk.quiet {
        output::talk(&captured.cost.to_string());
        output::notes(&warnings);
    }
    output::run_dir(&dir, &args.during.program, talk)?;
    match captured.left.is_empty() {
        true => Ok(ended),
        false => Err(EventRecorderError::Left(captured.left).into()),
    }
}

/// A failure of ours around a program that ran must not look like the program's own code.
fn after_cmd(mut failure: Failure, program: &[String], dir: &Path) -> Failure {
    failure = failure.around(program);
    let text = dir.join(TEXT);
    if failure.hint.is_none() && text.exists() {
        failure.hint = Some(format!("what was captured is in {}", text.display()));
    }
    failure
}

fn options(args: &CaptureTraceArgs) -> Result<Options, Failure> {
    let usage = |flag: &str, error: String| Failure::usage(format!("{flag}: expected {error}"));
    let groups = args.events.as_deref().map(Group::parse_list).transpose();
    let buffer = args.buffer.as_deref().map(bytes).transpose();
    Ok(Options {
        groups: groups.map_err(|error| usage("--events", error))?,
        buffer_bytes: buffer.map_err(|error| usage("--buffer", error))?,
    })
}
