//! Control groups: the time that tasks may run together in each period, and what a group's weight leaves for each.
//!
//! ```text
//!   a CPU takes time from its group's quota, 5 ms at once; where none is left the group's tasks wait there for the next
//!   period, which begins with the quota, and what earlier ones have saved, up to the burst
//!   when the last of its tasks there sleeps, a CPU gives back what it has but for 1 ms
//!
//!   w_t    = own_t * shares / W_c                      W_c: sum of the own weights on CPU c
//!   shares = S * L_c / (sum(l) - l_c + L_c)            L_c = max(W_c, l_c), l_c: the group's load_avg on CPU c
//!   S      = cpu.weight * 1024 / 100                   from 7.3 on for each runnable task, up to the CPUs
//! ```
//! The weights `w_t` of all tasks on a CPU are compared with each other, as in 7.3. Earlier kernels compare groups with
//! each other first and then the tasks of one: the same shares of the time, in another order.
//!
//! Source: Documentation/scheduler/sched-bwc.rst, and the constants that it names.

use super::{CgroupSummary, LimitSummary, Machine};
use crate::observe::Observer;
use crate::setup::{Bandwidth, Cgroup as CgroupSetup};
use flyball_pelt::{CAPACITY_SCALE, QueueLoad, SchedAvg};
use flyball_units::{KernelRule, Nanos};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a CPU takes of the quota at once, in ns (`sched_cfs_bandwidth_slice_us`).
const SLICE: u64 = 5_000_000;

/// What a CPU keeps of its time when the last of the group's tasks there sleeps, in ns.
const KEPT: i64 = 1_000_000;

/// How long what was given back is gathered before those who wait get it, in ns.
const SLACK_PERIOD: u64 = 5_000_000;

/// So near to the next period nobody is given anything any more, in ns.
const NEAR_PERIOD: u64 = 2_000_000;

/// The least weight.
const MIN_SHARES: u64 = 2;

/// A control group.
pub(super) struct Cgroup {
    name: String,
    /// Its weight on the scale of tasks.
    shares: u64,
    quota: Option<Quota>,
    /// Per CPU.
    on: Vec<OnCpu>,
}

/// Its limit, and what is left of it.
struct Quota {
    limit: Bandwidth,
    left: u64,
    /// When a period begins, from the beginning.
    phase: u64,
    /// When the next one does; `u64::MAX` while nobody needs it.
    next: u64,
    /// Whether nobody took anything in this period so far.
    idle: bool,
    /// When what was given back goes to those who wait; `u64::MAX`: nothing was.
    slack_at: u64,
    /// The CPUs on which its tasks wait, in order.
    throttled: Vec<usize>,
    periods: u64,
    throttled_periods: u64,
    throttled_time: u64,
}

/// A group on one CPU.
#[derive(Clone, Copy)]
struct OnCpu {
    /// Time that it has there, in ns; below 0 what it ran too long.
    left: i64,
    /// Since when its tasks there wait; `u64::MAX`: they need not.
    throttled_since: u64,
    /// The CPU's load tracking's time then.
    clock_then: u64,
    /// Its runnable tasks there, also those that wait for the next period.
    runnable: u32,
    /// The sum of their own weights.
    weight: u64,
    /// Their load, as its shares are told.
    avg: SchedAvg,
}

impl OnCpu {
    const NOTHING: OnCpu = OnCpu {
        left: 0,
        throttled_since: u64::MAX,
        clock_then: 0,
        runnable: 0,
        weight: 0,
        avg: SchedAvg::starting_at(0),
    };

    fn is_throttled(&self) -> bool {
        self.throttled_since != u64::MAX
    }
}

impl Quota {
    /// The whole quota, and periods that begin anywhere, as the kernel begins them.
    fn new(limit: Bandwidth, seed: u64, cpus: usize) -> Quota {
        let phase = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64() % limit.period.0;
        Quota {
            limit,
            left: limit.quota.0,
            phase,
            next: u64::MAX,
            idle: false,
            slack_at: u64::MAX,
            throttled: Vec::with_capacity(cpus),
            periods: 0,
            throttled_periods: 0,
            throttled_time: 0,
        }
    }

    /// The first beginning of a period after `now`.
    fn after(&self, now: u64) -> u64 {
        let (period, phase) = (self.limit.period.0, self.phase);
        phase + ((now + period - phase) / period) * period
    }
}

