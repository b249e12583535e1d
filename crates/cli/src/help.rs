//! The first screen, grouped by what people come for, and the topics of `flyball help`.

use crate::args::{Cli, GROUPS};
use crate::exit;
use clap::{Command, CommandFactory};
use flyball_lab::experiment::BUILT_IN;
use std::fmt::Write;

/// The command line with its grouped first screen.
pub fn command() -> Command {
    let plain = Cli::command();
    let template = format!(
        "{{about}}\n\nUsage: flyball [OPTIONS] <COMMAND>\n\n{}\n{{options}}\n\
         Start: flyball bench      More: flyball help exit-codes\n",
        groups(&plain)
    );
    plain.help_template(template)
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        if *group == "Other" {
            let _ = writeln!(text, "{group:<9}{}", names.join(", "));
            continue;
        }
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

/// Text of a topic that is not a command.
pub fn topic(name: &str) -> Option<String> {
    match name {
        "exit-codes" => Some(exit::table()),
        "experiments" => Some(experiments()),
        "scenarios" => Some(scenarios()),
        "run-directory" => Some(flyball_run::schema::markdown()),
        _ => None,
    }
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

fn experiments() -> String {
    let mut text = String::from("Experiments that ship (flyball bench NAME)\n");
    for built_in in BUILT_IN {
        let _ = writeln!(text, "  {:<22}{}", built_in.name, built_in.summary);
    }
    text.push_str("\nWrite one as a file: flyball init my.toml --from NAME\n");
    text
}

fn scenarios() -> String {
    let mut text = String::from("Scenarios that ship (flyball sim NAME)\n");
    for example in flyball_sim::scenario::EXAMPLES {
        let summary = example.summary();
        let sentence = summary.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let _ = writeln!(text, "  {:<18}{sentence}", example.name);
    }
    text.push_str("\nWrite one as a file: flyball init my.toml --scenario --from NAME\n");
    text
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
        for sub in plain.get_subcommands() {
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
