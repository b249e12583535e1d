//! Machines: an experiment in, a run directory out.
//!
//! ```text
//! text -> MachineSpec -> open -> Machine::prepare(experiment) -> Prepared::run -> run directory
//!     host                    Host     real windows on this computer
//!     model:NAME[,kernel=K]   Model    sim: the same windows in virtual time
//!     board:NAME[,kernel=K]   Board    the same windows, by the flyball in the guest
//! ```

mod board;
mod cores;
pub mod describe;
mod described;
mod error;
mod host;
mod in_guest;
mod model;

pub use board::Board;
pub use described::described;
pub use error::MachineError;
pub use host::Host;
pub use in_guest::BOARD_PACE;
pub use model::{Events, Model, ModelRun, TrialRun, shipped_model};

use crate::costs::CostTable;
use crate::experiment::Experiment;
use crate::job::{Job, Protocol};
use crate::plan::Plan;
use crate::protocol::windows::Context;
use crate::protocol::{rampup, switches};
use crate::session::{Destination, Origin, Outcome, Progress, SideRecorder};
use flyball_units::{MachineSpec, Mismatch};
use std::sync::Arc;

/// Something that experiments run on.
pub trait Machine {
    /// What it is, for people: `host`, `model:apple-m1,kernel=linux-6.12`.
    fn name(&self) -> String;

    /// Checks an experiment against the machine and orders its trials; writes nothing.
    ///
    /// # Errors
    /// Everything that would make the run fail later, as far as it can be known now.
    fn prepare(
        &self,
        host: &Arc<dyn flyball_host::Host>,
        experiment: Experiment,
        context: &Context<'_>,
    ) -> Result<Box<dyn Prepared>, MachineError>;

    /// Does what else can be measured, and writes its run directory.
    ///
    /// # Errors
    /// What this machine cannot do, or refuses; what had been measured until then stays in the run
    /// directory.
    fn run(
        &self,
        host: &Arc<dyn flyball_host::Host>,
        order: &Order,
        destination: &Destination,
        origin: &Origin,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, MachineError>;
}

/// What a machine can measure, beside windows.
#[derive(Clone, Debug)]
pub enum Order {
    /// Ramp-ups.
    Rampup(rampup::Ask),
    /// Frequency switches.
    Switches(switches::methods::Plan),
}

impl Order {
    /// For a real kernel, here or in a guest.
    ///
    /// # Errors
    /// What only a model has.
    fn job(&self) -> Result<Job, MachineError> {
        Ok(match self {
            Order::Rampup(ask) => {
                Job { events: ask.events.clone(), protocol: Protocol::Rampup(ask.plan()?) }
            }
            Order::Switches(plan) => {
                Job { events: None, protocol: Protocol::Switches(plan.clone()) }
            }
        })
    }
}

/// An experiment that is ready to run.
pub trait Prepared {
    /// The experiment.
    fn experiment(&self) -> &Experiment;

    /// The order of its trials.
    fn plan(&self) -> &Plan;

    /// Says what is going to happen.
    fn announce(&self, progress: &mut dyn Progress) {
        let plan = self.plan();
        let total = plan.duration(self.experiment());
        progress.planned(plan.trials.len(), "trials", total, &plan.order());
    }

    /// Runs it and writes its run directory, with the rows of what records on its `side`. Nothing
    /// here can record another machine: a model and a board leave `side` alone and keep their own
    /// events, see [`open_recording`].
    ///
    /// # Errors
    /// What had been measured until then stays in the run directory, marked invalid.
    fn run(
        self: Box<Self>,
        host: &Arc<dyn flyball_host::Host>,
        destination: &Destination,
        progress: &mut dyn Progress,
        side: Option<&mut dyn SideRecorder>,
    ) -> Result<Outcome, MachineError>;
}

/// The machine that `target` names. `costs` replace the built-in costs of the signal kernels on a
/// model; nothing else has a use for them.
///
/// # Errors
/// A name that nothing has, or a recording, on which nothing can be measured.
pub fn open(
    target: &MachineSpec,
    costs: Option<CostTable>,
) -> Result<Box<dyn Machine>, MachineError> {
    open_recording(target, costs, false)
}

/// As [`open`]; with `events` a model keeps, beside its windows, what its scheduler, idle states
/// and clocks did. A real machine's events are captured, not asked of it.
///
/// # Errors
/// As [`open`].
pub fn open_recording(
    target: &MachineSpec,
    costs: Option<CostTable>,
    events: bool,
) -> Result<Box<dyn Machine>, MachineError> {
    match target {
        MachineSpec::Host => Ok(Box::new(Host)),
        MachineSpec::Model { name, kernel } => {
            let model = Model::named(name, kernel.as_deref())?.with_events(events);
            Ok(Box::new(match costs {
                Some(costs) => model.with_costs(costs),
                None => model,
            }))
        }
        MachineSpec::Board(board) => Ok(Box::new(Board::of(board, events)?)),
        // It has no clock to wait for and nothing to write.
        MachineSpec::Record(_) => {
            let wanted = "host, model:NAME or board:NAME";
            Err(MachineError::Machine(Mismatch::text(wanted, &target.to_string())))
        }
    }
}
