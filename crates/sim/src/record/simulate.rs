//! One phase, from setup to results.

use super::outcome::Outcome;
use super::recorder::Recorder;
use super::watch::Watch;
use crate::engine::{Machine, SetupError};
use crate::observe::Observer;
use crate::scenario::Scenario;
use flyball_units::Nanos;

/// Whether to stop early; asked several times a second.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Simulated time between two looks at [`Stop`].
const LOOK: Nanos = Nanos::from_millis(250);

/// Simulates one phase; None where it was stopped.
///
/// # Errors
/// A setup that contradicts itself.
pub fn simulate(
    scenario: &Scenario,
    phase: u32,
    recorder: Option<&mut Recorder<'_>>,
    stop: Stop<'_>,
) -> Result<Option<Outcome>, SetupError> {
    let built = scenario.setup(phase);
    let starts: Vec<Nanos> = built.setup.tasks.iter().map(|task| task.start).collect();
    let mut watch = Watch::new(&scenario.platform, &built.groups, &starts, &scenario.utilization);
    let machine = Machine::new(built.setup)?;
    let summary = match recorder {
        Some(recorder) => {
            let both: &mut [&mut dyn Observer] = &mut [&mut watch, &mut *recorder];
            let machine = run(machine, scenario.duration, stop, |machine, until| {
                machine.run_seen(until, both);
            });
            machine.map(|machine| {
                let summary = machine.finish();
                recorder.end(&summary);
                summary
            })
        }
        None => {
            let see = |machine: &mut Machine, until| machine.run_until(until, &mut watch);
            run(machine, scenario.duration, stop, see).map(Machine::finish)
        }
    };
    Ok(summary.map(|summary| Outcome::new(scenario, phase, &built.groups, watch, summary)))
}

fn run(
    mut machine: Machine,
    duration: Nanos,
    stop: Stop<'_>,
    mut see: impl FnMut(&mut Machine, Nanos),
) -> Option<Machine> {
    while machine.now() < duration {
        if stop() {
            return None;
        }
        let until = (machine.now() + LOOK).min(duration);
        see(&mut machine, until);
    }
    Some(machine)
}
