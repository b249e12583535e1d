//! `flyball board compare`: a scenario on a model beside the same on a real kernel.

use crate::args::{BoardCompareArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output, runs, scenarios};
use flyball_console::Bar;
use flyball_lab::compare::{RESULT, compare, measured, rehearse, rehearsed};
use flyball_lab::session::Progress;
use flyball_sim::scenario::Record;
use std::num::NonZeroU32;

/// Playings where neither their number is said nor an earlier comparison.
const REPEATS: u32 = 10;

pub fn run(args: &BoardCompareArgs, talk: Talk) -> Result<Exit, Failure> {
    if args.again.is_some() && args.repeats.is_none() && args.kernel.is_some() {
        let message = "--kernel: nothing is played; expected --repeats beside --again, found none";
        return Err(Failure::usage(message));
    }
    let host = machine::real();
    host.catch_interrupts()?;
    let mut scenario = scenarios::scenario(&args.scenario, &args.set)?;
    scenario.record = Record::Full;
    let given = args.given.as_ref().map(|earlier| measured(&earlier.join(RESULT), &scenario));
    let given = given.transpose()?;
    let dir = runs::destination(args.out.as_deref()).empty(host.as_ref(), "compare")?;
    let earlier = args.again.as_ref().map(|earlier| rehearsed(&earlier.join(RESULT), &scenario));
    let found = earlier.transpose().and_then(|earlier| {
        let unless_said = if earlier.is_some() { 0 } else { REPEATS };
        let repeats = args.repeats.map_or(unless_said, NonZeroU32::get);
        let mut bar = Bar::new(talk.quiet);
        let tell = &mut |text: &str| bar.note(text);
        let kernel = args.kernel.as_deref();
        rehearse(&host, &scenario, earlier.unwrap_or_default(), kernel, repeats, &dir, tell)
    });
    let rehearsed = found.inspect_err(|_| {
        // Not empty is what it may be; anything else the user sees in the listing.
        let _ = fs_err::remove_dir(&dir);
    })?;
    if rehearsed.interrupted {
        return Ok(Exit::Interrupted);
    }
    let Some(found) = compare(host.as_ref(), &scenario, &rehearsed, given, &dir)? else {
        return Ok(Exit::Interrupted);
    };
    output::result(args.format, || found.text, || found.json)?;
    Ok(if found.differs { Exit::Finding } else { Exit::Ok })
}
