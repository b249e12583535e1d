//! From a scenario to what the engine is given, once per phase.

use super::model::{
    InterruptSpec, Measured, PageSpec, RecordedItem, Release, Scenario, TaskSpec, Workload,
};
use crate::behavior::{Behavior, Work};
use crate::setup::{
    Class, Controller, Creator, GovernorCost, HintCall, Placed, Prescribed, Setup, TaskId,
    TaskSetup,
};
use crate::workload::rt_app::{Program, Thread};
use crate::workload::{
    Duty, FullSpeed, OnCall, OnItsWay, Pace, PageHelper, PageLoad, PageMain, Periodic, Poisson,
    Rampup, Recorded, Replay, Service, SetUp, kernels,
};
use flyball_governors::{ClampRamp, ResponseRamp};
use flyball_platform::rule;
use flyball_units::load::DEFAULT_PERIOD;
use flyball_units::{CpuId, Nanos};
use std::ops::Range;

/// A setup, and which of its tasks belong together.
pub struct Built {
    /// What the engine is given.
    pub setup: Setup,
    /// The scenario's tasks; background load and interrupts are in no group.
    pub groups: Vec<Group>,
}

/// Tasks that one name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name.
    pub name: String,
    /// Their numbers.
    pub tasks: Range<u32>,
    /// Relative deadline of their items, if any.
    pub deadline: Option<Nanos>,
}

impl Scenario {
    /// The setup of one phase. The tick's phase goes evenly over a tick; the poll's goes over its
    /// interval in steps that fall on no line with it (a lattice of rank 1), so that the two are
    /// not swept as one.
    pub fn setup(&self, phase: u32) -> Built {
        let mut tasks = Tasks::new(self, phase);
        let mut groups = Vec::new();
        let mut entries = Vec::new();
        for spec in &self.tasks {
            let first = tasks.list.len() as u32;
            tasks.add(spec, &mut groups);
            entries.push(first..tasks.list.len() as u32);
        }
        tasks.add_load();
        for (number, interrupt) in self.interrupts.iter().enumerate() {
            tasks.add_interrupt(number, interrupt);
        }
        let controller = tasks.add_controller();
        let (list, placements) = (tasks.list, tasks.placements);
        let care = in_turn(&self.measured_care, phase).cloned().unwrap_or_default();
        let frequencies = in_turn(&self.measured_frequencies, phase).cloned().unwrap_or_default();
        let tick = Nanos(1_000_000_000 / u64::from(self.kernel.hz));
        let governors = self.governors.iter().filter_map(|spec| spec.build()).collect();
        let setup = Setup {
            platform: self.platform.clone(),
            kernel: self.kernel.clone(),
            governors,
            governor_cost: GovernorCost {
                cycles_per_poll: self.governor_cost.cycles(FullSpeed::of(&self.platform)),
                cpu: self.governor_cpu,
            },
            hints: self.hint_calls(&list, &entries),
            tasks: list,
            cgroups: self.cgroups.clone(),
            placement: self.placement,
            before: in_turn(&self.measured_before, phase).cloned(),
            tick_phase: self.tick_phase(tick, phase),
            poll_phase: self.poll_phase(phase),
            prescribed: Prescribed { frequencies, placements, care },
            controller,
            limits: self.governors.iter().map(|spec| spec.limits).collect(),
            initial: self.governors.iter().map(|spec| spec.initial).collect(),
            duration: self.duration,
            seed: phase_seed(self.seed, phase),
        };
        Built { setup, groups }
    }

    /// One call per hint and task that it is about; `entries` are the tasks of each
    /// [`Scenario::tasks`].
    fn hint_calls(&self, list: &[TaskSetup], entries: &[Range<u32>]) -> Vec<HintCall> {
        let tasks = |name: &str| match self.tasks.iter().position(|spec| spec.name == name) {
            Some(entry) => entries.get(entry).cloned().unwrap_or_default(),
            None => {
                let named = list.iter().position(|task| task.name == name);
                named.map_or(0..0, |at| at as u32..at as u32 + 1)
            }
        };
        let calls = self.hints.iter().flat_map(|spec| {
            let call = |task| HintCall { at: spec.at, task: TaskId(task), hint: spec.hint };
            tasks(&spec.task).map(call)
        });
        calls.collect()
    }

