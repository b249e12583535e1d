//! This computer: `measure::bench` behind the trait.

use crate::error::MachineError;
use crate::machine::{Machine, Prepared};
use flyball_measure::bench::{self, Beside, Context, Destination, Outcome, Progress};
use flyball_measure::experiment::Experiment;
use flyball_measure::plan::Plan;
use std::sync::Arc;

/// The computer that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl Machine for Host {
    fn name(&self) -> String {
        "host".to_owned()
    }

    fn prepare(
        &self,
        host: &Arc<dyn flyball_host::Host>,
        experiment: Experiment,
        context: &Context<'_>,
    ) -> Result<Box<dyn Prepared>, MachineError> {
        Ok(Box::new(bench::prepare(host, experiment, context)?))
    }
}

impl Prepared for bench::Prepared {
    fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn run(
        self: Box<Self>,
        host: &Arc<dyn flyball_host::Host>,
        destination: &Destination,
        progress: &mut dyn Progress,
        beside: Option<&mut dyn Beside>,
    ) -> Result<Outcome, MachineError> {
        Ok(bench::run(host, *self, destination, progress, beside)?)
    }
}