impl Cgroup {
    pub(super) fn new(number: usize, from: CgroupSetup, seed: u64, cpus: usize) -> Cgroup {
        // Far apart for neighbours.
        let seed = seed ^ (number as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Cgroup {
            name: from.name,
            // To the nearest.
            shares: (u64::from(from.weight) * 1024 + 50) / 100,
            quota: from.bandwidth.map(|limit| Quota::new(limit, seed, cpus)),
            on: vec![OnCpu::NOTHING; cpus],
        }
    }

    /// The totals at `now`; its tasks ran so long together.
    pub(super) fn summary(&self, now: u64, running: Nanos) -> CgroupSummary {
        let since =
            self.on.iter().filter(|on| on.is_throttled()).map(|on| now - on.throttled_since);
        let waiting: u64 = since.sum();
        let limit = self.quota.as_ref().map(|quota| LimitSummary {
            periods: quota.periods,
            throttled_periods: quota.throttled_periods,
            throttled: Nanos(quota.throttled_time + waiting),
        });
        CgroupSummary { name: self.name.clone(), running, limit }
    }

    /// Whether it limits how long its tasks run.
    pub(super) fn is_limited(&self) -> bool {
        self.quota.is_some()
    }

    /// The weight of the group on CPU `c`, on the scale of tasks.
    fn shares_on(&self, c: usize, concurrent: bool) -> u64 {
        let on = &self.on[c];
        let load = on.weight.max(on.avg.load_avg());
        let elsewhere: u64 =
            self.on.iter().map(|on| on.avg.load_avg()).sum::<u64>() - on.avg.load_avg();
        let tasks = match concurrent {
            true => {
                let runnable: u64 = self.on.iter().map(|on| on.avg.runnable_avg()).sum();
                (runnable / u64::from(CAPACITY_SCALE)).clamp(1, self.on.len() as u64)
            }
            false => 1,
        };
        let all = self.shares * tasks;
        // Both are 0 where nobody was ever runnable.
        let part = (all * load).checked_div(elsewhere + load).unwrap_or(all);
        part.clamp(MIN_SHARES, all.max(MIN_SHARES))
    }
}

impl Machine {
    /// A task becomes runnable on CPU `c`, in group `g`: its weight is what that leaves for it.
    #[cold]
    pub(super) fn join_cgroup(&mut self, t: usize, g: usize, c: usize) {
        self.age_cgroup(g, c);
        let on = &mut self.cgroups[g].on[c];
        on.runnable += 1;
        on.weight += u64::from(self.tasks[t].own_weight);
        let weight = self.weight_in(g, t, c);
        self.tasks[t].weight = weight;
        self.reweigh(g, c);
    }

    /// A task is not runnable on CPU `c` any more.
    #[inline]
    pub(super) fn leave_cgroup<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        if let Some(g) = self.tasks[t].cgroup {
            self.leave(t, g, c, observer);
        }
    }

    #[cold]
    fn leave<O: Observer>(&mut self, t: usize, g: usize, c: usize, observer: &mut O) {
        self.age_cgroup(g, c);
        let on = &mut self.cgroups[g].on[c];
        on.runnable -= 1;
        on.weight -= u64::from(self.tasks[t].own_weight);
        if on.runnable == 0 {
            self.give_back(g, c);
        }
        self.reweigh(g, c);
        if self.is_out_of_time(t, c) {
            self.throttle_cgroup(g, c, observer);
        }
    }

    /// Brings the load of group `g` on CPU `c` up to date.
    fn age_cgroup(&mut self, g: usize, c: usize) {
        let cpu = &self.cpus[c];
        let running = cpu.current.is_some_and(|t| self.tasks[t].cgroup == Some(g));
        let on = &mut self.cgroups[g].on[c];
        if on.is_throttled() {
            return;
        }
        let load = QueueLoad { load: on.weight, runnable: on.runnable.into(), running };
        on.avg.update(cpu.clock.now(), load);
    }

    /// The load of groups that have nothing to do on CPU `c` decays.
    pub(super) fn age_cgroups(&mut self, c: usize) {
        for g in 0..self.cgroups.len() {
            self.age_cgroup(g, c);
        }
    }

