//! Where a task wakes up that no estimate of energy places: on a CPU near the one it slept on, or near who woke it
//! (the kernel's `wake_affine` and `select_idle_sibling`).
//!
//! ```text
//!   target    the CPU that the task slept on; where it is woken on another CPU and its own is not idle,
//!             the other one if that does nothing but this, or would be loaded less with the task:
//!                 (load_here + load_t) x 100 x capacity_prev < (load_prev - load_t) x 108 x capacity_here
//!   the first that is idle and fits:   target, previous CPU, the one before that, then all from the target on
//!   none idle:                         target, however many wait there
//!   so many are looked at:             n (1 - (1.17 x)^2)   of n CPUs, utilised to the part x when load was last balanced;
//!                                      all where a core is idle
//! ```
//! All CPUs are taken to share a last-level cache. Left out: wake-ups known to be the last act of the waker
//! (`WF_SYNC`), and `wake_wide`, which keeps wakers of more tasks than there are CPUs from drawing them near.

use super::Machine;
use super::balance::IMBALANCE_PERCENT;
use super::cpu::Cpu;
use flyball_pelt::{CAPACITY_SCALE, Fit};
use flyball_units::KernelRule;
use std::cmp::Reverse;

/// The load where a task is woken counts in percent, that of its previous CPU by this: half of what a cache's
/// CPUs may be out of balance is added.
const PREVIOUS_PERCENT: u128 = 100 + (IMBALANCE_PERCENT as u128 - 100) / 2;

impl Machine {
    /// The CPU for a task that slept on `previous` and is woken on CPU `here`: where its waker runs, or its timer.
    pub(super) fn near(&mut self, t: usize, previous: usize, here: usize) -> Option<usize> {
        let target = if self.is_better(t, previous, here) { here } else { previous };
        for c in [target, previous] {
            if self.is_idle_and_fits(t, c) {
                return Some(c);
            }
        }
        if self.rules.has(KernelRule::RecentCpu) {
            let recent = self.tasks[t].recent.replace(previous);
            if let Some(recent) = recent.filter(|&c| self.is_idle_and_fits(t, c)) {
                return Some(recent);
            }
        }
        let stays = || Some(target).filter(|&c| self.tasks[t].allowed.has(c));
        self.idle_from(t, target).or_else(stays).or_else(|| self.by_size(t))
    }

    /// Whether the task is better off where it is woken than on its previous CPU.
    fn is_better(&self, t: usize, previous: usize, here: usize) -> bool {
        let task = &self.tasks[t];
        if here == previous || !task.allowed.has(here) || self.cpus[previous].is_idle() {
            return false;
        }
        let (from, to) = (&self.cpus[previous], &self.cpus[here]);
        if self.only_wakes(to) {
            return true;
        }
        let load = u128::from(task.avg.load_avg());
        let with = (u128::from(to.cfs.load_avg()) + load) * 100 * u128::from(from.capacity_left());
        let without = u128::from(from.cfs.load_avg()).saturating_sub(load);
        with < without * PREVIOUS_PERCENT * u128::from(to.capacity_left())
    }

    /// Whether a CPU has nothing to do but an interrupt.
    fn only_wakes(&self, cpu: &Cpu) -> bool {
        let interrupted = cpu.current.is_some_and(|t| self.tasks[t].is_interrupt());
        cpu.is_idle() || (interrupted && cpu.runnable_count() == 1)
    }

    fn is_idle_and_fits(&self, t: usize, c: usize) -> bool {
        let task = &self.tasks[t];
        task.allowed.has(c) && self.cpus[c].is_idle() && self.fits_or_all_equal(t, c)
    }

    /// Where all CPUs have one capacity the kernel does not ask whether a task fits.
    fn fits_or_all_equal(&self, t: usize, c: usize) -> bool {
        self.capacities_equal || self.fit(&self.tasks[t], c) == Fit::Yes
    }

    /// Load is balanced: how many CPUs are looked at from now on for an idle one (`SIS_UTIL`).
    pub(super) fn limit_search(&mut self) {
        let rule = match self.capacities_equal {
            true => KernelRule::IdleSearchLimit,
            false => KernelRule::CapacitySearchLimit,
        };
        if !self.rules.has(rule) {
            return;
        }
        let cpus = self.cpus.len() as u64;
        let util = |cpu: &Cpu| u64::from(cpu.expected_util().min(cpu.capacity));
        let mean = self.cpus.iter().map(util).sum::<u64>() / cpus;
        let (scale, percent) = (u64::from(CAPACITY_SCALE), u64::from(IMBALANCE_PERCENT));
        let taken = (mean * mean * percent * percent / (10_000 * scale)).min(scale);
        self.idle_search = ((scale - taken) * cpus / scale) as usize;
    }

