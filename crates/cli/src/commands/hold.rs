//! `flyball hold`: a program with the machine's settings held; they are restored whatever happens.

mod print;
mod verify;

pub use print::{foreign, recovered};

use crate::args::{CheckFormat, HoldArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{hosts, output, program};
use flyball_control::{
    Change, ControlError, Ended, Hold, Machine, Request, plan, recover, state_folder,
};
use flyball_host::{Host, Input};
use flyball_units::{CpuSet, Frequency, Nanos};
use serde_json::json;
use std::io::IsTerminal;
use std::sync::Arc;

/// Looking whether all is still held takes at most this share of one CPU.
const LOOK_SHARE: u64 = 200;
const LOOK_EVERY: Nanos = Nanos::from_secs(1);

pub fn run(args: &HoldArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = hosts::with_faults(args.faults.as_deref())?;
    if args.recover {
        return clean(host.as_ref(), args.format, talk);
    }
    let request = request(args)?;
    if args.dry_run {
        return dry_run(host.as_ref(), &request, args.format);
    }
    host.catch_interrupts()?;
    let hold = Hold::start(&host, &state_folder(host.as_ref()), &request)?;
    hold_and_run(&host, hold, args, talk)
}

fn hold_and_run(
    host: &Arc<dyn Host>,
    mut hold: Hold,
    args: &HoldArgs,
    talk: Talk,
) -> Result<Exit, Failure> {
    recovered(hold.recovered(), talk);
    print::held(hold.plan(), talk);
    let delivered = match args.no_verify {
        true => Vec::new(),
        false => verify::delivered(host.as_ref(), hold.plan()),
    };
    print::delivered(&delivered, talk);
    if host.interrupted() > 0 {
        hold.end()?;
        return Err(ControlError::Interrupted.into());
    }
    // A terminal would stop the program's own process group when it reads.
    let stdin = match std::io::stdin().is_terminal() {
        true => Input::Empty,
        false => Input::Inherit,
    };
    let mut next = host.now() + LOOK_EVERY;
    let mut look = || {
        if host.now() < next {
            return;
        }
        let before = host.thread_cpu_time().unwrap_or_default();
        hold.look().iter().for_each(tell);
        let cost = host.thread_cpu_time().unwrap_or_default().since(before);
        next = host.now() + LOOK_EVERY.max(Nanos(cost.0.saturating_mul(LOOK_SHARE)));
    };
    let ran = program::run(host.as_ref(), &args.program, stdin, &mut look);
    let (plan, recovered) = (hold.plan().clone(), hold.recovered().clone());
    let ended = hold.end();
    let exit = match (ran, &ended) {
        (Ok(exit), Ok(_)) => Ok(exit),
        (_, Err(error)) => Err(Failure::from(error.clone()).around_a_program()),
        (Err(failure), Ok(_)) => Err(failure.around_a_program()),
    };
    if let Ok(ended) = &ended {
        tell_end(ended, talk);
    }
    if args.format == CheckFormat::Json {
        let left = match &ended {
            Err(ControlError::Restore { left, .. }) => left.as_slice(),
            _ => &[],
        };
        let code = exit.as_ref().map_or_else(|failure| failure.exit, |exit| *exit).code();
        let ended = ended.as_ref().ok();
        output::talk(
            &json!({
                "plan": plan,
                "recovered": recovered,
                "delivered": delivered,
                "ended": ended,
                "left": left,
                "exit_code": code,
            })
            .to_string(),
        );
    }
    exit
}

/// What changed while CMD ran: always told, because it spoils what CMD measured.
fn tell(change: &Change) {
    let Change { path, expected, found, .. } = change;
    output::talk(&format!(
        "warning: {}: expected {expected} while it is held, found {found}",
        path.display()
    ));
}

fn tell_end(ended: &Ended, talk: Talk) {
    for foreign in &ended.foreign {
        print::foreign(foreign);
    }
    for path in &ended.gone {
        output::talk(&format!("note: {} went with its CPUs", path.display()));
    }
    if talk.verbose {
        output::talk("restored");
    }
}

/// `--recover`.
fn clean(host: &dyn Host, format: CheckFormat, talk: Talk) -> Result<Exit, Failure> {
    let recovered = recover(host, &state_folder(host))?;
    match format {
        CheckFormat::Json => output::data(&format!("{:#}\n", json!(recovered)))?,
        CheckFormat::Text if recovered == flyball_control::Recovered::Nothing => {
            if !talk.quiet {
                output::talk("nothing to restore: no hold was killed");
            }
        }
        CheckFormat::Text => print::recovered(&recovered, talk),
    }
    Ok(Exit::Ok)
}

fn dry_run(host: &dyn Host, request: &Request, format: CheckFormat) -> Result<Exit, Failure> {
    let machine = Machine::read(host, request)?;
    let plan = plan(request, &machine)?;
    output::data(&match format {
        CheckFormat::Json => format!("{:#}\n", json!({ "plan": plan })),
        CheckFormat::Text => print::plan(&plan),
    })?;
    Ok(Exit::Ok)
}

fn request(args: &HoldArgs) -> Result<Request, Failure> {
    let frequency = |flag: &str, text: &Option<String>| {
        let read = text.as_deref().map(str::parse::<Frequency>).transpose();
        read.map_err(|slip| slip.at(flag))
    };
    let cpus = |list: &String| list.parse::<CpuSet>().map_err(|slip| slip.at("--cpus"));
    let request = Request {
        governor: args.governor.clone(),
        tunables: args.tunables.iter().cloned().collect(),
        frequency: frequency("--frequency", &args.frequency)?,
        min: frequency("--min", &args.min)?,
        max: frequency("--max", &args.max)?,
        boost: args.boost.as_ref().map(|text| text == "on"),
        epp: args.epp.clone(),
        idle_latency: args.idle_latency.map(|us| Nanos::from_micros(u64::from(us))),
        cpus: args.cpus.as_ref().map(cpus).transpose()?,
        moving: None,
    };
    match request.is_empty() {
        false => Ok(request),
        true => Err(Failure::new(Exit::Usage, "expected a setting to hold, found none")
            .hint("for example: flyball hold --governor performance -- CMD")),
    }
}
