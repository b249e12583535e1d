//! One trial: a simulation from an idle machine to the end of its last window.

use super::control::{DomainControl, class_of};
use super::events::{Events, Gather};
use super::watch::{Seen, Watch};
use super::window::{Next, WindowTask};
use super::{ConditionSetup, ModelRun, load};
use crate::machine::error::MachineError;
use crate::plan::{PlannedCondition, PlannedTrial};
use crate::protocol::windows::trial::{Grid, TrialLabels, WindowRecord};
use flyball_governors::{Governor, ResponseRamp};
use flyball_load::{LoadProof, Recorder, Tolerance};
use flyball_platform::{ClockDomain, Platform};
use flyball_probe::Calibrations;
use flyball_run::{FrequencySample, Window};
use flyball_sim::behavior::Work;
use flyball_sim::engine::Machine;
use flyball_sim::setup::{
    Controller, Creator, GovernorCost, Placement, Prescribed, Setup, TaskSetup,
};
use flyball_sim::workload::uniform;
use flyball_units::{KiloHertz, Nanos, Relation};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Time for a load to reach its level, and for a governor to answer it, before the first release;
/// the same as on a real machine.
const SETTLE: Nanos = Nanos::from_millis(105);

/// A load cannot be judged in less than this.
const LEAST: Nanos = Nanos::from_millis(700);

/// How often load and frequency are sampled.
const EVERY: Nanos = Nanos::from_secs(1);

/// How long a measured task that does not get to run is waited for, beside twice the planned time.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// The first release falls at a random place in at most this, so that it has no fixed phase to
/// anything that the machine does periodically from the start.
const PHASE: Nanos = Nanos::from_secs(1);

/// A trial as it ran. Times are the trial's own: its simulation began at 0.
#[derive(Clone, Debug)]
pub struct TrialRun {
    /// Which trial it is.
    pub labels: TrialLabels,
    /// CPUs that the measured task was allowed to use, ascending.
    pub cpus: Vec<u32>,
    /// Its windows, warm-up included; numbered from 0.
    pub windows: Vec<Window>,
    /// The proof of its load; none where no load was asked for.
    pub proof: Option<LoadProof>,
    /// Mean frequency of each clock domain, about once a second.
    pub frequency: Vec<FrequencySample>,
    /// Virtual time that it took.
    pub length: Nanos,
    /// Energy of the whole machine meanwhile, in millijoules.
    pub energy_mj: f64,
    /// What scheduler, idle states and clocks did; none where nobody asked for it.
    pub events: Option<Events>,
}

/// Simulates trial number `number` of a run.
pub(super) fn simulate(
    run: &ModelRun,
    number: usize,
    planned: &PlannedTrial,
) -> Result<TrialRun, MachineError> {
    let wrong = |what: &str| MachineError::Cost {
        workload: what.to_owned(),
        message: "expected a trial of the plan, found another".to_owned(),
    };
    let (Some(workload), Some(condition), Some(setup)) = (
        run.experiment.workloads.get(planned.workload),
        run.plan.conditions.get(planned.condition),
        run.conditions.get(planned.condition),
    ) else {
        return Err(wrong("trial"));
    };
    let labels = TrialLabels {
        trial: u32::try_from(number).unwrap_or(u32::MAX),
        workload: workload.label(),
        condition: condition.name.clone(),
        repeat: planned.block + 1,
        block: planned.block,
    };
    let costs = run.works.get(planned.workload).ok_or_else(|| wrong(&labels.workload))?;
    let trial = Trial {
        run,
        condition,
        setup,
        works: costs.iter().map(|cost| cost.work).collect(),
        phases: Phases::of(run, number),
        labels,
    };
    trial.simulate()
}

/// Everything random about a trial, from the experiment's seed and the trial's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phases {
    tick: Nanos,
    release: Nanos,
    engine_seed: u64,
    load_seed: u64,
}

impl Phases {
    fn of(run: &ModelRun, number: usize) -> Phases {
        let mut base = SplitMix64::seed_from_u64(run.experiment.seed);
        let stream = base.next_u64() ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SplitMix64::seed_from_u64(stream);
        let tick = 1_000_000_000 / u64::from(run.model.kernel.hz.max(1));
        let release = run.experiment.period.0.min(PHASE);
        Phases {
            tick: Nanos(uniform(&mut random, tick)),
            release: Nanos(uniform(&mut random, release.0)),
            engine_seed: random.next_u64(),
            load_seed: random.next_u64(),
        }
    }
}

