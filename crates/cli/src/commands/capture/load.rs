//! `flyball capture load`: what each CPU does, per interval.

use crate::args::{CaptureLoadArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{duration, time};
use crate::{machine, output, program, runs};
use flyball_capture::load::{Counting, Options, Recorder, Recording};
use flyball_host::{Input, Topology};
use flyball_lab::machine::describe::describe;
use flyball_run::Manifest;
use flyball_run::manifest::PlanRecord;

pub fn run(args: &CaptureLoadArgs, talk: Talk) -> Result<Exit, Failure> {
    let options = options(args)?;
    let duration = duration(args.during.duration.as_deref())?;
    let host = machine::with_faults(args.during.faults.as_deref())?;
    host.catch_interrupts()?;
    let topology = Topology::discover(host.as_ref())?;
    let manifest = Manifest {
        plan: PlanRecord::time(duration),
        machine: Some(describe(&topology, host.as_ref())),
        ..runs::manifest("load", runs::seconds(host.as_ref()))
    };
    let recorder = Recorder::start(&host, &topology, &options)?;
    let writer = runs::create(args.during.out.as_deref(), host.as_ref(), &manifest)?;
    let mut recording = Recording::new(&host, recorder, writer, manifest)?;
    let (every, counting) = (options.interval.0 as f64 / 1e6, recording.counting().name());
    output::unless_quiet(talk.quiet, &format!("recording every {every} ms, counting {counting}"));
    let ended = match duration {
        Some(duration) => recording.wait(duration).map(Exit::from).map_err(Failure::from),
        None => {
            let program = &args.during.program;
            program::run(host.as_ref(), program, Input::Empty, &mut || recording.round())
        }
    };
    let interrupted = host.interrupted() > 0;
    let finished = recording.finish(interrupted).map_err(Failure::from);
    let (dir, messages) = finished.map_err(|failure| failure.around(&args.during.program))?;
    if !talk.quiet {
        output::lines(messages);
    }
    let ended = ended.inspect_err(|_| {
        // CMD did not start: nothing was asked to be recorded.
        let _ = fs_err::remove_dir_all(&dir);
    })?;
    output::run_dir(&dir, &args.during.program, talk)?;
    let next = format!("replay it: flyball replay {} --governor schedutil,ondemand", dir.display());
    output::unless_quiet(talk.quiet || !args.during.program.is_empty(), &next);
    Ok(ended)
}

fn options(args: &CaptureLoadArgs) -> Result<Options, Failure> {
    let interval = time("--interval", &args.interval)?.0;
    if !(1_000_000..=1_000_000_000).contains(&interval.0) {
        let text = format!("--interval: expected 1ms to 1s, found {}", args.interval);
        return Err(Failure::usage(text));
    }
    let counting = args.source.as_deref().map(str::parse::<Counting>).transpose();
    let counting = counting.map_err(|slip| slip.at("--source"))?;
    Ok(Options { interval, counting })
}
