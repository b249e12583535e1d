//! The user's program: its status becomes ours.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_host::{Host, Input, Status, run_program};
use std::io::IsTerminal;

/// Runs a program until it ends; `glance` is called about every second meanwhile.
pub fn run(
    host: &dyn Host,
    command: &[String],
    stdin: Input,
    glance: &mut dyn FnMut(),
) -> Result<Exit, Failure> {
    let Some((name, arguments)) = command.split_first() else {
        return Err(Failure::usage("expected a program after `--`, found none"));
    };
    Ok(exit(run_program(host, name, arguments, stdin, glance)?))
}

/// The program's status as ours.
pub fn exit(status: Status) -> Exit {
    Exit::Program(status.shell_code())
}

/// What a program reads: ours, unless that is a terminal, which would stop its own process group.
pub fn stdin() -> Input {
    if std::io::stdin().is_terminal() { Input::Empty } else { Input::Inherit }
}
