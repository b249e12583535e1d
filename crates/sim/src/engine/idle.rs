//! Which idle state a CPU enters: what its idle governor is told, and what becomes of its choice.

use super::Machine;
use super::cpu::Activity;
use super::domain::Domain;
use crate::observe::Observer;
use flyball_governors::idle::{Haltpoll, IdleAsk, IdleChoice, IdleEnd, IdleState, Menu, Teo};
use flyball_platform::{IdleGovernor, IdleTick};
use flyball_units::{CpuId, KernelRule, KernelRules, Nanos};

/// How far the next timer is taken to be where a CPU has none: as long as the clocks of most machines
/// let it sleep (`max_idle_ns` in the kernel's log).
const NO_TIMER: u64 = 440_795_202_000;

/// The tick when a CPU goes idle.
#[derive(Clone, Copy)]
pub(super) enum TickAhead {
    /// Nobody can stop it: it is a timer as any other.
    Fixed,
    /// It runs, and comes next in so many ns.
    Runs(u64),
    /// It is stopped already.
    Stopped,
}

/// A CPU's idle governor.
enum Chooser {
    /// The shallowest state always.
    Shallowest,
    Menu(Menu),
    Teo(Teo),
    Haltpoll(Haltpoll),
}

/// The shortest time that a CPU polls, in ns.
const LEAST_POLL: u64 = 10_000;

/// The longest that it does is a tick divided by this.
const POLLS_PER_TICK: u64 = 16;

/// A CPU's idle states and who chooses among them.
pub(super) struct Sleeps {
    chooser: Chooser,
    states: Vec<IdleState>,
    tick: u64,
    latency_limit: Nanos,
    entered: usize,
    /// Whether the first state polls: asked each time that the CPU goes idle.
    polls: bool,
}

/// What does not change about a machine's idle governors.
#[derive(Clone, Copy)]
pub(super) struct IdleRules {
    pub(super) governor: IdleGovernor,
    pub(super) rules: KernelRules,
    pub(super) tick: u64,
    pub(super) idle_tick: IdleTick,
    pub(super) latency_limit: Nanos,
}

impl Sleeps {
    /// No experience, for a CPU with these idle states.
    pub(super) fn new(states: &[flyball_platform::IdleState], of: IdleRules) -> Sleeps {
        // A tick that always comes wakes up too often for slow states.
        let too_slow = |latency: Nanos| of.idle_tick == IdleTick::Continues && latency.0 >= of.tick;
        let known = states.iter().enumerate().map(|(at, state)| IdleState {
            disabled: at > 0 && too_slow(state.exit_latency),
            polling: state.polling,
            ..IdleState::new(state.exit_latency, state.target_residency)
        });
        let chooser = match of.governor {
            _ if states.len() < 2 => Chooser::Shallowest,
            IdleGovernor::None => Chooser::Shallowest,
            IdleGovernor::Menu => Chooser::Menu(Menu::new(of.rules)),
            IdleGovernor::Teo => Chooser::Teo(Teo::new(of.rules, states.len())),
            IdleGovernor::Haltpoll => Chooser::Haltpoll(Haltpoll::new(of.rules)),
        };
        let polls = states.first().is_some_and(|state| state.polling);
        let (states, latency_limit) = (known.collect(), of.latency_limit);
        Sleeps { chooser, states, tick: of.tick, latency_limit, entered: 0, polls }
    }

