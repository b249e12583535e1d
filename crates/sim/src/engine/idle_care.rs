//! Idle CPUs without a tick are looked after by others: their signals decay, and they balance (`nohz_idle_balance`).

use super::Machine;
use super::cpu::Cpu;
use crate::observe::Observer;
use flyball_platform::IdleTick;

/// How often a busy CPU lets idle CPUs' signals decay, in ns.
pub(super) const DECAY_PERIOD: u64 = 32_000_000;

/// An idle CPU takes longer than this to answer another one's kick, in ns: who ticks until then was there before.
const SOON: u64 = 50_000;

/// A round of the idle CPUs that a busy one's tick begins.
#[derive(Clone, Copy)]
pub(super) struct Round {
    /// How much later than that the tick's last question was.
    pub(super) after: u64,
    /// That one came of the busy CPU's balance, beside which the round begins.
    pub(super) is_beside: bool,
}

/// What one CPU does for those that are idle without a tick.
#[derive(Clone, Copy)]
struct Care {
    /// It lets their signals decay.
    decays: bool,
    /// It balances for them.
    balances: bool,
    /// New ones count for when that is next due.
    counts: bool,
}

impl Machine {
    /// The tick of busy CPU `c` wakes an idle one to look after those that are idle, if there is a reason to
    /// (`nohz_balancer_kick`). It does that beside CPU `c`, which balances and perhaps `asks`.
    pub(super) fn kick<O: Observer>(&mut self, c: usize, asks: bool, observer: &mut O) {
        let balances = self.kicks(c);
        if balances {
            // With the next tick at the earliest, also if nobody balances now.
            self.kick_at = self.last_tick() + self.tick;
            self.limit_search();
        }
        if self.care_is_prescribed {
            return;
        }
        let decays = balances || self.idle_blocked && self.last_tick() > self.decay_at;
        if decays || self.idle_came {
            let first = self.idle_cpus.from(0).find(|&other| self.cpus[other].is_tickless);
            if let Some(by) = first {
                let counts = std::mem::take(&mut self.idle_came);
                let (at, last) = self.cpus[c].asked;
                let after = if at == self.now { last } else { 0 };
                self.balance_at_ticks_of_now(observer);
                self.round = Some(Round { after, is_beside: asks });
                self.look_after_idle_cpus(by, Care { decays, balances, counts }, observer);
            }
        }
    }

    /// Idle CPUs whose ticks come at this moment, too, balance before the one that was woken gets to them.
    fn balance_at_ticks_of_now<O: Observer>(&mut self, observer: &mut O) {
        let mut from = 0;
        while let Some(c) = self.idle_cpus.next(from) {
            from = c + 1;
            let tick_at = self.cpus[c].tick_at;
            if tick_at <= self.now + SOON {
                self.begins_after = tick_at.saturating_sub(self.now);
                self.balance_at_idle_tick(c, observer);
                self.begins_after = 0;
            }
        }
    }

    /// What the tick of idle CPU `c` does where it is due: its signals decay.
    pub(super) fn balance_at_idle_tick<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let is_due = match self.cpus.len() {
            1 => self.cpus[c].has_signals(),
            _ => self.now >= self.cpus[c].balance_at,
        };
        if is_due && !self.care_is_prescribed {
            self.tick_wakes_cpu = true;
            self.balance(c, observer);
            self.tick_wakes_cpu = false;
        }
    }

    /// Whether busy CPU `c` wakes an idle one to balance: one with a task that waits, does not fit
    /// or has little of it does, and where all CPUs are equal one that is not the only one with a tick.
    fn kicks(&self, c: usize) -> bool {
        let cpu = &self.cpus[c];
        let ticks = |cpu: &&Cpu| !cpu.is_tickless;
        // One that has used up its time is out of the queue by then.
        let throttled = cpu.current.is_some_and(|t| self.tasks[t].is_exhausted());
        self.now >= self.kick_at
            && self.idle_tick == IdleTick::Stops
            && (cpu.misfit
                || (cpu.fair_count > 0 && self.capacity_is_reduced(c))
                || cpu.queued_count() > 1 + u32::from(throttled)
                || (self.capacities_equal && self.cpus.iter().filter(ticks).nth(1).is_some()))
    }

    /// CPU `c`, which goes idle after a task, lets the signals of idle CPUs decay, if nobody did for a while (`nohz_newidle_balance`).
    pub(super) fn decay_when_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if self.idle_tick == IdleTick::Stops
            && self.cpus.len() > 1
            && self.idle_blocked
            && !self.care_is_prescribed
            && !self.cpus[c].new_idle.is_short()
            && self.last_tick() >= self.decay_at
        {
            let care = Care { decays: true, balances: false, counts: false };
            self.look_after_idle_cpus(c, care, observer);
        }
    }

    /// CPU `by` takes care of those that are idle without a tick, from the one behind it on and all around, until a sampler
    /// that it called has work for it: the next tick of a busy CPU goes on with it.
    fn look_after_idle_cpus<O: Observer>(&mut self, by: usize, care: Care, observer: &mut O) {
        let now = self.last_tick();
        let Care { decays, balances, counts } = care;
        self.caller = Some(by);
        self.tick_wakes_cpu = self.cpus[by].is_idle();
        let (mut next, mut blocked) = (u64::MAX, false);
        let (mut is_called, mut is_broken_off) = (false, false);
        'all: for (first, end) in [(by + 1, self.cpus.len()), (0, by + 1)] {
            let mut from = first;
            while let Some(c) = self.idle_cpus.next(from).filter(|&c| c < end) {
                from = c + 1;
                if !self.cpus[c].is_tickless || (is_called && c == by) {
                    continue;
                }
                if is_called {
                    is_broken_off = true;
                    break 'all;
                }
                let cpu = &self.cpus[c];
                let is_old = cpu.decayed.is_none_or(|decayed| decayed < now);
                if decays && cpu.has_blocked && is_old {
                    self.update_blocked(c, observer);
                    is_called = self.calls_worker(by);
                }
                blocked |= self.cpus[c].has_blocked;
                if balances && now >= self.cpus[c].balance_at {
                    self.look_around(c, observer);
                }
                next = next.min(self.cpus[c].balance_at);
            }
        }
        if is_broken_off {
            self.idle_blocked |= decays;
            self.idle_came |= counts;
        } else {
            if decays {
                self.decay_at = now + DECAY_PERIOD;
                self.idle_blocked = blocked;
            }
            if next != u64::MAX {
                self.kick_at = next;
            }
        }
        self.caller = None;
        self.tick_wakes_cpu = false;
        self.round = None;
    }
}