    fn tick_phase(&self, tick: Nanos, phase: u32) -> Nanos {
        let measured = in_turn(&self.measured_ticks, phase);
        measured.copied().unwrap_or_else(|| part(tick, phase, self.phases))
    }

    /// The poll's phase within the shortest interval of the polling governors.
    fn poll_phase(&self, phase: u32) -> Nanos {
        if !self.measured_ticks.is_empty() {
            // A kernel that idled has sampled long ago, and does so when it is next called.
            return Nanos::ZERO;
        }
        let intervals = self.platform.domains.iter().zip(&self.governors);
        let intervals = intervals.filter_map(|(domain, spec)| {
            let uclamp = self.kernel.uclamp;
            spec.poll_interval(&rule::domain(&self.platform, domain, &self.kernel, uclamp))
        });
        let step = lattice_step(self.phases);
        let at = (u64::from(phase) * u64::from(step) % u64::from(self.phases.max(1))) as u32;
        intervals.min().map_or(Nanos::ZERO, |interval| part(interval, at, self.phases))
    }
}

/// What a phase has of those that the phases take in turn.
fn in_turn<T>(measured: &[T], phase: u32) -> Option<&T> {
    measured.get((phase as usize).checked_rem(measured.len())?)
}

/// `interval * at / of`.
fn part(interval: Nanos, at: u32, of: u32) -> Nanos {
    let of = u128::from(of.max(1));
    Nanos((u128::from(interval.0) * (u128::from(at) % of) / of) as u64)
}

