//! `--init`: an experiment or a scenario as a new file to change.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Kind;
use crate::output;
use flyball_lab::experiment::{self, Experiment};
use flyball_sim::scenario;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The schema of experiments for editors, beside the file.
const SCHEMA_FILE: &str = "experiment.schema.json";

/// The experiment of this name, or the commented template, and its schema.
pub fn experiment(file: &Path, name: Option<&str>, talk: Talk) -> Result<Exit, Failure> {
    create_new(file, &named(Kind::EXPERIMENTS, name, experiment::template())?)?;
    beside_schema(file, talk)
}

/// The experiment on a program as it would be run, and its schema.
pub fn for_program(file: &Path, experiment: &Experiment, talk: Talk) -> Result<Exit, Failure> {
    let text = experiment
        .text()
        .ok_or_else(|| Failure::usage("--init: expected numbers below 2^63, found a larger one"))?;
    let head = "# Other keys, with comments: flyball bench --init other.toml\n";
    create_new(file, &format!("#:schema ./{SCHEMA_FILE}\n{head}\n{text}"))?;
    beside_schema(file, talk)
}

fn beside_schema(file: &Path, talk: Talk) -> Result<Exit, Failure> {
    let schema = file.with_file_name(SCHEMA_FILE);
    // The schema is generated, so a newer one may replace it.
    fs_err::write(&schema, include_str!("../../../docs/reference/experiment.schema.json"))?;
    let (file, schema) = (file.display(), schema.display());
    let told = format!("wrote {file} and {schema}\nnext: flyball bench {file}");
    output::unless_quiet(talk.quiet, &told);
    Ok(Exit::Ok)
}

/// The scenario of this name, or the commented template; its keys are in docs/scenarios.md.
pub fn scenario(file: &Path, name: Option<&str>, talk: Talk) -> Result<Exit, Failure> {
    create_new(file, &named(Kind::SCENARIOS, name, scenario::template())?)?;
    let file = file.display();
    output::unless_quiet(talk.quiet, &format!("wrote {file}\nnext: flyball sim {file}"));
    Ok(Exit::Ok)
}

/// The text of this name, or the template.
fn named(kind: Kind, name: Option<&str>, template: &str) -> Result<String, Failure> {
    match name {
        None => Ok(template.to_owned()),
        Some(name) => Ok(kind.open(name, kind.listed)?.text),
    }
}

/// Never overwrites what somebody wrote.
fn create_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file =
        fs_err::OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
            match error.kind() {
                ErrorKind::AlreadyExists => {
                    let path = path.display();
                    Failure::input(format!("{path}: expected a new file, found an existing one"))
                        .hint("give another name: --init other.toml")
                }
                _ => error.into(),
            }
        })?;
    Ok(file.write_all(text.as_bytes())?)
}
