//! Small setups, and observers that keep what the tests look at.

use flyball_platform::{Cost, Kernel, Platform};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::Observer;
use flyball_sim::setup::{
    Class, Controller, GovernorCost, Placement, Prescribed, Setup, TaskId, TaskSetup,
};
use flyball_units::{CpuId, KiloHertz, Nanos};
use rand_xoshiro::Xoshiro256PlusPlus;

pub const MS: u64 = 1_000_000;

/// A machine without tasks, each domain under the governor of this name.
pub fn setup(platform: &str, kernel: &str, governor: &str, duration: Nanos) -> Setup {
    let platform = Platform::named(platform).unwrap();
    let mut governors = Vec::new();
    let kernel = Kernel::named(kernel).unwrap();
    for _ in &platform.domains {
        governors.push(flyball_platform::rule::governor(governor, &kernel).unwrap());
    }
    Setup {
        limits: vec![None; platform.domains.len()],
        initial: vec![None; platform.domains.len()],
        governors,
        platform,
        kernel,
        governor_cost: GovernorCost::default(),
        tasks: Vec::new(),
        cgroups: Vec::new(),
        hints: Vec::new(),
        placement: Placement::CapacityAware,
        before: None,
        tick_phase: Nanos(0),
        poll_phase: Nanos(0),
        prescribed: Prescribed::default(),
        controller: Controller::default(),
        duration,
        seed: 1,
    }
}

/// Changes of frequency cost nothing and hold at once.
pub fn without_transitions(mut setup: Setup) -> Setup {
    for domain in &mut setup.platform.domains {
        let transition = &mut domain.transition;
        transition.write = Cost::Constant(Nanos::ZERO);
        transition.stall = Cost::Constant(Nanos::ZERO);
        transition.effect = Cost::Constant(Nanos::ZERO);
        transition.grid = None;
    }
    setup
}

/// A fair task that may run anywhere.
pub fn task(name: &str, behavior: impl Behavior + 'static) -> TaskSetup {
    TaskSetup {
        name: name.to_owned(),
        class: Class::Fair { nice: 0 },
        allowed: Vec::new(),
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start: Nanos::ZERO,
        creator: flyball_sim::setup::Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior: Box::new(behavior),
    }
}

/// Runs for ever.
pub struct Spin;

impl Behavior for Spin {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        Step::Run(Work::FOREVER)
    }
}

/// Runs some cycles every period.
pub struct Periodic {
    pub period: u64,
    pub cycles: u64,
    pub released: u64,
    pub sleeps: bool,
}

impl Periodic {
    pub fn new(period: u64, cycles: u64) -> Periodic {
        Periodic { period, cycles, released: 0, sleeps: true }
    }
}

impl Behavior for Periodic {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.sleeps = !self.sleeps;
        if self.sleeps {
            self.released += self.period;
            Step::SleepUntil(Nanos(self.released))
        } else {
            Step::Run(Work { cycles: self.cycles, memory: Nanos::ZERO })
        }
    }
}

/// Steps from a list, then the end.
pub struct Script(pub std::vec::IntoIter<Step>);

impl Script {
    pub fn new(steps: Vec<Step>) -> Script {
        Script(steps.into_iter())
    }
}

impl Behavior for Script {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.0.next().unwrap_or(Step::Exit)
    }
}

/// What happened, as the tests need it.
#[derive(Default)]
pub struct Log {
    /// Time, util_avg of the task, CPU.
    pub util: Vec<(u64, u32, u32)>,
    /// Time, domain, kHz.
    pub frequency: Vec<(u64, usize, u64)>,
    /// Time, task, from, to.
    pub migrations: Vec<(u64, u32, u32, u32)>,
    /// Time, task, CPU: switched in.
    pub switches: Vec<(u64, u32, u32)>,
    /// Time, name.
    pub marks: Vec<(u64, &'static str)>,
    pub temperatures: Vec<(u64, f64)>,
    pub lines: Vec<String>,
}

impl Observer for Log {
    fn woken(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.lines.push(format!("{} woken {} {cpu}", at.0, task.0));
    }
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.switches.push((at.0, task.0, cpu.0));
        self.lines.push(format!("{} in {} {cpu}", at.0, task.0));
    }
    fn switched_out(
        &mut self,
        at: Nanos,
        task: TaskId,
        cpu: CpuId,
        why: flyball_sim::observe::SwitchOut,
    ) {
        self.lines.push(format!("{} out {} {cpu} {why:?}", at.0, task.0));
    }
    fn migrated(&mut self, at: Nanos, task: TaskId, from: CpuId, to: CpuId) {
        self.migrations.push((at.0, task.0, from.0, to.0));
        self.lines.push(format!("{} migrated {} {from} {to}", at.0, task.0));
    }
    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.frequency.push((at.0, domain, frequency.0));
        self.lines.push(format!("{} frequency {domain} {}", at.0, frequency.0));
    }
    fn task_util(&mut self, at: Nanos, _: TaskId, cpu: CpuId, util: u32, _: u32) {
        self.util.push((at.0, util, cpu.0));
    }
    fn mark(&mut self, at: Nanos, _: TaskId, name: &'static str) {
        self.marks.push((at.0, name));
    }
    fn temperature(&mut self, at: Nanos, celsius: f64) {
        self.temperatures.push((at.0, celsius));
    }
}

impl Log {
    /// First time at which a task's util_avg reached `util`, in ms after `from` ns.
    pub fn reached(&self, util: u32, from: u64) -> f64 {
        let first = self.util.iter().find(|&&(at, u, _)| at >= from && u >= util);
        first.map_or(f64::NAN, |&(at, ..)| (at - from) as f64 / 1e6)
    }

    /// First time at which a domain ran at `khz` or more, in ms after `from` ns.
    pub fn frequency_reached(&self, domain: usize, khz: u64, from: u64) -> f64 {
        let first =
            self.frequency.iter().find(|&&(at, d, f)| at >= from && d == domain && f >= khz);
        first.map_or(f64::NAN, |&(at, ..)| (at - from) as f64 / 1e6)
    }
}

/// Runs a setup to its end.
pub fn run(setup: Setup) -> (Log, Summary) {
    let mut machine = Machine::new(setup).unwrap();
    let mut log = Log::default();
    machine.run(&mut log);
    (log, machine.finish())
}
