//! `flyball init`: a commented experiment and its schema.

use crate::args::{InitArgs, Talk};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use flyball_lab::experiment;
use flyball_sim::scenario::EXAMPLES;
use std::io::Write;
use std::path::Path;

const SCHEMA_FILE: &str = "experiment.schema.json";

pub fn run(args: &InitArgs, talk: Talk) -> Result<Exit, Failure> {
    if args.scenario {
        return scenario(args, talk);
    }
    let text = match &args.from {
        None => experiment::template(),
        Some(name) => built_in(name)?,
    };
    create_new(&args.file, text)?;
    let schema = args.file.with_file_name(SCHEMA_FILE);
    // The schema is generated, so a newer one may replace it.
    fs_err::write(&schema, experiment::json_schema()).map_err(|error| Failure::io(&error))?;
    if !talk.quiet {
        output::talk(&format!(
            "wrote {} and {}\nnext: flyball bench {}",
            args.file.display(),
            schema.display(),
            args.file.display()
        ));
    }
    Ok(Exit::Ok)
}

fn built_in(name: &str) -> Result<&'static str, Failure> {
    experiment::BUILT_IN.iter().find(|built_in| built_in.name == name).map(|b| b.text).ok_or_else(
        || {
            let names: Vec<&str> = experiment::BUILT_IN.iter().map(|b| b.name).collect();
            Failure::new(Exit::Usage, format!("no experiment \"{name}\" ships with Flyball"))
                .hint(format!("these do: {}", names.join(", ")))
        },
    )
}

/// A scenario; its keys are in docs/scenarios.md.
fn scenario(args: &InitArgs, talk: Talk) -> Result<Exit, Failure> {
    let text = match &args.from {
        None => flyball_sim::scenario::template(),
        Some(name) => {
            let found = EXAMPLES.iter().find(|example| example.name == name);
            found.map(|example| example.text).ok_or_else(|| {
                Failure::new(Exit::Usage, format!("no scenario \"{name}\" ships with Flyball"))
                    .hint("list those that do: flyball help scenarios")
            })?
        }
    };
    create_new(&args.file, text)?;
    if !talk.quiet {
        let file = args.file.display();
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
                .hint("give another name: flyball init other.toml"),
                _ => Failure::io(&error),
            }
        })?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::io(&error))
}
