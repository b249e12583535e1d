//! `flyball transition`: what a frequency switch costs.

use crate::args::{Talk, TransitionArgs};
use crate::commands::ended;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporting::{self, Wanted};
use crate::{machine, output, runs};
use flyball_console::Bar;
use flyball_lab::protocol::switches::methods::{Method, Plan};
use flyball_lab::protocol::switches::run::planned;
use flyball_lab::{Order, open};
use flyball_units::{CpuId, KiloHertz, MachineSpec, Mismatch, Nanos};

pub fn run(args: &TransitionArgs, talk: Talk) -> Result<Exit, Failure> {
    let plan = plan(args)?;
    if let MachineSpec::Model { kernel: Some(_), .. } = machine::target(&args.machine)? {
        let found = &args.machine;
        return Err(machine::expected("a model without a kernel, which has no part here", found));
    }
    if args.dry_run {
        output::data(&dry_run(args, &plan)?)?;
        return Ok(Exit::Ok);
    }
    let machine = open(&machine::to_measure(&args.machine)?, None)?;
    let host = machine::with_faults(args.faults.as_deref())?;
    host.catch_interrupts()?;
    let (to, origin) = (runs::destination(args.out.as_deref()), runs::origin());
    let outcome =
        machine.run(&host, &Order::Switches(plan), &to, &origin, &mut Bar::new(talk.quiet))?;
    let wanted = Wanted {
        format: args.format.into(),
        figures: args.figures.clone(),
        page: args.page.clone(),
    };
    // What was measured is shown, however it ended.
    let dirs = std::slice::from_ref(&outcome.dir);
    reporting::after_runs(host.as_ref(), dirs, &wanted, talk)?;
    ended::exit(&outcome, Ok(Exit::Ok))
}

/// The files and what they get.
fn dry_run(args: &TransitionArgs, plan: &Plan) -> Result<String, Failure> {
    match machine::target(&args.machine)? {
        MachineSpec::Host | MachineSpec::Record(_) => {
            let host = machine::to_read(&args.machine, args.faults.as_deref())?;
            Ok(planned(host.as_ref(), plan)?)
        }
        ref target @ MachineSpec::Model { ref name, .. } => {
            open(target, None)?;
            Ok(format!("{name}: a model, nothing of this machine is written\n"))
        }
        MachineSpec::Board(_) => {
            Err(Failure::usage("--dry-run: expected this machine or a model, found a board")
                .hint("inside: flyball board run -- flyball transition --dry-run"))
        }
    }
}

fn plan(args: &TransitionArgs) -> Result<Plan, Failure> {
    let usage = |flag: &str, error: String| Failure::usage(format!("{flag}: {error}"));
    let methods: Result<Vec<Method>, Failure> = args
        .method
        .iter()
        .map(|name| name.parse().map_err(|error| usage("--method", error)))
        .collect();
    let mut methods = methods?;
    if methods.is_empty() {
        methods = Method::ALL.to_vec();
    }
    methods.sort_unstable();
    methods.dedup();
    let level = |text: &String| text.parse().map_err(|slip: Mismatch| slip.at("--levels").into());
    let levels: Result<Vec<KiloHertz>, Failure> = args.levels.iter().map(level).collect();
    let time = |flag: &str, text: &str| -> Result<Nanos, Failure> {
        Ok(Nanos(crate::flags::time(flag, text)?.nanos()))
    };
    let window = time("--window", &args.window)?;
    if window.0 < 10_000 {
        return Err(usage("--window", format!("expected 10us or more, found {}", args.window)));
    }
    Ok(Plan {
        cpu: args.cpu.map(CpuId),
        methods,
        levels: levels?,
        trials: args.trials,
        runs: args.runs,
        window,
        wait: time("--wait", &args.wait)?,
        seed: args.seed,
        ..Plan::default()
    })
}