/// The number nearest below `n` / 1.618 that has no factor in common with `n`.
fn lattice_step(n: u32) -> u32 {
    let golden = (u64::from(n) * 610 / 987) as u32;
    (1..=golden).rev().find(|step| gcd(*step, n) == 1).unwrap_or(1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Each phase has random numbers of its own, the same in every variant of a scenario (splitmix64).
fn phase_seed(seed: u64, phase: u32) -> u64 {
    let mut mixed = seed.wrapping_add(u64::from(phase).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The list of tasks while it grows.
struct Tasks<'a> {
    scenario: &'a Scenario,
    full_speed: FullSpeed,
    list: Vec<TaskSetup>,
    /// Where these are, if that is prescribed.
    placements: Vec<Vec<Placed>>,
    /// Names of the tasks to come, of this many that the present entry has.
    names: std::vec::IntoIter<String>,
    of_spec: usize,
    phase: u32,
}

impl<'a> Tasks<'a> {
    fn new(scenario: &'a Scenario, phase: u32) -> Tasks<'a> {
        Tasks {
            scenario,
            full_speed: FullSpeed::of(&scenario.platform),
            list: Vec::new(),
            placements: Vec::new(),
            names: Vec::new().into_iter(),
            of_spec: 0,
            phase,
        }
    }

    fn add(&mut self, spec: &TaskSpec, groups: &mut Vec<Group>) {
        self.names = spec.names().into_iter();
        self.of_spec = self.names.len();
        if let Workload::RtApp(program) = &spec.workload {
            return self.add_rt_app(spec, program, groups);
        }
        let from = self.list.len() as u32;
        for _ in 1..=spec.count {
            self.add_one(spec);
        }
        let tasks = from..self.list.len() as u32;
        groups.push(Group { name: spec.name.clone(), tasks, deadline: spec.deadline });
    }

    /// One of the `count` that the scenario asks for.
    fn add_one(&mut self, spec: &TaskSpec) {
        match &spec.workload {
            Workload::PageLoad(page) => self.add_page(spec, page),
            Workload::RtApp(_) => {}
            Workload::Making(making) => {
                self.push(spec, making.behavior(spec.start, self.full_speed));
            }
            &Workload::Rampup { sleeps, gap } => {
                let set_up = self.measured(spec).and_then(|measured| measured.set_up.as_ref());
                let sleeps = if set_up.is_some() { 0 } else { sleeps };
                self.push(spec, Box::new(Rampup::new(sleeps, gap)));
            }
            Workload::Periodic(release) => {
                let work = release.work.work(release.memory, self.full_speed);
                self.push(spec, Box::new(periodic(release, spec.start, work)));
            }
            Workload::Kernel { kernel, release } => {
                let work = kernels::cost(kernel, self.only_core_type(&spec.cpus));
                let behavior = periodic(release, spec.start, work.unwrap_or_default());
                self.push(spec, Box::new(behavior));
            }
            Workload::Poisson { mean, work, memory, service } => {
                let work = work.work(*memory, self.full_speed);
                self.push(spec, Box::new(Poisson::new(*mean, work, *service)));
            }
            Workload::Recorded(items) => {
                let item = |item: &RecordedItem| Recorded {
                    released: spec.start + item.released,
                    work: item.work.work(Nanos::ZERO, self.full_speed),
                    ..Recorded::default()
                };
                let items = items.iter().map(item).collect();
                self.push(spec, Box::new(Replay::new(items, Pace::Open)));
            }
        }
    }

    /// The main thread and its helpers, which follow it.
    fn add_page(&mut self, spec: &TaskSpec, page: &PageSpec) {
        let main = TaskId(self.list.len() as u32);
        let load = self.page(page);
        let helpers = (1..=page.helpers).map(|n| TaskId(main.0 + n)).collect();
        self.push(spec, Box::new(PageMain::new(load.clone(), helpers)));
        for _ in 1..=page.helpers {
            self.push(spec, Box::new(PageHelper::new(&load, main)));
        }
    }

    /// What the next task did in a playing.
    fn measured<'s>(&self, spec: &'s TaskSpec) -> Option<&'s Measured> {
        spec.measured_in(self.phase, self.of_spec - self.names.len())
    }

    fn push(&mut self, spec: &TaskSpec, stated: Box<dyn Behavior>) {
        let measured = self.measured(spec).cloned().unwrap_or_default();
        let mut behavior = match measured.items {
            Some((items, way)) => {
                Box::new(OnItsWay::new(Box::new(Replay::new(items, Pace::Open)), way))
            }
            None => stated,
        };
        if let Some(set_up) = measured.set_up {
            behavior = Box::new(SetUp::new(set_up, behavior));
        }
        let creator = match (spec.creator, measured.born_on, measured.creator_cpu) {
            (Creator::Nobody, Some(cpu), _) => Creator::Chose(cpu),
            (Creator::Nobody, None, Some(cpu)) => Creator::Cpu(cpu),
            (Creator::Earlier { .. }, ..) => {
                let Measured { comes, was_denied, .. } = measured;
                Creator::Earlier { comes, was_denied }
            }
            (stated, ..) => stated,
        };
        self.placements.resize(self.list.len(), Vec::new());
        self.placements.push(measured.placed);
        self.list.push(TaskSetup {
            name: self.names.next().unwrap_or_default(),
            class: spec.class,
            allowed: spec.cpus.clone(),
            uclamp_min: spec.uclamp_min,
            uclamp_max: spec.uclamp_max,
            rampup_multiplier: spec.rampup_multiplier,
            clamp_ramp: spec.clamp_ramp.map(ResponseRamp::new),
            cgroup: spec.cgroup,
            start: measured.start.unwrap_or(spec.start),
            creator,
            initial_util: spec.initial_util.or(measured.initial_util),
            initial_util_est: measured.initial_util_est,
            behavior,
        });
    }

    fn page(&self, page: &PageSpec) -> PageLoad {
        PageLoad {
            stages: page.stages,
            main: page.main.work(Nanos::ZERO, self.full_speed),
            helper: page.helper.work(Nanos::ZERO, self.full_speed),
            pause: page.pause,
            pause_every: page.pause_every,
            think: page.think,
            pages: page.pages,
        }
    }

    /// The one kind of core among some CPUs (all, where none is listed).
    fn only_core_type(&self, cpus: &[CpuId]) -> Option<(&str, f64)> {
        let all = &self.scenario.platform.cpus;
        let mut allowed = all.iter().filter(|cpu| cpus.is_empty() || cpus.contains(&cpu.id));
        let first = allowed.next()?;
        let same = allowed.all(|cpu| cpu.core_type == first.core_type);
        same.then_some((first.core_type.as_str(), first.work_per_cycle))
    }

    fn add_rt_app(&mut self, spec: &TaskSpec, program: &Program, groups: &mut Vec<Group>) {
        let first = TaskId(self.list.len() as u32);
        for thread in &program.threads {
            let number = self.list.len() as u32;
            let name = self.names.next().unwrap_or_default();
            let cgroup = thread.taskgroup.as_ref().and_then(|name| {
                self.scenario.cgroups.iter().position(|group| group.name == *name)
            });
            groups.push(Group { name: name.clone(), tasks: number..number + 1, deadline: None });
            self.list.push(TaskSetup {
                name,
                class: thread.class,
                allowed: thread.cpus.clone(),
                uclamp_min: thread.uclamp_min,
                uclamp_max: thread.uclamp_max,
                rampup_multiplier: spec.rampup_multiplier,
                clamp_ramp: spec.clamp_ramp.map(ResponseRamp::new),
                cgroup: cgroup.or(spec.cgroup),
                start: thread.delay,
                creator: Creator::Nobody,
                initial_util: None,
                initial_util_est: 0,
                behavior: Box::new(Thread::new(thread, self.full_speed, first, program.duration)),
            });
        }
    }

    fn add_load(&mut self) {
        let mut number = 0_u64;
        let period = DEFAULT_PERIOD;
        let total: usize = self.scenario.load.iter().map(|group| group.tasks.len()).sum();
        for group in &self.scenario.load {
            for cpus in &group.tasks {
                // The generators of a real load are not in step either.
                let phase = Nanos(period.0 * number / total.max(1) as u64);
                number += 1;
                let behavior = Box::new(Duty::new(group.percent, period, phase));
                self.list.push(plain(
                    format!("load-{number}"),
                    Class::Fair { nice: 0 },
                    cpus.clone(),
                    behavior,
                ));
            }
        }
    }

    /// The controller of clamps, and its task where it costs something.
    fn add_controller(&mut self) -> Controller {
        let busy = self.scenario.controller_busy;
        let ramped = self.list.iter().any(|task| task.clamp_ramp.is_some());
        let task = (busy > Nanos::ZERO && ramped).then_some(TaskId(self.list.len() as u32));
        if task.is_some() {
            let work = Work { cycles: 0, memory: busy };
            let class = Class::Fair { nice: ClampRamp::NICE };
            let behavior = Box::new(OnCall::new(work));
            self.list.push(plain("controller".to_owned(), class, Vec::new(), behavior));
        }
        Controller { delay: self.scenario.controller_delay, task }
    }

    fn add_interrupt(&mut self, number: usize, spec: &InterruptSpec) {
        for cpu in &spec.cpus {
            let work = spec.work.work(spec.memory, self.full_speed);
            let behavior = Box::new(Poisson::new(spec.mean, work, Service::Fixed));
            let name = format!("irq-{}/{}", number + 1, cpu.0);
            self.list.push(plain(name, Class::Interrupt, vec![*cpu], behavior));
        }
    }
}

fn plain(
    name: String,
    class: Class,
    allowed: Vec<CpuId>,
    behavior: Box<dyn Behavior>,
) -> TaskSetup {
    TaskSetup {
        name,
        class,
        allowed,
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start: Nanos::ZERO,
        creator: Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior,
    }
}

fn periodic(release: &Release, start: Nanos, work: Work) -> Periodic {
    let mut periodic = Periodic::new(release.period, work);
    periodic.phase = release.phase + start;
    periodic.jitter = release.jitter;
    periodic.overrun = release.overrun;
    periodic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_cover_both_intervals_evenly() {
        for n in [1_u32, 2, 7, 20, 100] {
            let step = lattice_step(n);
            let mut seen: Vec<u32> = (0..n).map(|phase| phase * step % n).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<u32>>(), "{n}");
        }
        assert_eq!(part(Nanos(1_000_000), 5, 20), Nanos(250_000));
    }

    #[test]
    fn phases_have_seeds_of_their_own() {
        let seeds: std::collections::HashSet<u64> = (0..1000).map(|n| phase_seed(1, n)).collect();
        assert_eq!(seeds.len(), 1000);
    }
}
