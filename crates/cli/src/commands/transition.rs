//! `flyball transition`: what a frequency switch costs.

mod measure;

use crate::args::{Talk, TransitionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use flyball_lab::Board;
use flyball_lab::protocol::switches::methods::{Method, Plan};
use flyball_units::{CpuId, KiloHertz, MachineSpec, Mismatch, Nanos};

pub fn run(args: &TransitionArgs, talk: Talk) -> Result<Exit, Failure> {
    let plan = plan(args)?;
    match machine::target(&args.machine)? {
        MachineSpec::Host => {
            let host = machine::with_faults(args.faults.as_deref())?;
            if args.dry_run {
                return measure::dry_run(host.as_ref(), &plan);
            }
            measure::host(&host, args, plan, talk)
        }
        MachineSpec::Model { kernel: Some(_), .. } => Err(Failure::new(
            Exit::Usage,
            "--machine: expected a model without a kernel: it has no part in what a switch costs",
        )),
        MachineSpec::Model { name, kernel: None } => measure::model(&name, args, &plan, talk),
        MachineSpec::Board(_) if args.dry_run => Err(Failure::new(
            Exit::Usage,
            "--dry-run: expected this machine or a model, found a board",
        )
        .hint("inside: flyball board run -- flyball transition --dry-run")),
        MachineSpec::Board(board) => measure::board(&Board::of(&board, false)?, args, plan, talk),
        MachineSpec::Record(dir) => Err(Failure::new(
            Exit::Usage,
            format!(
                "--machine: expected host, model:NAME or board:NAME, found record:{}",
                dir.display()
            ),
        )
        .hint(format!("read it with: flyball report {}", dir.display()))),
    }
}

fn plan(args: &TransitionArgs) -> Result<Plan, Failure> {
    let usage = |flag: &str, error: String| Failure::new(Exit::Usage, format!("{flag}: {error}"));
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