    /// The state to enter, if there is any, and whether the tick stops, where the next timer that the
    /// kernel knows is `timer` ns away.
    pub(super) fn choose(
        &mut self,
        timer: Option<u64>,
        tick: TickAhead,
        io_waiters: u32,
    ) -> Option<IdleChoice> {
        if self.states.is_empty() {
            return None;
        }
        let next_timer = timer.unwrap_or(NO_TIMER);
        let ask = IdleAsk {
            next_timer: Nanos(next_timer),
            next_event: Nanos(match tick {
                TickAhead::Runs(tick) => tick.min(next_timer),
                TickAhead::Fixed | TickAhead::Stopped => next_timer,
            }),
            tick: Nanos(if matches!(tick, TickAhead::Fixed) { 0 } else { self.tick }),
            tick_stopped: matches!(tick, TickAhead::Stopped),
            latency_limit: self.latency_limit,
            io_waiters,
        };
        let choice = match &mut self.chooser {
            Chooser::Shallowest => IdleChoice { state: 0, stops_tick: true },
            Chooser::Menu(menu) => menu.select(&self.states, &ask),
            Chooser::Teo(teo) => teo.select(&self.states, &ask),
            Chooser::Haltpoll(haltpoll) => haltpoll.select(&ask),
        };
        self.entered = choice.state;
        Some(choice)
    }

    /// How long the state that was entered polls before it gives up; None: it sleeps.
    #[inline]
    fn poll_time(&self) -> Option<u64> {
        if self.polls && self.entered == 0 { self.poll_limit() } else { None }
    }

    /// The same where the first state was entered, and polls.
    #[cold]
    fn poll_limit(&self) -> Option<u64> {
        let most = self.tick / POLLS_PER_TICK;
        match &self.chooser {
            // Nobody else would choose.
            Chooser::Shallowest => None,
            Chooser::Haltpoll(haltpoll) if haltpoll.limit() > Nanos::ZERO => {
                Some(haltpoll.limit().0)
            }
            Chooser::Menu(_) | Chooser::Teo(_) | Chooser::Haltpoll(_) => {
                let others = self.states.iter().skip(1).filter(|state| !state.disabled);
                let pay = others.map(|state| state.target_residency.0);
                Some(pay.into_iter().find(|&pays| pays >= LEAST_POLL).unwrap_or(most).min(most))
            }
        }
    }

    /// A sleep of `length` ns ended, by the tick that was kept or by something else; the way out follows.
    #[inline]
    pub(super) fn learn(&mut self, length: u64, by_tick: bool) {
        self.end(length, by_tick, false);
    }

    #[inline]
    fn end(&mut self, length: u64, by_tick: bool, polled_out: bool) {
        let Some(state) = self.states.get(self.entered) else { return };
        let length = Nanos(length) + state.exit_latency;
        let ended = IdleEnd { state: self.entered, length, by_tick, polled_out };
        match &mut self.chooser {
            Chooser::Shallowest => {}
            Chooser::Menu(menu) => menu.reflect(ended),
            Chooser::Teo(teo) => teo.reflect(ended),
            Chooser::Haltpoll(haltpoll) => haltpoll.reflect(ended),
        }
    }
}

/// Why a CPU leaves its idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeUp {
    /// For a task.
    Task,
    /// For a new one.
    Birth,
    /// For one that was pushed there.
    Push,
    /// For a governor's task.
    Governor,
    /// The tick.
    Tick,
}

impl Machine {
    /// What CPU `c` does from now on.
    #[inline]
    pub(super) fn set_activity(&mut self, c: usize, activity: Activity) {
        self.cpus[c].activity = activity;
        self.idle_cpus.set(c, matches!(activity, Activity::Idle(_)));
    }

