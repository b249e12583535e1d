//! The scheduler's tick and the statistics clock.

use super::Machine;
use super::cpu::Activity;
use super::idle::WakeUp;
use crate::observe::Observer;
use crate::setup::Class;
use flyball_governors::Event;
use flyball_platform::IdleTick;
use flyball_units::{CpuId, KernelRule, Nanos};

impl Machine {
    /// The first tick after now.
    pub(super) fn next_tick(&self) -> u64 {
        self.tick_from(self.now + 1)
    }

    /// The last tick that was not after now, or the beginning: the kernel compares whole ticks (`jiffies`).
    #[inline(never)]
    pub(super) fn last_tick(&self) -> u64 {
        let passed = self.now.saturating_sub(self.tick_phase) / self.tick;
        (self.tick_phase + passed * self.tick).min(self.now)
    }

    /// The first tick that is not before `at`.
    #[inline(never)]
    pub(super) fn tick_from(&self, at: u64) -> u64 {
        let passed = at.saturating_sub(self.tick_phase);
        self.tick_phase + passed.div_ceil(self.tick) * self.tick
    }

    /// When CPU `c` begins with the tick of this time: at once, or when it did where it is known that this takes it a while.
    pub(super) fn begins_tick(&self, c: usize, at: u64) -> u64 {
        let cpu = &self.cpus[c];
        if cpu.ticks.is_empty() {
            return at;
        }
        let known = cpu.ticks.get(cpu.ticks.partition_point(|&tick| tick < at)).copied();
        known.filter(|&tick| tick - at < self.tick / 2).unwrap_or(at + cpu.tick_late)
    }

    /// When CPU `c` begins with its next tick.
    pub(super) fn next_tick_of(&self, c: usize) -> u64 {
        let next = self.next_tick();
        let due = next.checked_sub(self.tick).map(|due| self.begins_tick(c, due));
        due.filter(|&at| at > self.now).unwrap_or_else(|| self.begins_tick(c, next))
    }

    /// A tick of CPU `c`: execution is accounted, the running task's signals and then its queue's
    /// are updated, which may ask cpufreq; then slice, misfit and balance.
    pub(super) fn tick<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let next = match self.cpus[c].ticks.is_empty() {
            true => self.cpus[c].tick_at + self.tick,
            false => self.next_tick_of(c),
        };
        let cpu = &mut self.cpus[c];
        cpu.totals.ticks += 1;
        cpu.tick_at = next;
        self.tick_begins = true;
        match cpu.current {
            Some(t) => self.tick_of_task(t, c, observer),
            None => self.tick_without_task(c, observer),
        }
        self.tick_begins = false;
        self.requeue(c);
    }

    fn tick_of_task<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let cpu = &mut self.cpus[c];
        cpu.is_tickless = false;
        cpu.touch(self.now);
        self.call_simply(c);
        let mut slice_over = false;
        if self.tasks[t].is_fair() {
            slice_over = self.update_current(c);
            if self.rules.has(KernelRule::Cfs) {
                slice_over = self.round_is_over(t, c);
            }
            self.grow_util_est(t, c);
            self.update_task(t, c, true, observer);
            if let Some(g) = self.tasks[t].cgroup {
                self.tick_cgroup(g, c);
            }
        } else if !self.tasks[t].is_interrupt() {
            self.update_urgent(t, c, true);
            if self.tasks[t].is_exhausted() {
                self.pending.push(c);
            }
        }
        if slice_over && !self.cpus[c].fair.is_empty() {
            self.pending.push(c);
        }
        if self.cpus.len() > 1 {
            if self.tasks[t].is_fair() && self.handle_misfit(c, observer) {
                return;
            }
            self.balance_at_tick(c, observer);
        } else if self.cpus[c].fair_count == 0 && self.now >= self.decay_at {
            self.decay_at = self.now + super::idle_care::DECAY_PERIOD;
            self.update_blocked(c, observer);
        }
        if slice_over {
            // The tick itself still counts them.
            self.settle_delayed(c);
        }
    }

    /// A tick that finds its CPU idle takes it out of its idle state, and lets its signals decay.
    fn tick_without_task<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.count_idle_tick(c);
        if let Activity::Idle(_) = self.cpus[c].activity {
            self.balance_at_idle_tick(c, observer);
            self.leave_idle(c, WakeUp::Tick, observer);
        }
    }

    /// A tick of the statistics clock, on all CPUs at once. Idle CPUs have none where their tick
    /// stops.
    pub(super) fn statistics_tick<O: Observer>(&mut self, observer: &mut O) {
        self.stat_at += self.stat_period;
        for c in 0..self.cpus.len() {
            let busy = self.cpus[c].current.is_some();
            if !busy && self.idle_tick == IdleTick::Stops {
                continue;
            }
            self.sample(c);
            let d = self.cpus[c].domain;
            if self.domains[d].needs.tick_hz.is_some() {
                let event = Event::Tick { cpu: CpuId(c as u32), busy };
                self.tell(d, &event, c, observer);
            }
        }
    }

    /// Accounts a whole period to what CPU `c` does at this moment.
    fn sample(&mut self, c: usize) {
        let period = Nanos(self.stat_period);
        let cpu = &mut self.cpus[c];
        let times = &mut cpu.sampled;
        let slot = match cpu.current.map(|t| self.tasks[t].class) {
            Some(Class::Fair { nice: 1.. }) => &mut times.nice,
            Some(_) => &mut times.busy,
            None if cpu.iowait_count > 0 => &mut times.iowait,
            None => &mut times.idle,
        };
        *slot = *slot + period;
    }
}
