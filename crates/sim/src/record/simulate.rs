//! One phase, from setup to results.

use super::outcome::Outcome;
use super::recorder::Recorder;
use super::watch::Watch;
use crate::engine::{Machine, SetupError};
use crate::observe::{Observer, SwitchOut};
use crate::scenario::Scenario;
use crate::setup::{Hint, TaskId};
use flyball_governors::{Decision, Event};
use flyball_units::{CpuId, KiloHertz, Nanos};

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
            let mut both = Both(&mut watch, &mut *recorder);
            let machine = run(machine, scenario.duration, &mut both, stop);
            machine.map(|machine| {
                let summary = machine.finish();
                recorder.end(&summary);
                summary
            })
        }
        None => run(machine, scenario.duration, &mut watch, stop).map(Machine::finish),
    };
    Ok(summary.map(|summary| Outcome::new(scenario, phase, &built.groups, watch, summary)))
}

fn run<O: Observer>(
    mut machine: Machine,
    duration: Nanos,
    observer: &mut O,
    stop: Stop<'_>,
) -> Option<Machine> {
    while machine.now() < duration {
        if stop() {
            return None;
        }
        machine.run_until((machine.now() + LOOK).min(duration), observer);
    }
    Some(machine)
}

/// Two observers at once.
struct Both<A, B>(A, B);

macro_rules! forward {
    ($( $name:ident($( $argument:ident: $type:ty ),*); )*) => {
        impl<A: Observer, B: Observer> Observer for Both<&mut A, &mut B> {
            $(
                fn $name(&mut self, $( $argument: $type ),*) {
                    self.0.$name($( $argument ),*);
                    self.1.$name($( $argument ),*);
                }
            )*
        }
    };
}

forward! {
    woken(at: Nanos, task: TaskId, cpu: CpuId);
    switched_in(at: Nanos, task: TaskId, cpu: CpuId);
    switched_out(at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut);
    migrated(at: Nanos, task: TaskId, from: CpuId, to: CpuId);
    frequency(at: Nanos, domain: usize, frequency: KiloHertz);
    idle(at: Nanos, cpu: CpuId, state: Option<usize>);
    task_util(at: Nanos, task: TaskId, cpu: CpuId, util: u32, util_est: u32);
    cpu_util(at: Nanos, cpu: CpuId, util: u32, runnable: u32, util_est: u32);
    governor(at: Nanos, domain: usize, event: &Event<'_>, decision: &Decision);
    item_begun(at: Nanos, task: TaskId, item: u64, released: Nanos, cpu: CpuId);
    item_ended(at: Nanos, task: TaskId, item: u64, cpu: CpuId);
    mark(at: Nanos, task: TaskId, name: &'static str);
    hinted(at: Nanos, task: TaskId, hint: Hint);
    temperature(at: Nanos, celsius: f64);
}
