//! `flyball govern`: one of the model's governors on this machine.

use crate::args::{
    CheckFormat, CtlArgs, GovernArgs, GovernCommand, ReplayArgs, SourceChoice, Talk,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::duration;
use crate::{machine, output, runs};
use flyball_control::state_folder;
use flyball_govern::{
    Lines, Options, Order, Outline, Recording, RunSink, Sink, SourceKind, Wish, ask, prepare,
    replay, text, usual_socket,
};
use flyball_host::{Host, Topology};
use flyball_lab::machine::describe::describe;
use flyball_run::Manifest;
use flyball_run::manifest::PlanRecord;
use flyball_units::{CpuSet, GovernorSpec, Mismatch, Nanos};
use serde_json::json;
use std::io::BufWriter;

pub fn run(args: GovernArgs, talk: Talk) -> Result<Exit, Failure> {
    match &args.what {
        Some(GovernCommand::Ctl(ctl)) => return order(ctl),
        Some(GovernCommand::Replay(args)) => return again(args),
        None => {}
    }
    let host = machine::to_read(&args.machine, args.faults.as_deref())?;
    let wish = wish(&args)?;
    if args.dry_run {
        let prepared = prepare(host.as_ref(), &wish)?;
        output::result(
            args.format,
            || text::outline(&prepared.outline),
            || json!(prepared.outline),
        )?;
        return Ok(Exit::Ok);
    }
    let duration = duration(args.duration.as_deref())?;
    host.catch_interrupts()?;
    if args.exact {
        let mut begun =
            |exact: &_| output::unless_quiet(talk.quiet, &text::exact_begun(exact).join("\n"));
        let ended = flyball_govern::exact(host.as_ref(), &wish, duration, &mut begun)?;
        output::result(args.format, || text::exact(&ended), || json!(ended))?;
        return Ok(if ended.differ == 0 { Exit::Ok } else { Exit::Finding });
    }
    // Refused before a log or a run directory is made.
    let outline = prepare(host.as_ref(), &wish)?.outline;
    let (sink, run) = sink(host.as_ref(), &args, duration, &outline)?;
    let options = Options {
        socket: args.socket.clone().or_else(|| usual_socket(host.as_ref())),
        duration,
        stall_polls: args.stall_polls,
        sink,
    };
    let mut begun = |outline: &Outline, recovered: &flyball_control::Recovered| {
        output::lines(flyball_control::text::recovered(recovered, talk.quiet));
        if !talk.quiet {
            output::lines(text::begun(outline));
        }
    };
    let ended =
        flyball_govern::run(&host, &state_folder(host.as_ref()), &wish, options, &mut begun);
    // Without a duration, being told to stop is how it ends.
    let complete = ended.as_ref().is_ok_and(|it| duration.is_none() || !it.interrupted);
    let run = run.map(|run| run.finish(complete));
    let ended = ended?;
    let run = run.transpose()?;
    output::lines(text::ended(&ended, talk.verbose));
    match args.format {
        CheckFormat::Json => {
            output::data(&format!("{:#}\n", text::json(&outline, &ended, run.as_deref())))?
        }
        CheckFormat::Text => {
            output::data(&text::status(&ended.status))?;
            if let Some(run) = run {
                output::data(&format!("Run   {}\n", run.display()))?;
            }
        }
    }
    match &ended.log_error {
        Some(error) => {
            Err(Failure::input(format!("the log: expected to write all of it, found {error}"))
                .hint("free some space, or name another file system; the settings are restored"))
        }
        None => Ok(Exit::Ok),
    }
}

fn wish(args: &GovernArgs) -> Result<Wish, Failure> {
    let text = args.governor.as_deref().unwrap_or_default();
    let spec: GovernorSpec = text.parse().map_err(|slip: Mismatch| slip.at("GOVERNOR"))?;
    let cpus = |list: &String| list.parse::<CpuSet>().map_err(|slip| slip.at("--cpus"));
    Ok(Wish {
        governor: spec.name,
        tunables: spec.tunables,
        cpus: args.cpus.as_ref().map(cpus).transpose()?,
        source: match args.source {
            SourceChoice::Stat => SourceKind::Stat,
            SourceChoice::Cpuidle => SourceKind::Cpuidle,
            SourceChoice::Schedstat => SourceKind::Schedstat,
        },
        shadow: args.shadow,
    })
}

/// Where decisions go, and the run that is finished afterwards.
type Kept = (Option<Box<dyn Sink>>, Option<Recording>);

/// Opens where decisions go.
fn sink(
    host: &dyn Host,
    args: &GovernArgs,
    duration: Option<Nanos>,
    outline: &Outline,
) -> Result<Kept, Failure> {
    if let Some(path) = &args.log {
        let file = fs_err::File::create(path)?;
        return Ok((Some(Box::new(Lines::new(BufWriter::new(file)))), None));
    }
    match &args.out {
        Some(dir) => {
            let manifest = Manifest {
                plan: PlanRecord::time(duration),
                machine: Some(describe(&Topology::discover(host)?, host)),
                ..runs::manifest("govern", runs::seconds(host))
            };
            let (sink, run) = RunSink::begin(dir, manifest, outline)?;
            Ok((Some(Box::new(sink)), Some(run)))
        }
        None => Ok((None, None)),
    }
}

fn order(args: &CtlArgs) -> Result<Exit, Failure> {
    let order: Order = args
        .order
        .join(" ")
        .parse()
        .map_err(|error| Failure::usage(format!("govern ctl: {error}")))?;
    let host = machine::real();
    let answer = ask(host.as_ref(), &args.socket, &order).map_err(|error| {
        let failure = Failure::from(error);
        match failure.hint {
            Some(_) => failure,
            None => failure.hint("is it running, and are you root? sudo flyball govern ctl status"),
        }
    })?;
    match answer.get("status") {
        Some(status) if args.format == CheckFormat::Json => {
            output::data(&format!("{status:#}\n"))?;
        }
        Some(status) => output::data(&text::answered(status))?,
        None => {}
    }
    Ok(Exit::Ok)
}

fn again(args: &ReplayArgs) -> Result<Exit, Failure> {
    let log = flyball_run::disk::read_text(&args.log, flyball_run::disk::TEXT_BYTES)?;
    let replayed = replay(&log).map_err(|error| {
        let failure = Failure::from(error);
        Failure { message: format!("{}: {}", args.log.display(), failure.message), ..failure }
    })?;
    output::result(args.format, || text::replayed(&replayed), || json!(replayed))?;
    Ok(match (replayed.different.is_empty(), replayed.ended) {
        (false, _) => Exit::Finding,
        (true, false) => Exit::Undecided,
        (true, true) => Exit::Ok,
    })
}
