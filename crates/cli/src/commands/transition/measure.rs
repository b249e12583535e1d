//! Measuring on this machine, on a model, or in the guest of a board.

use crate::args::{Talk, TransitionArgs};
use crate::commands::ended;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::reporting::{self, Wanted};
use crate::{machine, output, runs};
use flyball_host::Host;
use flyball_lab::protocol::switches::methods::Plan;
use flyball_lab::protocol::switches::{live, run};
use flyball_lab::session::{Outcome, Silent};
use flyball_lab::{Board, Job, Protocol};
use flyball_platform::Platform;
use std::sync::Arc;

/// `--dry-run`: the files and what they get.
pub fn dry_run(host: &dyn Host, plan: &Plan) -> Result<Exit, Failure> {
    let machine = live::machine(host)?;
    let mut text = String::new();
    for control in run::controls(&machine, plan)? {
        let steps = control.steps(&machine)?;
        for step in steps.all().filter(|step| step.is_change()) {
            let old = if step.old.is_empty() { String::new() } else { format!("{} -> ", step.old) };
            text += &format!("{}: {old}{}\n", step.path.display(), step.new);
        }
        let levels: Vec<String> = control.levels.iter().map(|khz| khz.0.to_string()).collect();
        text += &format!(
            "{}: {}, in turn, by {}; then all of this is restored\n",
            control.path.display(),
            levels.join(", "),
            control.cpu
        );
        for note in control.notes.iter().chain(&steps.notes) {
            text += &format!("note: {note}\n");
        }
    }
    output::data(&text)?;
    Ok(Exit::Ok)
}

/// On this machine.
pub fn host(
    host: &Arc<dyn Host>,
    args: &TransitionArgs,
    plan: Plan,
    talk: Talk,
) -> Result<Exit, Failure> {
    host.catch_interrupts()?;
    let job = Job { events: None, protocol: Protocol::Switches(plan) };
    let mut bar = Bar::new(talk.quiet);
    end(
        job.run(host, &runs::destination(args.out.as_deref()), &runs::origin(), &mut bar)?,
        args,
        talk,
    )
}

/// In the guest of a board.
pub fn board(
    board: &Board,
    args: &TransitionArgs,
    plan: Plan,
    talk: Talk,
) -> Result<Exit, Failure> {
    let host = machine::real();
    host.catch_interrupts()?;
    let job = Job { events: None, protocol: Protocol::Switches(plan) };
    let mut bar = Bar::new(talk.quiet);
    end(
        board.run(
            &host,
            &job,
            &runs::destination(args.out.as_deref()),
            &runs::origin(),
            &mut bar,
        )?,
        args,
        talk,
    )
}

/// On a model, in virtual time.
pub fn model(name: &str, args: &TransitionArgs, plan: &Plan, talk: Talk) -> Result<Exit, Failure> {
    let platform = Platform::named(name)?;
    if args.dry_run {
        output::data(&format!("{name}: a model, nothing of this machine is written\n"))?;
        return Ok(Exit::Ok);
    }
    let host = machine::real();
    let (to, origin) = (runs::destination(args.out.as_deref()), runs::origin());
    let outcome = run::model(host.as_ref(), &platform, plan, &to, &origin, &mut Silent)?;
    end(outcome, args, talk)
}

/// What was measured is shown, however it ended.
fn end(outcome: Outcome, args: &TransitionArgs, talk: Talk) -> Result<Exit, Failure> {
    let wanted = Wanted {
        format: args.format.into(),
        figures: args.figures.clone(),
        page: args.page.clone(),
    };
    reporting::after_runs(
        machine::real().as_ref(),
        std::slice::from_ref(&outcome.dir),
        &wanted,
        talk,
    )?;
    ended::exit(&outcome, Ok(Exit::Ok))
}
