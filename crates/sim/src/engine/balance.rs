//! Load balancing: misfits, idle CPUs that look for work, and busy CPUs that each look at their core and
//! then at the machine.

use super::Machine;
use super::cpu::{BalanceLevel, Cpu};
use super::new_idle::{MIGRATION_COST, Reach};
use crate::observe::Observer;
use crate::setup::Placement;
use flyball_pelt::{Fit, capacity_greater};
use std::cmp::Ordering;

/// How often an idle CPU balances among so many CPUs, per CPU, in ns; twice that where it finds nothing to do.
const BALANCE_INTERVAL: u64 = 1_000_000;

/// How many times as long a busy CPU waits (`busy_factor`).
const BUSY_FACTOR: u64 = 16;

/// The groups of CPUs that CPU `c` balances with: its core, where that has several, its cluster, where that is more than its core
/// and less than the machine, and the machine. Clusters are taken to be those of a clock.
pub(super) fn levels(
    c: usize,
    siblings: &[usize],
    (cluster, cpus): (&[usize], usize),
    tick: u64,
) -> Vec<BalanceLevel> {
    let core = siblings.to_vec();
    let machine: Vec<usize> = (0..cpus).filter(|&other| other != c).collect();
    let mut cluster: Vec<usize> = cluster.iter().copied().filter(|&other| other != c).collect();
    if cluster.len() <= core.len() || cluster.len() >= machine.len() {
        cluster.clear();
    }
    let level = |others: Vec<usize>| {
        let least = BALANCE_INTERVAL * (others.len() as u64 + 1);
        let ticks = |time: u64| time.div_ceil(tick);
        // A busy CPU looks a tick earlier, so that groups do not keep step.
        let busy = |interval| (ticks(interval * BUSY_FACTOR) - 1).max(1) * tick;
        BalanceLevel {
            idle_periods: [least, 2 * least].map(|interval| ticks(interval) * tick),
            busy_periods: [least, 2 * least].map(busy),
            was_balanced: false,
            looked_at: None,
            others,
            failed: 0,
        }
    };
    [core, cluster, machine].into_iter().filter(|others| !others.is_empty()).map(level).collect()
}

impl BalanceLevel {
    /// From when on a CPU looks again.
    fn due(&self, busy: bool) -> u64 {
        let periods = if busy { &self.busy_periods } else { &self.idle_periods };
        self.looked_at.map_or(0, |at| at + periods[usize::from(self.was_balanced)])
    }
}

/// What CPUs with one cache are used by, or loaded more than others, for the kernel to mind; in percent.
pub(super) const IMBALANCE_PERCENT: u32 = 117;

/// After so many refusals a CPU takes a task that ran just now, too (`cache_nice_tries`).
const HOT_TRIES: u32 = 1;

/// From the tick that finds a misfit to its move, at most, in ns.
const BALANCER_LATENCY: u64 = 1_000_000;

