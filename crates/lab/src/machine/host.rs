//! This computer: `measure::bench` behind the trait.

use crate::experiment::Experiment;
use crate::machine::error::MachineError;
use crate::machine::{Machine, Order, Prepared};
use crate::plan::Plan;
use crate::protocol::windows::{self, Context};
use crate::session::{Destination, Origin, Outcome, Progress, SideRecorder};
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
        Ok(Box::new(windows::prepare(host, experiment, context)?))
    }

    fn run(
        &self,
        host: &Arc<dyn flyball_host::Host>,
        order: &Order,
        destination: &Destination,
        origin: &Origin,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, MachineError> {
        order.job()?.run(host, destination, origin, progress)
    }
}

impl Prepared for windows::Prepared {
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
        side: Option<&mut dyn SideRecorder>,
    ) -> Result<Outcome, MachineError> {
        Ok(windows::run(host, *self, destination, progress, side)?)
    }
}
