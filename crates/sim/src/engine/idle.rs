//! Which idle state a CPU enters, learnt from how long it slept before.

use super::Machine;
use super::cpu::Activity;
use crate::observe::Observer;
use flyball_platform::{IdleGovernor, IdleState, IdleTick};
use flyball_units::{CpuId, Nanos};

/// One, in the fixed point of shares and weights.
const ONE: u64 = 1024;

/// How slowly experience fades: an eighth of it per sleep.
const FADING: u64 = 8;

/// Sleeps that menu looks at for a pattern.
const INTERVALS: usize = 8;

/// A longer sleep says nothing about how far menu may trust a timer.
const MOST_INTERESTING: u64 = 50_000_000;

/// The tick when a CPU goes idle.
#[derive(Clone, Copy)]
pub(super) struct TickAhead {
    /// Its period in ns.
    pub(super) period: u64,
    /// Time until the next one, where it runs and may be kept or stopped.
    pub(super) next: Option<u64>,
}

impl TickAhead {
    /// It does not run, or nobody can stop it.
    pub(super) const FIXED: TickAhead = TickAhead { period: 0, next: None };
}

/// What an idle governor decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The state to enter.
    pub(super) state: usize,
    /// Whether the tick stays on, so that a sleep that was guessed too short ends with it.
    pub(super) keeps_tick: bool,
}

/// A CPU's experience with sleeping.
pub(super) struct Sleeps {
    /// Menu: how much of the time until the next timer it slept, by the order of magnitude of that
    /// time: moving averages, of [`ONE`] x [`FADING`].
    corrections: [u64; 6],
    /// Menu: the last sleeps in us, and which is the oldest.
    intervals: [u32; INTERVALS],
    oldest: usize,
    /// Teo: weight of past sleeps that ended with the timer, by the deepest state they were long
    /// enough for.
    hits: Vec<u64>,
    /// Teo: the same of those that ended earlier.
    intercepts: Vec<u64>,
    /// Time until the next timer when the present sleep began; None: none was set.
    expected: Option<u64>,
}

/// The order of magnitude of a time, from below 10 us on.
fn magnitude(ns: u64) -> usize {
    [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000].partition_point(|&limit| limit <= ns)
}

/// The position of the deepest state that pays in this time.
fn deepest(states: &[IdleState], length: u64, allowed: impl Fn(&IdleState) -> bool) -> usize {
    let pays = |state: &IdleState| state.target_residency.0 <= length && allowed(state);
    states.iter().rposition(pays).unwrap_or(0)
}

impl Sleeps {
    /// No experience, for a CPU with this many idle states.
    pub(super) fn new(states: usize) -> Sleeps {
        Sleeps {
            corrections: [ONE * FADING; 6],
            intervals: [0; INTERVALS],
            oldest: 0,
            hits: vec![0; states],
            intercepts: vec![0; states],
            expected: None,
        }
    }

    /// The state to enter if the next timer that the kernel knows is `timer` ns away; `allowed` tells
    /// which may be.
    pub(super) fn choose(
        &mut self,
        rule: IdleGovernor,
        states: &[IdleState],
        timer: Option<u64>,
        tick: TickAhead,
        allowed: impl Fn(&IdleState) -> bool,
    ) -> Choice {
        self.expected = timer;
        let timer = timer.unwrap_or(u64::MAX);
        let stopped = |state| Choice { state, keeps_tick: false };
        let (state, predicted) = match rule {
            IdleGovernor::None => return stopped(0),
            IdleGovernor::Menu => {
                // Nothing to choose: the governor has no say about the tick either.
                if states.get(1).is_none_or(|second| timer < second.target_residency.0) {
                    return stopped(0);
                }
                let correction = u128::from(self.corrections[magnitude(timer)]);
                let scaled = u128::from(timer) * correction / u128::from(ONE * FADING);
                let scaled = scaled.min(u64::MAX.into()) as u64;
                let predicted = scaled.min(self.typical().unwrap_or(u64::MAX));
                let state = deepest(states, predicted, &allowed);
                // Short of the deepest state waking up early does not hurt.
                let short = state + 1 < states.len() && predicted >= tick.period;
                (state, if short { states[state].target_residency.0 } else { predicted })
            }
            IdleGovernor::Teo => {
                if states.len() < 2 {
                    return stopped(0);
                }
                let (by_sleeps, by_timer) = (self.intercepted(), deepest(states, timer, &allowed));
                let state = (0..=by_sleeps.min(by_timer)).rev().find(|&at| allowed(&states[at]));
                let state = state.unwrap_or(0);
                let early = by_sleeps < by_timer;
                (state, if early { states[state].target_residency.0 } else { timer })
            }
        };
        match tick.next {
            Some(next) if predicted < tick.period => {
                let state = state.min(deepest(states, next, &allowed));
                Choice { state, keeps_tick: true }
            }
            _ => stopped(state),
        }
    }

