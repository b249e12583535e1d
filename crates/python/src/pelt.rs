//! Load tracking of one task that has a CPU to itself.

use crate::error::wrong;
use flyball_pelt::{
    CAPACITY_SCALE, ClockPelt, CpuSpeed, EntityState, PeltMultiplier, SchedAvg, frequency_scale,
};
use pyo3::prelude::*;

/// Weight of a task at nice 0.
const WEIGHT: u64 = 1024;

/// The state; the class that people meet is `flyball.Pelt`.
#[pyclass(module = "flyball._flyball")]
pub struct Pelt {
    clock: ClockPelt,
    task: SchedAvg,
    capacity: u32,
    max_khz: u64,
}

#[pymethods]
impl Pelt {
    #[new]
    fn new(capacity: u32, max_khz: u64, util: u32, multiplier: u32) -> PyResult<Pelt> {
        let expected = |name: &str, expected: &str, found: u32| {
            Err(wrong(format!("{name}: expected {expected}, found {found}"), None))
        };
        if capacity == 0 || capacity > CAPACITY_SCALE {
            return expected("capacity", "1 to 1024", capacity);
        }
        if util > CAPACITY_SCALE {
            return expected("util", "0 to 1024", util);
        }
        let multiplier = match multiplier {
            1 => PeltMultiplier::X1,
            2 => PeltMultiplier::X2,
            4 => PeltMultiplier::X4,
            other => return expected("multiplier", "1, 2 or 4", other),
        };
        let clock = ClockPelt::starting_at(0, multiplier);
        Ok(Pelt { clock, task: SchedAvg::steady(0, util), capacity, max_khz })
    }

    /// Utilisation after each stretch of time.
    fn steps(&mut self, ns: Vec<u64>, running: Vec<bool>, khz: Vec<u64>) -> Vec<u32> {
        let steps = ns.into_iter().zip(running).zip(khz);
        steps.map(|((ns, running), khz)| self.step(ns, running, khz)).collect()
    }

    /// Utilisation, runnable and load averages.
    fn signals(&self) -> (u32, u64, u64) {
        (self.task.util_avg(), self.task.runnable_avg(), self.task.load_avg())
    }
}

impl Pelt {
    fn step(&mut self, ns: u64, running: bool, khz: u64) -> u32 {
        if running {
            let frequency_scale = frequency_scale(khz, self.max_khz);
            self.clock.advance(ns, CpuSpeed { capacity: self.capacity, frequency_scale });
            self.task.update_entity(self.clock.now(), WEIGHT, EntityState::Running);
        } else {
            self.clock.enter_idle(self.task.util_sum());
            self.clock.advance_idle(ns);
            self.task.update_entity(self.clock.now(), WEIGHT, EntityState::Blocked);
        }
        self.task.util_avg()
    }
}
