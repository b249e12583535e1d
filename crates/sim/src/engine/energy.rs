//! The kernel's estimate of energy (`find_energy_efficient_cpu`): on which CPU a task that wakes up costs least.
//!
//! ```text
//! cost of a domain = (sum of its CPUs' utilisations + the task's) x cost per utilisation
//!                    at the operating point that its busiest CPU asks for, with the task there or not
//! ```
//!
//! In each clock domain only two CPUs are looked at: the one on which the task slept, and of the others the one
//! with most room.

use super::Machine;
use super::cpu::Cpu;
use super::domain::Domain;
use super::task::Task;
use flyball_pelt::{CpuDemand, Fit, Uclamp, effective_utilization, util_fits_cpu};
use flyball_units::KernelRule;

/// A CPU of those that are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    c: usize,
    fit: Fit,
    spare: u32,
}

/// What the CPUs of a domain ask for without the task: the most, by whom, and the most of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Asked {
    highest: u32,
    by: usize,
    second: u32,
}

impl Asked {
    /// CPU `c` asks, too, for this much.
    #[inline]
    fn add(&mut self, perf: u32, c: usize) {
        if perf > self.highest {
            *self = Asked { highest: perf, by: c, second: self.highest };
        } else {
            self.second = self.second.max(perf);
        }
    }

    /// The most that CPUs beside `c` ask for.
    fn beside(self, c: usize) -> u32 {
        if self.by == c { self.second } else { self.highest }
    }
}

/// What a task that wakes up adds to a CPU's utilisation, and where it is a part of it.
#[derive(Clone, Copy)]
struct Share {
    util: u32,
    expected: u32,
    counted_on: Option<usize>,
}

impl Share {
    #[inline]
    fn of(task: &Task) -> Share {
        let expected = task.util_est.task_utilization(0);
        let counted_on = task.attached.then_some(task.cpu);
        Share { util: task.avg.util_avg(), expected, counted_on }
    }

    /// Utilisation of CPU `c` without it and with it, where that is `average` now.
    #[inline]
    fn utils(self, c: usize, cpu: &Cpu, average: u32) -> [u32; 2] {
        let [without, with] = match self.counted_on == Some(c) {
            true => [average.saturating_sub(self.util), average],
            false => [average, average.saturating_add(self.util)],
        };
        let expected = cpu.util_est.sum();
        [without.max(expected), with.max(expected + self.expected)]
            .map(|util| util.min(cpu.capacity))
    }
}

/// A clock domain with the task on none of its CPUs, and on which of these it may come.
#[derive(Debug, Default, PartialEq)]
struct Surveyed {
    own: Option<Candidate>,
    roomiest: Option<Candidate>,
    /// Sum of the CPUs' capacities as limits leave them.
    capacities: u32,
    /// Sum of the CPUs' utilisations.
    utils: u32,
    asked: Asked,
}

/// What was found to be best so far.
#[derive(Clone, Copy)]
struct Best {
    c: usize,
    fit: Fit,
    capacity: u32,
    cost: u64,
}

impl Cpu {
    /// Whether nobody but fair tasks uses it, or did lately.
    #[inline]
    fn has_only_fair(&self) -> bool {
        self.rt.util_avg() | self.dl.util_avg() | self.irq.util_avg() | self.fifo_count == 0
    }

    /// Its utilisation where that of its fair tasks is `fair`.
    #[inline]
    fn with_others(&self, fair: u32) -> u32 {
        let (rt, dl, irq) = (self.rt.util_avg(), self.dl.util_avg(), self.irq.util_avg());
        if rt | dl | irq == 0 {
            return fair;
        }
        let demand = CpuDemand::IDLE.cfs(fair).rt(rt).dl(dl).irq(irq);
        effective_utilization(&demand, self.capacity).util
    }
}

