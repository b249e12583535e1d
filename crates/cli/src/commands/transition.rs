//! `flyball transition`: what a frequency switch costs.

mod measure;
mod show;

use crate::args::{CheckFormat, ReportArgs, ReportFormat, Talk, TransitionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use flyball_lab::protocol::switches::methods::{Method, Plan};
use flyball_lab::{Board, MachineError, Target};
use flyball_run::import::{Format, Options, detect, load};
use flyball_run::{Columns, Run};
use flyball_units::{CpuId, KiloHertz, Mismatch, Nanos};
use show::Shown;
use std::path::Path;

pub fn run(args: &TransitionArgs, talk: Talk) -> Result<Exit, Failure> {
    let shown = Shown {
        json: args.format == CheckFormat::Json,
        figures: args.figures.as_deref(),
        page: args.page.as_deref(),
    };
    let plan = plan(args)?;
    match args.machine.parse::<Target>().map_err(MachineError::from)? {
        Target::Host => {
            let host = machine::with_faults(args.faults.as_deref())?;
            if args.dry_run {
                return measure::dry_run(host.as_ref(), &plan);
            }
            measure::host(&host, args, plan, &shown, talk)
        }
        Target::Model { kernel: Some(_), .. } => Err(Failure::new(
            Exit::Usage,
            "--machine: expected a model without a kernel: it has no part in what a switch costs",
        )),
        Target::Model { name, kernel: None } => measure::model(&name, args, &plan, &shown, talk),
        Target::Board(_) if args.dry_run => Err(Failure::new(
            Exit::Usage,
            "--dry-run: expected this machine or a model, found a board",
        )
        .hint("inside: flyball board run -- flyball transition --dry-run")),
        Target::Board(board) => {
            measure::board(&Board::of(&board, false)?, args, plan, &shown, talk)
        }
        Target::Record(dir) => Err(Failure::new(
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

/// Whether a path holds measurements of switches and nothing that another report would show.
pub fn is_one(path: &Path) -> Result<bool, Failure> {
    if Run::is_run(path) {
        let columns = [("trials", "seq"), ("windows", "seq"), ("slices", "from_ns")];
        let tables = Run::open_with(path, Columns::Only(&columns))?.tables;
        return Ok(!tables.trials.seq.is_empty() && tables.windows.seq.is_empty());
    }
    if path.is_file() && flyball_events::import::is_trace(path)? {
        return Ok(false);
    }
    // What is wrong with a path that has no format, the caller says.
    Ok(matches!(detect(path), Ok(Format::Ftalat | Format::Coremark)))
}

/// `flyball report` on such a path.
pub fn report(
    path: &Path,
    args: &ReportArgs,
    options: &Options<'_>,
    talk: Talk,
) -> Result<Exit, Failure> {
    let json = match args.format {
        ReportFormat::Text => false,
        ReportFormat::Json => true,
        ReportFormat::JsonSchema | ReportFormat::Csv | ReportFormat::Md => {
            return Err(Failure::new(
                Exit::Usage,
                "--format: expected text or json for measurements of switches",
            ));
        }
    };
    for (given, flag) in [
        (!args.output.fail_if.is_empty(), "--fail-if"),
        (args.output.baseline.is_some(), "--baseline"),
        (args.bundle.is_some(), "--bundle"),
        (args.task.is_some(), "--task"),
    ] {
        if given {
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "{flag}: expected a run with windows or events, found measurements of switches"
                ),
            ));
        }
    }
    let run = load(path, options)?;
    let shown = Shown { json, figures: args.figures.as_deref(), page: args.output.page.as_deref() };
    show::findings(&run, Some(path), &shown, talk)?;
    Ok(Exit::Ok)
}