    /// A tick of CPU `c`, on which a task of group `g` runs.
    #[cold]
    pub(super) fn tick_cgroup(&mut self, g: usize, c: usize) {
        self.age_cgroup(g, c);
        self.reweigh(g, c);
    }

    /// What its group leaves for a task on CPU `c`.
    fn weight_in(&self, g: usize, t: usize, c: usize) -> u32 {
        let group = &self.cgroups[g];
        let shares = group.shares_on(c, self.rules.has(KernelRule::ConcurrentShares));
        let own = u64::from(self.tasks[t].own_weight);
        let part = own * shares / group.on[c].weight.max(1);
        // A weight of 10000 on 4096 CPUs is 4e8.
        part.max(MIN_SHARES) as u32
    }

    /// The tasks of group `g` in the queue of CPU `c` have the weights that they have now: how far each is ahead of the
    /// others, in time, stays.
    fn reweigh(&mut self, g: usize, c: usize) {
        for at in 0..=self.cpus[c].fair.len() {
            let cpu = &self.cpus[c];
            let Some(t) = cpu.fair.get(at).copied().or(cpu.current) else { continue };
            if self.tasks[t].cgroup != Some(g) || !self.tasks[t].is_fair() {
                continue;
            }
            let (old, new) = (self.tasks[t].weight, self.weight_in(g, t, c));
            if old == new {
                continue;
            }
            if !self.rules.has(KernelRule::Cfs) {
                let average = self.average_vruntime(c);
                let scaled =
                    |time: i64| (i128::from(time) * i128::from(old) / i128::from(new)) as i64;
                let task = &mut self.tasks[t];
                let left = scaled(task.deadline - task.vruntime);
                task.vruntime = average - scaled(average - task.vruntime);
                task.deadline = task.vruntime + left;
            }
            self.tasks[t].weight = new;
            let cpu = &mut self.cpus[c];
            cpu.weight = cpu.weight + u64::from(new) - u64::from(old).min(cpu.weight);
        }
    }

    /// The running task of CPU `c` has run for so long, which the time of its group pays.
    pub(super) fn charge_cgroup(&mut self, t: usize, c: usize, ran: u64) {
        let Some(g) = self.tasks[t].cgroup else { return };
        let group = &mut self.cgroups[g];
        let on = &mut group.on[c];
        if group.quota.is_none() {
            return;
        }
        on.left -= ran as i64;
        if on.left <= 0 && !on.is_throttled() && !self.take_time(g, c, SLICE) {
            self.pending.push(c);
        }
    }

    /// Takes time of the quota, so that CPU `c` has `target` where there is so much. Whether it has some.
    fn take_time(&mut self, g: usize, c: usize, target: u64) -> bool {
        let group = &mut self.cgroups[g];
        let on = &mut group.on[c];
        let Some(quota) = &mut group.quota else { return true };
        if quota.left > 0 {
            let wanted = (target as i64 - on.left).max(0) as u64;
            let taken = wanted.min(quota.left);
            quota.left -= taken;
            quota.idle = false;
            on.left += taken as i64;
        }
        let has_some = on.left > 0;
        if quota.next == u64::MAX {
            quota.next = quota.after(self.now);
            let at = quota.next;
            self.set_cgroup_timer(g, false, at);
        }
        has_some
    }

    /// Whether a task's group has no time for it on CPU `c`.
    #[inline]
    pub(super) fn is_out_of_time(&self, t: usize, c: usize) -> bool {
        let Some(g) = self.tasks[t].cgroup else { return false };
        let group = &self.cgroups[g];
        group.quota.is_some() && group.on[c].left <= 0 && self.tasks[t].is_fair()
    }

    /// Whether a task would wait on CPU `c` for its group's next period.
    #[inline]
    pub(super) fn is_throttled_on(&self, t: usize, c: usize) -> bool {
        self.tasks[t].cgroup.is_some_and(|g| self.cgroups[g].on[c].is_throttled())
    }

