//! A bench on a machine, as the tests need it.

use flyball_host::{Host, RealHost};
use flyball_lab::experiment;
use flyball_lab::protocol::windows::Context;
use flyball_lab::session::{Destination, Outcome, Silent};
use flyball_lab::{MachineError, open_recording};
use std::path::Path;
use std::sync::Arc;

/// Runs the experiment `text` on `machine` into `dir`, with `events` beside the windows or without.
pub fn bench(machine: &str, text: &str, dir: &Path, events: bool) -> Result<Outcome, MachineError> {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let experiment = experiment::read(text, "test").unwrap();
    let context = Context::default();
    let machine = open_recording(&machine.parse().map_err(MachineError::Machine)?, None, events)?;
    let prepared = machine.prepare(&host, experiment, &context)?;
    prepared.run(&host, &Destination::Dir(dir.to_owned()), &mut Silent, None)
}
