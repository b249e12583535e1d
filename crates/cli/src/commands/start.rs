//! `flyball` alone: what this machine is, and what people ask of it.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{machine, output};
use flyball_host::Topology;

const QUESTIONS: &str = include_str!("../../help/start.txt");

pub fn run() -> Result<Exit, Failure> {
    let host = machine::real();
    // Only read: nothing is measured.
    let here = match Topology::discover(host.as_ref()) {
        Ok(topology) => flyball_check::summary(&topology),
        Err(error) => format!("This machine: {error}\n"),
    };
    output::data(&format!("{here}\n{QUESTIONS}"))?;
    Ok(Exit::Ok)
}
