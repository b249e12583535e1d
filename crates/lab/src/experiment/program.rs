//! The experiment for a program of the user's own.

use super::{Experiment, Workload, quick};
use crate::program::{ProgramError, succeed};
use flyball_host::{Host, ProcessSpec};
use flyball_units::{Duration, Nanos};

/// All trials together take no longer, where two runs of the program in each allow that.
const LONGEST_MS: u64 = 300_000;

/// Runs that say how long the program takes.
pub const PILOTS: usize = 3;

/// The program, its name first, under idle and heavy load. Some runs of it say how long it takes; the
/// period leaves it twice that, so that a slower condition does not run into the next release. A trial has ten runs, of
/// slow programs fewer, but two.
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
    let trials = u64::from(experiment.repeats) * experiment.conditions.len() as u64;
    experiment.duration = Duration::millis(trial_ms(period_ms, trials));
    experiment.warmup = Duration::millis(period_ms);
    experiment.workloads =
        vec![Workload { command: Some(program.to_vec()), ..Workload::default() }];
    Ok(experiment)
}

/// How long a trial is.
fn trial_ms(period_ms: u64, trials: u64) -> u64 {
    let longest = (LONGEST_MS / trials.max(1)).max(2 * period_ms);
    (10 * period_ms).max(500).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_have_ten_runs_or_as_many_as_five_minutes_allow() {
        assert_eq!(trial_ms(20, 16), 500, "25 runs");
        assert_eq!(trial_ms(1_000, 16), 10_000);
        assert_eq!(trial_ms(3_000, 16), 18_750, "16 trials in five minutes");
        assert_eq!(trial_ms(14_000, 16), 28_000, "two runs");
    }
}
