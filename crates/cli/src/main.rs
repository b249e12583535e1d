//! `flyball`: parsing and wiring. What a command does lives in the other crates.

mod args;
mod commands;
mod exit;
mod failure;
mod help;
mod hosts;
mod input;
mod meter;
mod output;
mod program;
mod progress;

use args::{Cli, Command};
use clap::FromArgMatches;
use exit::Exit;
use failure::Failure;
use flyball_lab::session::Origin;
use flyball_run::manifest::Flyball;
use std::process::ExitCode;

fn main() -> ExitCode {
    let parsed = help::command().try_get_matches().and_then(|m| Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // A panic is a defect of ours, and has the exit code for that; its message is on stderr.
    match std::panic::catch_unwind(|| run(cli)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(failure)) => {
            output::talk(&failure.to_string());
            failure.exit.into()
        }
        Err(_) => {
            output::talk("error: Flyball failed itself; please report the lines above");
            Exit::Own.into()
        }
    }
}

/// The command line for a run's manifest; what is no Unicode is replaced, never refused.
fn command_line() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Who asks, for a run's manifest.
fn origin() -> Origin {
    let flyball = Flyball {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FLYBALL_COMMIT").map(str::to_owned),
    };
    Origin { command: command_line(), flyball }
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let talk = cli.talk;
    match cli.command {
        Command::Check(args) => commands::check::run(&args, talk),
        Command::Bench(args) => commands::bench::run(args, talk),
        Command::Hold(args) => commands::hold::run(&args, talk),
        Command::Fix(args) => commands::fix::run(&args, talk),
        Command::Govern(args) => commands::govern::run(args, talk),
        Command::Init(args) => commands::init::run(&args, talk),
        Command::Loadgen(args) => commands::loadgen::run(&args, talk),
        Command::Sim(args) => commands::sim::run(&args, talk),
        Command::Play(args) => commands::play::run(&args, talk),
        Command::Transition(args) => commands::transition::run(&args, talk),
        Command::Replay(args) => commands::replay::run(&args, talk),
        Command::Tune(args) => commands::tune::run(&args, talk),
        Command::Rampup(args) => commands::rampup::run(&args, talk),
        Command::Board(args) => commands::board::run(args, talk),
        Command::Capture(args) => commands::capture::run(&args, talk),
        Command::Job(args) => commands::job::run(&args),
        Command::Import(args) => commands::import::run(&args, talk),
        Command::Report(args) => commands::report::run(args, talk),
        Command::Shadow(args) => commands::shadow::run(&args, talk),
        Command::Reproduce(args) => commands::reproduce::run(&args, talk),
        Command::Completions { shell } => commands::shell::completions(shell),
        Command::Man { dir } => commands::shell::man(&dir),
        Command::Help { topic } => commands::shell::help(topic.as_deref()),
    }
}

/// clap prints help and version to stdout and everything else to stderr.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    match (error.use_stderr(), printed) {
        (_, Err(_)) => Exit::Own.into(),
        (true, Ok(())) => Exit::Usage.into(),
        (false, Ok(())) => Exit::Ok.into(),
    }
}
