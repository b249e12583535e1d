//! A simulated machine behind the trait: every trial is a simulation of its own, in virtual time.
//!
//! ```text
//! Model::plan(experiment) -> ModelRun: order, costs per CPU, governors and limits per condition
//!     trial     Setup: the measured task, the load's tasks; phases from the seed
//!     watch     an Observer: windows, who ran where, the frequency under each window
//!     record    rows, proofs and manifest -> run directory
//! ```
//!
//! Trials do not share a state: each starts on an idle machine, so they run on all cores of this
//! computer at once, and the result does not depend on how many there are.

mod control;
mod describe;
mod events;
mod load;
mod record;
mod trial;
mod watch;
mod window;

pub use describe::shipped_model;
pub use events::Events;
pub use trial::TrialRun;

use crate::costs::{CostTable, CpuCost};
use crate::experiment::{Experiment, Workload};
use crate::machine::cores;
use crate::machine::described::described;
use crate::machine::error::MachineError;
use crate::machine::{Machine, Order, Prepared};
use crate::plan::{Plan, PlannedTrial, plan};
use crate::protocol::rampup::model::{Case, Simulated};
use crate::protocol::rampup::{self, Answer, Ask};
use crate::protocol::switches;
use crate::protocol::windows::Context;
use crate::session::{Destination, Origin, Outcome, Progress, SideRecorder, Silent};
use control::DomainControl;
use flyball_load::{Placement, Site};
use flyball_platform::{Kernel, Platform};
use flyball_run::manifest::Flyball;
use flyball_signal::{Kernel as Signal, Params, WorkloadSpec};
use flyball_units::{CpuSet, MachineSpec};
use rayon::prelude::*;
use std::sync::Arc;

/// A simulated machine.
#[derive(Clone, Debug)]
pub struct Model {
    platform: Platform,
    kernel: Kernel,
    costs: CostTable,
    events: bool,
    /// As it was asked for.
    asked: String,
}

/// An experiment that is ready to run on a model.
#[derive(Debug)]
pub struct ModelRun {
    model: Model,
    experiment: Experiment,
    plan: Plan,
    /// Cost on each CPU, one list per workload.
    works: Vec<Vec<CpuCost>>,
    /// One per planned condition.
    conditions: Vec<ConditionSetup>,
    flyball: Flyball,
    /// Whether to keep the events beside the windows.
    events: bool,
}

/// A planned condition on the model.
#[derive(Debug)]
struct ConditionSetup {
    domains: Vec<DomainControl>,
    load: Placement,
    site: Site,
    degraded: Vec<String>,
}

impl Model {
    /// The platform `name` under the kernel `kernel`, or under the platform's default: names of what ships,
    /// or files.
    ///
    /// # Errors
    /// A name that nothing has; the hint names the nearest, or lists what there is. A file that does not read.
    pub fn named(name: &str, kernel: Option<&str>) -> Result<Model, MachineError> {
        let (platform, kernel_found) = described(name, kernel)?;
        let asked = MachineSpec::Model { name: name.to_owned(), kernel: kernel.map(str::to_owned) };
        Ok(Model { asked: asked.to_string(), ..Model::new(platform, kernel_found) })
    }

    /// A platform under a kernel, with the built-in costs of the signal kernels.
    pub fn new(platform: Platform, kernel: Kernel) -> Model {
        let asked = format!("model:{}", platform.name);
        Model { platform, kernel, costs: CostTable::built_in(), events: false, asked }
    }

    /// What a manifest says of it.
    pub fn record(&self) -> flyball_run::manifest::Machine {
        describe::machine(self)
    }

    /// The same model with other costs.
    pub fn with_costs(mut self, costs: CostTable) -> Model {
        self.costs = costs;
        self
    }

    /// The same model keeping, beside the windows, what its scheduler, idle states and clocks did.
    pub fn with_events(mut self, events: bool) -> Model {
        self.events = events;
        self
    }

    /// Ramp-ups, with the scenarios and the outcomes of their phases.
    ///
    /// # Errors
    /// A setting that this model does not have; a full disk.
    pub fn rampup(
        &self,
        host: &dyn flyball_host::Host,
        ask: &Ask,
        destination: &Destination,
        progress: &mut dyn Progress,
    ) -> Result<(Vec<Case>, Simulated), MachineError> {
        let cases = ask.cases(&self.platform.name, &self.kernel.name)?;
        let about = (self.asked.as_str(), self.record());
        let simulated = rampup::model::run(&cases, about, host, destination, progress)?;
        Ok((cases, simulated))
    }

    /// The answer of ramp-ups that were simulated whole.
    ///
    /// # Errors
    /// A run that cannot be read, or lacks the spin.
    pub fn answer(&self, cases: Vec<Case>, simulated: Simulated) -> Result<Answer, MachineError> {
        Ok(Answer::of(&self.platform.name, cases, simulated)?)
    }

