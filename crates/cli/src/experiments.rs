//! Experiments that the user names: one that ships, a file, or a program of the user's own.

use crate::failure::Failure;
use crate::input;
use flyball_host::Host;
use flyball_lab::experiment::{self, Experiment, PILOTS};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An experiment that ships or is in a file, and its folder.
pub fn named_or_file(name: &str) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let program = format!("a program comes after `--`: flyball bench -- {name}");
    let is_program = Path::new(name).is_file() && !name.ends_with(".toml");
    let hint = "write one with: flyball bench --init; those that ship: flyball help experiments; \
                read a run with: flyball report";
    let input = input::Kind::EXPERIMENTS.open(name, if is_program { &program } else { hint })?;
    let read =
        experiment::read(&input.text, name).map_err(|error| match name.ends_with(".toml") {
            true => Failure::from(error),
            false => Failure::from(error).hint(format!("an experiment is a TOML file; {program}")),
        })?;
    Ok((read, input.folder))
}

/// The user's own program under idle and heavy load; a dry run runs nothing, so it shows the shortest
/// period that there is.
pub fn for_program(
    program: &[String],
    host: &Arc<dyn Host>,
    dry_run: bool,
) -> Result<Experiment, Failure> {
    if program.first().is_some_and(String::is_empty) {
        let hint = "a variable of the shell may be empty";
        return Err(Failure::usage("expected a program after `--`, found an empty text").hint(hint));
    }
    Ok(experiment::of_program(program, host.as_ref(), if dry_run { 0 } else { PILOTS })?)
}
