//! `flyball qos`: how fast the demand of a program's threads is answered.

mod measure;

use crate::args::{CheckFormat, QosArgs, QosCommand, RampArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output, program};
use flyball_governors::ResponseRamp;
use flyball_host::Host;
use flyball_qos::{
    Ask, By, Rules, Target, Treatment, Whose, Wish, guard, overview, qos_folder, recover,
    run as control, text,
};
use flyball_run::disk::{DESCRIPTION_BYTES, read_text};
use serde_json::json;

pub fn run(args: &QosArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::real();
    if let Some(QosCommand::Measure(args)) = &args.what {
        return measure::run(args, talk);
    }
    let folder = qos_folder(host.as_ref())?;
    match args.what {
        Some(QosCommand::Status { format }) => return state(host.as_ref(), format),
        Some(QosCommand::Guard) => return Ok(guard(host.as_ref(), &folder).map(|_| Exit::Ok)?),
        Some(QosCommand::Measure(_)) | None => {}
    }
    if args.recover {
        let recovered = recover(host.as_ref(), &folder)?;
        let nothing = || "nothing to remove: none was killed".to_owned();
        output::unless_quiet(talk.quiet, &text::recovered(&recovered).unwrap_or_else(nothing));
        return Ok(Exit::Ok);
    }
    let whose = Whose::named(host.as_ref(), args.cgroup.as_deref(), args.user.as_deref())?;
    let running = Target::Running {
        pids: args.pid.clone(),
        names: args.name.clone(),
        threads: args.thread.clone(),
    };
    // A ramp that is asked for is somebody's.
    let plain = args.class.is_none() && args.ramp.ramp.is_none() && args.ramp.reach.is_none();
    let more = args.rules.is_some() || (args.socket.is_some() && plain);
    let target = Target::named(&args.program, running, whose, more).ok_or_else(|| {
        Failure::usage("expected --pid, --name, --thread, --cgroup, --user or -- CMD, found none")
    })?;
    let rules = match (&args.rules, &args.class) {
        (Some(file), _) => {
            let text = read_text(file, DESCRIPTION_BYTES).map_err(|error| Failure::of(&error))?;
            Rules::read(&text).map_err(|slip| Failure::input(slip.at(file.display())))?
        }
        (None, Some(class)) => Rules::class(class)?,
        (None, None) if target == Target::Named(Whose::default()) => Rules::none(),
        (None, None) => Rules::all(Treatment::ramp(asked(&args.ramp, args.headroom)?)),
    };
    let socket = args.socket.clone();
    let by = args.by.unwrap_or_else(|| By::best(host.as_ref()));
    let wish = Wish { target, rules, children: args.children, by, socket };
    host.catch_interrupts()?;
    let ended = control(&host, &folder, &wish, program::stdin(), &mut |how, left| {
        output::lines(text::recovered(left));
        if !talk.quiet {
            output::lines(text::begun(how, &wish.rules));
        }
    });
    let ended = ended.map_err(|error| Failure::from(error).around(&args.program))?;
    if !talk.quiet {
        output::lines(text::ended(&ended));
    }
    Ok(ended.program.map_or(Exit::Ok, program::exit))
}

/// The ramp that is asked for.
fn asked(args: &RampArgs, headroom: bool) -> Result<ResponseRamp, Failure> {
    let reach = args.reach.as_deref().zip(args.within.as_deref());
    Ok(Ask { multiplier: args.ramp, reach, headroom }.ramp()?)
}

fn state(host: &dyn Host, format: CheckFormat) -> Result<Exit, Failure> {
    let found = overview(host)?;
    output::result(format, || text::overview(&found), || json!(found))?;
    found.refused.map_or(Ok(Exit::Ok), |error| Err(error.into()))
}