    /// The state that teo's experience allows: the deepest, unless more than half of the sleeps that
    /// were too short for it ended before their timer; then the one that most of those pay for.
    fn intercepted(&self) -> usize {
        let top = self.hits.len() - 1;
        let below: u64 = self.intercepts[..top].iter().sum();
        let hits_below: u64 = self.hits[..top].iter().sum();
        let total: u64 = self.hits.iter().chain(&self.intercepts).sum();
        if 2 * below <= total - hits_below {
            return top;
        }
        let mut sum = 0;
        let most = |&at: &usize| {
            sum += self.intercepts[at];
            2 * sum > below
        };
        (0..top).rev().find(most).unwrap_or(0)
    }

    /// Menu's pattern: the mean of the last sleeps in ns, without up to two long outliers, where they
    /// are alike: six standard deviations below the mean, or a deviation of at most 20 us.
    fn typical(&self) -> Option<u64> {
        let mut longest = u32::MAX;
        loop {
            let counted =
                || self.intervals.iter().filter(|&&us| us <= longest).map(|&us| u64::from(us));
            let (count, sum, max) = counted()
                .fold((0, 0, 0), |(count, sum, max): (u64, u64, u64), us| {
                    (count + 1, sum + us, max.max(us))
                });
            if max == 0 {
                return None;
            }
            let mean = sum / count;
            let squares = counted().map(|us| u128::from(us.abs_diff(mean)).pow(2)).sum::<u128>();
            let variance = squares / u128::from(count);
            let enough = 4 * count as usize >= 3 * INTERVALS;
            if (enough && u128::from(mean).pow(2) > 36 * variance) || variance <= 400 {
                return Some(mean * 1000);
            }
            if 4 * count as usize <= 3 * INTERVALS {
                return None;
            }
            // Below the longest, which is above 0.
            longest = (max - 1) as u32;
        }
    }

    /// A sleep ended after `length` ns, by the tick that was kept or by something else.
    pub(super) fn learn(&mut self, states: &[IdleState], length: u64, by_tick: bool) {
        // Only the tick ended it: as if it had been long.
        let length = if by_tick { MOST_INTERESTING * 9 / 10 } else { length };
        let length = self.expected.map_or(length, |expected| length.min(expected));
        self.intervals[self.oldest] = u32::try_from(length / 1000).unwrap_or(u32::MAX);
        self.oldest = (self.oldest + 1) % INTERVALS;
        if let Some(expected) = self.expected.filter(|&expected| expected > 0) {
            let correction = &mut self.corrections[magnitude(expected)];
            let share = match length {
                MOST_INTERESTING.. => ONE,
                _ => length * ONE / expected,
            };
            *correction += share;
            *correction -= (*correction - share) / FADING;
        }
        let enough = |length| deepest(states, length, |_| true);
        let (slept, timer) = (enough(length), enough(self.expected.unwrap_or(u64::MAX)));
        for weight in self.hits.iter_mut().chain(&mut self.intercepts) {
            *weight -= *weight >> 3;
        }
        let kind = if slept == timer { &mut self.hits } else { &mut self.intercepts };
        if let Some(weight) = kind.get_mut(slept) {
            *weight += ONE;
        }
    }
}

