//! Experiments that the user names: one that ships, a file, or a program of the user's own.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use flyball_host::{Host, ProcessSpec};
use flyball_lab::experiment::{self, Experiment, Workload};
use flyball_units::{Duration, Nanos};
use std::path::PathBuf;
use std::sync::Arc;

/// An experiment that ships or is in a file, and its folder.
pub fn named_or_file(name: &str) -> Result<(Experiment, Option<PathBuf>), Failure> {
    let shipped = experiment::BUILT_IN.iter().map(|built_in| (built_in.name, built_in.text));
    let hint = "write one with: flyball bench --init; those that ship: flyball help experiments; \
                read a run with: flyball report";
    let input = input::shipped_or_file(name, shipped, hint)?;
    Ok((experiment::read(&input.text, name)?, input.folder))
}

/// The user's own program under idle and heavy load. Three runs say how long it takes; the period
/// leaves it twice that, so that a slower condition does not run into the next release.
pub fn for_program(
    program: &[String],
    host: &Arc<dyn Host>,
    dry_run: bool,
) -> Result<Experiment, Failure> {
    // A dry run runs nothing: it shows the shortest period that there is.
    let pilots = if dry_run { 0 } else { 3 };
    let [name, arguments @ ..] = program else {
        return Err(Failure::new(Exit::Usage, "expected a program after `--`, found none"));
    };
    let mut longest = Nanos::ZERO;
    for _ in 0..pilots {
        let mut child = host.spawn(&ProcessSpec::new(name, arguments))?;
        let Some(exit) = child.wait(None)? else {
            return Err(Failure::new(Exit::Interrupted, "interrupted before the first window"));
        };
        if !exit.is_success() {
            return Err(Failure::new(
                Exit::BadInput,
                format!("{name}: expected exit status 0, found {:?}", exit.status),
            )
            .hint("a program that fails has no latency worth measuring; run it by hand first"));
        }
        longest = longest.max(exit.elapsed);
    }
    let period_ms = (2 * longest.0).div_ceil(1_000_000).max(20);
    let mut experiment = experiment::quick()?;
    experiment.name = "program".to_owned();
    experiment.question = Some(format!("Does background load change the latency of {name}?"));
    experiment.period = Duration::millis(period_ms);
    experiment.duration = Duration::millis((10 * period_ms).max(500));
    experiment.warmup = Duration::millis(period_ms);
    experiment.workloads =
        vec![Workload { command: Some(program.to_vec()), ..Workload::default() }];
    Ok(experiment)
}
