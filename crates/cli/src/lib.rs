//! `flyball`: parsing and wiring. What a command does lives in the other crates.
//!
//! A library, so that it is compiled beside the last of them: a program waits until all are linkable.

mod args;
mod commands;
mod exit;
mod experiments;
mod failure;
mod figure;
mod flags;
mod help;
mod input;
mod machine;
mod moved;
mod output;
mod program;
mod reporting;
mod runs;
mod scenarios;
mod templates;
mod topics;

use args::{Cli, Command};
use clap::FromArgMatches;
use exit::Exit;
use failure::Failure;
use flyball_host::{Signal, end_on_signals, end_soon, last_signal};
use flyball_units::Nanos;
use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    // A command that has something to keep or to restore listens itself, from then on.
    end_on_signals();
    let parsed = help::command().try_get_matches().and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // A panic is a defect of ours, and has the exit code for that; its message is on stderr.
    let exit = match std::panic::catch_unwind(|| run(cli)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            output::talk(&failure.to_string());
            failure.exit
        }
        Err(_) => {
            output::talk("error: Flyball failed itself; please report the lines above");
            Exit::Own
        }
    };
    match (exit, last_signal()) {
        (Exit::Interrupted, Some(Signal::Terminate)) => Exit::Terminated.into(),
        _ => exit.into(),
    }
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let talk = cli.talk;
    let Some(command) = cli.command else { return commands::start::run() };
    let computes = command.only_computes();
    if computes {
        end_soon(Nanos::from_millis(800));
        flyball_run::start_threads();
    }
    if !talk.quiet && (computes || matches!(command, Command::Sim(_))) {
        flyball_console::pulse(machine::real());
    }
    match command {
        Command::Check(args) => commands::check::run(&args, talk),
        Command::Bench(args) => commands::bench::run(args, talk),
        Command::Ab(args) => commands::ab::run(args, talk),
        Command::Rampup(args) => commands::rampup::run(&args, talk),
        Command::Transition(args) => commands::transition::run(&args, talk),
        Command::Hold(args) => commands::hold::run(&args, talk),
        Command::Fix(args) => commands::fix::run(&args, talk),
        Command::Govern(args) => commands::govern::run(args, talk),
        Command::Qos(args) => commands::qos::run(&args, talk),
        Command::Sim(args) => commands::sim::run(&args, talk),
        Command::Replay(args) => commands::replay::run(&args, talk),
        Command::Board(args) => commands::board::run(args, talk),
        Command::Capture(args) => commands::capture::run(&args, talk),
        Command::Job(args) => commands::job::run(&args),
        Command::Report(args) => commands::report::run(args, talk),
        Command::Reproduce(args) => commands::reproduce::run(&args, talk),
        Command::Install(args) => commands::install::run(&args, talk),
        Command::Help { topic } => commands::help::run(topic.as_deref()),
    }
}

/// clap prints help and version to stdout and everything else to stderr.
fn usage(error: &clap::Error) -> ExitCode {
    if let Some(moved) = moved::word(error, &runs::command_line()) {
        output::talk(&format!("error: {moved}"));
        return Exit::Usage.into();
    }
    let printed = error.print();
    match (error.use_stderr(), printed) {
        (_, Err(_)) => Exit::Own.into(),
        (true, Ok(())) => Exit::Usage.into(),
        (false, Ok(())) => Exit::Ok.into(),
    }
}
