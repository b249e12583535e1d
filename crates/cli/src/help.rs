//! The command line as people see it: the first screen, grouped by what they come for; completions,
//! man pages and the reference.

use crate::args::{Cli, GROUPS};
use crate::exit;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use flyball_governors::catalogue;
use std::fmt::Write;

/// The command line with its grouped first screen.
pub fn command() -> Command {
    let plain = Cli::command();
    let template = format!(
        "{{about}}\nUsage: flyball [OPTIONS] <COMMAND>\n\n{}{{options}}\n\
         Start: flyball      Platforms, governors, scenarios, exit codes: flyball help\n",
        groups(&plain)
    );
    numbers(plain.help_template(template))
}

/// A number below zero is a value, if a wrong one, and no flag.
fn numbers(command: Command) -> Command {
    let named =
        |argument: Arg| match argument.is_positional() || !argument.get_action().takes_values() {
            true => argument,
            false => argument.allow_negative_numbers(true),
        };
    command.mut_args(named).mut_subcommands(numbers)
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        for (index, name) in names.iter().enumerate() {
            let about = command
                .find_subcommand(name)
                .and_then(|sub| sub.get_about())
                .map(ToString::to_string)
                .unwrap_or_default();
            let title = if index == 0 { *group } else { "" };
            let _ = writeln!(text, "{title:<9}{name:<13}{about}");
        }
    }
    text
}

/// The command line as completions need it: governors and machines are offered by their names.
pub fn completed() -> Command {
    let mut command = command();
    command.build();
    offer(command)
}

fn offer(command: Command) -> Command {
    let governors: Vec<&str> = catalogue().iter().map(|entry| entry.name).collect();
    let platforms = flyball_platform::catalogue().platforms.iter().map(|entry| entry.name);
    let models = platforms.map(|name| format!("model:{name}"));
    // Leaked once: clap keeps what it offers for as long as it runs.
    let models = models.map(|name| &*name.leak());
    let machines: Vec<&'static str> = std::iter::once("host").chain(models).collect();
    let named = |argument: Arg| match argument.get_id().as_str() {
        "governor" => argument.value_parser(PossibleValuesParser::new(governors.clone())),
        "machine" => argument.value_parser(PossibleValuesParser::new(machines.clone())),
        _ => argument,
    };
    command.mut_args(named).mut_subcommands(offer)
}

/// The section of a man page that tells the exit codes.
pub fn exit_status() -> String {
    let rows = exit::TABLE.iter().map(|(_, code, meaning)| format!(".TP\n{code}\n{meaning}\n"));
    format!(".SH \"EXIT STATUS\"\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_a_group() {
        let plain = Cli::command();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for sub in plain.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            assert!(grouped.contains(&sub.get_name()), "{}", sub.get_name());
        }
        assert!(grouped.iter().all(|name| plain.find_subcommand(name).is_some()));
    }
}
