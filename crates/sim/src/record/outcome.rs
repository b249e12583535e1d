//! Results: named numbers per phase, and their spread over phases.

use super::watch::{GroupWatch, Watch};
use crate::engine::{CgroupSummary, DomainSummary, Summary};
use crate::scenario::{Group, Scenario};
use flyball_stats::sort;
use flyball_units::Nanos;

/// The unit that a metric's name ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A plain number.
    Count,
    /// Hundredths.
    Percent,
    /// Kilohertz.
    Khz,
    /// Millijoules.
    Mj,
    /// Milliwatts.
    Mw,
    /// Per second.
    PerS,
    /// Degrees Celsius.
    Celsius,
}

impl Unit {
    /// The end of a metric's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Ns => "_ns",
            Unit::Count => "",
            Unit::Percent => "_percent",
            Unit::Khz => "_khz",
            Unit::Mj => "_mj",
            Unit::Mw => "_mw",
            Unit::PerS => "_per_s",
            Unit::Celsius => "_celsius",
        }
    }
}

/// One number of one phase.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Metric {
    /// What it is about: a task's name, `domain NAME`, `machine`.
    pub subject: String,
    /// What it is, ending in its unit: `response_p99_ns`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its value; None where it never came to be.
    pub value: Option<f64>,
}

impl Metric {
    /// Subject and name as one: `audio.response_p99_ns`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.subject, self.name)
    }
}

/// The results of one phase. Every phase of a scenario has the same metrics in the same order.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Outcome {
    /// Number of the phase.
    pub phase: u32,
    /// The results.
    pub metrics: Vec<Metric>,
    /// The engine's totals.
    pub summary: Summary,
}

impl Outcome {
    /// Puts together what was watched and what the engine counted.
    pub fn new(
        scenario: &Scenario,
        phase: u32,
        groups: &[Group],
        watch: Watch,
        summary: Summary,
    ) -> Outcome {
        let mut list = List { metrics: Vec::new(), subject: String::new() };
        let thresholds = watch.thresholds().to_vec();
        for (group, watched) in groups.iter().zip(watch.into_groups()) {
            list.subject.clone_from(&group.name);
            list.group(scenario, group, &watched, &thresholds, &summary);
        }
        for cgroup in &summary.cgroups {
            list.subject = format!("cgroup {}", cgroup.name);
            list.cgroup(cgroup);
        }
        for domain in &summary.domains {
            list.subject = format!("domain {}", domain.name);
            list.domain(domain, summary.elapsed);
        }
        list.subject = "machine".to_owned();
        list.machine(&summary);
        Outcome { phase, metrics: list.metrics, summary }
    }

    /// The value of a metric.
    pub fn value(&self, subject: &str, name: &str) -> Option<f64> {
        let found = self.metrics.iter().find(|m| m.subject == subject && m.name == name);
        found.and_then(|metric| metric.value)
    }
}

struct List {
    metrics: Vec<Metric>,
    subject: String,
}

impl List {
    fn push(&mut self, name: impl AsRef<str>, unit: Unit, value: Option<f64>) {
        self.metrics.push(Metric {
            subject: self.subject.clone(),
            name: format!("{}{}", name.as_ref(), unit.suffix()),
            unit,
            value: value.filter(|value| value.is_finite()),
        });
    }

    fn group(
        &mut self,
        scenario: &Scenario,
        group: &Group,
        watched: &GroupWatch,
        thresholds: &[u32],
        summary: &Summary,
    ) {
        let ns = |value: Option<u64>| value.map(|value| value as f64);
        self.push("items", Unit::Count, Some(watched.response.count() as f64));
        for (what, values) in [("response", &watched.response), ("lateness", &watched.lateness)] {
            self.push(format!("{what}_p50"), Unit::Ns, ns(values.quantile(0.5)));
            self.push(format!("{what}_p99"), Unit::Ns, ns(values.quantile(0.99)));
            self.push(format!("{what}_max"), Unit::Ns, ns(values.max()));
        }
        self.push("response_mean", Unit::Ns, watched.response.mean());
        let done = watched.response.count();
        let missed = group.deadline.filter(|_| done > 0);
        let missed = missed.map(|_| 100.0 * watched.missed as f64 / done as f64);
        self.push("missed", Unit::Percent, missed);
        for (threshold, reached) in thresholds.iter().zip(&watched.reached) {
            let time = reached.map(|time| time.0 as f64);
            self.push(format!("util_{threshold}"), Unit::Ns, time);
        }
        self.push("on_largest", Unit::Ns, watched.on_largest.map(|time| time.0 as f64));
        self.placement(scenario, group, summary);
    }

