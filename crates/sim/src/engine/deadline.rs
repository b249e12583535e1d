//! Deadline tasks: a reserved time in each period, and the earliest deadline first.
//!
//! ```text
//!   b          = runtime / period                       bandwidth, in 2^-20
//!   wakes up   : a new period where the old one is over, or runtime / (deadline - now) > runtime / deadline
//!   runs       : runtime left -= time * frequency * capacity    in parts of the largest and fastest
//!   none left  : it is throttled until its next period, which is when it gets the time again
//!   sleeps     : b counts for cpufreq until deadline - left / b, when what it has left is forfeit
//! ```
//! What is left is looked at by the tick, and whenever the task gives up its CPU: so it may run longer, by up to a
//! tick, which the next period pays for.

use super::cpu::Cpu;
use super::task::{State, Task};
use super::{Machine, server};
use crate::observe::Observer;
use crate::setup::Class;
use flyball_governors::UtilFlags;
use flyball_pelt::{CAPACITY_SCALE, CpuSpeed, scale_time};

/// Bits of a bandwidth.
const BANDWIDTH_SHIFT: u32 = 20;

/// What the kernel drops of times before it multiplies two.
const COARSE: u32 = 10;

/// A part of a CPU, as the kernel rounds it.
pub(super) const fn bandwidth(runtime: u64, period: u64) -> u64 {
    let period = if period == 0 { 1 } else { period };
    (((runtime as u128) << BANDWIDTH_SHIFT) / period as u128) as u64
}

/// What a CPU's server reserves for fair tasks.
const FOR_FAIR: u64 = bandwidth(server::RUNTIME, server::PERIOD);

/// The same on the capacity scale.
pub const RESERVED_FOR_FAIR: u32 = utilization(FOR_FAIR);

/// A bandwidth on the capacity scale.
const fn utilization(bandwidth: u64) -> u32 {
    ((bandwidth * CAPACITY_SCALE as u64) >> BANDWIDTH_SHIFT) as u32
}

impl Cpu {
    /// What is reserved of it, on the capacity scale, as cpufreq sees it at `now`.
    #[inline]
    pub(super) fn reserved(&self, now: u64) -> u32 {
        // The server of fair tasks stays for a period after the last of them.
        let serves = |at: u64| (self.fair_count > 0) | (now.wrapping_sub(at) < server::PERIOD);
        let for_fair = if self.fair_at.is_some_and(serves) { FOR_FAIR } else { 0 };
        utilization(self.dl_bandwidth + for_fair)
    }
}

/// What a deadline task has reserved, and how much of it is left.
pub(super) struct Budget {
    /// Time in each period, in ns.
    runtime: u64,
    /// From the beginning of a period to its deadline, in ns.
    relative: u64,
    /// In ns.
    period: u64,
    bandwidth: u64,
    /// What is left of this period's time; below 0 what was overrun.
    left: i64,
    /// When this period's time has to be over.
    deadline: u64,
    /// Whether it waits for its next period.
    throttled: bool,
    /// Whether that has begun, and its timer's interrupt is on the way to it.
    begins: bool,
    /// Whether it has not run since that pushed it to a CPU.
    pushed: bool,
    /// The CPU whose bandwidth its own is part of.
    counts_on: Option<usize>,
    /// When its next period begins, or what it has left is forfeit; `u64::MAX`: neither.
    timer: u64,
    /// Whether the machine's timers have one for it, for `timer` or earlier.
    timed: bool,
    /// How often it was throttled.
    throttles: u64,
}

impl Budget {
    /// Of a class; None of the others.
    pub(super) fn of(class: Class) -> Option<Box<Budget>> {
        let Class::Deadline { runtime, deadline, period } = class else { return None };
        Some(Box::new(Budget {
            runtime: runtime.0,
            relative: deadline.0,
            period: period.0,
            bandwidth: bandwidth(runtime.0, period.0),
            left: 0,
            deadline: 0,
            throttled: false,
            begins: false,
            pushed: false,
            counts_on: None,
            timer: u64::MAX,
            timed: false,
            throttles: 0,
        }))
    }

