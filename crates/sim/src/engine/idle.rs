//! Which idle state a CPU enters, learnt from how long it slept before.

use super::Machine;
use super::cpu::Activity;
use crate::observe::Observer;
use flyball_platform::{IdleGovernor, IdleState, IdleTick};
use flyball_units::{CpuId, Nanos};

/// One, in the fixed point of the menu-like correction.
const ONE: u64 = 1024;

/// A CPU's experience with sleeping.
pub(super) struct Sleeps {
    /// Menu: how much of the time until the next timer it slept, moving average, of [`ONE`].
    correction: u64,
    /// Teo: weight of past sleeps by the deepest state that they were long enough for.
    bins: Vec<u64>,
    /// Time until the next timer when the present sleep began; None: none was set.
    expected: Option<u64>,
}

impl Sleeps {
    /// No experience, for a CPU with this many idle states.
    pub(super) fn new(states: usize) -> Sleeps {
        Sleeps { correction: ONE, bins: vec![0; states], expected: None }
    }

    /// The state to enter if the next timer is `timer` ns away; `allowed` tells which may be.
    pub(super) fn choose(
        &mut self,
        rule: IdleGovernor,
        states: &[IdleState],
        timer: Option<u64>,
        allowed: impl Fn(&IdleState) -> bool,
    ) -> usize {
        self.expected = timer;
        let deepest = |length: u64| {
            let pays = |state: &IdleState| state.target_residency.0 <= length && allowed(state);
            states.iter().rposition(pays).unwrap_or(0)
        };
        let timer = timer.unwrap_or(u64::MAX);
        match rule {
            IdleGovernor::None => 0,
            IdleGovernor::Menu => {
                let predicted = u128::from(timer) * u128::from(self.correction) / u128::from(ONE);
                deepest(predicted.min(u64::MAX.into()) as u64)
            }
            IdleGovernor::Teo => {
                // As deep as the timer lets it, unless most sleeps ended earlier.
                let mut chosen = deepest(timer);
                let total: u64 = self.bins.iter().sum();
                while chosen > 0 && 2 * self.bins[chosen..].iter().sum::<u64>() < total {
                    chosen -= 1;
                }
                (0..=chosen).rev().find(|&at| allowed(&states[at])).unwrap_or(0)
            }
        }
    }

    /// A sleep ended after `length` ns.
    pub(super) fn learn(&mut self, states: &[IdleState], length: u64) {
        if let Some(expected) = self.expected.filter(|&expected| expected > 0) {
            let share = match length.checked_mul(ONE) {
                Some(product) => product / expected,
                None => (u128::from(length) * u128::from(ONE) / u128::from(expected)) as u64,
            };
            self.correction = (self.correction * 7 + share.min(ONE)) / 8;
        }
        let long_enough = |state: &IdleState| state.target_residency.0 <= length;
        let bin = states.iter().rposition(long_enough).unwrap_or(0);
        for (at, weight) in self.bins.iter_mut().enumerate() {
            *weight -= *weight >> 3;
            if at == bin {
                *weight += ONE;
            }
        }
    }
}