    /// Where the group's tasks ran.
    fn placement(&mut self, scenario: &Scenario, group: &Group, summary: &Summary) {
        let own = || summary.tasks.iter().filter(|task| group.tasks.contains(&task.task.0));
        let sum = |of: fn(&crate::engine::TaskSummary) -> u64| own().map(of).sum::<u64>() as f64;
        self.push("running", Unit::Ns, Some(sum(|task| task.running.0)));
        let mut types: Vec<&str> = Vec::new();
        for cpu in &scenario.platform.cpus {
            if !types.contains(&cpu.core_type.as_str()) {
                types.push(&cpu.core_type);
            }
        }
        for core_type in types {
            let cpus = scenario.platform.cpus.iter().filter(|cpu| cpu.core_type == core_type);
            let on = |cpu: &flyball_platform::Cpu| -> u64 {
                own().filter_map(|t| t.running_on.get(cpu.id.0 as usize)).map(|t| t.0).sum()
            };
            self.push(format!("on_{core_type}"), Unit::Ns, Some(cpus.map(on).sum::<u64>() as f64));
        }
        self.push("waiting", Unit::Ns, Some(sum(|task| task.runnable.0)));
        self.push("wakeups", Unit::Count, Some(sum(|task| task.wakeups)));
        self.push("migrations", Unit::Count, Some(sum(|task| task.migrations)));
        self.push("preemptions", Unit::Count, Some(sum(|task| task.preemptions)));
        if own().any(|task| task.throttles.is_some()) {
            let throttles = sum(|task| task.throttles.unwrap_or_default());
            self.push("throttles", Unit::Count, Some(throttles));
        }
    }

    fn cgroup(&mut self, cgroup: &CgroupSummary) {
        self.push("running", Unit::Ns, Some(cgroup.running.0 as f64));
        if let Some(limit) = cgroup.limit {
            let periods = limit.periods as f64;
            let share =
                (limit.periods > 0).then(|| 100.0 * limit.throttled_periods as f64 / periods);
            self.push("periods", Unit::Count, Some(periods));
            self.push("throttled_periods", Unit::Percent, share);
            self.push("throttled", Unit::Ns, Some(limit.throttled.0 as f64));
        }
    }

    fn domain(&mut self, domain: &DomainSummary, elapsed: Nanos) {
        let mean = |of: fn(&crate::engine::FrequencyResidency) -> Nanos| {
            let total: f64 = domain.residency.iter().map(|r| of(r).0 as f64).sum();
            let weighted: f64 =
                domain.residency.iter().map(|r| of(r).0 as f64 * r.frequency.0 as f64).sum();
            (total > 0.0).then(|| weighted / total)
        };
        self.push("frequency_mean", Unit::Khz, mean(|r| r.time));
        self.push("frequency_busy", Unit::Khz, mean(|r| r.busy));
        let seconds = elapsed.as_secs_f64();
        self.push("transitions", Unit::PerS, Some(domain.transitions as f64 / seconds));
        self.push("governor_wakeups", Unit::PerS, Some(domain.governor_wakeups_per_s));
        self.push("energy", Unit::Mj, Some(domain.energy_mj));
    }

    fn machine(&mut self, summary: &Summary) {
        let seconds = summary.elapsed.as_secs_f64();
        self.push("energy", Unit::Mj, Some(summary.energy_mj));
        self.push("power", Unit::Mw, Some(summary.energy_mj / seconds));
        let cpus = summary.cpus.iter();
        let share =
            |time: u64| 100.0 * time as f64 / (summary.elapsed.0 as f64 * cpus.len() as f64);
        self.push("busy", Unit::Percent, Some(share(cpus.clone().map(|cpu| cpu.busy.0).sum())));
        let deep = cpus
            .clone()
            .map(|cpu| cpu.idle_residency.iter().skip(1).map(|time| time.0).sum::<u64>());
        self.push("deep_idle", Unit::Percent, Some(share(deep.sum())));
        self.push(
            "stalled",
            Unit::Percent,
            Some(share(cpus.clone().map(|cpu| cpu.stalled.0).sum())),
        );
        let wakeups: u64 = cpus.clone().map(|cpu| cpu.wakeups).sum();
        self.push("wakeups", Unit::PerS, Some(wakeups as f64 / seconds));
        let hottest = summary.temperature.map(|temperature| temperature.highest_c);
        self.push("temperature_max", Unit::Celsius, hottest);
    }
}

/// A metric's values over the phases.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    /// Phases in which it came to be.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// 1st percentile, interpolated between neighbours.
    pub p1: f64,
    /// Median.
    pub median: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (n - 1); 0 of one value.
    pub sd: f64,
}

/// The spread of some values; None of nothing.
pub fn spread(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sort(&mut sorted);
    let found = flyball_stats::Summary::of_sorted(&sorted).ok()?;
    Some(Spread {
        n: found.n,
        min: found.min,
        p1: found.p01,
        median: found.median,
        p99: found.p99,
        max: found.max,
        mean: found.mean,
        sd: found.sd.unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let found = spread((0..=100).map(f64::from)).unwrap();
        assert_eq!((found.p1, found.median, found.p99, found.mean), (1.0, 50.0, 99.0, 50.0));
        let one = spread([3.0, f64::NAN]).unwrap();
        assert_eq!((one.n, one.p1, one.p99, one.sd), (1, 3.0, 3.0, 0.0));
        assert_eq!(spread([]), None);
    }
}