    /// When this period's time has to be over.
    pub(super) fn deadline(&self) -> u64 {
        self.deadline
    }

    /// The part of a CPU that it has reserved.
    pub(super) fn bandwidth(&self) -> u64 {
        self.bandwidth
    }

    /// How often it had to wait for its next period.
    pub(super) fn throttles(&self) -> u64 {
        self.throttles
    }

    /// Whether a CPU of this capacity has done its work by the deadline.
    pub(super) fn fits(&self, capacity: u32) -> bool {
        scale_time(self.relative, CpuSpeed { capacity, frequency_scale: CAPACITY_SCALE })
            >= self.runtime
    }

    fn begin_period(&mut self, now: u64) {
        self.deadline = now + self.relative;
        self.left = self.runtime as i64;
    }

    fn next_period(&self) -> u64 {
        self.deadline - self.relative + self.period
    }

    /// Gives it the time of its next period, less what it overran.
    fn replenish(&mut self, now: u64) {
        while self.left <= 0 {
            self.deadline += self.period;
            self.left += self.runtime as i64;
        }
        if self.deadline < now {
            self.begin_period(now);
        }
    }

    /// Whether what is left until the deadline is more than it has reserved in such a time.
    fn overflows(&self, now: u64) -> bool {
        let coarse = |time: u64| u128::from(time >> COARSE);
        let left = coarse(self.left.max(0) as u64) * coarse(self.relative);
        left > coarse(self.deadline - now) * coarse(self.runtime)
    }

    /// It wakes up. Whether it may run; else it waits for its next period.
    fn wake(&mut self, now: u64) -> bool {
        let implicit = self.relative == self.period;
        let began = self.deadline > 0;
        if !implicit && began && self.deadline < now && now < self.next_period() {
            self.left = self.left.min(0);
            return false;
        }
        if !began || self.deadline < now {
            self.begin_period(now);
        } else if self.overflows(now) {
            if implicit {
                self.begin_period(now);
            } else {
                let density = bandwidth(self.runtime, self.relative);
                let laxity = u128::from(self.deadline - now);
                self.left = ((u128::from(density) * laxity) >> BANDWIDTH_SHIFT) as i64;
            }
        }
        true
    }

    /// When what it has left, if it does not run, is what it would have had anyway.
    fn zero_lag(&self) -> u64 {
        let worth = self.left.max(0) as u128 * u128::from(self.period) / u128::from(self.runtime);
        self.deadline.saturating_sub(worth as u64)
    }
}

impl Task {
    /// Whether it is pushed to a CPU, and has not run there yet.
    pub(super) fn is_pushed(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.pushed)
    }

    /// The same once it runs: the CPU then reads its clock for it.
    pub(super) fn was_pushed(&mut self) -> bool {
        self.budget.as_mut().is_some_and(|budget| std::mem::take(&mut budget.pushed))
    }

    /// Whether it has run for all of its time.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.left <= 0)
    }
}

impl Machine {
    /// Takes from the running deadline task what it ran; its CPU's clock is up to date.
    pub(super) fn charge(&mut self, t: usize, c: usize) {
        let (task, cpu) = (&mut self.tasks[t], &self.cpus[c]);
        let ran = cpu.clock.clock_task().wrapping_sub(task.exec_start);
        task.exec_start = cpu.clock.clock_task();
        if let Some(budget) = &mut task.budget {
            budget.left -= scale_time(ran, cpu.speed()) as i64;
        }
    }