    /// Whether CPU `c` is among those that a task looks at, which found CPU `target` taken. Where capacities differ it looks
    /// there again, and that counts.
    fn is_searched(&self, t: usize, target: usize, c: usize) -> bool {
        let cpus = self.cpus.len();
        let first = usize::from(self.capacities_equal);
        let from_there = (first..first + cpus).map(|step| (target + step) % cpus);
        let allowed = from_there.filter(|&other| self.tasks[t].allowed.has(other));
        self.idle_search >= cpus || allowed.take(self.idle_search).any(|other| other == c)
    }

    /// The first idle CPU that the task fits by number from `target` on and all around, one on an idle core before
    /// others; where none fits, of the idle ones the best match, the largest of equals.
    fn idle_from(&self, t: usize, target: usize) -> Option<usize> {
        let task = &self.tasks[t];
        let (mut on_busy_core, mut best): (_, Option<(Fit, u32, usize)>) = (None, None);
        let limited = !self.capacities_equal;
        let allowed = self.idle_cpus.from(target).filter(|&c| task.allowed.has(c));
        for c in allowed.filter(|&c| !limited || self.is_searched(t, target, c)) {
            if self.fits_or_all_equal(t, c) {
                if self.cpus[c].siblings.is_empty() {
                    return Some(c).filter(|&c| self.is_searched(t, target, c));
                }
                if self.core_is_idle(c) {
                    return Some(c);
                }
                on_busy_core = on_busy_core.or(Some(c));
                continue;
            }
            let (fit, room) = (self.fit(task, c), self.cpus[c].capacity_left());
            if best.is_none_or(|(f, r, _)| (fit, room) > (f, r)) {
                best = Some((fit, room, c));
            }
        }
        let on_busy_core = on_busy_core.filter(|&c| self.is_searched(t, target, c));
        on_busy_core.or(best.map(|(.., c)| c))
    }

