//! The frequency of each CPU in a playing, and what ran by it: cycles, and time that load tracking counts.

use flyball_events::Recording;
use flyball_events::recording::Steps;
use flyball_platform::{Cpu, Platform};
use flyball_run::Run;
use flyball_sim::workload::FullSpeed;
use std::sync::Arc;

/// Half of a utilisation's history is forgotten in 32 periods of 1024 us.
const HALF_LIFE_NS: f64 = 32.0 * 1_024_000.0;

/// The clocks of a playing.
pub(super) struct Clocks<'a> {
    platform: &'a Platform,
    steps: Vec<Arc<Steps<u64>>>,
    full_speed: FullSpeed,
}

impl<'a> Clocks<'a> {
    pub(super) fn of(platform: &'a Platform, run: &Run, recording: &Recording<'_>) -> Clocks<'a> {
        let cpus = platform.cpus.iter();
        let steps = cpus.map(|cpu| frequency(run, recording, cpu.id.0)).collect();
        Clocks { platform, steps, full_speed: FullSpeed::of(platform) }
    }

    /// The frequency of each CPU in kHz, in the platform's order.
    pub(super) fn steps(&self) -> &[Arc<Steps<u64>>] {
        &self.steps
    }

    fn cpu(&self, cpu: u32) -> Option<(&Cpu, &Steps<u64>)> {
        self.platform.cpus.get(cpu as usize).zip(self.steps.get(cpu as usize).map(Arc::as_ref))
    }

    /// When a CPU's frequency changes next, from a time on.
    pub(super) fn next_change(&self, cpu: u32, t_ns: u64) -> Option<u64> {
        let (_, steps) = self.cpu(cpu)?;
        steps.points().map(|(at, _)| at).find(|&at| at >= t_ns)
    }

    /// Cycles of the reference kind of core that a CPU executes in a nanosecond at this time.
    pub(super) fn cycles_per_ns(&self, cpu: u32, t_ns: u64) -> Option<f64> {
        let (cpu, steps) = self.cpu(cpu)?;
        Some(steps.at(t_ns)? as f64 / 1e6 * cpu.work_per_cycle)
    }

    /// Cycles of the reference kind of core that a CPU executes from one time to another.
    pub(super) fn cycles(&self, cpu: u32, from_ns: u64, to_ns: u64) -> f64 {
        let Some((cpu, steps)) = self.cpu(cpu) else { return 0.0 };
        let cycles = steps.segments(from_ns, to_ns).filter_map(|segment| {
            Some((segment.to_ns - segment.from_ns) as f64 * segment.value? as f64 / 1e6)
        });
        cycles.sum::<f64>() * cpu.work_per_cycle
    }

    /// What a utilisation becomes where its task runs on a CPU from one time to another: of u, u y^s + 1024 (1 - y^s), with
    /// s as load tracking counts the time.
    pub(super) fn ran(&self, utilization: f64, cpu: u32, from_ns: u64, to_ns: u64) -> f64 {
        let kept = self.kept(cpu, from_ns, to_ns);
        utilization * kept + 1024.0 * (1.0 - kept)
    }

    /// The share of a utilisation that is left where its task runs from one time to another.
    pub(super) fn kept(&self, cpu: u32, from_ns: u64, to_ns: u64) -> f64 {
        asleep(self.counted_ns(cpu, from_ns, to_ns))
    }

    /// Whether load tracking counts a CPU's time as it is, whatever its frequency.
    pub(super) fn is_steady(&self, cpu: u32) -> bool {
        let mut domains = self.platform.domains.iter();
        let domain = domains.find(|domain| domain.cpus.iter().any(|own| own.0 == cpu));
        domain.is_some_and(|domain| !domain.frequency_invariant)
    }

    /// The time that load tracking counts from one time to another on a CPU that is busy. Once it is idle, the rest follows.
    pub(super) fn counted_ns(&self, cpu: u32, from_ns: u64, to_ns: u64) -> f64 {
        match self.is_steady(cpu) {
            true => to_ns.saturating_sub(from_ns) as f64,
            false => self.cycles(cpu, from_ns, to_ns) * 1e6 / self.full_speed.0 as f64,
        }
    }
}

/// The frequency of a CPU from the begin of the recording's span on: what cpufreq said last before that
/// is in force until the first change.
fn frequency(run: &Run, recording: &Recording<'_>, cpu: u32) -> Arc<Steps<u64>> {
    let begin = recording.span().from_ns;
    let changes = recording.frequency_of_cpu(cpu).unwrap_or_default();
    if changes.at(begin).is_some() {
        return changes;
    }
    let rows = &run.tables.frequency;
    let domain = recording.topology().cpu(cpu).and_then(|cpu| cpu.domain.as_deref());
    let claimed = (0..rows.len())
        .filter(|&row| rows.domain.get(row) == domain && domain.is_some())
        .filter_map(|row| Some((*rows.t_ns.get(row)?, rows.claimed_khz.get(row)?)))
        .filter(|(t_ns, _)| *t_ns <= begin)
        .max_by_key(|(t_ns, _)| *t_ns);
    let points = claimed.map(|(_, khz)| (begin, khz)).into_iter();
    Arc::new(Steps::from_points(points.chain(changes.points())))
}

/// The share of a utilisation that is left where its task sleeps for so long.
pub(super) fn asleep(ns: f64) -> f64 {
    (-ns / HALF_LIFE_NS).exp2()
}

/// The x86 board at one frequency, for tests.
#[cfg(test)]
pub(super) fn x86_at(khz: u64) -> Run {
    use flyball_run::FrequencySample;
    use flyball_run::manifest::{DomainRecord, Machine};
    let domain = || "policy0".to_owned();
    let own = DomainRecord { name: domain(), cpus: (0..4).collect(), ..DomainRecord::default() };
    let mut run = Run::default();
    run.manifest.machine = Some(Machine { domains: vec![own], ..Machine::default() });
    run.tables.frequency.push(FrequencySample {
        t_ns: 0,
        domain: domain(),
        claimed_khz: Some(khz),
        source: "cpu_frequency".to_owned(),
        ..FrequencySample::default()
    });
    run
}
