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
    plain.help_template(template)
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

/// The reference of the command line, `docs/reference/cli.md`.
#[cfg(test)]
pub fn reference() -> String {
    let mut command = command();
    command.build();
    let mut text = format!(
        "# Command line\n\nGenerated from the program's own help; `UPDATE_DOCS=1 cargo test -p flyball` \
         rewrites it.\n\n```text\n{}```\n",
        command.render_help()
    );
    for sub in command.get_subcommands_mut() {
        section(&mut text, sub, "flyball");
    }
    let _ = write!(text, "\n## Exit codes\n\n```text\n{}```\n", exit::table());
    text
}

/// A command's help, and that of the commands below it.
#[cfg(test)]
fn section(text: &mut String, command: &mut Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n"));
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        section(text, sub, &name);
    }
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

    #[test]
    fn the_committed_reference_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
        let update = flyball_host::Host::env(&flyball_host::RealHost::new(), "UPDATE_DOCS");
        if update.is_some() {
            fs_err::write(path, reference()).unwrap();
        }
        let committed = fs_err::read_to_string(path).unwrap();
        assert!(committed == reference(), "stale: run UPDATE_DOCS=1 cargo test -p flyball");
    }

    #[test]
    fn the_first_screen_fits() {
        let help = command().render_help().to_string();
        assert!(help.lines().count() <= 25, "{help}");
    }
}
