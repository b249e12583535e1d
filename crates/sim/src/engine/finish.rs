//! The totals of a simulation.

use super::cpu::Cpu;
use super::domain::Domain;
use super::task::Task;
use super::{
    CpuSummary, DomainSummary, FrequencyResidency, Machine, Summary, TaskSummary,
    TemperatureSummary,
};
use crate::setup::TaskId;
use flyball_platform::FrequencyControl;
use flyball_units::{CpuId, Nanos};

/// Picojoules in a millijoule.
const PICOJOULES: f64 = 1e9;

impl Machine {
    /// The totals up to now.
    pub fn finish(mut self) -> Summary {
        for c in 0..self.cpus.len() {
            self.flush(c);
            self.progress(c);
        }
        let now = self.now;
        for domain in &mut self.domains {
            domain.residency[domain.point] += now - domain.since;
            domain.be_at(domain.point);
            if let Some(since) = domain.throttled_since {
                self.throttled += now - since;
            }
        }
        for task in &mut self.tasks {
            task.account(now);
            task.go_to(task.cpu);
        }
        let base_energy_mj = self.base_power * now as f64 / PICOJOULES;
        let cpus: Vec<_> =
            self.cpus.iter().enumerate().map(|(c, cpu)| of_cpu(c, cpu, now)).collect();
        let used: f64 = cpus.iter().map(|cpu: &CpuSummary| cpu.energy_mj).sum();
        let total_power = self.total_power();
        Summary {
            elapsed: Nanos(now),
            energy_mj: base_energy_mj + used,
            base_energy_mj,
            domains: self.domains.iter().map(|domain| of_domain(domain, &cpus, now)).collect(),
            cpus,
            cgroups: self.cgroup_summaries(),
            tasks: self.tasks.iter().enumerate().map(|(t, task)| of_task(t, task)).collect(),
            temperature: self.temperature.map(|mut temperature| {
                temperature.advance(now, total_power);
                TemperatureSummary {
                    last_c: temperature.celsius,
                    highest_c: temperature.highest,
                    throttled: Nanos(self.throttled),
                }
            }),
            events: self.events,
        }
    }
}

fn per_second(count: u64, elapsed: u64) -> f64 {
    if elapsed == 0 { 0.0 } else { count as f64 * 1e9 / elapsed as f64 }
}

fn of_cpu(c: usize, cpu: &Cpu, elapsed: u64) -> CpuSummary {
    let totals = &cpu.totals;
    CpuSummary {
        cpu: CpuId(c as u32),
        busy: Nanos(totals.busy),
        idle: Nanos(totals.idle),
        interrupt: Nanos(totals.interrupt),
        stalled: Nanos(totals.stalled),
        energy_mj: totals.energy / PICOJOULES,
        wakeups: totals.wakeups,
        wakeups_per_s: per_second(totals.wakeups, elapsed),
        governor_wakeups: totals.governor_wakeups,
        idle_residency: totals.residency.iter().copied().map(Nanos).collect(),
        idle_entries: totals.entries.clone(),
        ticks: totals.ticks,
        util: cpu.cfs.util_avg(),
        runnable: cpu.cfs.runnable_avg() as u32,
        util_est: cpu.util_est.sum(),
    }
}

fn of_domain(domain: &Domain, cpus: &[CpuSummary], elapsed: u64) -> DomainSummary {
    let points = domain.points.iter().zip(&domain.residency).zip(&domain.busy);
    DomainSummary {
        name: domain.name.clone(),
        governor: match domain.control {
            FrequencyControl::Software => domain.governor.name().to_owned(),
            FrequencyControl::Demand { .. } => "hardware".to_owned(),
        },
        energy_mj: domain.cpus.iter().map(|&c| cpus[c].energy_mj).sum(),
        residency: points
            .map(|((point, &time), &busy)| FrequencyResidency {
                frequency: point.frequency,
                time: Nanos(time),
                busy: Nanos(busy),
            })
            .collect(),
        transitions: domain.transitions,
        governor_events: domain.governor_events,
        governor_wakeups: domain.governor_wakeups,
        governor_wakeups_per_s: per_second(domain.governor_wakeups, elapsed),
        frequency: domain.points[domain.point].frequency,
    }
}

fn of_task(t: usize, task: &Task) -> TaskSummary {
    let totals = &task.totals;
    TaskSummary {
        task: TaskId(t as u32),
        name: task.name.clone(),
        running: Nanos(totals.running),
        runnable: Nanos(totals.runnable),
        sleeping: Nanos(totals.sleeping),
        running_on: totals.running_on.iter().copied().map(Nanos).collect(),
        cycles: totals.cycles,
        wakeups: totals.wakeups,
        preemptions: totals.preemptions,
        throttles: task.budget.as_ref().map(|budget| budget.throttles()),
        migrations: totals.migrations,
        util: task.avg.util_avg(),
        util_est: task.util_est.value(),
        cpu: CpuId(task.cpu as u32),
        ended: totals.ended.map(Nanos),
    }
}