    /// The hardware.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Checks an experiment against the model and orders its trials.
    ///
    /// # Errors
    /// A program as workload, a kernel whose cost nobody measured, a governor or a tunable that
    /// does not exist, CPUs that are not there, a setting that cannot be applied.
    pub fn plan(&self, experiment: Experiment) -> Result<ModelRun, MachineError> {
        let online: CpuSet = self.platform.cpus.iter().map(|cpu| cpu.id).collect();
        let plan = plan(&experiment, &cores::of(&self.platform), &online)?;
        let works = experiment
            .workloads
            .iter()
            .map(|workload| self.works(&experiment, workload))
            .collect::<Result<_, _>>()?;
        let conditions = plan
            .conditions
            .iter()
            .map(|condition| ConditionSetup::new(self, condition, &online, experiment.degrade))
            .collect::<Result<_, _>>()?;
        Ok(ModelRun {
            model: self.clone(),
            experiment,
            plan,
            works,
            conditions,
            flyball: Flyball::default(),
            events: self.events,
        })
    }

    /// The cost of a workload on each CPU.
    fn works(
        &self,
        experiment: &Experiment,
        workload: &Workload,
    ) -> Result<Vec<CpuCost>, MachineError> {
        let wrong = |message: String| MachineError::Cost { workload: workload.label(), message };
        let Some(kernel) = &workload.kernel else {
            return Err(MachineError::Program { workload: workload.label() });
        };
        if workload.batch.is_some_and(|batch| batch.get() > 1) {
            return Err(wrong("a model runs a kernel once per window, expected no batch".into()));
        }
        let (signal, params) = parameters(experiment, workload).map_err(wrong)?;
        if self.costs.defaults_only() {
            let default = Params {
                window: params.window,
                hop: params.hop,
                channels: params.channels,
                ..Params::defaults(signal)
            };
            let params = Params { rate_hz: default.rate_hz, ..params.clone() };
            if params != default || workload.form.as_deref() == Some("fast") {
                return Err(wrong(format!(
                    "the built-in cost of {kernel} is that of its reference form with default \
                     parameters; expected those, found others"
                )));
            }
        }
        let samples = params.window as f64 * params.channels as f64;
        self.costs.on(kernel, samples, &self.platform).ok_or_else(|| {
            wrong(format!(
                "expected a kernel whose cost is known ({}), found {kernel}",
                self.costs.kernels().join(", ")
            ))
        })
    }
}

/// A workload's kernel and its parameters, those of the input included.
fn parameters(experiment: &Experiment, workload: &Workload) -> Result<(Signal, Params), String> {
    let name = workload.kernel.as_deref().unwrap_or_default();
    let kernel: Signal = name.parse().map_err(|error| format!("{error}"))?;
    let spec = WorkloadSpec {
        rate_hz: experiment.input.rate_hz,
        channels: experiment.input.channels,
        window: workload.window,
        hop: workload.hop,
        f0_hz: workload.f0_hz,
        q: workload.q,
        bands_hz: workload.bands_hz.clone(),
        taps: workload.taps,
        n_fft: workload.n_fft,
        ..WorkloadSpec::new(kernel)
    };
    Ok((kernel, spec.params()))
}

impl ModelRun {
    /// The experiment.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The order of its trials.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Simulates trials of the plan, on all cores of this computer; the results are in the order
    /// of `trials`, which are positions in [`Plan::trials`].
    ///
    /// # Errors
    /// A setup that the simulation refuses.
    pub fn simulate(&self, trials: std::ops::Range<usize>) -> Result<Vec<TrialRun>, MachineError> {
        let first = trials.start;
        let planned: &[PlannedTrial] = self.plan.trials.get(trials).unwrap_or_default();
        planned
            .par_iter()
            .enumerate()
            .map(|(at, planned)| trial::simulate(self, first + at, planned))
            .collect()
    }
}

impl Machine for Model {
    fn name(&self) -> String {
        let (name, kernel) = (self.platform.name.clone(), Some(self.kernel.name.clone()));
        MachineSpec::Model { name, kernel }.to_string()
    }

    fn prepare(
        &self,
        _: &Arc<dyn flyball_host::Host>,
        experiment: Experiment,
        context: &Context<'_>,
    ) -> Result<Box<dyn Prepared>, MachineError> {
        let mut run = self.plan(experiment)?;
        run.flyball = context.origin.flyball.clone();
        Ok(Box::new(run))
    }

    fn run(
        &self,
        host: &Arc<dyn flyball_host::Host>,
        order: &Order,
        destination: &Destination,
        origin: &Origin,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, MachineError> {
        let host = host.as_ref();
        match order {
            Order::Rampup(ask) => Ok(self.rampup(host, ask, destination, progress)?.1.outcome),
            // Virtual time needs no patience.
            Order::Switches(plan) => {
                let (platform, watch) = (&self.platform, &mut Silent);
                Ok(switches::run::model(host, platform, plan, destination, origin, watch)?)
            }
        }
    }
}

impl Prepared for ModelRun {
    fn announce(&self, progress: &mut dyn Progress) {
        let total = self.plan.duration(&self.experiment);
        progress.planned_in_virtual_time(self.plan.trials.len(), "trials", total);
    }

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
        _: Option<&mut dyn SideRecorder>,
    ) -> Result<Outcome, MachineError> {
        record::run(&self, host.as_ref(), destination, progress)
    }
}
