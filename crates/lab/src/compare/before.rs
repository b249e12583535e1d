//! What was on a board before a playing began: births follow from it, and when idle CPUs are next looked after.

use flyball_events::Recording;
use flyball_events::recording::Subject;
use flyball_sim::scenario::Scenario;
use flyball_sim::setup::{Before, Left};
use flyball_units::Nanos;
use std::collections::BTreeMap;

/// What was on each CPU until `begin`: what its utilisation was last recorded as, and when, and when it last ran anything; and when
/// one CPU last brought the signals of another one up to date, which is then mostly done for idle ones.
pub(super) fn before(scenario: &Scenario, recording: &Recording<'_>, begin: u64) -> Before {
    let mut ran: BTreeMap<u32, u64> = BTreeMap::new();
    for slice in recording.slices().filter(|slice| slice.from_ns < begin) {
        let last = ran.entry(slice.cpu).or_default();
        *last = slice.to_ns.min(begin).max(*last);
    }
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
        let ran = ran.get(&cpu).copied().unwrap_or(begins);
        Left { util_avg, updated: Nanos(begin - updated), idle: Nanos(begin - ran) }
    };
    let left = scenario.platform.cpus.iter().map(|cpu| of_cpu(cpu.id.0)).collect();
    Before { left, looked_after: Nanos(begin - looked_after) }
}
