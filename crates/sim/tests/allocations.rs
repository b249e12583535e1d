//! Memory does not grow with simulated time: once everything has run for a while, nothing is
//! allocated any more.

#![allow(clippy::unwrap_used, reason = "a test stops at what should not happen")]

use flyball_governors::create;
use flyball_platform::{Kernel, Platform};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::engine::Machine;
use flyball_sim::setup::{
    Class, Controller, Creator, GovernorCost, Placement, Prescribed, Setup, TaskSetup,
};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

struct Periodic(u64, bool);

impl Behavior for Periodic {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        self.1 = !self.1;
        if self.1 {
            Step::Run(Work { cycles: self.0, memory: Nanos(1000) })
        } else {
            Step::SleepUntil(Nanos((now.0 / 9_000_000 + 1) * 9_000_000))
        }
    }
}

fn machine(governor: &str) -> Machine {
    let platform = Platform::named("apple-m1").unwrap();
    let domains = platform.domains.len();
    let task = |n: u64| TaskSetup {
        name: "task".to_owned(),
        class: if n == 0 { Class::Fifo { priority: 1 } } else { Class::Fair { nice: 0 } },
        allowed: Vec::new(),
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start: Nanos(n * 1_000_000),
        creator: Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior: Box::new(Periodic(n * 1_000_000, false)),
    };
    Machine::new(Setup {
        governors: (0..domains).map(|_| create(governor).unwrap()).collect(),
        kernel: Kernel::named("linux-6.12").unwrap(),
        platform,
        governor_cost: GovernorCost { cycles_per_poll: 10_000, ..GovernorCost::default() },
        tasks: (0..20).map(task).collect(),
        cgroups: Vec::new(),
        hints: Vec::new(),
        placement: Placement::CapacityAware,
        before: None,
        tick_phase: Nanos(1),
        poll_phase: Nanos::ZERO,
        prescribed: Prescribed::default(),
        controller: Controller::default(),
        limits: vec![None; domains],
        initial: vec![None; domains],
        duration: Nanos::from_secs(100),
        seed: 1,
    })
    .unwrap()
}

/// What three seconds allocate after three seconds of warming up.
fn change(governor: &str) -> Stats {
    let mut machine = machine(governor);
    machine.run_unseen(Nanos::from_secs(3));
    let region = Region::new(GLOBAL);
    machine.run_unseen(Nanos::from_secs(6));
    region.change()
}

/// One test, as another thread's memory would count.
#[test]
fn memory_does_not_grow() {
    let schedutil = change("schedutil");
    assert_eq!((schedutil.allocations, schedutil.reallocations), (0, 0));
    // A polling rule may copy what it is shown; it keeps no more of it.
    let ondemand = change("ondemand");
    assert_eq!(ondemand.bytes_allocated, ondemand.bytes_deallocated, "{ondemand:?}");
}
