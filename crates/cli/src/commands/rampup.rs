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

use crate::args::{RampupArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use crate::reporting::{self, Wanted};
use flyball_run::{Columns, Run, RunState};
use flyball_units::MachineSpec;
use std::path::PathBuf;

pub fn run(args: &RampupArgs, talk: Talk) -> Result<Exit, Failure> {
    let args = &asked::with_tunables(args)?;
    let targets = args.machine.iter().map(|text| machine::target(text));
    let targets = targets.collect::<Result<Vec<MachineSpec>, _>>()?;
    let plain = args.gap.is_empty() && args.sleeps.is_none() && args.trace.is_none();
    match &targets[..] {
        [MachineSpec::Model { name, kernel }] if plain => {
            model::run(args, name, kernel.as_deref(), talk)
        }
        _ => machines::run(args, &targets, talk),
    }
}

/// The findings of runs, printed; an invalid run is no result.
fn show(dirs: &[PathBuf], args: &RampupArgs, talk: Talk) -> Result<Exit, Failure> {
    let wanted = Wanted { format: args.format.into(), ..Wanted::default() };
    reporting::after_runs(machine::real().as_ref(), dirs, &wanted, talk)?;
    let mut interrupted = false;
    for dir in dirs {
        match Run::open_with(dir, Columns::Only(&[]))?.manifest.state {
            RunState::Invalid => {
                let text = format!(
                    "{}: the run is not valid: its figures must not be used",
                    dir.display()
                );
                return Err(Failure::new(Exit::InvalidRun, text)
                    .hint("its checks say why: [[checks]] in run.toml"));
            }
            state => interrupted |= state == RunState::Interrupted,
        }
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Ok })
}
