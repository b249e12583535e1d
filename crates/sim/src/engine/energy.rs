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
use flyball_pelt::{CpuDemand, Fit, Uclamp, effective_utilization, util_fits_cpu};
use flyball_units::KernelRule;

/// A CPU of those that are looked at.
#[derive(Clone, Copy)]
struct Candidate {
    c: usize,
    fit: Fit,
    spare: u32,
}

/// What the CPUs of a domain ask for without the task: the most, by whom, and the most of the others.
#[derive(Clone, Copy, Default)]
struct Asked {
    highest: u32,
    by: usize,
    second: u32,
}

impl Asked {
    /// The most that CPUs beside `c` ask for.
    fn beside(self, c: usize) -> u32 {
        if self.by == c { self.second } else { self.highest }
    }
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
    /// Its utilisation where that of its fair tasks is `fair`.
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
        let previous = previous.filter(|&c| task.allowed[c]);
        let needs_nothing =
            task.expected_util() == 0 && (!self.uclamp_used || task.uclamp_min == 0);
        if needs_nothing && previous.is_some() {
            return previous;
        }
        let (mut here, mut best): (Option<Best>, Option<Best>) = (None, None);
        for domain in &self.domains {
            let (own, roomiest) = self.candidates(t, domain, previous);
            if own.is_none() && roomiest.is_none() {
                continue;
            }
            // What the task is expected to need is the same wherever it goes.
            let capacities: u32 = domain.cpus.iter().map(|&c| self.actual_capacity(c)).sum();
            let utils =
                domain.cpus.iter().map(|&c| self.cpus[c].with_others(self.util_if(t, c, None)));
            let without = capacities.min(utils.sum());
            let with = capacities.min(without + task.expected_util());
            let capacity = domain.cpus.first().map_or(0, |&c| self.actual_capacity(c));
            let energy =
                |asked: u32, sum: u32| domain.energy_at(asked.min(capacity)) * u64::from(sum);
            let asked = self.asked_without(t, domain);
            let before = energy(asked.highest, without);
            let costs = |c: usize| {
                let asked = self.perf(t, c, true).max(asked.beside(c));
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

    /// The previous CPU if it is in this domain, and of the others that with the best match, then the most room;
    /// only where the task fits beside what is there.
    fn candidates(
        &self,
        t: usize,
        domain: &Domain,
        previous: Option<usize>,
    ) -> (Option<Candidate>, Option<Candidate>) {
        let task = &self.tasks[t];
        let (mut own, mut roomiest): (Option<Candidate>, Option<Candidate>) = (None, None);
        let mut clamps = Uclamp { min: task.uclamp_min, max: task.uclamp_max };
        for &c in &domain.cpus {
            if !task.allowed[c] {
                continue;
            }
            let cpu = &self.cpus[c];
            let util = self.util_if(t, c, Some(c));
            // An idle CPU is judged by the clamps of the busy one before it: so does the kernel.
            if !cpu.is_idle() {
                clamps = Uclamp {
                    min: cpu.uclamp_min.max(task.uclamp_min),
                    max: cpu.uclamp_max.max(task.uclamp_max),
                };
            }
            let used = self.uclamp_used.then_some(clamps);
            let fit = util_fits_cpu(util, used, self.capacity_of(cpu), cpu.fit_rule);
            if fit == Fit::No {
                continue;
            }
            let spare = cpu.capacity_left().saturating_sub(util);
            let candidate = Candidate { c, fit, spare };
            if previous == Some(c) {
                own = Some(candidate);
            } else if roomiest.is_none_or(|best| (fit, spare) > (best.fit, best.spare)) {
                roomiest = Some(candidate);
            }
        }
        (own, roomiest)
    }

    /// Utilisation of CPU `c` with the task on CPU `to`; on none, where that is None.
    pub(super) fn util_if(&self, t: usize, c: usize, to: Option<usize>) -> u32 {
        self.util_from(self.cpus[c].cfs.util_avg(), t, c, to)
    }

    /// The same, and where tasks wait for each other as much as they would need without: so the frequency
    /// is chosen.
    fn boosted_util_if(&self, t: usize, c: usize, to: Option<usize>) -> u32 {
        let average = &self.cpus[c].cfs;
        let waiting = if self.rules.has(KernelRule::RunnableBoost) {
            u32::try_from(average.runnable_avg()).unwrap_or(u32::MAX)
        } else {
            0
        };
        self.util_from(average.util_avg().max(waiting), t, c, to)
    }

    fn util_from(&self, average: u32, t: usize, c: usize, to: Option<usize>) -> u32 {
        let (task, cpu) = (&self.tasks[t], &self.cpus[c]);
        let (counted, joins) = (task.attached && task.cpu == c, to == Some(c));
        let own = task.avg.util_avg();
        let average = match (counted, joins) {
            (true, false) => average.saturating_sub(own),
            (false, true) => average.saturating_add(own),
            _ => average,
        };
        let expected = if joins { task.util_est.task_utilization(0) } else { 0 };
        average.max(cpu.util_est.sum() + expected).min(cpu.capacity)
    }

    fn actual_capacity(&self, c: usize) -> u32 {
        self.cpus[c].capacity_capped
    }

    /// What the CPUs of a domain will ask for with the task on none of them.
    fn asked_without(&self, t: usize, domain: &Domain) -> Asked {
        let mut asked = Asked::default();
        for &c in &domain.cpus {
            let perf = self.perf(t, c, false);
            if perf > asked.highest {
                asked = Asked { highest: perf, by: c, second: asked.highest };
            } else {
                asked.second = asked.second.max(perf);
            }
        }
        asked
    }

    /// The performance that CPU `c` will ask for, with headroom and the clamps of its runnable tasks, and
    /// of task `t` if it joins.
    fn perf(&self, t: usize, c: usize, joins: bool) -> u32 {
        let cpu = &self.cpus[c];
        let boosted = self.boosted_util_if(t, c, joins.then_some(c));
        let util = boosted.saturating_add(cpu.rt.util_avg());
        let reserved = cpu.reserved(self.now);
        let all = util.saturating_add(cpu.dl.util_avg());
        let ahead = (all + all / 4).max(reserved);
        if !self.uclamp_used {
            return if cpu.fifo_count > 0 { cpu.capacity.max(ahead) } else { ahead };
        }
        let (mut min, mut max) = (cpu.uclamp_min, cpu.uclamp_max);
        if joins {
            let task = &self.tasks[t];
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