impl Machine {
    /// The part of CPU `c`'s tick that looks at other CPUs.
    pub(super) fn balance_at_tick<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let d = self.cpus[c].domain;
        let before = self.domains[d].asked;
        if self.now >= self.cpus[c].balance_at {
            self.balance(c, observer);
        }
        let asks = self.domains[d].asked != before;
        self.kick(c, asks, observer);
        if !self.cpus[c].fair.is_empty() {
            self.push_to_idle(c, observer);
        } else if !self.cpus[c].siblings.is_empty() {
            self.leave_shared_core(c, observer);
        }
    }

    /// CPU `c` lets its signals decay, which may ask cpufreq, and looks at each group that it balances with and whose
    /// time has come.
    pub(super) fn balance<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.cpus[c].note_capacity();
        self.update_blocked(c, observer);
        self.look_around(c, observer);
    }

    /// CPU `c` looks at each group that it balances with and whose time has come. What idle CPUs take is found elsewhere:
    /// when they go idle, and by those on which tasks wait.
    pub(super) fn look_around<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let now = self.last_tick();
        let busy = !self.cpus[c].is_idle();
        if self.fair_waiting == 0 {
            // Balanced: what it took in vain before is forgotten.
            self.cpus[c].moved_in_vain = 0;
        }
        let mut levels = std::mem::take(&mut self.cpus[c].levels);
        for level in levels.iter_mut().filter(|level| level.due(busy) <= now) {
            if level.others.len() + 1 == self.cpus.len() {
                self.limit_search();
                self.overloaded = self.is_somebody_overloaded();
            }
            let moved = busy && self.pull_from_busiest(c, level, observer);
            level.looked_at = Some(now);
            level.was_balanced = !moved && level.failed == 0;
        }
        let next = levels.iter().map(|level| level.due(busy)).min();
        self.cpus[c].balance_at = next.unwrap_or(u64::MAX);
        self.cpus[c].levels = levels;
    }

    /// CPU `c` goes idle: from now on it balances as often as idle CPUs do.
    fn balance_sooner(&mut self, c: usize) {
        let cpu = &mut self.cpus[c];
        let next = cpu.levels.first().map_or(u64::MAX, |level| level.due(false));
        cpu.balance_at = cpu.balance_at.min(next);
    }

    /// Moves the running task of CPU `c` if it does not fit and a larger CPU is idle. Whether it was
    /// moved.
    ///
    /// The idle balancer that the tick wakes needs a fraction of a millisecond: with ticks up to
    /// [`BALANCER_LATENCY`] apart the task is marked at one and moved at the next, with longer ticks the one that finds
    /// it counts, and how long the platform says that the balancer takes.
    #[inline]
    pub(super) fn handle_misfit<O: Observer>(&mut self, c: usize, observer: &mut O) -> bool {
        if self.capacities_equal {
            return false;
        }
        let marks_alone = self.tick <= BALANCER_LATENCY || self.balancer_latency == 0;
        // There is no larger CPU, and no balancer would look for one.
        if marks_alone && !capacity_greater(self.largest, self.cpus[c].capacity) {
            self.cpus[c].misfit = false;
            return false;
        }
        let Some(t) = self.cpus[c].current else { return false };
        // Also one that is too small for its lower clamp alone.
        if self.fit(&self.tasks[t], c) == Fit::Yes {
            self.cpus[c].misfit = false;
            return false;
        }
        let marked = std::mem::take(&mut self.cpus[c].misfit);
        if self.tick > BALANCER_LATENCY && self.balancer_latency > 0 {
            // A balancer that takes longer than a tick is under way already.
            let cpu = &mut self.cpus[c];
            cpu.move_at = cpu.move_at.min(self.now + self.balancer_latency);
        } else if (marked || self.tick > BALANCER_LATENCY)
            && let Some(to) = self.larger_idle(t, c)
        {
            self.move_task(t, (c, to), c, observer);
            return true;
        }
        let larger = self.larger_allowed(t, c).next().is_some();
        self.cpus[c].misfit = larger;
        false
    }

    /// The balancer has come to the task that runs on CPU `c` and did not fit it.
    pub(super) fn move_misfit<O: Observer>(&mut self, c: usize, observer: &mut O) {
        self.cpus[c].move_at = u64::MAX;
        let misfit = self.cpus[c].current.filter(|&t| self.fit(&self.tasks[t], c) != Fit::Yes);
        if let Some((t, to)) = misfit.and_then(|t| Some((t, self.larger_idle(t, c)?))) {
            self.move_task(t, (c, to), c, observer);
        }
        self.requeue(c);
    }

    fn larger_allowed(&self, t: usize, c: usize) -> impl Iterator<Item = usize> {
        let capacity = self.cpus[c].capacity;
        let task = &self.tasks[t];
        let end = if capacity_greater(self.largest, capacity) { self.cpus.len() } else { 0 };
        (0..end).filter(move |&other| {
            task.allowed.has(other) && capacity_greater(self.cpus[other].capacity_left(), capacity)
        })
    }

    /// The smallest larger idle CPU that the task fits, or else the largest idle one.
    fn larger_idle(&self, t: usize, c: usize) -> Option<usize> {
        let grouped = self.tasks[t].cgroup.is_some();
        let held_back = |other| grouped && self.is_throttled_on(t, other);
        let may = |&other: &usize| self.cpus[other].is_idle() && !held_back(other);
        let idle = self.larger_allowed(t, c).filter(may);
        idle.min_by_key(|&other| {
            let capacity = self.cpus[other].capacity;
            match self.fit(&self.tasks[t], other) {
                Fit::No => (1, 1024 - capacity, other),
                Fit::Almost | Fit::Yes => (0, capacity, other),
            }
        })
    }

    /// Whether the kernel spreads load now: an energy-aware one only where a CPU is overutilised,
    /// and so does consolidating placement.
    fn spreads(&self) -> bool {
        let packs = match self.placement {
            Placement::PreviousOrIdle => false,
            Placement::CapacityAware => self.energy_aware,
            Placement::Consolidating => true,
        };
        !packs || self.overutilized()
    }

    /// A task that waits on CPU `from` and may go to CPU `to`, be that too small for it: waiting is
    /// worse. One that ran just now stays, unless CPU `to` has `failed` to get one before.
    fn movable(&self, (from, to): (usize, usize), failed: u32) -> Option<usize> {
        self.first_movable(from, to, |t| failed > HOT_TRIES || !self.is_hot(t, from, to))
    }

    /// How often CPU `c` has tried in vain to take a task from anywhere (`nr_balance_failed`).
    fn failed(&self, c: usize) -> u32 {
        self.cpus[c].levels.last().map_or(0, |level| level.failed)
    }

    fn first_movable(&self, from: usize, to: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let may =
            |&t: &usize| self.tasks[t].allowed.has(to) && !self.is_throttled_on(t, to) && may(t);
        self.cpus[from].fair.iter().copied().find(|t| may(t) && self.may_cross(*t, from, to))
    }

    /// Whether a task that waits on CPU `from` has run there so short ago that its data is taken to be in its cache (`task_hot`).
    fn is_hot(&self, t: usize, from: usize, to: usize) -> bool {
        let cpu = &self.cpus[from];
        let clock = cpu.clock.clock_task().wrapping_add(self.now - cpu.clock_at);
        clock.wrapping_sub(self.tasks[t].exec_start) < MIGRATION_COST && !cpu.siblings.contains(&to)
    }

    /// Idle CPUs have looked for a task on CPU `c`, and failed if only such are there that ran just now.
    fn note_failure(&mut self, c: usize) {
        let would_take = |&other: &usize| self.first_movable(c, other, |_| true).is_some();
        let refused = self.idle_cpus.from(0).find(would_take);
        if let Some(level) = refused.and_then(|other| self.cpus[other].levels.last_mut()) {
            level.failed = level.failed.saturating_add(1);
        }
    }

    /// Whether a task that waits may go to another cluster: smaller CPUs take one of larger ones only if these are
    /// overloaded, and then only what they have room for, twice as much after each time in vain (`find_busiest_group`,
    /// `calculate_imbalance`).
    fn may_cross(&self, t: usize, from: usize, to: usize) -> bool {
        if self.cpus[to].capacity >= self.cpus[from].capacity {
            return true;
        }
        if !self.is_overloaded(self.cpus[from].domain) {
            return false;
        }
        let (util, capacity) = self.used_of(self.cpus[to].domain);
        let room = capacity.saturating_sub(util);
        let failed = self.cpus[to].moved_in_vain.min(31);
        room == 0 || self.tasks[t].expected_util() >> failed <= room
    }

    /// Whether more tasks are on a cluster's CPUs than there are of these, which have less than they need (`group_is_overloaded`).
    fn is_overloaded(&self, d: usize) -> bool {
        let cpus = || self.domains[d].cpus.iter().map(|&c| &self.cpus[c]);
        let tasks: u32 = cpus().map(Cpu::runnable_count).sum();
        let (util, capacity) = self.used_of(d);
        let runnable: u64 = cpus().map(|cpu| cpu.cfs.runnable_avg()).sum();
        tasks as usize > self.domains[d].cpus.len()
            && (capacity * 100 < util * IMBALANCE_PERCENT
                || u64::from(capacity * IMBALANCE_PERCENT) < runnable * 100)
    }

    /// Utilisation and capacity of a cluster.
    fn used_of(&self, d: usize) -> (u32, u32) {
        let cpus = self.domains[d].cpus.iter().map(|&c| &self.cpus[c]);
        cpus.fold((0, 0), |(util, capacity), cpu| {
            (util + cpu.expected_util().min(cpu.capacity), capacity + cpu.noted_capacity)
        })
    }

    /// Whether a CPU gives a waiting task to others. A single fair one behind a FIFO or deadline task or an interrupt
    /// waits in nobody's eyes (`find_busiest_group` counts fair tasks, and there is one), unless there is more to do than
    /// what those leave has room for; or, where all CPUs are equal, much less than the CPU has.
    fn gives(&self, c: usize) -> bool {
        let cpu = &self.cpus[c];
        if cpu.current.is_none() || cpu.fair.is_empty() {
            return false;
        }
        if cpu.fair.len() > 1 || !self.current_is_urgent(c) {
            return true;
        }
        let left = cpu.noted_capacity;
        let reduced = self.capacities_equal && self.capacity_is_reduced(c);
        reduced
            || left * 100 < cpu.expected_util() * IMBALANCE_PERCENT
            || u64::from(left * IMBALANCE_PERCENT) < cpu.cfs.runnable_avg() * 100
    }

    /// Whether a look at all CPUs finds one with more than one task, or with one that does not fit (`rd->overloaded`).
    fn is_somebody_overloaded(&self) -> bool {
        self.fair_waiting > 0 || self.cpus.iter().any(|cpu| cpu.queued_count() > 1 || cpu.misfit)
    }

    /// Whether tasks of other classes and interrupts leave much less of CPU `c` than it has.
    pub(super) fn capacity_is_reduced(&self, c: usize) -> bool {
        let cpu = &self.cpus[c];
        cpu.noted_capacity * IMBALANCE_PERCENT < cpu.capacity * 100
    }

    /// Idle CPUs of the clock domain of CPU `c`.
    fn idle_beside(&self, c: usize) -> usize {
        let cpus = &self.domains[self.cpus[c].domain].cpus;
        cpus.iter().filter(|&&other| self.cpus[other].is_idle()).count()
    }

    /// New-idle balancing: CPU `c` is about to go idle and takes a task that waits elsewhere, from
    /// where most wait, of its own clock domain first. From another one, where a CPU is idle as well, only if its own has
    /// two more of these, itself included. Whether it got one.
    pub(super) fn pull_when_idle<O: Observer>(&mut self, c: usize, observer: &mut O) -> bool {
        debug_assert_eq!(
            self.fair_waiting,
            self.cpus.iter().map(|cpu| cpu.fair.len()).sum::<usize>(),
            "counted where they come and go"
        );
        self.balance_sooner(c);
        let was_busy = !self.cpus[c].new_idle.is_idle();
        let reach = self.cpus[c].new_idle.begin(self.now);
        if self.overloaded && was_busy && reach != Reach::Nowhere {
            self.overloaded = reach == Reach::Near || self.is_somebody_overloaded();
            self.update_blocked(c, observer);
        }
        let gives = |other| self.gives(other);
        if reach == Reach::Nowhere
            || self.fair_waiting == 0
            || !self.crowded.from(0).any(gives)
            || !self.spreads()
        {
            return false;
        }
        let is_near = |other: usize| self.cpus[other].domain == self.cpus[c].domain;
        let idle = self.idle_beside(c) + 1;
        let leaves_it = |other: usize| match self.idle_beside(other) {
            0 => false,
            there => !is_near(other) && idle <= there + 1,
        };
        let mut most = None;
        let mut from = None;
        for other in self.crowded.from(0).filter(|&other| other != c) {
            if !gives(other) || (reach == Reach::Near && !is_near(other)) {
                continue;
            }
            // Of equals the first.
            let waiting = Some((is_near(other), self.cpus[other].fair.len()));
            if waiting > most
                && !leaves_it(other)
                && let Some(t) = self.movable((other, c), self.failed(c))
            {
                (most, from) = (waiting, Some((other, t)));
            }
        }
        match from {
            Some((other, t)) => {
                self.cpus[c].new_idle.forget();
                self.move_task(t, (other, c), c, observer);
                true
            }
            None => false,
        }
    }

    /// CPU `c` has tasks that wait: an idle CPU takes one (the kick of an idle balancer), of the same clock domain if there
    /// is one.
    fn push_to_idle<O: Observer>(&mut self, c: usize, observer: &mut O) {
        if !self.gives(c) || !self.spreads() {
            return;
        }
        // Of equals the first; a task is looked for only where it would be the best so far, and none can be better than the last.
        let own = self.cpus[c].domain;
        let last = Some((self.domains[own].cpus.len() > 1, self.largest, true));
        let (mut best, mut idle) = (None, None);
        for other in self.idle_cpus.from(0) {
            let is_near = self.cpus[other].domain == own;
            let rank = Some((is_near, self.cpus[other].capacity, self.core_is_idle(other)));
            if rank > best
                && let Some(t) = self.movable((c, other), self.failed(other))
            {
                (best, idle) = (rank, Some((other, t)));
                if rank == last {
                    break;
                }
            }
        }
        match idle {
            Some((other, t)) => {
                self.cpus[other].moved_in_vain = 0;
                if let Some(level) = self.cpus[other].levels.last_mut() {
                    level.failed = 0;
                }
                self.move_task(t, (c, other), other, observer);
            }
            None => {
                self.note_failure(c);
                self.note_vain(c);
            }
        }
    }

    /// Idle CPUs of other clusters had no room for a task that waits on CPU `c`, whose cluster is overloaded: the next time they
    /// would take one twice as large.
    fn note_vain(&mut self, c: usize) {
        let own = self.cpus[c].domain;
        if self.capacities_equal || self.idle_cpus.next(0).is_none() || !self.is_overloaded(own) {
            return;
        }
        let mut from = 0;
        while let Some(other) = self.idle_cpus.next(from) {
            from = other + 1;
            let may_run = |&t: &usize| self.tasks[t].allowed.has(other);
            if self.cpus[other].domain != own && self.cpus[c].fair.iter().any(may_run) {
                let cpu = &mut self.cpus[other];
                cpu.moved_in_vain = cpu.moved_in_vain.saturating_add(1);
            }
        }
    }

    /// CPU `c` takes a waiting task from the CPU of a group with most load for its capacity, if it has
    /// less than all of them on average, and less with it than that one had. Where it would only change
    /// places with that CPU, as with three tasks on two CPUs, it does so the second time: in the long
    /// run all have the same. Whether it got one.
    fn pull_from_busiest<O: Observer>(
        &mut self,
        c: usize,
        level: &mut BalanceLevel,
        observer: &mut O,
    ) -> bool {
        let loaded = |&&other: &&usize| self.gives(other);
        // Loads per capacity, crosswise multiplied: a / A < b / B where a B < b A.
        let load = |weight: u64, against: &Cpu| weight * u64::from(against.capacity);
        // Of equals the next one by number, all around: else CPUs would pull one task back and forth.
        let behind = |other: usize| (other + self.cpus.len() - c) % self.cpus.len();
        let failed = std::mem::take(&mut level.failed);
        if self.fair_waiting == 0 {
            return false;
        }
        let busiest = level.others.iter().filter(loaded).copied().max_by(|&a, &b| {
            let (one, two) = (&self.cpus[a], &self.cpus[b]);
            load(one.weight, two).cmp(&load(two.weight, one)).then(behind(b).cmp(&behind(a)))
        });
        let Some(other) = busiest.filter(|_| !self.current_is_urgent(c) && self.spreads()) else {
            return false;
        };
        let all = || level.others.iter().copied().chain([c]).map(|cpu| &self.cpus[cpu]);
        let weight: u64 = all().map(|cpu| cpu.weight).sum();
        let capacity: u64 = all().map(|cpu| u64::from(cpu.capacity)).sum();
        if self.cpus[c].weight * capacity >= weight * u64::from(self.cpus[c].capacity) {
            return false;
        }
        let Some(t) = self.movable((other, c), failed) else {
            let refused = self.first_movable(other, c, |_| true).is_some();
            level.failed = if refused { failed.saturating_add(1) } else { 0 };
            return false;
        };
        let (own, from) = (&self.cpus[c], &self.cpus[other]);
        let with = own.weight + u64::from(self.tasks[t].weight);
        match load(with, from).cmp(&load(from.weight, own)) {
            Ordering::Less => {}
            Ordering::Equal if failed > 0 => {}
            Ordering::Equal => {
                level.failed = 1;
                return false;
            }
            Ordering::Greater => return false,
        }
        self.move_task(t, (other, c), c, observer);
        true
    }

    /// Whether nothing runs on the core of idle CPU `c`.
    pub(super) fn core_is_idle(&self, c: usize) -> bool {
        self.cpus[c].siblings.iter().all(|&other| self.cpus[other].is_idle())
    }

    /// The running task of CPU `c`, which has shared its core for a tick, moves to a core where nothing
    /// runs.
    fn leave_shared_core<O: Observer>(&mut self, c: usize, observer: &mut O) {
        let runs_on = |cpu: usize| {
            let task = &self.tasks[self.cpus[cpu].current?];
            (task.is_fair() && self.now - task.since >= self.tick).then_some(task)
        };
        let Some(task) = runs_on(c) else { return };
        if !self.cpus[c].siblings.iter().any(|&other| runs_on(other).is_some()) || !self.spreads() {
            return;
        }
        let free = self.idle_cpus.from(0).find(|&other| {
            task.allowed.has(other)
                && self.core_is_idle(other)
                && self.cpus[other].capacity >= self.cpus[c].capacity
        });
        if let (Some(to), Some(t)) = (free, self.cpus[c].current) {
            self.move_task(t, (c, to), c, observer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::Activity;
    use crate::engine::new_idle::NewIdle;
    use crate::observe::Blind;
    use crate::scenario::{Source, read};
    use flyball_pelt::{SchedAvg, SchedAvgState};
    use flyball_platform::IdleBalanceCost;
    use flyball_units::Nanos;

    fn used(util: u32) -> SchedAvg {
        let state =
            SchedAvgState { util_avg: util, runnable_avg: util.into(), ..Default::default() };
        SchedAvg::from_state(state)
    }

    /// Two idle small CPUs of 409, and three tasks on two large ones, utilised by 900 each; that which waits has 850.
    fn crowded() -> Machine {
        let text = "platform = \"board-aarch64\"\nkernel = \"debian-7.3\"\n[governor]\nname = \"performance\"\n\
                    [[task]]\nkind = \"spin\"\ncount = 3\n";
        let scenario = read(text, Source::text_only("x.toml", "x")).unwrap();
        let mut machine = Machine::new(scenario.setup(0).setup).unwrap();
        machine.cpus[2].current = Some(2);
        (machine.cpus[3].current, machine.cpus[3].fair) = (Some(0), vec![1]);
        (machine.cpus[2].cfs, machine.cpus[3].cfs) = (used(900), used(900));
        machine.tasks[1].avg = used(850);
        machine
    }

    /// Large CPUs have less than they need from a utilisation of 1750 on: 2048 / 1.17. A task of 850 needs more than the 818 that the
    /// small ones have, the first time.
    #[test]
    fn small_cpus_take_from_large_ones_what_they_have_room_for() {
        let mut machine = crowded();
        let mut takes = |utils: [u32; 2], in_vain: u32| {
            machine.cpus[2].cfs = used(utils[0]);
            machine.cpus[3].cfs = used(utils[1]);
            machine.cpus[0].moved_in_vain = in_vain;
            machine.may_cross(1, 3, 0)
        };
        assert!(!takes([800, 900], 1), "1700");
        assert!(!takes([900, 900], 0), "850 of 818");
        assert!(takes([900, 900], 1), "425 of 818");
        assert!(machine.may_cross(1, 0, 3), "large ones take from small ones");
    }

    /// On the x86 board a task runs on CPU 3, and another one waits there. CPU 1 goes idle, whose longest look took 3 ms: it takes that one
    /// where its idle times were 8 ms, not where they were 1 ms.
    #[test]
    fn who_is_seldom_idle_for_long_does_not_look_for_work() {
        assert!(takes(8, 10, 0) && !takes(1, 10, 0));
    }

    /// It ran there until 0.4 ms ago: that CPU 1 takes it anyway if it has failed twice before.
    #[test]
    fn who_ran_just_now_stays() {
        assert!(!takes(8, 4, 0) && !takes(8, 4, 1) && takes(8, 4, 2));
        assert!(takes(8, 5, 0));
    }

    /// See above; `waited` tenths of a millisecond, and CPU 1 has `failed` to get a task before.
    fn takes(idle_ms: u64, waited: u64, failed: u32) -> bool {
        let text = "platform = \"board-x86\"\nkernel = \"debian-7.3\"\n[governor]\nname = \"performance\"\n\
                        [[task]]\nkind = \"spin\"\ncount = 2\n";
        let scenario = read(text, Source::text_only("x.toml", "x")).unwrap();
        let mut machine = Machine::new(scenario.setup(0).setup).unwrap();
        (machine.cpus[3].current, machine.cpus[3].fair) = (Some(0), vec![1]);
        (machine.fair_waiting, machine.tasks[1].cpu) = (1, 3);
        (machine.cpus[3].fair_count, machine.cpus[3].weight) = (2, 2048);
        machine.crowded.set(3, true);
        machine.set_activity(3, Activity::Busy);
        let cost = Nanos(3_000_000);
        let mut new_idle = NewIdle::costing(IdleBalanceCost { near: cost, all: cost });
        new_idle.remember(&[Nanos(1_000_000 * idle_ms); 40]);
        new_idle.forget();
        machine.cpus[1].new_idle = new_idle;
        machine.now = 100_000 * waited;
        machine.cpus[1].levels.last_mut().unwrap().failed = failed;
        machine.pull_when_idle(1, &mut Blind)
    }

    /// Each time that an idle small CPU has no room counts, if the task may run there, until nobody waits any more.
    #[test]
    fn what_was_taken_in_vain_is_forgotten_when_nobody_waits() {
        let mut machine = crowded();
        machine.set_activity(3, Activity::Busy);
        let vain = |machine: &Machine| [0, 1].map(|c| machine.cpus[c].moved_in_vain);
        machine.note_vain(3);
        machine.tasks[1].allowed.forbid(1);
        machine.note_vain(3);
        assert_eq!(vain(&machine), [2, 1]);
        machine.fair_waiting = 1;
        machine.look_around(0, &mut Blind);
        assert_eq!(vain(&machine), [2, 1], "somebody waits");
        machine.fair_waiting = 0;
        machine.look_around(0, &mut Blind);
        assert_eq!(vain(&machine), [0, 1]);
        machine.cpus[2].cfs = used(0);
        machine.note_vain(3);
        assert_eq!(vain(&machine), [0, 1], "not overloaded");
    }
}