impl Machine {
    /// CPU `c` has nothing to do.
    pub(super) fn enter_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.flush(c);
        let cpu = &mut self.cpus[c];
        cpu.touch(self.now);
        cpu.clock.enter_idle(cpu.cfs.util_sum().saturating_add(cpu.rt.util_sum()));
        cpu.idle_calls += 1;
        cpu.stale = true;
        cpu.misfit = false;
        if self.idle_tick == IdleTick::Stops {
            cpu.tick_at = u64::MAX;
        }
        cpu.complete_at = u64::MAX;
        let state = self.choose_state(c);
        let cpu = &mut self.cpus[c];
        cpu.activity = Activity::Idle(state);
        cpu.idle_since = self.now;
        if let Some(entries) = state.and_then(|state| cpu.totals.entries.get_mut(state)) {
            *entries += 1;
        }
        self.set_power(c);
        self.requeue(c);
        observer.idle(Nanos(self.now), CpuId(c as u32), state);
        self.tell_idle(c, true, observer);
    }

    fn choose_state(&mut self, c: usize) -> Option<usize> {
        let timer = self.next_timer(c);
        let cpu = &mut self.cpus[c];
        let states = &self.domains[cpu.domain].idle_states;
        if states.is_empty() {
            return None;
        }
        let until_timer = timer.map(|at| at.saturating_sub(self.now));
        if self.idle_tick == IdleTick::Stops {
            return Some(cpu.sleeps.choose(self.idle_rule, states, until_timer, |_| true));
        }
        let to_tick = cpu.tick_at.saturating_sub(self.now);
        let until = Some(until_timer.map_or(to_tick, |timer| timer.min(to_tick)));
        let tick = self.tick;
        let wakes_in_time = |state: &IdleState| state.exit_latency.0 < tick;
        Some(cpu.sleeps.choose(self.idle_rule, states, until, wakes_in_time))
    }

    /// Earliest timer of the tasks that sleep on CPU `c`, and of a governor that runs there.
    fn next_timer(&self, c: usize) -> Option<u64> {
        let tasks = self.tasks.iter().filter(|task| task.cpu == c).map(|task| task.timer);
        let governors = self.domains.iter().filter_map(|domain| {
            let task = domain.governor_task.filter(|_| domain.daemon)?;
            (self.tasks[task].cpu == c).then_some(domain.wake_at)
        });
        tasks.chain(governors).min().filter(|&at| at != u64::MAX)
    }

    /// CPU `c` has something to do: it leaves its idle state, which takes the state's exit
    /// latency. `for_governor`: because of a governor's task.
    pub(super) fn leave_idle<O: Observer>(
        &mut self,
        c: usize,
        for_governor: bool,
        observer: &mut O,
    ) {
        let Activity::Idle(state) = self.cpus[c].activity else { return };
        self.flush(c);
        let next_tick = self.next_tick();
        let cpu = &mut self.cpus[c];
        let states = &self.domains[cpu.domain].idle_states;
        cpu.sleeps.learn(states, self.now - cpu.idle_since);
        cpu.totals.wakeups += 1;
        cpu.totals.governor_wakeups += u64::from(for_governor);
        let latency = state.and_then(|at| states.get(at)).map_or(0, |state| state.exit_latency.0);
        cpu.activity = Activity::Waking;
        cpu.awake_at = self.now.saturating_add(latency);
        if self.idle_tick == IdleTick::Stops {
            cpu.tick_at = next_tick;
        }
        self.set_power(c);
        self.requeue(c);
        observer.idle(Nanos(self.now), CpuId(c as u32), None);
        self.tell_idle(c, false, observer);
        if latency == 0 {
            self.awake(c, observer);
        }
    }

    /// CPU `c` is out of its idle state.
    pub(super) fn awake<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.cpus[c].awake_at = u64::MAX;
        self.schedule(c, observer);
        self.requeue(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Vec<IdleState> {
        [(1, 1), (50, 200), (500, 5000)]
            .map(|(latency, residency)| IdleState {
                name: String::new(),
                exit_latency: Nanos::from_micros(latency),
                target_residency: Nanos::from_micros(residency),
                power_mw: 0.0,
                stops_timer: false,
            })
            .to_vec()
    }

    #[test]
    fn menu_trusts_the_timer_less_after_early_wakeups() {
        let states = states();
        let mut sleeps = Sleeps::new(3);
        let timer = Some(6_000_000);
        assert_eq!(sleeps.choose(IdleGovernor::Menu, &states, timer, |_| true), 2);
        sleeps.learn(&states, 100_000);
        sleeps.learn(&states, 100_000);
        assert_eq!(sleeps.choose(IdleGovernor::Menu, &states, timer, |_| true), 1);
    }

    #[test]
    fn teo_follows_what_most_sleeps_were_long_enough_for() {
        let states = states();
        let mut sleeps = Sleeps::new(3);
        assert_eq!(sleeps.choose(IdleGovernor::Teo, &states, None, |_| true), 2);
        for _ in 0..10 {
            sleeps.learn(&states, 300_000);
        }
        assert_eq!(sleeps.choose(IdleGovernor::Teo, &states, None, |_| true), 1);
        assert_eq!(sleeps.choose(IdleGovernor::Teo, &states, Some(100_000), |_| true), 0);
    }

    #[test]
    fn a_short_tick_forbids_slow_states() {
        let mut sleeps = Sleeps::new(3);
        let quick = |state: &IdleState| state.exit_latency.0 < 100_000;
        assert_eq!(sleeps.choose(IdleGovernor::Menu, &states(), None, quick), 1);
        assert_eq!(sleeps.choose(IdleGovernor::None, &states(), None, quick), 0);
    }
}
