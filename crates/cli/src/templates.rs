//! `--init`: an experiment or a scenario as a new file to change.

use crate::args::Talk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};
use flyball_lab::experiment;
use flyball_sim::scenario::{self, EXAMPLES};
use std::io::Write;
use std::path::Path;

/// The schema of experiments for editors, beside the file.
const SCHEMA_FILE: &str = "experiment.schema.json";

/// The experiment of this name, or the commented template, and its schema.
pub fn experiment(file: &Path, name: Option<&str>, talk: Talk) -> Result<Exit, Failure> {
    let text = match name {
        None => experiment::template().to_owned(),
        Some(name) => {
            let shipped = experiment::BUILT_IN.iter().map(|own| (own.name, own.text));
            input::shipped_or_file(name, shipped, "those that ship: flyball help experiments")?.text
        }
    };
    create_new(file, &text)?;
    let schema = file.with_file_name(SCHEMA_FILE);
    // The schema is generated, so a newer one may replace it.
    fs_err::write(&schema, experiment::json_schema()).map_err(|error| Failure::io(&error))?;
    if !talk.quiet {
        let (file, schema) = (file.display(), schema.display());
        output::talk(&format!("wrote {file} and {schema}\nnext: flyball bench {file}"));
    }
    Ok(Exit::Ok)
}

/// The scenario of this name, or the commented template; its keys are in docs/scenarios.md.
pub fn scenario(file: &Path, name: Option<&str>, talk: Talk) -> Result<Exit, Failure> {
    let text = match name {
        None => scenario::template().to_owned(),
        Some(name) => {
            let shipped = EXAMPLES.iter().map(|example| (example.name, example.text));
            input::shipped_or_file(name, shipped, "those that ship: flyball help scenarios")?.text
        }
    };
    create_new(file, &text)?;
    if !talk.quiet {
        let file = file.display();
        output::talk(&format!("wrote {file}\nnext: flyball sim {file}"));
    }
    Ok(Exit::Ok)
}

/// Never overwrites what somebody wrote.
fn create_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file =
        fs_err::OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
            match error.kind() {
                std::io::ErrorKind::AlreadyExists => Failure::new(
                    Exit::BadInput,
                    format!("{}: expected a new file, found an existing one", path.display()),
                )
                .hint("give another name: --init other.toml"),
                _ => Failure::io(&error),
            }
        })?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::io(&error))
}
