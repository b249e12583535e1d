//! `flyball completions`, `flyball man`, `flyball help`: all from the one definition.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{help, output};
use std::path::Path;

pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "flyball", &mut script);
    output::data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

pub fn man(dir: &Path) -> Result<Exit, Failure> {
    let written =
        fs_err::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(help::command(), dir));
    written.map_err(|error| Failure::io(&error))?;
    Ok(Exit::Ok)
}

pub fn help(topic: Option<&str>) -> Result<Exit, Failure> {
    let mut command = help::command();
    let text = match topic {
        None => command.render_help().to_string(),
        Some(name) => match help::topic(name) {
            Some(text) => text,
            None => {
                command.build();
                command
                    .find_subcommand_mut(name)
                    .map(|sub| sub.render_long_help().to_string())
                    .ok_or_else(|| {
                        Failure::new(Exit::Usage, format!("no help on \"{name}\""))
                            .hint("topics: exit-codes, experiments, scenarios, run-directory, or a command")
                    })?
            }
        },
    };
    output::data(&text)?;
    Ok(Exit::Ok)
}