    /// A task becomes runnable on CPU `c`, as the first of its group: without time it has to wait at once.
    #[cold]
    pub(super) fn begin_cgroup<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        let Some(g) = self.tasks[t].cgroup.filter(|_| self.is_out_of_time(t, c)) else { return };
        if self.cgroups[g].on[c].is_throttled() || self.cgroups[g].on[c].runnable > 1 {
            return;
        }
        let target = if self.rules.has(KernelRule::ThrottleByTask) { 1 } else { SLICE };
        if !self.take_time(g, c, target) {
            self.throttle_cgroup(g, c, observer);
        }
    }

    /// A fair task that waits on CPU `c` is to run. Whether it may not, as its group has no time there: then it waits for
    /// the next period.
    #[inline]
    pub(super) fn hold_back<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) -> bool {
        match self.tasks[t].cgroup {
            Some(g) => self.hold_back_in(t, g, c, observer),
            None => false,
        }
    }

    #[cold]
    fn hold_back_in<O: Observer>(
        &mut self,
        t: usize,
        g: usize,
        c: usize,
        observer: &mut O,
    ) -> bool {
        if !self.is_out_of_time(t, c) {
            return false;
        }
        if !self.throttle_cgroup(g, c, observer) {
            return false;
        }
        if self.rules.has(KernelRule::ThrottleByTask) {
            self.park(t, c, observer);
        }
        true
    }

    /// The tasks of group `g` on CPU `c` are to wait for the next period, unless there is some time left after all. Whether
    /// they do.
    fn throttle_cgroup<O: Observer>(&mut self, g: usize, c: usize, observer: &mut O) -> bool {
        if self.cgroups[g].on[c].is_throttled() {
            return true;
        }
        if self.take_time(g, c, 1) {
            return false;
        }
        self.age_cgroup(g, c);
        let group = &mut self.cgroups[g];
        group.on[c].throttled_since = self.now;
        group.on[c].clock_then = self.cpus[c].clock.now();
        if let Some(quota) = &mut group.quota {
            quota.throttled.push(c);
        }
        if !self.rules.has(KernelRule::ThrottleByTask) {
            let waits = |machine: &Machine| {
                let mut fair = machine.cpus[c].fair.iter().copied();
                fair.find(|&t| machine.tasks[t].cgroup == Some(g))
            };
            while let Some(t) = waits(self) {
                self.park(t, c, observer);
            }
        }
        true
    }

    /// A task that waits on CPU `c` waits for its group's next period from now on, outside of the queue.
    fn park<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        self.cpus[c].touch(self.now);
        self.keep_lag(t, c);
        self.load_hold(t, c, observer);
        if let Some(at) = self.cpus[c].fair.iter().position(|&other| other == t) {
            self.take_from_queue(c, at);
        }
        let cpu = &mut self.cpus[c];
        cpu.parked.push(t);
        self.tasks[t].parked_at = cpu.clock.now();
    }

    /// A task becomes runnable on CPU `c`, where its group waits for the next period: it does so, too.
    pub(super) fn park_at_once(&mut self, t: usize, c: usize) {
        let then = self.tasks[t].cgroup.map_or(0, |g| self.cgroups[g].on[c].clock_then);
        let (cpu, task) = (&mut self.cpus[c], &mut self.tasks[t]);
        task.in_iowait = false;
        cpu.util_est.enqueue(task.util_est);
        cpu.stale = true;
        cpu.parked.push(t);
        // Its signals decay as long as it slept before the group's time stopped.
        task.parked_at = then.max(task.avg.last_update());
    }

    /// A task that waited for its group's next period is in the queue of CPU `c` again.
    fn unpark<O: Observer>(&mut self, t: usize, c: usize, observer: &mut O) {
        self.cpus[c].touch(self.now);
        self.call_simply(c);
        let stopped = self.cpus[c].clock.now().saturating_sub(self.tasks[t].parked_at);
        if self.tasks[t].attached {
            self.tasks[t].avg.postpone(stopped);
        }
        if self.cpus[c].current.is_some_and(|current| self.tasks[current].is_fair()) {
            self.update_current(c);
        }
        self.place_virtually(t, c, false, false);
        self.load_resume(t, c, observer);
        self.queue_task(t, c, false);
        self.look_again(t, c, observer);
    }

    /// The tasks of group `g` on CPU `c` may run again.
    fn unthrottle_cgroup<O: Observer>(&mut self, g: usize, c: usize, observer: &mut O) {
        self.cpus[c].touch(self.now);
        let clock = self.cpus[c].clock.now();
        let group = &mut self.cgroups[g];
        let on = &mut group.on[c];
        let waited = self.now - on.throttled_since;
        on.throttled_since = u64::MAX;
        on.avg.postpone(clock.saturating_sub(on.clock_then));
        if let Some(quota) = &mut group.quota {
            quota.throttled_time += waited;
            quota.throttled.retain(|&other| other != c);
        }
        let waits = |machine: &Machine| {
            let mut parked = machine.cpus[c].parked.iter();
            parked.position(|&t| machine.tasks[t].cgroup == Some(g))
        };
        while let Some(at) = waits(self) {
            let t = self.cpus[c].parked.remove(at);
            self.unpark(t, c, observer);
        }
        self.reweigh(g, c);
    }

    /// What is left of the quota goes to the CPUs on which tasks wait, as much as each needs to run at all.
    fn distribute<O: Observer>(&mut self, g: usize, observer: &mut O) {
        let mut from = 0;
        loop {
            let group = &mut self.cgroups[g];
            let Some(quota) = &mut group.quota else { return };
            let Some(&c) = quota.throttled.get(from).filter(|_| quota.left > 0) else { return };
            let on = &mut group.on[c];
            let needed = (1 - on.left).max(0) as u64;
            let given = needed.min(quota.left);
            quota.left -= given;
            on.left += given as i64;
            if on.left > 0 {
                self.unthrottle_cgroup(g, c, observer);
            } else {
                from += 1;
            }
        }
    }

    /// CPU `c` has no task of group `g` any more: what it has of its time goes back.
    fn give_back(&mut self, g: usize, c: usize) {
        let group = &mut self.cgroups[g];
        let on = &mut group.on[c];
        let Some(quota) = &mut group.quota else { return };
        let spare = on.left - KEPT;
        if spare <= 0 {
            return;
        }
        quota.left += spare as u64;
        on.left -= spare;
        let is_soon = quota.next.saturating_sub(self.now) < SLACK_PERIOD + NEAR_PERIOD;
        let waits = quota.left > SLICE && !quota.throttled.is_empty();
        if waits && !is_soon && quota.slack_at == u64::MAX {
            quota.slack_at = self.now + SLACK_PERIOD;
            let at = quota.slack_at;
            self.set_cgroup_timer(g, true, at);
        }
    }

    fn set_cgroup_timer(&mut self, g: usize, is_slack: bool, at: u64) {
        // After those of tasks and of their budgets.
        let number = 2 * self.tasks.len() + 2 * g + usize::from(is_slack);
        self.timers.insert(at, number);
        self.requeue_timers();
    }

    /// A timer of a group expired: a period begins, or what was given back is given out.
    pub(super) fn cgroup_event<O: Observer>(&mut self, number: usize, observer: &mut O) {
        let (g, is_slack) = (number / 2, number % 2 == 1);
        match is_slack {
            true => self.give_slack(g, observer),
            false => self.begin_period(g, observer),
        }
    }

    fn give_slack<O: Observer>(&mut self, g: usize, observer: &mut O) {
        let Some(quota) = &mut self.cgroups[g].quota else { return };
        quota.slack_at = u64::MAX;
        let is_soon = quota.next.saturating_sub(self.now) < NEAR_PERIOD;
        if !is_soon && quota.left > SLICE {
            self.distribute(g, observer);
        }
    }

    fn begin_period<O: Observer>(&mut self, g: usize, observer: &mut O) {
        let Some(quota) = &mut self.cgroups[g].quota else { return };
        let Bandwidth { quota: time, burst, .. } = quota.limit;
        quota.periods += 1;
        quota.left = (quota.left + time.0).min(time.0 + burst.0);
        let waits = !quota.throttled.is_empty();
        if quota.idle && !waits {
            quota.next = u64::MAX;
            return;
        }
        quota.idle = !waits;
        quota.next = quota.after(self.now);
        let at = quota.next;
        if waits {
            quota.throttled_periods += 1;
            self.distribute(g, observer);
        }
        self.set_cgroup_timer(g, false, at);
    }

    /// The totals of the groups.
    pub(super) fn cgroup_summaries(&self) -> Vec<CgroupSummary> {
        let running = |g: usize| {
            let own = self.tasks.iter().filter(|task| task.cgroup == Some(g));
            Nanos(own.map(|task| task.totals.running).sum())
        };
        self.cgroups
            .iter()
            .enumerate()
            .map(|(g, group)| group.summary(self.now, running(g)))
            .collect()
    }
}
