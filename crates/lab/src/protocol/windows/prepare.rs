//! Everything that can be decided, and refused, before anything is written or run.

use super::conditions::ConditionLog;
use super::error::BenchError;
use super::settings;
use crate::experiment::{Experiment, ProbeTiming, Workload};
use crate::machine::describe;
use crate::plan::{Plan, PlannedCondition, plan};
use crate::protocol::windows::trial::{
    self, ProbeMode, TrialError, TrialLabels, TrialPlan, overheads,
};
use crate::session::Origin;
use crate::workloads;
use flyball_host::{Grant, Host, Permissions, Power, Topology};
use flyball_load::{Placement, Site};
use flyball_probe::{Calibration, Chain, calibrate, on_cpu};
use flyball_probe::{board, calibration_targets};
use flyball_qos::Attached;
use flyball_run::Manifest;
use flyball_run::manifest::{BoardRecord, CheckOutcome, CheckRecord, ClockRecord, PlanRecord};
use flyball_signal::input::Recording;
use flyball_units::{CpuSet, Nanos};
use std::path::Path;
use std::sync::Arc;

/// An experiment that is ready to run on this machine.
#[derive(Debug)]
pub struct Prepared {
    /// The experiment.
    pub experiment: Experiment,
    /// The order of its trials.
    pub plan: Plan,
    /// The manifest as far as it is known before the first window.
    pub manifest: Manifest,
    /// CPUs on which windows may run.
    pub(super) measured: CpuSet,
    pub(super) site: Site,
    pub(super) recording: Arc<Recording>,
    pub(super) calibrations: Vec<Calibration>,
    /// How often each workload is executed in a window: once, but on a virtual board.
    pub(super) batches: Vec<u32>,
}

/// What the caller adds to an experiment.
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    /// Folder that the experiment's paths are relative to.
    pub folder: Option<&'a Path>,
    /// Who asks.
    pub origin: Origin,
}

/// Checks an experiment against this machine, loads its input and calibrates the probe.
///
/// # Errors
/// Everything that would make the run fail later, as far as it can be known now.
pub fn prepare(
    host: &Arc<dyn Host>,
    experiment: Experiment,
    context: &Context<'_>,
) -> Result<Prepared, BenchError> {
    let board = board::discover(host.as_ref());
    let topology = Topology::discover(host.as_ref())?;
    let site = Site::of(host.as_ref())?;
    let plan = plan(&experiment, &describe::cores(&topology, &site.usable), &site.usable)?;
    let folder = context.folder.unwrap_or(Path::new("."));
    let (recording, input) = workloads::recording(&experiment.input, experiment.seed, folder)?;
    let recording = Arc::new(recording);
    for workload in &experiment.workloads {
        workloads::prepare(workload, &recording, host, 1)?;
    }
    settings::check(host.as_ref(), &plan, experiment.degrade)?;
    for condition in &plan.conditions {
        let measured = condition.cpus.clone().unwrap_or_else(|| site.usable.clone());
        Placement::of(&condition.asked.load, &site.clone().measuring_on(measured)).map_err(
            |source| BenchError::Load {
                condition: condition.name.clone(),
                source: Box::new(source.into()),
            },
        )?;
    }
    let measured = measured_cpus(&plan, &site);
    let calibrations = match experiment.probe {
        ProbeTiming::Off => Vec::new(),
        _ => {
            let targets = calibration_targets(&topology, &measured, board.as_ref());
            calibrate(host.as_ref(), &targets)?
        }
    };
    let batches = experiment
        .workloads
        .iter()
        .map(|workload| match (workload.batch, &board) {
            (Some(batch), _) => Ok(batch.get()),
            (None, Some(board)) => batch_on(board, workload, &recording, host, &measured),
            (None, None) => Ok(1),
        })
        .collect::<Result<_, _>>()?;
    let mut prepared = Prepared {
        manifest: Manifest::default(),
        experiment,
        plan,
        measured,
        site,
        recording,
        calibrations,
        batches,
    };
    if !prepared.experiment.degrade {
        for condition in &prepared.plan.conditions {
            let plan = prepared.trial_plan(TrialLabels::default(), condition);
            if plan.response_ramp.is_some() {
                let beside_hold = condition.asked.held().is_some();
                Attached::preflight(host.as_ref(), beside_hold).map_err(TrialError::from)?;
            }
            let refused = trial::refused(host.as_ref(), &plan)?;
            if let Some(setting) = refused.into_iter().next() {
                let condition = condition.name.clone();
                return Err(BenchError::NotApplied { condition, setting });
            }
        }
    }
    prepared.manifest = manifest(host.as_ref(), &prepared, &topology, input, context)?;
    Ok(prepared)
}

impl Prepared {
    /// Time that all trials take.
    pub fn duration(&self) -> Nanos {
        self.plan.duration(&self.experiment)
    }

    /// The order of the conditions in words, block by block.
    pub fn order(&self) -> String {
        self.plan.order()
    }

    /// The calibrated probe.
    pub(super) fn chain(&self) -> Option<Chain> {
        self.calibrations.first().map(|calibration| calibration.chain)
    }

