//! `flyball rampup`: how long a machine takes to answer a sudden demand.
//!
//! ```text
//! one model, nothing asked of gaps -> model     variants and figures that only a model knows
//! anything else                    -> machines  one run directory per machine, side by side
//! ```

mod asked;
mod machines;
mod model;
mod variant;

use crate::args::{CheckFormat, RampupArgs, ReportArgs, ReportFormat, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_lab::{MachineError, Target};
use flyball_report::kinds::rampup::analysis::has_rampups;
use flyball_report::kinds::rampup::{Findings, analyse, terminal};
use flyball_run::{Columns, Run, RunState};
use serde_json::json;
use std::path::PathBuf;

pub fn run(args: &RampupArgs, talk: Talk) -> Result<Exit, Failure> {
    let args = &asked::with_tunables(args)?;
    let targets = args.machine.iter().map(|text| text.parse().map_err(MachineError::from));
    let targets = targets.collect::<Result<Vec<Target>, _>>()?;
    let plain = args.gap.is_empty() && args.sleeps.is_none() && args.trace.is_none();
    match &targets[..] {
        [Target::Model { name, kernel }] if plain => {
            model::run(args, name, kernel.as_deref(), talk)
        }
        _ => machines::run(args, &targets, talk),
    }
}

/// Whether these are runs of ramp-ups, all of them.
pub fn are_all(paths: &[PathBuf]) -> Result<bool, Failure> {
    for path in paths {
        let seq = Columns::Only(&[("rampups", "seq")]);
        if !Run::is_run(path) || !has_rampups(&Run::open_with(path, seq)?) {
            return Ok(false);
        }
    }
    Ok(!paths.is_empty())
}

/// `flyball report` on such runs.
pub fn report(paths: &[PathBuf], args: &ReportArgs) -> Result<Exit, Failure> {
    let format = match args.format {
        ReportFormat::Text => CheckFormat::Text,
        ReportFormat::Json => CheckFormat::Json,
        ReportFormat::JsonSchema | ReportFormat::Csv | ReportFormat::Md => {
            let expected = "--format: expected text or json for ramp-ups";
            return Err(Failure::new(Exit::Usage, expected));
        }
    };
    for (given, flag) in [
        (!args.output.fail_if.is_empty(), "--fail-if"),
        (args.output.baseline.is_some(), "--baseline"),
        (args.output.page.is_some(), "--page"),
        (args.figures.is_some(), "--figures"),
        (args.bundle.is_some(), "--bundle"),
    ] {
        if given {
            return Err(Failure::new(
                Exit::Usage,
                format!("{flag}: expected runs with windows, found ramp-ups"),
            ));
        }
    }
    show(paths, format)
}

/// The findings of runs, printed; an invalid run is no result.
fn show(paths: &[PathBuf], format: CheckFormat) -> Result<Exit, Failure> {
    let mut all: Vec<Findings> = Vec::new();
    let (mut invalid, mut interrupted) = (None, false);
    for path in paths {
        let run = Run::open(path)?;
        all.push(analyse(&run));
        interrupted |= run.manifest.state == RunState::Interrupted;
        if run.manifest.state == RunState::Invalid {
            invalid = Some(path);
        }
    }
    output::data(&match format {
        CheckFormat::Text => {
            let mut text = terminal::render(&all, output::width(machine::real().as_ref()));
            text.push('\n');
            for path in paths {
                text += &format!("Run   {}\n", path.display());
            }
            text
        }
        CheckFormat::Json => {
            let value = json!({
                "schema": "flyball-rampup-findings/1",
                "machines": all,
                "runs": paths,
            });
            format!("{value:#}\n")
        }
    })?;
    match invalid {
        Some(path) => Err(Failure::new(
            Exit::InvalidRun,
            format!("{}: the run is not valid: its figures must not be used", path.display()),
        )
        .hint("its checks say why: [[checks]] in run.toml")),
        None if interrupted => Ok(Exit::Interrupted),
        None => Ok(Exit::Ok),
    }
}
