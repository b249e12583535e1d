//! A program with and without a ramp of its demand: two conditions in random blocks, the machine's own
//! energy counters beside them.

use crate::experiment::{Condition, Experiment, Placement, ProbeTiming};
use crate::job::recorded;
use crate::machine::MachineError;
use crate::protocol::rampup::{Ask, Variant};
use crate::protocol::windows::{self, Context};
use crate::session::{BLAME, Destination, EnergyLog, EnergySide, Metered, Outcome, Progress};
use flyball_host::{Host, Topology};
use flyball_units::{Mismatch, Nanos};
use std::sync::Arc;

/// Length of each spin: by load tracking's own pace the highest frequency takes some 130 ms.
const SPIN: Nanos = Nanos::from_millis(250);
/// Phases of tick and poll on a model.
const PHASES: u32 = 20;

/// Name of the condition without.
pub const WITHOUT: &str = Variant::ONLY;

/// Name of the condition with a ramp of this multiplier.
#[must_use]
pub fn with(multiplier: u32) -> String {
    format!("ramp={multiplier}")
}

/// Makes an experiment on a program the one with and without a ramp of this multiplier.
#[must_use]
pub fn with_and_without(experiment: Experiment, program: &str, multiplier: u32) -> Experiment {
    let without = Condition {
        name: Some(WITHOUT.to_owned()),
        placement: Placement::Any,
        ..Condition::default()
    };
    let mut ramped = Condition { name: Some(with(multiplier)), ..without.clone() };
    ramped.settings.response_ramp = Some(multiplier);
    Experiment {
        name: "qos".to_owned(),
        question: Some(format!("What does a ramp bring {program}, and what does it cost?")),
        // Probing keeps the core busy, and a governor would see that.
        probe: ProbeTiming::Off,
        conditions: vec![without, ramped],
        ..experiment
    }
}

/// Spins with and without it, on any machine.
///
/// # Errors
/// None of our own conditions has one.
pub fn spins(multiplier: u32, repeats: u32, seed: u64) -> Result<Ask, Mismatch> {
    let base = Variant::usual(false);
    let with = with(multiplier);
    Ok(Ask {
        words: Vec::new(),
        variants: vec![base.with(WITHOUT, "")?, base.with(&with, &with)?],
        spin: SPIN,
        repeats,
        phases: PHASES,
        seed,
        events: None,
    })
}

/// Runs it; `trace`: with the events that tell what others wait.
///
/// # Errors
/// An experiment that this computer cannot run, and what fails while it does.
pub fn run(
    host: &Arc<dyn Host>,
    experiment: Experiment,
    (trace, context): (bool, &Context<'_>),
    to: &Destination,
    progress: &mut dyn Progress,
) -> Result<Outcome, MachineError> {
    let prepared = windows::prepare(host, experiment, context)?;
    let topology = Topology::discover(host.as_ref())?;
    let log = EnergyLog::new(host.as_ref(), &topology);
    let groups = trace.then(|| Some(BLAME.to_vec()));
    recorded(host, to, groups, progress, |progress, side| {
        let order = prepared.plan.order();
        progress.planned(prepared.plan.trials.len(), "turns", prepared.duration(), &order);
        let mut side = EnergySide { log: &log, other: side };
        let mut metered = Metered { log: &log, progress };
        Ok(windows::run(host, prepared, to, &mut metered, Some(&mut side))?)
    })
}
