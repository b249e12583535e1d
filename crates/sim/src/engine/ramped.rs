//! Lower clamps that follow a ramp, as `flyball qos` sets them on a kernel that has clamps and no ramp.

use super::Machine;
use super::task::State;
use crate::observe::Observer;
use crate::setup::TaskId;
use flyball_governors::{ClampRamp, ResponseRamp};
use flyball_units::Nanos;

/// A task whose lower clamp follows a ramp.
pub(super) struct Ramped {
    ramp: ResponseRamp,
    rule: ClampRamp,
    /// The clamp that it has by itself.
    own: u32,
    /// When the controller has looked at it next; `u64::MAX` where it waits for word of it.
    at: u64,
}

impl Ramped {
    pub(super) fn new(ramp: ResponseRamp, own: u32) -> Ramped {
        Ramped { ramp, rule: ClampRamp::new(false, Nanos::ZERO), own, at: u64::MAX }
    }
}

impl Machine {
    /// When the controller looks next; `u64::MAX` where it waits for word, or is at it.
    pub(super) fn next_look(&self) -> u64 {
        if self.controller_called.is_some() {
            return u64::MAX;
        }
        let ramps = self.ramped.iter().filter_map(|&t| self.tasks[t].ramped.as_ref());
        // What became due while it was busy is due now.
        ramps.map(|ramped| ramped.at).min().unwrap_or(u64::MAX).max(self.now)
    }

    /// A task has a new state, which the controller hears of where it has a ramp.
    #[inline]
    pub(super) fn follow(&mut self, t: usize) {
        if self.tasks[t].ramped.is_some() {
            self.hear(t);
        }
    }

    /// Of a run that is no short one any more word comes; what the controller waits for with a timer it hears of when
    /// that expires.
    #[cold]
    fn hear(&mut self, t: usize) {
        let (now, delay) = (Nanos(self.now), self.controller.delay);
        let task = &mut self.tasks[t];
        let Some(ramped) = &mut task.ramped else { return };
        match task.state {
            State::Running => ramped.rule.run(now),
            State::Runnable => ramped.rule.wait(now),
            State::Sleeping => ramped.rule.sleep(now),
            State::Unborn | State::Ended => ramped.rule.lose(),
        }
        let running = ramped.rule.running(now);
        match task.state {
            State::Running if running < ClampRamp::SHORTEST => {
                ramped.at = (now + delay + ClampRamp::SHORTEST.since(running)).0;
            }
            State::Runnable if running < ClampRamp::SHORTEST => ramped.at = u64::MAX,
            State::Sleeping if ramped.at == u64::MAX => ramped.at = (now + delay).0,
            State::Ended => ramped.at = u64::MAX,
            State::Unborn | State::Sleeping | State::Runnable | State::Running => {}
        }
        self.requeue_periodic();
    }

    /// Tasks may be due: the controller looks at them, at once or when its own task has done its work.
    pub(super) fn see_to_ramps<O: Observer>(&mut self, observer: &mut O) {
        let Some(TaskId(task)) = self.controller.task else { return self.look_at_ramps(self.now) };
        if self.next_look() > self.now {
            return;
        }
        self.controller_called = Some(self.now);
        let task = task as usize;
        match self.tasks[task].state {
            State::Sleeping => self.wake(task, None, observer),
            _ => self.tasks[task].wake_pending = true,
        }
    }

    /// A task begins a piece of work: the controller's looks.
    #[inline]
    pub(super) fn begins(&mut self, t: usize) {
        if self.controller_called.is_some() && self.controller.task == Some(TaskId(t as u32)) {
            self.controller_called = Some(self.now);
        }
    }

    /// A task waits: the controller's has done its work.
    pub(super) fn waits(&mut self, t: usize) {
        if self.controller.task == Some(TaskId(t as u32))
            && let Some(seen) = self.controller_called.take()
        {
            self.look_at_ramps(seen);
            self.requeue_periodic();
        }
    }

    /// The controller sets the clamps of the tasks that were due when it looked. What became due since it has not seen.
    fn look_at_ramps(&mut self, seen: u64) {
        for index in 0..self.ramped.len() {
            let t = self.ramped[index];
            let (now, task) = (self.now, &mut self.tasks[t]);
            let Some(ramped) = task.ramped.as_mut().filter(|ramped| ramped.at <= seen) else {
                continue;
            };
            let step = ramped.rule.step(ramped.ramp, Nanos(seen));
            let next = |lasts| (Nanos(seen) + lasts + self.controller.delay).0.max(now + 1);
            ramped.at = step.lasts.map_or(u64::MAX, next);
            let wanted = step.demand.unwrap_or_default().max(ramped.own).min(task.uclamp_max);
            if task.uclamp_min == wanted {
                continue;
            }
            task.uclamp_min = wanted;
            let (state, c) = (task.state, task.cpu);
            if matches!(state, State::Running | State::Runnable) {
                // The frequency follows when the CPU's signals are next brought up to date.
                self.aggregate_clamps(c, None, None);
            }
        }
    }
}