    /// One trial's plan.
    pub(super) fn trial_plan(
        &self,
        labels: TrialLabels,
        condition: &PlannedCondition,
    ) -> TrialPlan {
        let experiment = &self.experiment;
        TrialPlan {
            deadline: match experiment.runs {
                Some(_) => Nanos::ZERO,
                None => experiment.deadline().0,
            },
            warmup_windows: experiment.warmup_windows(),
            cpus: condition.cpus.clone(),
            scheduling: condition.asked.scheduling.0,
            lock_memory: experiment.lock_memory,
            hold_idle_latency: condition.asked.settings.idle_latency,
            utilization_clamp: condition.asked.settings.clamp(),
            response_ramp: condition.asked.settings.response_ramp,
            probe: match experiment.probe {
                ProbeTiming::BeforeAndAfter => ProbeMode::BeforeAfter { lead: None },
                ProbeTiming::After => ProbeMode::After,
                ProbeTiming::Off => ProbeMode::Off,
            },
            allow_degraded: experiment.degrade,
            ..TrialPlan::new(
                labels,
                match experiment.runs {
                    Some(_) => Nanos::ZERO,
                    None => experiment.period.0,
                },
                experiment.windows(),
            )
        }
    }
}

/// How often a workload has to be executed in a window of a virtual board.
fn batch_on(
    board: &BoardRecord,
    workload: &Workload,
    recording: &Arc<Recording>,
    host: &Arc<dyn Host>,
    measured: &CpuSet,
) -> Result<u32, BenchError> {
    // Starting a program takes many steps by itself.
    if workload.command.is_some() {
        return Ok(1);
    }
    let cpu = measured.iter().next().unwrap_or_default();
    let mut work = workloads::prepare(workload, recording, host, 1)?;
    work.prepare();
    on_cpu(host.as_ref(), cpu, || {
        Ok(board::batch(host.as_ref(), board, || {
            // A kernel cannot fail; only a program can.
            let _ = work.run();
        }))
    })
}

/// The CPUs on which windows may run; all usable ones where the scheduler chooses.
fn measured_cpus(plan: &Plan, site: &Site) -> CpuSet {
    let each = plan.conditions.iter().map(|condition| match &condition.cpus {
        Some(cpus) => cpus.clone(),
        None => site.usable.clone(),
    });
    each.fold(CpuSet::new(), |all, cpus| all.union(&cpus))
}

fn manifest(
    host: &dyn Host,
    prepared: &Prepared,
    topology: &Topology,
    input: flyball_run::manifest::InputRecord,
    context: &Context<'_>,
) -> Result<Manifest, BenchError> {
    let experiment = &prepared.experiment;
    let created = flyball_run::name::rfc3339(host.realtime().0 / 1_000_000_000);
    let rate = host.counter_hz()?;
    let log = |planned: &PlannedCondition| ConditionLog::new(planned.clone()).record();
    let mut manifest = Manifest {
        kind: "bench".to_owned(),
        created,
        plan: PlanRecord::of("trials", prepared.plan.trials.len()),
        command: context.origin.command.clone(),
        flyball: context.origin.flyball.clone(),
        seed: Some(experiment.seed),
        experiment: experiment.text(),
        machine: Some(describe::describe(topology, host)),
        workloads: experiment
            .workloads
            .iter()
            .zip(&prepared.batches)
            .map(|(workload, batch)| {
                workloads::record(experiment, workload, &prepared.recording, *batch)
            })
            .collect(),
        conditions: prepared.plan.conditions.iter().map(log).collect(),
        clocks: clocks(host),
        overheads: overheads(host, rate, prepared.chain(), true),
        probe: prepared.calibrations.iter().map(Calibration::record).collect(),
        checks: permission_checks(host, topology),
        input: Some(input),
        ..Manifest::default()
    };
    if let Some(board) = manifest.machine.as_ref().and_then(|machine| machine.board.as_ref()) {
        manifest.checks.push(board::check(board));
    }
    Ok(manifest)
}

/// All tables use CLOCK_MONOTONIC; its offset to the wall clock lets others join their data.
fn clocks(host: &dyn Host) -> Vec<ClockRecord> {
    let (before, wall, after) = (host.now(), host.realtime(), host.now());
    let middle = (before.0 + after.0) / 2;
    ["windows", "frequency", "load", "notes"]
        .into_iter()
        .map(|table| ClockRecord {
            table: table.to_owned(),
            clock: "monotonic".to_owned(),
            offset_to: Some("realtime".to_owned()),
            offset_ns: Some(wall.0.wrapping_sub(middle) as i64),
            uncertainty_ns: Some(after.since(before).0.div_ceil(2)),
        })
        .collect()
}

/// What could not be checked or used here, and the command that would allow it.
fn permission_checks(host: &dyn Host, topology: &Topology) -> Vec<CheckRecord> {
    let unavailable = |name: &str, object: &str, found: String, hint: Option<String>| CheckRecord {
        name: name.to_owned(),
        outcome: CheckOutcome::Unavailable,
        object: object.to_owned(),
        found,
        hint,
        ..CheckRecord::default()
    };
    let mut checks = Vec::new();
    if topology.policies.is_empty() {
        let virtual_machine = topology.virtualization.is_virtual;
        let found = match virtual_machine {
            true => "no cpufreq here: this is a virtual machine, its host decides",
            false => "no cpufreq here: the kernel has no driver for it, or firmware decides",
        };
        let path = "/sys/devices/system/cpu/cpufreq";
        checks.push(unavailable("governors", path, found.to_owned(), None));
    }
    let relevant = [Power::RealTime, Power::LockMemory, Power::CycleCounters, Power::IdleLatency];
    for permission in Permissions::probe(host).all {
        let (reason, command) = match permission.grant {
            Grant::Granted => continue,
            Grant::Denied { reason, command } => (reason, Some(command)),
            Grant::Impossible { reason } => (reason, None),
        };
        if relevant.contains(&permission.power) {
            let name = permission.power.name();
            checks.push(unavailable(name, name, reason, command));
        }
    }
    checks
}
