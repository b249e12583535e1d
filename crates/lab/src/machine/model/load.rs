//! Background load in the model: the same controller as on a real machine, as the behaviour of a
//! task. It asks for CPU *time*, whatever the frequency, so its steps are time without cycles.

use flyball_load::{Controller, DEFAULT_PERIOD, Slot, Step as Wish};
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::setup::{Class, Creator, TaskSetup};
use flyball_units::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One load thread.
struct LoadTask {
    controller: Controller,
    used: Nanos,
}

impl Behavior for LoadTask {
    fn next(&mut self, now: Nanos, _: &mut Xoshiro256PlusPlus) -> Step {
        match self.controller.step(now, self.used) {
            Wish::Sleep(until) => Step::SleepUntil(until),
            Wish::Work(time) => {
                self.used = self.used + time;
                Step::Run(Work { cycles: 0, memory: time })
            }
        }
    }
}

/// The task of one slot of a load, working from time 0.
pub(super) fn task(number: usize, slot: &Slot, seed: u64) -> TaskSetup {
    let period = slot.period.unwrap_or(DEFAULT_PERIOD);
    let controller = Controller::new(slot.percent, period, seed, Nanos::ZERO, Nanos::ZERO);
    TaskSetup {
        name: format!("load-{number}"),
        class: Class::Fair { nice: slot.nice },
        allowed: slot.cpus.iter().collect(),
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        cgroup: None,
        start: Nanos::ZERO,
        creator: Creator::Nobody,
        initial_util: None,
        initial_util_est: 0,
        behavior: Box::new(LoadTask { controller, used: Nanos::ZERO }),
    }
}
