//! `--init`: an experiment or a scenario as a new file to change.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Kind;
use crate::output;
use flyball_lab::experiment;
use flyball_sim::scenario;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The schema of experiments for editors, beside the file.
const SCHEMA_FILE: &str = "experiment.schema.json";

/// The experiment of this name, or the commented template, and its schema.
pub fn experiment(file: &Path, name: Option<&str>, talk: Talk) -> Result<Exit, Failure> {
    create_new(file, Kind::EXPERIMENTS, name, experiment::template())?;
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
    create_new(file, Kind::SCENARIOS, name, scenario::template())?;
    let file = file.display();
    output::unless_quiet(talk.quiet, &format!("wrote {file}\nnext: flyball sim {file}"));
    Ok(Exit::Ok)
}

/// Never overwrites what somebody wrote.
fn create_new(path: &Path, kind: Kind, name: Option<&str>, template: &str) -> Result<(), Failure> {
    let text = match name {
        None => template.to_owned(),
        Some(name) => kind.open(name, kind.listed)?.text,
    };
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
