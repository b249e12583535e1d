//! What the scheduler believes of a periodic task: its utilisation and util_est after two seconds,
//! on a large CPU at its highest frequency and on a small one at its lowest.
//!
//! ```text
//! cargo run -p flyball-pelt --example periodic -- 4 16      4 ms of work every 16 ms
//! ```

#![allow(clippy::print_stdout, reason = "its result")]

use flyball_pelt::{
    CAPACITY_SCALE, ClockPelt, CpuSpeed, EntityState, PeltMultiplier, SchedAvg, SleepingTask,
    UtilEst, frequency_scale, scale_time,
};

const TICK: u64 = 1_000_000;
const END: u64 = 2_000_000_000;
const NICE_0: u64 = 1024;

/// A task with a CPU to itself.
struct Task {
    clock: ClockPelt,
    signals: SchedAvg,
    estimate: UtilEst,
    lowest: u32,
    highest: u32,
}

impl Task {
    fn new() -> Task {
        let clock = ClockPelt::starting_at(0, PeltMultiplier::X1);
        let signals = SchedAvg::starting_at(clock.now());
        Task { clock, signals, estimate: UtilEst::default(), lowest: u32::MAX, highest: 0 }
    }

    fn update(&mut self, state: EntityState) {
        let crossed = self.signals.update_entity(self.clock.now(), NICE_0, state);
        self.estimate.after_update(crossed);
    }

    /// Does `work`, in ns of the largest CPU at its highest frequency; the time that takes.
    fn run(&mut self, work: u64, speed: CpuSpeed) -> u64 {
        let (mut passed, mut done) = (0, 0);
        while done < work {
            self.clock.advance(TICK, speed);
            self.update(EntityState::Running);
            passed += TICK;
            done += scale_time(TICK, speed);
        }
        passed
    }

    /// Sleeps for `time` ns. util_est sees the signals before the dequeue.
    fn sleep(&mut self, time: u64, speed: CpuSpeed) {
        let (util, runnable) = (self.signals.util_avg(), self.signals.runnable_avg());
        self.estimate.sleep(SleepingTask { util, runnable, capacity: speed.capacity });
        self.highest = util;
        self.clock.enter_idle(self.signals.util_sum());
        self.clock.advance_idle(time);
        self.update(EntityState::Blocked);
        self.lowest = self.signals.util_avg();
    }
}

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let work = given.next().unwrap_or(4) * 1_000_000;
    let period = given.next().unwrap_or(16).max(1) * 1_000_000;
    let small = CpuSpeed { capacity: 459, frequency_scale: frequency_scale(600, 2064) };
    for (name, speed) in [("large, 3204 MHz", CpuSpeed::FULL), ("small, 600 MHz", small)] {
        let mut task = Task::new();
        let mut now = 0;
        while now < END {
            let busy = task.run(work, speed);
            let rest = period.saturating_sub(busy);
            task.sleep(rest, speed);
            now += busy + rest;
        }
        println!(
            "{name}: util_avg {} to {}, util_est {}, of {CAPACITY_SCALE}",
            task.lowest,
            task.highest,
            task.estimate.value(),
        );
    }
}