    /// For a task that never ran, without a creator: the smallest idle CPU that it fits, or else the largest idle
    /// one: to run at once on a CPU that is too small beats waiting. Where none is idle, it is the smallest that
    /// the task fits, the least crowded of equals.
    pub(super) fn by_size(&self, t: usize) -> Option<usize> {
        let task = &self.tasks[t];
        self.allowed(task).min_by_key(|&c| {
            let cpu = &self.cpus[c];
            let fit = self.fit(task, c);
            let size = if fit == Fit::No { 1024 - cpu.capacity } else { cpu.capacity };
            let busy = !cpu.is_idle();
            let crowd = if busy { cpu.runnable_count() } else { 0 };
            let shared = !busy && !self.core_is_idle(c);
            (busy, Reverse(fit), size, shared, crowd, c)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cpu::Activity;
    use crate::scenario::{Source, read};
    use flyball_pelt::{SchedAvg, SchedAvgState};

    /// Four equal CPUs without an energy model, and tasks 0 and 1 that may run on all of them.
    fn machine(kernel: &str) -> Machine {
        let text = format!(
            "platform = \"board-x86\"\nkernel = \"{kernel}\"\n[governor]\nname = \"performance\"\n\
             [[task]]\nkind = \"spin\"\nname = \"work\"\ncount = 2\n"
        );
        let scenario = read(&text, Source::text_only("x.toml", "x")).unwrap();
        Machine::new(scenario.setup(0).setup).unwrap()
    }

    /// These CPUs are idle, the others busy.
    fn idle(machine: &mut Machine, idle: &[usize]) {
        for c in 0..machine.cpus.len() {
            let is_idle = idle.contains(&c);
            machine.set_activity(c, if is_idle { Activity::Idle(None) } else { Activity::Busy });
        }
    }

    /// Of four CPUs that are utilised by half 4 x (1024 - 350) / 1024 = 2 are looked at, from the next one on; by 0.85, none.
    #[test]
    fn the_busier_the_cpus_the_fewer_are_looked_at() {
        for (kernel, util_avg, found) in [
            ("debian-6.12", 0, 0),
            ("debian-6.12", 512, 1),
            ("linux-5.10", 512, 0),
            ("debian-6.12", 871, 1),
        ] {
            let mut machine = machine(kernel);
            for cpu in &mut machine.cpus {
                cpu.cfs =
                    SchedAvg::from_state(SchedAvgState { util_avg, ..SchedAvgState::default() });
            }
            machine.limit_search();
            // CPUs 2 and 3 come first, and then 0.
            idle(&mut machine, &[0]);
            assert_eq!(machine.near(0, 1, 1), Some(found), "{kernel} {util_avg}");
            idle(&mut machine, &[3]);
            let third = if util_avg > 512 { 1 } else { 3 };
            assert_eq!(machine.near(1, 1, 1), Some(third), "{kernel} {util_avg}");
        }
    }

    /// A task of 850 that fits nowhere and sleeps on large CPU 3, which is busy, beside small ones 0 and 1 and large one 2, all
    /// idle. By their utilisations 3 of 4 CPUs are looked at: 3, 0 and 1. CPU 3 at 1000 alone is a mean of 250: 4 x (1024 - 83) / 1024.
    #[test]
    fn a_large_cpu_may_be_beyond_the_search() {
        for (kernel, found) in [("debian-6.12", 2), ("debian-7.3", 0)] {
            let text = format!(
                "platform = \"board-aarch64\"\nkernel = \"{kernel}\"\n[governor]\nname = \"ondemand\"\n\
                 [[task]]\nkind = \"spin\"\n"
            );
            let scenario = read(&text, Source::text_only("x.toml", "x")).unwrap();
            let mut machine = Machine::new(scenario.setup(0).setup).unwrap();
            let used = |util_avg| {
                SchedAvg::from_state(SchedAvgState { util_avg, ..SchedAvgState::default() })
            };
            machine.cpus[3].cfs = used(1000);
            machine.tasks[0].avg = used(850);
            machine.limit_search();
            idle(&mut machine, &[0, 1, 2]);
            assert_eq!(machine.near(0, 3, 3), Some(found), "{kernel}");
        }
    }

    fn load(load_avg: u64) -> SchedAvg {
        SchedAvg::from_state(SchedAvgState { load_avg, ..SchedAvgState::default() })
    }

    #[test]
    fn where_no_cpu_is_idle_a_task_stays_however_many_wait_there() {
        let mut machine = machine("debian-6.12");
        idle(&mut machine, &[]);
        machine.cpus[1].fair = vec![1; 5];
        assert_eq!(machine.near(0, 1, 1), Some(1));
        machine.tasks[0].allowed.forbid(1);
        assert_ne!(machine.near(0, 1, 1), Some(1), "but not where it must not run any more");
    }

    #[test]
    fn else_it_takes_its_own_or_the_first_idle_one_from_there_on() {
        let mut machine = machine("debian-6.12");
        idle(&mut machine, &[0, 2]);
        assert_eq!(machine.near(0, 2, 2), Some(2));
        assert_eq!(machine.near(0, 1, 1), Some(2));
        assert_eq!(machine.near(0, 3, 3), Some(0));
    }

    #[test]
    fn the_cpu_before_the_previous_one_comes_first_since_5_15() {
        for (kernel, found) in [("debian-6.12", 2), ("linux-5.10", 0)] {
            let mut machine = machine(kernel);
            idle(&mut machine, &[3]);
            assert_eq!(machine.near(0, 2, 2), Some(3), "CPU 2 is taken, and remembered");
            idle(&mut machine, &[0, 2]);
            assert_eq!(machine.near(0, 3, 3), Some(found), "{kernel}");
            // CPU 3 is remembered now; it is not idle, and 1 is the next from 2 on.
            idle(&mut machine, &[1]);
            assert_eq!(machine.near(0, 2, 2), Some(1), "{kernel}");
        }
    }

    /// Where task 0, which slept on CPU 2, goes if it is woken by a task on CPU 0, which is loaded like this;
    /// all CPUs are busy.
    fn woken_on_cpu_0(load_there: u64) -> Option<usize> {
        let mut machine = machine("debian-6.12");
        idle(&mut machine, &[]);
        machine.tasks[0].avg = load(512);
        machine.cpus[2].cfs = load(1500);
        machine.cpus[0].cfs = load(load_there);
        machine.near(0, 2, 0)
    }

    #[test]
    fn a_waker_draws_the_task_near_where_it_has_less_load() {
        // Without the task CPU 2 has (1500 - 512) x 108 = 106,704; with it CPU 0 has
        // (555 + 512) x 100 = 106,700 or (556 + 512) x 100 = 106,800.
        assert_eq!(woken_on_cpu_0(555), Some(0));
        assert_eq!(woken_on_cpu_0(556), Some(2));
    }

    #[test]
    fn a_waker_draws_no_task_from_an_idle_cpu_and_an_idle_one_near_it_is_taken() {
        let mut machine = machine("debian-6.12");
        idle(&mut machine, &[2, 3]);
        assert_eq!(machine.near(0, 2, 0), Some(2));
        // Nobody has load: the previous CPU stays the target, and the search begins there.
        idle(&mut machine, &[1, 3]);
        assert_eq!(machine.near(0, 2, 0), Some(3));
        // The waker's CPU has less: the search begins at CPU 0.
        machine.cpus[2].cfs = load(100);
        idle(&mut machine, &[1, 3]);
        machine.tasks[0].recent = None;
        assert_eq!(machine.near(0, 2, 0), Some(1));
    }

    #[test]
    fn a_cpu_that_only_has_the_timer_draws_the_task_from_a_busy_one() {
        let mut machine = machine("debian-6.12");
        idle(&mut machine, &[0, 3]);
        assert_eq!(machine.near(0, 2, 0), Some(0), "CPU 3 would be next by number");
    }
}