impl Machine {
    /// The CPU that the kernel's estimate of energy chooses; None where the kernel does not ask it (not
    /// energy-aware, or a CPU is overutilised), or a task without a previous CPU fits nowhere.
    pub(super) fn most_efficient(&self, t: usize, previous: Option<usize>) -> Option<usize> {
        if !self.energy_aware || self.overutilized() {
            return None;
        }
        let task = &self.tasks[t];
        let previous = previous.filter(|&c| task.allowed.has(c));
        let needs_nothing =
            task.expected_util() == 0 && (!self.uclamp_used || task.uclamp_min == 0);
        if needs_nothing && previous.is_some() {
            return previous;
        }
        let (mut here, mut best): (Option<Best>, Option<Best>) = (None, None);
        for domain in &self.domains {
            let Surveyed { own, roomiest, capacities, utils, asked } =
                self.survey(task, domain, previous);
            if own.is_none() && roomiest.is_none() {
                continue;
            }
            // What the task is expected to need is the same wherever it goes.
            let without = capacities.min(utils);
            let with = capacities.min(without + task.expected_util());
            let capacity = domain.cpus.first().map_or(0, |&c| self.cpus[c].capacity_capped);
            let energy =
                |asked: u32, sum: u32| domain.energy_at(asked.min(capacity)) * u64::from(sum);
            let before = energy(asked.highest, without);
            let costs = |c: usize| {
                let cpu = &self.cpus[c];
                let own = self.boosted(Share::of(task), c, cpu, true);
                let asked = self.perf(cpu, own, Some(task)).max(asked.beside(c));
                energy(asked, with).checked_sub(before)
            };
            if let Some(Candidate { c, fit, .. }) = own {
                // What costs less than nothing is an average that moved meanwhile: it stays.
                let Some(cost) = costs(c) else { return previous };
                here = Some(Best { c, fit, capacity, cost });
            }
            let Some(other) = roomiest.filter(|other| own.is_none_or(|o| other.spare > o.spare))
            else {
                continue;
            };
            let (fit, c) = (other.fit, other.c);
            let no_better =
                |best: &Best| fit < best.fit || (fit == Fit::Almost && capacity <= best.capacity);
            if best.as_ref().is_some_and(no_better) {
                continue;
            }
            let Some(cost) = costs(c) else { return previous };
            let least = best.map_or(u64::MAX, |best| best.cost);
            let both_fit = fit == Fit::Yes && best.is_some_and(|best| best.fit == Fit::Yes);
            if both_fit && cost >= least.min(here.map_or(u64::MAX, |here| here.cost)) {
                continue;
            }
            best = Some(Best { c, fit, capacity, cost });
        }
        let (Some(best), Some(here)) = (best, here) else {
            return best.map(|best| best.c).or(previous);
        };
        let better = best.fit > here.fit
            || (best.fit == Fit::Yes && best.cost < here.cost)
            || (best.fit == Fit::Almost && best.capacity > here.capacity);
        Some(if better { best.c } else { here.c })
    }

    /// Looks once at each CPU of a domain: at the one on which the task slept and at the roomiest of the others, which has the best
    /// match, then the most room, only where it fits beside what is there; and at what all of them need without it.
    fn survey(&self, task: &Task, domain: &Domain, previous: Option<usize>) -> Surveyed {
        match self.survey_fair(task, domain, previous) {
            Some(seen) => {
                debug_assert_eq!(seen, self.survey_all(task, domain, previous));
                seen
            }
            None => self.survey_all(task, domain, previous),
        }
    }

    /// The same where fair tasks without clamps are all there is, as nearly always; None where there is more. Builds with debug
    /// assertions hold every answer against that of the long way.
    fn survey_fair(
        &self,
        task: &Task,
        domain: &Domain,
        previous: Option<usize>,
    ) -> Option<Surveyed> {
        if self.uclamp_used {
            return None;
        }
        let waiting = if self.rules.has(KernelRule::RunnableBoost) { u32::MAX } else { 0 };
        let share = Share::of(task);
        let mut seen = Surveyed::default();
        for &c in &domain.cpus {
            let cpu = &self.cpus[c];
            if !cpu.has_only_fair() {
                return None;
            }
            let (average, expected, capacity) =
                (cpu.cfs.util_avg(), cpu.util_est.sum(), cpu.capacity);
            let is_part = share.counted_on == Some(c);
            let (part, more) = if is_part { (share.util, 0) } else { (0, share.util) };
            let without = average.saturating_sub(part).max(expected).min(capacity);
            let with = (average + more).max(expected + share.expected).min(capacity);
            let asks = average.max(cpu.cfs.runnable_avg() as u32 & waiting);
            let asks = asks.saturating_sub(part).max(expected).min(capacity);
            seen.capacities += cpu.capacity_capped;
            seen.utils += without;
            seen.asked.add((asks + asks / 4).max(cpu.reserved(self.now)), c);
            if !task.allowed.has(c) || !cpu.fit_rule.fits(with, capacity) {
                continue;
            }
            let spare = capacity - with;
            let candidate = Candidate { c, fit: Fit::Yes, spare };
            if previous == Some(c) {
                seen.own = Some(candidate);
            } else if seen.roomiest.is_none_or(|best| spare > best.spare) {
                seen.roomiest = Some(candidate);
            }
        }
        Some(seen)
    }

