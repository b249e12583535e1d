//! The experiment for a program of the user's own.

use super::{Experiment, Workload, quick};
use crate::program::{ProgramError, succeed};
use flyball_host::{Host, ProcessSpec};
use flyball_units::{Duration, Nanos};

/// Runs that say how long the program takes.
pub const PILOTS: usize = 3;

/// The program, its name first, under idle and heavy load. Some runs of it say how long it takes; the
/// period leaves it twice that, so that a slower condition does not run into the next release.
///
/// # Errors
/// A program that does not start, or that fails.
pub fn of_program(
    program: &[String],
    host: &dyn Host,
    pilots: usize,
) -> Result<Experiment, ProgramError> {
    let (name, arguments) = match program {
        [name, arguments @ ..] => (name.as_str(), arguments),
        [] => ("", &[][..]),
    };
    let mut longest = Nanos::ZERO;
    for _ in 0..pilots {
        let exit = succeed(host, name, "run", ProcessSpec::new(name, arguments))?;
        longest = longest.max(exit.elapsed);
    }
    let period_ms = (2 * longest.0).div_ceil(1_000_000).max(20);
    let mut experiment = quick()?;
    experiment.name = "program".to_owned();
    experiment.question = Some(format!("Does background load change the latency of {name}?"));
    experiment.period = Duration::millis(period_ms);
    experiment.duration = Duration::millis((10 * period_ms).max(500));
    experiment.warmup = Duration::millis(period_ms);
    experiment.workloads =
        vec![Workload { command: Some(program.to_vec()), ..Workload::default() }];
    Ok(experiment)
}
