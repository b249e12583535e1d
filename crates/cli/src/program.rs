//! The user's program as a child: its status becomes ours, our signals become its own.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_host::{Child, Host, Input, Output, ProcessSpec, Status};
use flyball_units::Nanos;

/// How often a waiting parent looks around at least: a signal may slip in before the waiting begins.
const GLANCE: Nanos = Nanos(1_000_000_000);

/// Runs a program with our standard output and error until it ends, and passes on what asks us to
/// end: the program decides. `glance` is called about every second meanwhile.
pub fn run(
    host: &dyn Host,
    command: &[String],
    stdin: Input,
    glance: &mut dyn FnMut(),
) -> Result<Exit, Failure> {
    let Some((name, arguments)) = command.split_first() else {
        return Err(Failure::new(Exit::Usage, "expected a program after `--`, found none"));
    };
    let spec = ProcessSpec {
        stdin,
        stdout: Output::Inherit,
        stderr: Output::Inherit,
        ..ProcessSpec::new(name, arguments)
    };
    let mut child = host.spawn(&spec)?;
    let code = match wait(host, &mut child, glance)? {
        Status::Code(code) => code,
        // As shells say it.
        Status::Signal(signal) => 128 + signal,
    };
    Ok(Exit::Program(u8::try_from(code).unwrap_or(u8::MAX)))
}

fn wait(host: &dyn Host, child: &mut Child, glance: &mut dyn FnMut()) -> Result<Status, Failure> {
    let mut passed = 0;
    loop {
        if let Some(exit) = child.wait(Some(host.now() + GLANCE))? {
            return Ok(exit.status);
        }
        let asked = host.interrupted();
        if let Some(signal) = host.interrupt_signal().filter(|_| asked > passed) {
            passed = asked;
            child.send(signal)?;
        }
        glance();
    }
}