    /// A task joins CPU `c`, `woken` or moved there. Whether it may run; else it waits for its next period.
    pub(super) fn may_run<O: Observer>(
        &mut self,
        t: usize,
        c: usize,
        woken: bool,
        observer: &mut O,
    ) -> bool {
        self.count_bandwidth(t, Some(c), observer);
        let now = self.now;
        let Some(budget) = self.tasks[t].budget.as_mut().filter(|_| woken) else { return true };
        if budget.throttled {
            return false;
        }
        budget.timer = u64::MAX;
        let runs = budget.wake(now);
        if !runs {
            self.await_period(t);
        }
        runs
    }

    /// A deadline task has gone to sleep or has ended: its bandwidth counts as long as the time that it has left is worth
    /// something.
    pub(super) fn stop_contending<O: Observer>(&mut self, t: usize, observer: &mut O) {
        let (now, ended) = (self.now, self.tasks[t].state == State::Ended);
        if !ended && self.tasks[t].is_exhausted() && self.await_period(t) {
            return;
        }
        let Some(budget) = &mut self.tasks[t].budget else { return };
        let until = budget.zero_lag();
        if until <= now || ended {
            budget.timer = u64::MAX;
            self.count_bandwidth(t, None, observer);
        } else {
            budget.timer = until;
            self.set_budget_timer(t);
        }
    }

    /// A deadline task that has run for all of its time waits for its next period. Whether that is still to come: else it
    /// has the time of it.
    pub(super) fn await_period(&mut self, t: usize) -> bool {
        let now = self.now;
        let Some(budget) = &mut self.tasks[t].budget else { return false };
        let next = budget.next_period();
        if next <= now {
            budget.replenish(now);
            return false;
        }
        budget.throttled = true;
        budget.throttles += 1;
        budget.timer = next;
        self.set_budget_timer(t);
        true
    }

    fn set_budget_timer(&mut self, t: usize) {
        // Times only grow, so one that is set comes in time to be set again.
        let number = t + self.tasks.len();
        if let Some(budget) = self.tasks[t].budget.as_mut().filter(|budget| !budget.timed) {
            budget.timed = true;
            self.timers.insert(budget.timer, number);
            self.requeue_timers();
        }
    }

    /// The timer of a deadline task expired: its next period begins, or what it had left is forfeit.
    pub(super) fn budget_event<O: Observer>(&mut self, t: usize, observer: &mut O) {
        let (now, way) = (self.now, self.cpu_time(self.tasks[t].cpu, self.paths.period));
        let Some(budget) = &mut self.tasks[t].budget else { return };
        budget.timed = false;
        if budget.timer <= now && budget.throttled && way > 0 {
            budget.begins = !budget.begins;
            if budget.begins {
                budget.timer = now + way;
            }
        }
        if budget.timer > now {
            if budget.timer != u64::MAX {
                self.set_budget_timer(t);
            }
            return;
        }
        budget.timer = u64::MAX;
        if std::mem::take(&mut budget.throttled) {
            budget.replenish(now);
            match self.tasks[t].state {
                State::Runnable => self.begin_elsewhere(t, observer),
                _ => self.stop_contending(t, observer),
            }
        } else {
            self.count_bandwidth(t, None, observer);
        }
    }

    /// A deadline task has the time of its next period: as whoever waits it is pushed away from its CPU, also where
    /// nothing runs there.
    fn begin_elsewhere<O: Observer>(&mut self, t: usize, observer: &mut O) {
        let from = self.tasks[t].cpu;
        let to = self.next_free(t, from).unwrap_or(from);
        if let Some(budget) = &mut self.tasks[t].budget {
            budget.pushed = true;
        }
        if to != from {
            self.note_migration(t, from, to, observer);
            self.caller = Some(from);
        }
        self.join(t, to, false, observer);
    }

