//! What a replay under one governor came to.

use flyball_sim::engine::{DomainSummary, Summary};
use flyball_sim::record::Quantiles;
use flyball_units::Nanos;
use serde::Serialize;

/// How long items took from their release to their end, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Mean.
    pub mean_ns: f64,
}

/// Time at one operating point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Its frequency.
    pub khz: u64,
    /// Share of the time, 0 to 1.
    pub share: f64,
    /// Share of the CPU time of its domain that was executed at it, 0 to 1.
    pub busy_share: f64,
}

/// One clock domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainOutcome {
    /// Its name.
    pub name: String,
    /// Its governor; `hardware` where hardware decides.
    pub governor: String,
    /// Residency per operating point, ascending.
    pub residency: Vec<Share>,
    /// Mean frequency over the CPU time executed.
    pub busy_khz: f64,
    /// Changes of frequency.
    pub transitions_per_s: f64,
    /// Wake-ups of the governor itself.
    pub governor_wakeups_per_s: f64,
    /// Energy of its CPUs.
    pub energy_mj: f64,
}

/// How time passed in the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In leaps from poll to poll.
    Leaps,
    /// Event by event; the reason why leaps were not possible.
    Events(&'static str),
}

/// What a replay under one governor came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The governor with its tunables.
    pub governor: String,
    /// How time passed.
    pub way: Way,
    /// Items done.
    pub done: u64,
    /// Items that were due and not done at the end; of a scenario those that were begun.
    pub left: u64,
    /// Cycles executed.
    pub cycles_done: f64,
    /// Cycles of the recording that were not executed by the end.
    pub cycles_left: f64,
    /// From release to end, of what was done.
    pub latency: Latency,
    /// Items that ended after their deadline, in percent of those done; None without a deadline.
    pub late_percent: Option<f64>,
    /// Time that it took: the recording's length, or until the last item's end in a closed loop.
    pub elapsed_ns: u64,
    /// Energy of everything.
    pub energy_mj: f64,
    /// The same per time.
    pub power_mw: f64,
    /// CPUs woken from idle.
    pub wakeups_per_s: f64,
    /// Share of CPU time that was busy, in percent.
    pub busy_percent: f64,
    /// Clock domains.
    pub domains: Vec<DomainOutcome>,
}

/// What was watched beside the engine's totals.
pub(crate) struct Watched {
    pub latency: Quantiles,
    pub late: Option<u64>,
    pub begun: u64,
}

/// Share of the recorded work that is left at the end, above which the load is more than the machine can do:
/// what is always left is the last items, which were due shortly before.
const OVERLOAD: f64 = 0.01;

impl Outcome {
    /// Share of the recorded cycles that were left, from 0 to 1, where the machine could not keep up: latency
    /// then grows with the recording's length, and says nothing else.
    #[must_use]
    pub fn overload(&self) -> Option<f64> {
        let share = self.cycles_left / (self.cycles_done + self.cycles_left);
        (share > OVERLOAD).then_some(share)
    }

    /// Puts together what was watched and what the engine counted. `recorded` are the items and
    /// cycles of a recording.
    pub(crate) fn new(
        governor: String,
        way: Way,
        watched: &Watched,
        summary: &Summary,
        recorded: Option<(u64, u64)>,
    ) -> Outcome {
        let done = watched.latency.count();
        let at = |q: f64| watched.latency.quantile(q).unwrap_or(0);
        let seconds = summary.elapsed.as_secs_f64().max(1e-9);
        let cycles_done: f64 = summary.tasks.iter().map(|task| task.cycles).sum();
        let busy: u64 = summary.cpus.iter().map(|cpu| cpu.busy.0).sum();
        let wakeups: u64 = summary.cpus.iter().map(|cpu| cpu.wakeups).sum();
        let all = seconds * 1e9 * summary.cpus.len().max(1) as f64;
        Outcome {
            governor,
            way,
            done,
            left: recorded.map_or(watched.begun, |(items, _)| items).saturating_sub(done),
            cycles_done,
            cycles_left: recorded.map_or(0.0, |(_, cycles)| (cycles as f64 - cycles_done).max(0.0)),
            latency: Latency {
                p50_ns: at(0.5),
                p90_ns: at(0.9),
                p99_ns: at(0.99),
                p999_ns: at(0.999),
                max_ns: watched.latency.max().unwrap_or(0),
                mean_ns: watched.latency.mean().unwrap_or(0.0),
            },
            late_percent: watched.late.map(|late| 100.0 * late as f64 / done.max(1) as f64),
            elapsed_ns: summary.elapsed.0,
            energy_mj: summary.energy_mj,
            power_mw: summary.energy_mj / seconds,
            wakeups_per_s: wakeups as f64 / seconds,
            busy_percent: 100.0 * busy as f64 / all,
            domains: summary.domains.iter().map(|d| of_domain(d, summary.elapsed)).collect(),
        }
    }
}

fn of_domain(domain: &DomainSummary, elapsed: Nanos) -> DomainOutcome {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let busy: f64 = domain.residency.iter().map(|at| at.busy.0 as f64).sum();
    let weighted: f64 =
        domain.residency.iter().map(|at| at.busy.0 as f64 * at.frequency.0 as f64).sum();
    let share = |at: &flyball_sim::engine::FrequencyResidency| Share {
        khz: at.frequency.0,
        share: at.time.as_secs_f64() / seconds,
        busy_share: if busy > 0.0 { at.busy.0 as f64 / busy } else { 0.0 },
    };
    DomainOutcome {
        name: domain.name.clone(),
        governor: domain.governor.clone(),
        residency: domain.residency.iter().map(share).collect(),
        busy_khz: if busy > 0.0 { weighted / busy } else { 0.0 },
        transitions_per_s: domain.transitions as f64 / seconds,
        governor_wakeups_per_s: domain.governor_wakeups_per_s,
        energy_mj: domain.energy_mj,
    }
}
