//! The exit code of a measurement, by how it ended.

use crate::exit::Exit;
use crate::failure::Failure;
use flyball_lab::session::Outcome;
use flyball_run::RunState;

/// An invalid run outranks a finding, and an interruption outranks both.
pub fn exit(outcome: &Outcome, reported: Result<Exit, Failure>) -> Result<Exit, Failure> {
    match outcome.state {
        RunState::Interrupted => reported.map(|_| Exit::Interrupted),
        RunState::Invalid => {
            let why: Vec<String> = outcome
                .invalid
                .iter()
                .map(|check| {
                    format!("{}: expected {}, found {}", check.object, check.expected, check.found)
                })
                .collect();
            let hint = outcome.invalid.iter().find_map(|check| check.hint.clone());
            Err(Failure::new(Exit::InvalidRun, format!("the run is not valid: {}", why.join("; ")))
                .maybe_hint(hint))
        }
        _ => reported,
    }
}

/// A run whose figures must not be used.
pub fn invalid(name: impl std::fmt::Display, hint: &str) -> Failure {
    let text = format!("{name}: the run is not valid: its figures must not be used");
    Failure::new(Exit::InvalidRun, text).hint(hint)
}
