//! Setups of the simulated machine, and the observer that the evaluators share.

use crate::load_tracking::platform;
use crate::quantity::Undecided;
use flyball_governors::Governor;
use flyball_platform::{Kernel, rule};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::setup::{
    Class, Controller, Creator, GovernorCost, Placement, Prescribed, Setup, TaskId, TaskSetup,
};
use flyball_units::{CpuId, KiloHertz, Nanos};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A machine without tasks, every domain under the governor of this name with these tunables.
pub(crate) fn setup(
    platform_name: &str,
    kernel: &str,
    governor: &str,
    tunables: &[(&str, i64)],
    duration: Nanos,
) -> Result<Setup, Undecided> {
    let platform = platform(platform_name)?;
    let kernel = Kernel::named(kernel).map_err(reason)?;
    let governors: Result<Vec<_>, Undecided> =
        platform.domains.iter().map(|_| made(governor, tunables, &kernel)).collect();
    let domains = platform.domains.len();
    Ok(Setup {
        platform,
        kernel,
        governors: governors?,
        governor_cost: GovernorCost::default(),
        tasks: Vec::new(),
        cgroups: Vec::new(),
        hints: Vec::new(),
        placement: Placement::CapacityAware,
        before: None,
        tick_phase: Nanos::ZERO,
        poll_phase: Nanos::ZERO,
        prescribed: Prescribed::default(),
        controller: Controller::default(),
        limits: vec![None; domains],
        initial: vec![None; domains],
        duration,
        seed: 1,
    })
}

fn made(
    name: &str,
    tunables: &[(&str, i64)],
    kernel: &Kernel,
) -> Result<Box<dyn Governor>, Undecided> {
    let mut governor = rule::governor(name, kernel).map_err(reason)?;
    for (tunable, value) in tunables {
        governor.set(tunable, *value).map_err(reason)?;
    }
    Ok(governor)
}

/// Any error as the reason why there is no number.
pub(crate) fn reason(error: impl std::fmt::Display) -> Undecided {
    Undecided::Reason(error.to_string())
}

/// A fair task that may run anywhere.
pub(crate) fn task(name: &str, start: Nanos, behavior: impl Behavior + 'static) -> TaskSetup {
    TaskSetup {
        name: name.to_owned(),
        class: Class::Fair { nice: 0 },
        allowed: Vec::new(),
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start,
        creator: Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior: Box::new(behavior),
    }
}

/// Runs for ever.
pub(crate) struct Spin;

impl Behavior for Spin {
    fn next(&mut self, _: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        Step::Run(Work::FOREVER)
    }
}

/// What happened to task 0, and to the frequencies.
#[derive(Default)]
pub(crate) struct Log {
    /// Time in ns and util_avg.
    pub util: Vec<(u64, u32)>,
    /// Time in ns, domain, kHz.
    pub frequency: Vec<(u64, usize, u64)>,
    /// Time in ns and CPU; None: off all CPUs.
    pub placed: Vec<(u64, Option<u32>)>,
    /// Times of items: begun, ended.
    pub items: Vec<(u64, Option<u64>)>,
}

impl Observer for Log {
    fn task_util(&mut self, at: Nanos, task: TaskId, _: CpuId, util: u32, _: u32) {
        if task.0 == 0 {
            self.util.push((at.0, util));
        }
    }
    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.frequency.push((at.0, domain, frequency.0));
    }
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if task.0 == 0 {
            self.placed.push((at.0, Some(cpu.0)));
        }
    }
    fn switched_out(&mut self, at: Nanos, task: TaskId, _: CpuId, _: SwitchOut) {
        if task.0 == 0 {
            self.placed.push((at.0, None));
        }
    }
    fn item_begun(&mut self, at: Nanos, task: TaskId, _: u64, _: Nanos, _: CpuId) {
        if task.0 == 0 {
            self.items.push((at.0, None));
        }
    }
    fn item_ended(&mut self, at: Nanos, task: TaskId, _: u64, _: CpuId) {
        if let (0, Some(last)) = (task.0, self.items.last_mut()) {
            last.1 = Some(at.0);
        }
    }
}

/// Runs a setup to its end.
pub(crate) fn run(setup: Setup) -> Result<(Log, Summary), Undecided> {
    let duration = setup.duration;
    let mut machine = Machine::new(setup).map_err(reason)?;
    let mut log = Log::default();
    machine.run_seen(duration, &mut [&mut log]);
    Ok((log, machine.finish()))
}
