//! One run queue with a task: `flyball-pelt`.

use super::{Event, Player};
use flyball_governors::pelt::{
    ClockPelt, CpuSpeed, EntityState, PeltMultiplier, QueueLoad, SchedAvg, SchedAvgState,
    SleepingTask, UtilEst,
};
use flyball_governors::units::{KernelRule, KernelRules, KernelVersion};

const TASK: u64 = 0;
const BLOCKED_TASK: u64 = 1;
const QUEUE: u64 = 2;
const RT: u64 = 3;
const DL: u64 = 4;
const IRQ: u64 = 5;
const PRESSURE: u64 = 6;
const UTIL_EST: u64 = 8;

pub struct Pelt {
    /// util_est up to 6.7 keeps a second value, which ours has not.
    has_util_est: bool,
    rules: KernelRules,
    clock: ClockPelt,
    /// rq_clock: here the same as clock_task.
    signals: [SchedAvg; 7],
    util_est: UtilEst,
    capacity: u32,
    weight: u64,
}

impl Pelt {
    pub fn new(version: KernelVersion, rules: KernelRules) -> Pelt {
        Pelt {
            has_util_est: version >= KernelVersion::new(6, 8),
            rules,
            clock: ClockPelt::default(),
            signals: [SchedAvg::default(); 7],
            util_est: UtilEst::default(),
            capacity: 1024,
            weight: 1024,
        }
    }

    /// Target 0 and those that are no signal look at the task.
    fn at(target: u64) -> usize {
        match target {
            BLOCKED_TASK | UTIL_EST => TASK as usize,
            target => target.min(PRESSURE) as usize,
        }
    }

    fn update(&mut self, target: u64, speed: CpuSpeed, arguments: [u64; 2]) -> bool {
        let (now, [a, b]) = (self.clock.now(), arguments);
        let signal = &mut self.signals[Pelt::at(target)];
        match target {
            TASK => {
                let states = [EntityState::Blocked, EntityState::Waiting, EntityState::Running];
                let crossed = signal.update_entity(now, self.weight, states[(a % 3) as usize]);
                self.util_est.after_update(crossed);
                crossed
            }
            BLOCKED_TASK => signal.update_entity(now, self.weight, EntityState::Blocked),
            QUEUE => {
                let queue = QueueLoad { load: a, runnable: b & 0xffff, running: b >> 16 & 1 == 1 };
                signal.update(now, queue)
            }
            RT | DL => signal.update_class(now, a & 1 == 1),
            IRQ => signal.update_irq(self.clock.clock_task(), a, speed, PeltMultiplier::X1),
            PRESSURE => {
                let queue = QueueLoad { load: a, runnable: a, running: a != 0 };
                signal.update(self.clock.clock_task(), queue)
            }
            UTIL_EST if self.has_util_est => {
                let whole = self.rules.has(KernelRule::UtilEstNeedsIdleTime);
                self.util_est.sleep(SleepingTask {
                    util: signal.util_avg(),
                    runnable: signal.runnable_avg(),
                    capacity: if whole { self.capacity } else { u32::MAX },
                });
                false
            }
            _ => false,
        }
    }
}

impl Player for Pelt {
    fn play(&mut self, event: &Event, values: &mut Vec<u64>) {
        let target = event[0] >> 8 & 0xff;
        let mut crossed = false;
        match event[0] & 0xff {
            0 => {
                self.clock = ClockPelt::starting_at(event[1], PeltMultiplier::X1);
                self.signals = [SchedAvg::default(); 7];
                self.util_est = UtilEst::default();
                self.capacity = event[2] as u32;
                self.weight = event[3];
                values.push(0);
                return;
            }
            1 => {
                let frequency_scale = (event[2] & 0xffff) as u32;
                let speed = CpuSpeed { capacity: self.capacity, frequency_scale };
                if event[2] >> 16 & 1 == 1 {
                    self.clock.advance_idle(event[1]);
                } else {
                    self.clock.advance(event[1], speed);
                }
                if event[2] >> 17 & 1 == 1 {
                    let sums = [QUEUE, RT, DL].map(|at| self.signals[at as usize].util_sum());
                    self.clock.enter_idle(sums.into_iter().fold(0, u32::wrapping_add));
                }
                crossed = self.update(target, speed, [event[3], event[4]]);
            }
            2 => {
                self.signals[Pelt::at(target)] = SchedAvg::from_state(SchedAvgState {
                    last_update: self.clock.now().wrapping_sub(event[1]),
                    load_sum: event[2],
                    runnable_sum: event[3],
                    util_sum: event[4] as u32,
                    period_contrib: (event[4] >> 32) as u32,
                    load_avg: event[5] >> 40,
                    runnable_avg: event[5] >> 20 & 0xf_ffff,
                    util_avg: (event[5] & 0xf_ffff) as u32,
                });
            }
            _ if self.has_util_est => self.util_est = UtilEst::from_raw(event[1] as u32),
            _ => {}
        }
        let state = self.signals[Pelt::at(target)].state();
        values.extend([
            u64::from(crossed),
            state.last_update,
            state.load_sum,
            state.runnable_sum,
            state.util_sum.into(),
            state.period_contrib.into(),
            state.load_avg,
            state.runnable_avg,
            state.util_avg.into(),
            self.util_est.raw().into(),
            self.clock.clock_pelt(),
            self.clock.lost_idle_time(),
        ]);
    }
}