struct Trial<'a> {
    run: &'a ModelRun,
    condition: &'a PlannedCondition,
    setup: &'a ConditionSetup,
    works: Vec<Work>,
    phases: Phases,
    labels: TrialLabels,
}

impl Trial<'_> {
    fn simulate(self) -> Result<TrialRun, MachineError> {
        let experiment = &self.run.experiment;
        let origin = SETTLE + self.phases.release;
        let releases = experiment.warmup_windows() + experiment.windows();
        let planned = origin + Nanos(releases.saturating_mul(experiment.period.nanos()));
        let limit = planned + planned + PATIENCE;
        let platform = self.platform();
        let whereabouts = Arc::new(AtomicU32::new(0));
        let measured = WindowTask {
            grid: Grid::new(origin, experiment.period.0),
            releases,
            works: self.works.clone(),
            cpu: Arc::clone(&whereabouts),
            index: 0,
            step: Next::Wait,
        };
        let start = self.start(&platform);
        let mut watch = Watch::new(&platform, &start, self.setup.load.slots.len(), whereabouts);
        let described = platform.clone();
        let setup = self.machine(platform, measured, limit)?;
        let mut gather = self.run.events.then(|| {
            let governors = self.setup.domains.iter().map(|domain| domain.in_force().to_owned());
            let whose = (self.labels.trial, self.labels.condition.as_str());
            Gather::new(&described, whose, &setup.tasks, governors.collect())
        });
        let mut machine = Machine::new(setup).map_err(|source| MachineError::Setup {
            condition: self.condition.name.clone(),
            source,
        })?;
        let mut load = self.recorder(&watch);
        let mut frequency = Vec::new();
        let mut now = Nanos::ZERO;
        loop {
            let next =
                if now < planned { planned.min(now + EVERY) } else { now + EVERY }.min(limit);
            match &mut gather {
                Some(gather) => machine.run_seen(next, &mut [&mut watch, gather]),
                None => machine.run_seen(next, &mut [&mut watch]),
            }
            frequency.extend(self.frequency(&mut watch, next, now));
            if let Some(load) = &mut load {
                load.add(watch.reading(next));
            }
            now = next;
            if (watch.done && now >= LEAST) || now >= limit {
                break;
            }
        }
        let proof = load
            .map(|load| load.finish(self.condition.asked.load.clone(), Tolerance::default(), None));
        Ok(TrialRun {
            events: gather.map(|gather| gather.finish(now)),
            windows: watch.windows.iter().map(|seen| self.window(seen)).collect(),
            cpus: self.allowed(),
            proof,
            frequency,
            length: now,
            energy_mj: machine.finish().energy_mj,
            labels: self.labels,
        })
    }

    /// The platform under this condition: idle states that wake up slower than asked for are not
    /// entered.
    fn platform(&self) -> Platform {
        let mut platform = self.run.model.platform.clone();
        if let Some(bound) = self.condition.asked.settings.idle_latency {
            for domain in &mut platform.domains {
                let shallowest = domain.idle.first().cloned();
                domain.idle.retain(|state| state.exit_latency <= bound);
                if domain.idle.is_empty() {
                    domain.idle.extend(shallowest);
                }
            }
        }
        platform
    }

    /// Frequency of each clock domain at the start: the lowest that the policy allows, as on an
    /// idle machine. A governor that wants another one says so at once.
    fn start(&self, platform: &Platform) -> Vec<KiloHertz> {
        let domains = platform.domains.iter().zip(&self.setup.domains);
        let lowest = |(domain, control): (&ClockDomain, &DomainControl)| {
            let (min, max) = control.limits.unwrap_or((domain.opps.min(), domain.opps.max()));
            domain.opps.resolve(min, min, max, Relation::L)
        };
        domains.map(lowest).collect()
    }

    fn machine(
        &self,
        platform: Platform,
        measured: WindowTask,
        duration: Nanos,
    ) -> Result<Setup, MachineError> {
        let kernel = self.run.model.kernel.clone();
        let ramp = self.condition.asked.settings.response_ramp;
        // Else the kernel's own; the multiplier of all other tasks is 1, load tracking's own.
        let by_clamps = kernel.ramps_by_clamps();
        let domains = &self.setup.domains;
        let governors: Option<Vec<Box<dyn Governor>>> =
            domains.iter().map(|domain| domain.governor()).collect();
        let governors = governors.ok_or_else(|| MachineError::Frequency {
            condition: self.condition.name.clone(),
            message: "expected governors that were checked, found one that is not there".into(),
        })?;
        let (uclamp_min, uclamp_max) = self.condition.asked.settings.clamp().unwrap_or((0, 1024));
        let mut tasks = vec![TaskSetup {
            name: self.labels.workload.clone(),
            class: class_of(self.condition.asked.scheduling.0),
            allowed: self.condition.cpus.iter().flat_map(|cpus| cpus.iter()).collect(),
            uclamp_min,
            uclamp_max,
            rampup_multiplier: ramp.filter(|_| !by_clamps),
            clamp_ramp: ramp.filter(|_| by_clamps).map(ResponseRamp::new),
            cgroup: None,
            start: Nanos::ZERO,
            creator: Creator::Nobody,
            initial_util: None,
            initial_util_est: 0,
            behavior: Box::new(measured),
        }];
        let mut seeds = SplitMix64::seed_from_u64(self.phases.load_seed);
        let slots = self.setup.load.slots.iter().enumerate();
        tasks.extend(slots.map(|(number, slot)| load::task(number, slot, seeds.next_u64())));
        Ok(Setup {
            cgroups: Vec::new(),
            hints: Vec::new(),
            placement: match kernel.capacity_aware || kernel.energy_aware {
                true => Placement::CapacityAware,
                false => Placement::PreviousOrIdle,
            },
            limits: domains.iter().map(|domain| domain.limits).collect(),
            initial: self.start(&platform).into_iter().map(Some).collect(),
            platform,
            kernel,
            governors,
            governor_cost: GovernorCost::default(),
            tasks,
            before: None,
            tick_phase: self.phases.tick,
            poll_phase: Nanos::ZERO,
            prescribed: Prescribed::default(),
            controller: Controller::default(),
            duration,
            seed: self.phases.engine_seed,
        })
    }

    /// Collects the proof of the load; none where no load was asked for.
    fn recorder(&self, watch: &Watch) -> Option<Recorder> {
        let placement = self.setup.load.clone();
        if placement.slots.is_empty() {
            return None;
        }
        let sources = vec!["model"; placement.slots.len()];
        let first = watch.reading(Nanos::ZERO);
        Some(Recorder::new(placement, &self.setup.site.usable, sources, first))
    }

    fn frequency(&self, watch: &mut Watch, at: Nanos, since: Nanos) -> Vec<FrequencySample> {
        let sampled = watch.sample_frequency(at, since);
        let domains = self.run.model.platform.domains.iter().zip(&self.setup.domains);
        type Sampled = (KiloHertz, u64);
        let row =
            |((domain, control), (present, mean)): ((&ClockDomain, &DomainControl), Sampled)| {
                FrequencySample {
                    t_ns: at.0,
                    domain: domain.name.clone(),
                    claimed_khz: Some(present.0),
                    delivered_khz: Some(mean),
                    source: "model_mean".to_owned(),
                    condition: Some(self.labels.condition.clone()),
                    trial: Some(self.labels.trial),
                    governor: Some(control.in_force().to_owned()),
                }
            };
        domains.zip(sampled).map(row).collect()
    }

    fn window(&self, seen: &Seen) -> Window {
        let experiment = &self.run.experiment;
        let record = WindowRecord {
            trial: self.labels.trial,
            index: seen.index,
            warmup: seen.index < experiment.warmup_windows(),
            release: seen.release,
            dispatch: seen.dispatch,
            end: seen.end,
            deadline: experiment.deadline().0,
            cpu_before: Some(seen.cpu_before),
            cpu_after: Some(seen.cpu_after),
            preemptions: Some(seen.preemptions),
            yields: Some(0),
            cpu_time: Some(seen.running),
            wake_delay: Some(seen.waited),
            run_delay: Some(seen.end.since(seen.dispatch + seen.running)),
            cycles: Some(seen.cycles.round() as u64),
            ..WindowRecord::default()
        };
        let running = seen.running.0;
        Window {
            migrations: Some(seen.migrations),
            delivered_khz: (running > 0)
                .then(|| (seen.cycles * 1e6 / running as f64).round() as u64),
            nan_replaced: None,
            ..record.row(seen.index, &self.labels, &Calibrations::default())
        }
    }

    /// The CPUs that the measured task may use.
    fn allowed(&self) -> Vec<u32> {
        match &self.condition.cpus {
            Some(cpus) => cpus.iter().map(|cpu| cpu.0).collect(),
            None => self.run.model.platform.cpus.iter().map(|cpu| cpu.id.0).collect(),
        }
    }
}
