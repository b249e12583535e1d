//! `flyball hold`: a program with the machine's settings held; they are restored whatever happens.

mod load;

use crate::args::{CheckFormat, HoldArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output, program};
use flyball_control::{ControlError, Hold, Machine, Settings, plan, recover, state_folder, text};
use flyball_host::{Host, HostKind};
use flyball_lab::delivered;
use flyball_load::text as load_text;
use flyball_units::Nanos;
use serde_json::json;
use std::sync::Arc;

/// Looking whether all is still held takes at most this share of one CPU.
const LOOK_SHARE: u64 = 200;
const LOOK_EVERY: Nanos = Nanos::from_secs(1);

pub fn run(args: &HoldArgs, talk: Talk) -> Result<Exit, Failure> {
    let host = machine::to_read(&args.machine, args.faults.as_deref())?;
    if host.kind() == HostKind::Recorded && !args.dry_run {
        return Err(machine::expected("host, or record:DIR with --dry-run", &args.machine));
    }
    if args.recover {
        return clean(host.as_ref(), args.format, talk);
    }
    let load = load::Asked::of(args)?;
    let settings = args.settings.read()?;
    if settings.is_empty() && load.is_none() {
        return Err(Failure::usage("expected a setting or a load to hold, found none")
            .hint("for example: flyball hold --governor performance -- CMD"));
    }
    if args.dry_run {
        return match settings.is_empty() {
            true => Err(Failure::usage("--dry-run: expected a setting, found a load")),
            false => dry_run(host.as_ref(), &settings, args.format),
        };
    }
    host.catch_interrupts()?;
    let hold = match settings.is_empty() {
        true => None,
        false => Some(Hold::start(&host, &state_folder(host.as_ref()), &settings)?),
    };
    hold_and_run(&host, hold, load, args, talk)
}

fn hold_and_run(
    host: &Arc<dyn Host>,
    mut hold: Option<Hold>,
    load: Option<load::Asked>,
    args: &HoldArgs,
    talk: Talk,
) -> Result<Exit, Failure> {
    let mut seen = Vec::new();
    if let Some(hold) = &hold {
        output::lines(text::recovered(hold.recovered(), talk.quiet));
        if !talk.quiet {
            output::lines(text::held(hold.plan(), talk.verbose));
        }
        if !args.no_verify {
            seen = delivered::delivered(host.as_ref(), hold.plan());
        }
        output::lines(delivered::lines(&seen, talk.quiet));
    }
    if host.interrupted() > 0 {
        hold.map(Hold::end).transpose()?;
        return Err(ControlError::Interrupted.into());
    }
    let mut next = host.now() + LOOK_EVERY;
    let mut look = || {
        let Some(hold) = hold.as_mut().filter(|_| host.now() >= next) else { return };
        let before = host.thread_cpu_time().unwrap_or_default();
        // Always told, because it spoils what CMD measures.
        output::lines(hold.look().iter().map(text::changed));
        let cost = host.thread_cpu_time().unwrap_or_default().since(before);
        next = host.now() + LOOK_EVERY.max(Nanos(cost.0.saturating_mul(LOOK_SHARE)));
    };
    let (ran, proof) = match load {
        Some(load) => load.run(host, &args.program, talk, &mut look),
        None => (program::run(host.as_ref(), &args.program, program::stdin(), &mut look), None),
    };
    let kept = hold.as_ref().map(|hold| (hold.plan().clone(), hold.recovered().clone()));
    let ended = hold.map(Hold::end).transpose();
    let around = |failure: Failure| failure.around(&args.program);
    let exit = match (ran, &ended) {
        (Ok(exit), Ok(_)) => Ok(exit),
        (_, Err(error)) => Err(around(Failure::from(error.clone()))),
        (Err(failure), Ok(_)) => Err(around(failure)),
    };
    if let Ok(Some(ended)) = &ended {
        output::lines(ended.foreign.iter().map(text::foreign));
        output::lines(ended.gone.iter().map(|path| text::gone(path)));
        if talk.verbose {
            output::talk("restored");
        }
    }
    let result = match args.format {
        CheckFormat::Text => proof.as_ref().map(load_text::proof),
        CheckFormat::Json if args.program.is_empty() => {
            proof.as_ref().map(|proof| format!("{:#}\n", load_text::json(proof)))
        }
        CheckFormat::Json => {
            let code = exit.as_ref().map_or_else(|failure| failure.exit, |exit| *exit).code();
            let mut result = text::json(&kept, &ended);
            result["delivered"] = json!(seen);
            result["exit_code"] = json!(code);
            if let Some(proof) = &proof {
                result["load"] = load_text::json(proof);
            }
            Some(format!("{result}\n"))
        }
    };
    match (result, args.program.is_empty()) {
        (Some(result), true) => output::data(&result)?,
        (Some(result), false) if !talk.quiet || args.format == CheckFormat::Json => {
            output::talk(result.trim_end());
        }
        _ => {}
    }
    match (exit, proof) {
        // Being told to stop is how a load without a duration ends.
        (Ok(Exit::Ok | Exit::Program(0)), Some(proof)) => {
            proof.require().map_err(|error| around(error.into())).map(|_| Exit::Ok)
        }
        (exit, _) => exit,
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
        CheckFormat::Text => output::lines(text::recovered(&recovered, talk.quiet)),
    }
    Ok(Exit::Ok)
}

fn dry_run(host: &dyn Host, settings: &Settings, format: CheckFormat) -> Result<Exit, Failure> {
    let machine = Machine::read(host, settings)?;
    let plan = plan(settings, &machine)?;
    output::result(format, || text::plan(&plan), || json!({ "plan": plan }))?;
    Ok(Exit::Ok)
}