    /// CPU `c` has nothing to do.
    pub(super) fn enter_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.flush(c);
        let cpu = &mut self.cpus[c];
        cpu.touch(self.now);
        let others = cpu.rt.util_sum().saturating_add(cpu.dl.util_sum());
        cpu.clock.enter_idle(cpu.cfs.util_sum().saturating_add(others));
        cpu.stale = true;
        cpu.misfit = false;
        cpu.complete_at = u64::MAX;
        let got_tick = self.cpus[c].got_tick;
        let (blocked, tickless) = (self.idle_blocked, self.cpus[c].is_tickless);
        self.enter_state(c, observer);
        self.tell_idle(c, true, observer);
        if got_tick {
            return;
        }
        // Others' signals decay before its own tick stops.
        let blocks = std::mem::replace(&mut self.idle_blocked, blocked);
        let is_tickless = std::mem::replace(&mut self.cpus[c].is_tickless, tickless);
        self.decay_when_idle(c, observer);
        self.idle_blocked |= blocks;
        self.cpus[c].is_tickless |= is_tickless;
    }

    /// Idle CPU `c` enters the state that is chosen for it now.
    #[inline(always)]
    fn enter_state<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let state = self.choose_state(c);
        self.set_activity(c, Activity::Idle(state));
        if !self.cpus[c].siblings.is_empty() {
            self.share_core(c);
        }
        let cpu = &mut self.cpus[c];
        cpu.idle_since = self.now;
        if let Some(time) = cpu.sleeps.poll_time() {
            cpu.awake_at = self.now.saturating_add(time);
        }
        if let Some(entries) = state.and_then(|state| cpu.totals.entries.get_mut(state)) {
            *entries += 1;
        }
        self.set_power(c);
        self.requeue(c);
        observer.idle(Nanos(self.now), CpuId(c as u32), state);
    }

    /// CPU `c` has polled for as long as it may: it looks again what to do.
    #[cold]
    #[inline(never)]
    fn poll_out<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.flush(c);
        self.end_idle_time(c);
        let cpu = &mut self.cpus[c];
        cpu.sleeps.end(self.now - cpu.idle_since, false, true);
        self.enter_state(c, observer);
    }

    /// The idle state for CPU `c`, if it has any. Whether the tick stops is decided with it, and
    /// only then counts schedutil's hold the CPU as having been idle.
    fn choose_state(&mut self, c: usize) -> Option<usize> {
        let timer = self.next_timer(c);
        let next_tick = self.next_tick_of(c);
        let until_timer = timer.map(|at| at.saturating_sub(self.now));
        let cpu = &mut self.cpus[c];
        if self.idle_tick == IdleTick::Continues {
            cpu.idle_calls += 1;
            let to_tick = cpu.tick_at.saturating_sub(self.now);
            let until = until_timer.map_or(to_tick, |timer| timer.min(to_tick));
            let choice = cpu.sleeps.choose(Some(until), TickAhead::Fixed, cpu.iowait_count);
            return choice.map(|choice| choice.state);
        }
        let runs = cpu.tick_at != u64::MAX;
        let ahead = if runs { TickAhead::Runs(next_tick - self.now) } else { TickAhead::Stopped };
        let choice = cpu.sleeps.choose(until_timer, ahead, cpu.iowait_count);
        let (d, got_tick) = (cpu.domain, std::mem::take(&mut cpu.got_tick));
        let waits_for_it = !got_tick && self.keeps_tick_once(d);
        let keeps_tick = runs && (waits_for_it || choice.is_some_and(|choice| !choice.stops_tick));
        let tick_at = if keeps_tick { next_tick } else { self.tick_of_timer(c, next_tick) };
        let cpu = &mut self.cpus[c];
        cpu.idle_calls += u64::from(!keeps_tick);
        cpu.has_blocked |= runs && !keeps_tick;
        self.idle_blocked |= runs && !keeps_tick;
        self.idle_came |= !keeps_tick && !cpu.is_tickless;
        cpu.is_tickless |= !keeps_tick;
        cpu.tick_stopped = !keeps_tick;
        cpu.tick_at = tick_at;
        choice.map(|choice| choice.state)
    }

    /// The tick that a timer of the kernel's own brings to CPU `c`, which stopped it, from `next_tick` on; `u64::MAX`: none.
    fn tick_of_timer(&mut self, c: usize, next_tick: u64) -> u64 {
        let due = self.tick_from(next_tick + 1) - self.tick;
        let timers = &mut self.cpus[c].kernel_timers;
        while timers.pop_if(|at| *at < due).is_some() {}
        let at = timers.last().copied();
        at.map_or(u64::MAX, |at| self.begins_tick(c, self.tick_from(at + 1) - self.tick))
    }

    /// Whether the CPUs of domain `d`, which have no idle states to choose from, stop their tick only once it found
    /// them idle.
    pub(super) fn keeps_tick_once(&self, d: usize) -> bool {
        self.rules.has(KernelRule::TickKeptOnce) && self.domains[d].idle_states.len() < 2
    }

    /// Earliest timer of the tasks that sleep on CPU `c`, and of a governor that runs there: what
    /// comes from outside has none.
    fn next_timer(&self, c: usize) -> Option<u64> {
        let governors = self.governed_by_tasks.iter().filter_map(|&d| {
            let domain = &self.domains[d];
            let task = domain.governor_task.filter(|_| domain.daemon)?;
            (self.tasks[task].cpu == c).then_some(domain.wake_at)
        });
        governors.chain(self.cpus[c].timers.next()).min().filter(|&at| at != u64::MAX)
    }

    /// CPU `c` has something to do: it leaves its idle state, which takes the state's exit
    /// latency.
    pub(super) fn leave_idle<O: Observer>(&mut self, c: usize, why: WakeUp, observer: &mut O) {
        let Activity::Idle(state) = self.cpus[c].activity else { return };
        self.flush(c);
        let next_tick = self.next_tick_of(c);
        let cpu = &mut self.cpus[c];
        cpu.got_tick = why == WakeUp::Tick;
        cpu.note_capacity();
        let path = match why {
            WakeUp::Birth if self.paths.birth > 0 => self.paths.birth,
            WakeUp::Push if self.paths.pushed > 0 => self.paths.pushed,
            _ => self.paths.switch,
        };
        let states = &self.domains[cpu.domain].idle_states;
        let by_tick = why == WakeUp::Tick && self.idle_tick == IdleTick::Stops;
        cpu.sleeps.learn(self.now - cpu.idle_since, by_tick);
        cpu.totals.wakeups += 1;
        cpu.totals.governor_wakeups += u64::from(why == WakeUp::Governor);
        let latency = state.and_then(|at| states.get(at)).map_or(0, |state| state.exit_latency.0);
        let before = std::mem::take(&mut cpu.wakes_for);
        let before = if why == WakeUp::Task { before } else { 0 };
        let (hardware, latency) = (latency, before + latency.max(cpu.time_of(path)));
        // A tick that wakes nobody is over when its interrupt is.
        cpu.idle_until = self.now + if why == WakeUp::Tick { latency } else { hardware };
        // An interrupt cannot have begun before the CPU was idle.
        let interrupt = cpu.time_of(self.paths.interrupt);
        cpu.interrupted_for = interrupt.min(self.now - cpu.idle_since);
        cpu.awake_at = self.now.saturating_add(latency);
        if self.idle_tick == IdleTick::Stops {
            cpu.tick_at = next_tick;
        }
        self.set_activity(c, Activity::Waking);
        self.set_power(c);
        self.requeue(c);
        observer.idle(Nanos(self.now), CpuId(c as u32), None);
        self.tell_idle(c, false, observer);
        if latency == 0 {
            self.awake(c, observer);
        }
    }

    /// One more task joins CPU `c` on its way out of idle: an interrupt that wakes several is over with the last. Nothing is known of that
    /// where the way has no part before a task is awake.
    pub(super) fn wake_longer(&mut self, c: usize) {
        let before = std::mem::take(&mut self.cpus[c].wakes_for);
        if self.readings.wake_cycles > 0 && self.cpus[c].activity == Activity::Waking {
            let last = self.interrupted_until(c).unwrap_or(self.now);
            let over = last + before + self.cpu_time(c, self.paths.switch);
            let cpu = &mut self.cpus[c];
            cpu.awake_at = cpu.awake_at.max(over);
            self.requeue(c);
        }
    }

    /// Whether idle CPUs of a domain with a governor that polls may keep their tick, which then counts their idle time.
    pub(super) fn ticks_may_count_idle_time(&self, domain: &Domain) -> bool {
        let chooses = domain.idle_states.len() > 1;
        domain.needs.poll && chooses && self.rules.has(KernelRule::IdleTimeByTicks)
    }

    /// Idle time of CPU `c` since it went idle that samplers do not see, up to now. The kernel's clock of idle time stands
    /// still from the interrupt on that ends it, but for what the hardware's way out takes. Where ticks count, it runs
    /// to the end while the tick is stopped, and else not at all.
    pub(super) fn uncounted_idle_time(&self, c: usize) -> u64 {
        let cpu = &self.cpus[c];
        let by_ticks = self.rules.has(KernelRule::IdleTimeByTicks);
        match cpu.activity {
            Activity::Busy | Activity::Leaving => 0,
            _ if by_ticks && cpu.tick_stopped => 0,
            _ if by_ticks => self.now - cpu.idle_since,
            Activity::Idle(_) => 0,
            Activity::Waking => cpu.interrupted_for + self.now.saturating_sub(cpu.idle_until),
        }
    }

    /// Adds that to what samplers do not see: CPU `c` is awake, or has polled in vain.
    fn end_idle_time(&mut self, c: usize) {
        let uncounted = self.uncounted_idle_time(c) as i64;
        let cpu = &mut self.cpus[c];
        *cpu.unseen() += uncounted;
        cpu.tick_stopped = false;
    }

    /// A tick finds CPU `c` in the idle loop, or on its way out.
    pub(super) fn count_idle_tick(&mut self, c: usize) {
        let cpu = &mut self.cpus[c];
        if self.rules.has(KernelRule::IdleTimeByTicks) && !cpu.tick_stopped {
            *cpu.unseen() -= self.tick as i64;
        }
    }

    /// CPU `c` is out of its idle state or on the next one's stack, or has polled in vain.
    pub(super) fn awake<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let cpu = &self.cpus[c];
        if cpu.activity == Activity::Waking
            && let Some(at) = self.interrupted_until(c).or(cpu.told.until(self.now))
        {
            // An interrupt goes on, and behind it the CPU looks once more of whom it was told.
            self.cpus[c].awake_at = at.max(self.now + 1);
            self.requeue(c);
            return;
        }
        self.cpus[c].awake_at = u64::MAX;
        match self.cpus[c].activity {
            Activity::Idle(_) => return self.poll_out(c, observer),
            Activity::Leaving => self.tell_left(c, observer),
            _ => self.end_idle_time(c),
        }
        self.schedule(c, observer);
        self.requeue(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tick that always comes, every 100 us: a state whose way out takes as long is never entered.
    #[test]
    fn a_short_tick_forbids_slow_states() {
        let states = [(1, 1), (50, 200), (500, 5000)].map(|(latency, residency)| {
            flyball_platform::IdleState {
                name: String::new(),
                exit_latency: Nanos::from_micros(latency),
                target_residency: Nanos::from_micros(residency),
                power_mw: 0.0,
                stops_timer: false,
                polling: false,
            }
        });
        let deepest = |governor, idle_tick| {
            let (rules, tick, latency_limit) = (KernelRules::newest(), 100_000, Nanos(u64::MAX));
            let of = IdleRules { governor, rules, tick, idle_tick, latency_limit };
            Sleeps::new(&states, of).choose(Some(1_000_000_000), TickAhead::Fixed, 0).unwrap().state
        };
        assert_eq!(deepest(IdleGovernor::Menu, IdleTick::Continues), 1);
        assert_eq!(deepest(IdleGovernor::Menu, IdleTick::Stops), 2);
        assert_eq!(deepest(IdleGovernor::None, IdleTick::Continues), 0);
    }
}
