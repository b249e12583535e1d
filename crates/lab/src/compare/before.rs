//! What was on a board before a playing began: births follow from it, when idle CPUs are next looked after, and when signals
//! change.

use super::readings::Readings;
use flyball_events::Recording;
use flyball_events::recording::Subject;
use flyball_platform::IdleBalanceCost;
use flyball_run::Run;
use flyball_sim::scenario::Scenario;
use flyball_sim::setup::{Before, Left};
use flyball_units::Nanos;

/// What was on each CPU until `begin`, and when one CPU last brought the signals of another one up to date, which is then mostly
/// done for idle ones.
pub(super) fn before(scenario: &Scenario, run: &Run, readings: &Readings, begin: u64) -> Before {
    let recording = Recording::of(run);
    let begins = recording.span().from_ns.min(begin);
    let mut looked_after = begins;
    let mut of_cpu = |cpu: u32| {
        let (mut util_avg, mut updated) = (0, begins);
        let signals = recording.signals_of(Subject::Cpu(cpu));
        for signals in signals.filter(|signals| signals.t_ns <= begin) {
            (util_avg, updated) = (signals.util_avg.unwrap_or(util_avg), signals.t_ns);
            if signals.updater.is_some_and(|updater| updater != cpu) {
                looked_after = looked_after.max(signals.t_ns);
            }
        }
        let (idle_times, idle_since) = readings.idle_times(cpu, begin);
        Left {
            util_avg,
            updated: Nanos(begin - updated),
            idle: Nanos(begin - idle_since.max(begins)),
            idle_times: idle_times.into_iter().map(Nanos).collect(),
            period_contrib: readings.period_contrib(cpu, updated),
            idle_balance_cost: idle_balance_cost(run, cpu),
        }
    };
    let left = scenario.platform.cpus.iter().map(|cpu| of_cpu(cpu.id.0)).collect();
    Before { left, looked_after: Nanos(begin - looked_after) }
}

/// What the longest look for work took a CPU when it went idle: in its smallest domain, and in all together.
fn idle_balance_cost(run: &Run, cpu: u32) -> Option<IdleBalanceCost> {
    let cpus = &run.manifest.machine.as_ref()?.cpus;
    let costs = &cpus.iter().find(|record| record.cpu == cpu)?.idle_balance_costs_ns;
    let near = Nanos(*costs.first()?);
    let all = Nanos(costs.iter().fold(0, |sum, cost| sum.saturating_add(*cost)));
    Some(IdleBalanceCost { near, all })
}