/// Why a CPU leaves its idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeUp {
    /// For a task.
    Task,
    /// For a governor's task.
    Governor,
    /// The tick.
    Tick,
}

impl Machine {
    /// CPU `c` has nothing to do.
    pub(super) fn enter_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.flush(c);
        let cpu = &mut self.cpus[c];
        cpu.touch(self.now);
        cpu.clock.enter_idle(cpu.cfs.util_sum().saturating_add(cpu.rt.util_sum()));
        cpu.stale = true;
        cpu.misfit = false;
        cpu.complete_at = u64::MAX;
        let state = self.choose_state(c);
        let cpu = &mut self.cpus[c];
        cpu.activity = Activity::Idle(state);
        if !cpu.siblings.is_empty() {
            self.share_core(c);
        }
        let cpu = &mut self.cpus[c];
        cpu.idle_since = self.now;
        if let Some(entries) = state.and_then(|state| cpu.totals.entries.get_mut(state)) {
            *entries += 1;
        }
        self.set_power(c);
        self.requeue(c);
        observer.idle(Nanos(self.now), CpuId(c as u32), state);
        self.tell_idle(c, true, observer);
    }

    /// The idle state for CPU `c`, if it has any. Whether the tick stops is decided with it, and
    /// only then counts schedutil's hold the CPU as having been idle.
    fn choose_state(&mut self, c: usize) -> Option<usize> {
        let timer = self.next_timer(c);
        let next_tick = self.next_tick();
        let cpu = &mut self.cpus[c];
        let states = &self.domains[cpu.domain].idle_states;
        let until_timer = timer.map(|at| at.saturating_sub(self.now));
        if self.idle_tick == IdleTick::Continues {
            cpu.idle_calls += 1;
            if states.is_empty() {
                return None;
            }
            let to_tick = cpu.tick_at.saturating_sub(self.now);
            let until = Some(until_timer.map_or(to_tick, |timer| timer.min(to_tick)));
            let tick = self.tick;
            let wakes_in_time = |state: &IdleState| state.exit_latency.0 < tick;
            let fixed = TickAhead::FIXED;
            let choice = cpu.sleeps.choose(self.idle_rule, states, until, fixed, wakes_in_time);
            return Some(choice.state);
        }
        let runs = cpu.tick_at != u64::MAX;
        let ahead = TickAhead { period: self.tick, next: runs.then(|| next_tick - self.now) };
        let choice = (!states.is_empty())
            .then(|| cpu.sleeps.choose(self.idle_rule, states, until_timer, ahead, |_| true));
        let keeps_tick = choice.is_some_and(|choice| choice.keeps_tick);
        cpu.idle_calls += u64::from(!keeps_tick);
        cpu.tick_at = if keeps_tick { next_tick } else { u64::MAX };
        choice.map(|choice| choice.state)
    }

    /// Earliest timer of the tasks that sleep on CPU `c`, and of a governor that runs there: what
    /// comes from outside has none.
    fn next_timer(&self, c: usize) -> Option<u64> {
        let tasks = self
            .tasks
            .iter()
            .filter(|task| task.cpu == c && task.announced && !task.is_interrupt());
        let timers = tasks.map(|task| task.timer);
        let governors = self.domains.iter().filter_map(|domain| {
            let task = domain.governor_task.filter(|_| domain.daemon)?;
            (self.tasks[task].cpu == c).then_some(domain.wake_at)
        });
        timers.chain(governors).min().filter(|&at| at != u64::MAX)
    }

    /// CPU `c` has something to do: it leaves its idle state, which takes the state's exit
    /// latency.
    pub(super) fn leave_idle<O: Observer>(&mut self, c: usize, why: WakeUp, observer: &mut O) {
        let Activity::Idle(state) = self.cpus[c].activity else { return };
        self.flush(c);
        let next_tick = self.next_tick();
        let cpu = &mut self.cpus[c];
        let states = &self.domains[cpu.domain].idle_states;
        let by_tick = why == WakeUp::Tick && self.idle_tick == IdleTick::Stops;
        cpu.sleeps.learn(states, self.now - cpu.idle_since, by_tick);
        cpu.totals.wakeups += 1;
        cpu.totals.governor_wakeups += u64::from(why == WakeUp::Governor);
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

    fn state(
        sleeps: &mut Sleeps,
        rule: IdleGovernor,
        timer: Option<u64>,
        allowed: impl Fn(&IdleState) -> bool,
    ) -> usize {
        sleeps.choose(rule, &states(), timer, TickAhead::FIXED, allowed).state
    }

    #[test]
    fn menu_trusts_the_timer_less_after_early_wakeups() {
        let states = states();
        let mut sleeps = Sleeps::new(3);
        let timer = Some(6_000_000);
        assert_eq!(state(&mut sleeps, IdleGovernor::Menu, timer, |_| true), 2);
        sleeps.learn(&states, 100_000, false);
        sleeps.learn(&states, 100_000, false);
        assert_eq!(state(&mut sleeps, IdleGovernor::Menu, timer, |_| true), 1);
    }

    #[test]
    fn teo_follows_what_most_sleeps_were_long_enough_for() {
        let states = states();
        let mut sleeps = Sleeps::new(3);
        assert_eq!(state(&mut sleeps, IdleGovernor::Teo, None, |_| true), 2);
        for _ in 0..10 {
            sleeps.learn(&states, 300_000, false);
        }
        assert_eq!(state(&mut sleeps, IdleGovernor::Teo, None, |_| true), 1);
        assert_eq!(state(&mut sleeps, IdleGovernor::Teo, Some(100_000), |_| true), 0);
    }

    #[test]
    fn a_short_tick_forbids_slow_states() {
        let mut sleeps = Sleeps::new(3);
        let quick = |state: &IdleState| state.exit_latency.0 < 100_000;
        assert_eq!(state(&mut sleeps, IdleGovernor::Menu, None, quick), 1);
        assert_eq!(state(&mut sleeps, IdleGovernor::None, None, quick), 0);
    }

    /// Eight sleeps of 300 us with one of 9 ms among them: the long one is left out, and 300 us are
    /// expected, whatever the timer. Then the tick of 1 ms is kept. Sleeps from 0.1 to 12.8 ms have no
    /// pattern: the timer counts.
    #[test]
    fn menu_finds_a_pattern_where_there_is_one() {
        let mut sleeps = Sleeps::new(3);
        for us in [300, 300, 300, 9_000, 300, 300, 300, 300] {
            sleeps.learn(&states(), us * 1000, false);
        }
        assert_eq!(sleeps.typical(), Some(300_000));
        let tick = TickAhead { period: 1_000_000, next: Some(600_000) };
        let choice = sleeps.choose(IdleGovernor::Menu, &states(), None, tick, |_| true);
        assert_eq!(choice, Choice { state: 1, keeps_tick: true });
        for doublings in 0..8 {
            sleeps.learn(&states(), 100_000 << doublings, false);
        }
        assert_eq!(sleeps.typical(), None);
        let choice = sleeps.choose(IdleGovernor::Menu, &states(), None, tick, |_| true);
        assert_eq!(choice, Choice { state: 2, keeps_tick: false });
    }

    /// The next tick in 100 us: a state that pays in 200 us is not entered while the tick is kept.
    #[test]
    fn the_kept_tick_bounds_the_state() {
        let mut sleeps = Sleeps::new(3);
        let tick = |next| TickAhead { period: 4_000_000, next };
        let mut choose = |next| {
            sleeps.choose(IdleGovernor::Menu, &states(), Some(3_000_000), tick(next), |_| true)
        };
        assert_eq!(choose(Some(3_500_000)), Choice { state: 1, keeps_tick: true });
        assert_eq!(choose(Some(100_000)), Choice { state: 0, keeps_tick: true });
        assert_eq!(choose(None), Choice { state: 1, keeps_tick: false }, "it is stopped already");
    }

    #[test]
    fn a_sleep_that_the_tick_ended_counts_as_long() {
        let mut sleeps = Sleeps::new(3);
        for _ in 0..8 {
            sleeps.learn(&states(), 700_000, true);
        }
        assert_eq!(sleeps.typical(), Some(45_000_000));
    }
}