    /// The same for tasks of all classes, clamps and interrupts.
    fn survey_all(&self, task: &Task, domain: &Domain, previous: Option<usize>) -> Surveyed {
        let mut seen = Surveyed::default();
        let mut clamps = Uclamp { min: task.uclamp_min, max: task.uclamp_max };
        let share = Share::of(task);
        for &c in &domain.cpus {
            let cpu = &self.cpus[c];
            let [without, with] = share.utils(c, cpu, cpu.cfs.util_avg());
            seen.capacities += cpu.capacity_capped;
            seen.utils += cpu.with_others(without);
            seen.asked.add(self.perf(cpu, self.boosted(share, c, cpu, false), None), c);
            if !task.allowed.has(c) {
                continue;
            }
            // An idle CPU is judged by the clamps of the busy one before it: so does the kernel.
            if self.uclamp_used && !cpu.is_idle() {
                clamps = Uclamp {
                    min: cpu.uclamp_min.max(task.uclamp_min),
                    max: cpu.uclamp_max.max(task.uclamp_max),
                };
            }
            let left = cpu.capacity_left();
            let used = self.uclamp_used.then_some(clamps);
            let fit = util_fits_cpu(with, used, cpu.capacities(left), cpu.fit_rule);
            if fit == Fit::No {
                continue;
            }
            let spare = left.saturating_sub(with);
            let candidate = Candidate { c, fit, spare };
            if previous == Some(c) {
                seen.own = Some(candidate);
            } else if seen.roomiest.is_none_or(|best| (fit, spare) > (best.fit, best.spare)) {
                seen.roomiest = Some(candidate);
            }
        }
        seen
    }

    /// Utilisation of CPU `c` with the task there, or on none.
    pub(super) fn util_if(&self, task: &Task, c: usize, joins: bool) -> u32 {
        let cpu = &self.cpus[c];
        Share::of(task).utils(c, cpu, cpu.cfs.util_avg())[usize::from(joins)]
    }

    /// The same, and where tasks wait for each other as much as they would need without: so the frequency
    /// is chosen.
    #[inline]
    fn boosted(&self, share: Share, c: usize, cpu: &Cpu, joins: bool) -> u32 {
        let average = &cpu.cfs;
        let waiting = if self.rules.has(KernelRule::RunnableBoost) {
            u32::try_from(average.runnable_avg()).unwrap_or(u32::MAX)
        } else {
            0
        };
        share.utils(c, cpu, average.util_avg().max(waiting))[usize::from(joins)]
    }

    /// The performance that a CPU will ask for where its fair tasks need this, with headroom and the clamps of its runnable tasks,
    /// and of one that joins.
    #[inline]
    fn perf(&self, cpu: &Cpu, fair: u32, joins: Option<&Task>) -> u32 {
        let util = fair.saturating_add(cpu.rt.util_avg());
        let reserved = cpu.reserved(self.now);
        let all = util.saturating_add(cpu.dl.util_avg());
        let ahead = (all + all / 4).max(reserved);
        if !self.uclamp_used {
            return if cpu.fifo_count > 0 { cpu.capacity.max(ahead) } else { ahead };
        }
        let (mut min, mut max) = (cpu.uclamp_min, cpu.uclamp_max);
        if let Some(task) = joins {
            min = min.max(task.uclamp_min);
            max = if cpu.is_idle() { task.uclamp_max } else { max.max(task.uclamp_max) };
        }
        if self.rules.has(KernelRule::HeadroomAfterClamp) {
            let wanted = min.max(max.min(util)) + reserved;
            return wanted + wanted / 4;
        }
        min.max(reserved).max(max.min(ahead))
    }
}
