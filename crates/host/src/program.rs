//! A user's program as a child: what asks us to end is passed on to it, and it decides.

use crate::{Child, Host, HostError, Input, Output, ProcessSpec, Status};
use flyball_units::Nanos;

/// How often a waiting parent looks around at least: a signal may slip in before the waiting begins.
const GLANCE: Nanos = Nanos::from_secs(1);

/// Runs a program with our standard output and error until it ends, and passes on what asks us to
/// end. `glance` is called about every second meanwhile.
///
/// # Errors
/// A program that does not start.
pub fn run_program(
    host: &dyn Host,
    name: &str,
    arguments: &[String],
    stdin: Input,
    glance: &mut dyn FnMut(),
) -> Result<Status, HostError> {
    let spec = ProcessSpec {
        stdin,
        stdout: Output::Inherit,
        stderr: Output::Inherit,
        ..ProcessSpec::new(name, arguments)
    };
    let mut child: Child = host.spawn(&spec)?;
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