    /// A CPU without deadline tasks beside `from` that is large enough, of the same clock domain before others: they take
    /// turns, each CPU with turns of its own (`cpumask_any_and_distribute`).
    fn next_free(&mut self, t: usize, from: usize) -> Option<usize> {
        let Task { budget, allowed, .. } = &self.tasks[t];
        let budget = budget.as_ref()?;
        let (domain, last) = (self.cpus[from].domain, self.cpus[from].pushed_to);
        let is_free = |c: usize| {
            let cpu = &self.cpus[c];
            c != from && allowed.has(c) && cpu.dl_count == 0 && budget.fits(cpu.capacity)
        };
        let cpus = self.cpus.len();
        let in_turn = || (1..=cpus).map(|step| (last + step) % cpus).filter(|&c| is_free(c));
        let near = in_turn().find(|&c| self.cpus[c].domain == domain);
        let next = near.or_else(|| in_turn().next())?;
        self.cpus[from].pushed_to = next;
        Some(next)
    }

    /// The bandwidth of a deadline task counts on CPU `to` from now on, or nowhere; cpufreq is asked where it changes.
    pub(super) fn count_bandwidth<O: Observer>(
        &mut self,
        t: usize,
        to: Option<usize>,
        observer: &mut O,
    ) {
        let Some(budget) = &mut self.tasks[t].budget else { return };
        let bandwidth = budget.bandwidth;
        let from = std::mem::replace(&mut budget.counts_on, to);
        if from == to {
            return;
        }
        if let Some(c) = from {
            self.cpus[c].dl_bandwidth -= bandwidth;
            self.cpus[c].stale = true;
            self.ask(c, UtilFlags::default(), observer);
        }
        if let Some(c) = to {
            self.cpus[c].dl_bandwidth += bandwidth;
            self.cpus[c].stale = true;
            self.ask(c, UtilFlags::default(), observer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_units::Nanos;

    const MS: u64 = 1_000_000;

    fn budget(runtime: u64, deadline: u64, period: u64) -> Box<Budget> {
        let [runtime, deadline, period] = [runtime, deadline, period].map(|ms| Nanos(ms * MS));
        Budget::of(Class::Deadline { runtime, deadline, period }).unwrap()
    }

    #[test]
    fn a_wake_up_begins_a_period_where_the_rest_is_too_much() {
        let mut it = budget(5, 20, 20);
        assert!(it.wake(100 * MS));
        assert_eq!((it.deadline, it.left), (120 * MS, 5 * MS as i64));
        // 3 ms of 12: exactly its bandwidth. 3 of 11 is more.
        it.left = 3 * MS as i64;
        assert!(it.wake(108 * MS) && it.deadline == 120 * MS);
        assert!(it.wake(109 * MS) && it.deadline == 129 * MS);
        assert_eq!(it.left, 5 * MS as i64);
    }

    #[test]
    fn an_overrun_is_paid_for() {
        let mut it = budget(5, 20, 20);
        it.wake(0);
        it.wake(100 * MS);
        it.left = -7 * MS as i64;
        it.replenish(120 * MS);
        assert_eq!((it.deadline, it.left), (160 * MS, 3 * MS as i64));
    }

    #[test]
    fn what_is_left_is_worth_something_until_the_zero_lag() {
        let mut it = budget(5, 20, 20);
        it.wake(100 * MS);
        it.left = 2 * MS as i64;
        assert_eq!(it.zero_lag(), 112 * MS);
    }

    #[test]
    fn after_a_deadline_before_the_period_it_waits() {
        let mut it = budget(5, 10, 20);
        assert!(it.wake(100 * MS));
        assert_eq!((it.deadline, it.next_period()), (110 * MS, 120 * MS));
        // 4 ms in 5: half of that is its density.
        it.left = 4 * MS as i64;
        assert!(it.wake(105 * MS));
        assert_eq!((it.deadline, it.left), (110 * MS, 2_500_000));
        assert!(!it.wake(111 * MS));
        assert!(it.left <= 0);
        it.replenish(120 * MS);
        assert_eq!((it.deadline, it.left), (130 * MS, 5 * MS as i64));
    }
}
