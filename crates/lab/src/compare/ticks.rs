//! When each CPU had its ticks: a period apart, and in each some microseconds after the others', in which what it asks may come too
//! early for a rate limit or after what changes the answer.

use super::clocks::Clocks;
use super::readings::Readings;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Signals, Subject};
use flyball_sim::scenario::Scenario;
use flyball_units::Nanos;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A tick is one of so many updates of utilisations near each other in its period, at least.
const LEAST_TICKS: usize = 10;

/// So near each other, in ns.
const NEAR_NS: u64 = 200_000;

/// Where ticks come in their period, from the beginning of the scenario on: there the utilisations of busy CPUs change, once
/// they have run for a while.
fn tick_ns(
    scenario: &Scenario,
    recording: &Recording<'_>,
    slices: &[Ran],
    read: impl Fn(&Signals) -> u64,
) -> Option<u64> {
    let (begin, period) = (recording.span().from_ns, 1_000_000_000 / u64::from(scenario.kernel.hz));
    let mut per_cpu: BTreeMap<u32, Vec<&Ran>> = BTreeMap::new();
    for slice in slices {
        per_cpu.entry(slice.cpu).or_default().push(slice);
    }
    let runs_on = |cpu: u32, t_ns: u64| {
        let slices = per_cpu.get(&cpu)?;
        let before = slices.partition_point(|slice| slice.from_ns <= t_ns).checked_sub(1)?;
        slices.get(before).map(|slice| (slice.from_ns + NEAR_NS..slice.to_ns).contains(&t_ns))
    };
    let mut at: Vec<u64> = recording
        .signals()
        .filter(|of| of.t_ns >= begin)
        .filter(|of| matches!(of.subject, Subject::Cpu(cpu) if runs_on(cpu, of.t_ns) == Some(true)))
        .map(|of| (read(&of).saturating_sub(begin)) % period)
        .collect();
    at.sort_unstable();
    // All around: what comes early in a period lies behind what comes late in the one before.
    let ends: Vec<u64> = at.iter().copied().chain(at.iter().map(|ns| ns + period)).collect();
    let near = |from: &u64| {
        let first = ends.partition_point(|ns| ns < from);
        (ends.partition_point(|ns| *ns <= from + NEAR_NS) - first, first)
    };
    let (count, first) =
        at.iter().map(near).max_by_key(|&(count, first)| (count, Reverse(first)))?;
    let tick = ends.get(first + count / 2).filter(|_| count >= LEAST_TICKS)?;
    Some(tick % period)
}

/// A tick reads its clock no further from where most do, in ns.
const MOST_APART_NS: i64 = 300_000;

/// Of what is recorded that near the end of a task's time on its CPU, its sleep may be the cause, in cycles.
const SLEEP_CYCLES: f64 = 200_000.0;

/// The share of readings that may come before a tick begins: chance.
const EARLY: f64 = 0.02;

/// The ticks of a playing; times are from the beginning of the scenario on.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Ticks {
    /// Where in its period the tick begins; None where that was not seen.
    pub(super) phase_ns: Option<u64>,
    /// When each CPU read its clock for one, in order, as far as that was recorded.
    pub(super) readings: BTreeMap<u32, Vec<Nanos>>,
}

impl Ticks {
    /// Those of a playing, of which `slices` ran.
    pub(super) fn of(
        scenario: &Scenario,
        recording: &Recording<'_>,
        slices: &[Ran],
        (readings, clocks): (&Readings, &Clocks<'_>),
    ) -> Ticks {
        let phase_ns = tick_ns(scenario, recording, slices, |of| readings.of_update(of, clocks));
        let Some(phase) = phase_ns.filter(|_| readings.are_known()) else {
            return Ticks { phase_ns, readings: BTreeMap::new() };
        };
        let first = recording.span().from_ns + phase;
        let period = 1_000_000_000 / i64::from(scenario.kernel.hz);
        let mut late: BTreeMap<(u32, i64), i64> = BTreeMap::new();
        for of in recording.signals() {
            let own = own(&of, readings).filter(|&cpu| !sleeps(slices, cpu, of.t_ns, clocks));
            let Some(cpu) = own else { continue };
            let since = readings.at_tick(&of, clocks) as i64 - first as i64;
            let number = (since + period / 2).div_euclid(period);
            let late_ns = since - number * period;
            if late_ns.abs() < MOST_APART_NS {
                late.entry((cpu, number)).or_insert(late_ns);
            }
        }
        let mut all: Vec<i64> = late.values().copied().collect();
        all.sort_unstable();
        let early = all.get((all.len() as f64 * EARLY) as usize).copied().unwrap_or(0);
        let begins = phase as i64 + early;
        let mut readings: BTreeMap<u32, Vec<Nanos>> = BTreeMap::new();
        for ((cpu, number), late_ns) in late {
            let at = begins + number * period + (late_ns - early).max(0);
            readings.entry(cpu).or_default().extend(u64::try_from(at).ok().map(Nanos));
        }
        Ticks { phase_ns: Some(begins.rem_euclid(period) as u64), readings }
    }
}

/// The CPU whose signals it updated itself, but not because a task woke up there while it was idle.
fn own(of: &Signals, readings: &Readings) -> Option<u32> {
    let Subject::Cpu(cpu) = of.subject else { return None };
    let is_own = of.updater.is_none_or(|updater| updater == cpu);
    let idle = readings.idle_since(cpu, of.t_ns).is_some();
    (is_own && !(idle && readings.is_wakeup(cpu, of.t_ns))).then_some(cpu)
}

/// Whether a task goes to sleep on a CPU soon.
fn sleeps(slices: &[Ran], cpu: u32, t_ns: u64, clocks: &Clocks<'_>) -> bool {
    let here = slices.iter().filter(|slice| slice.cpu == cpu && slice.ended == Ended::Slept);
    let mut soon = here.filter(|slice| slice.from_ns <= t_ns && slice.to_ns > t_ns);
    soon.any(|slice| clocks.cycles(cpu, t_ns, slice.to_ns) < SLEEP_CYCLES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use crate::compare::given::tests::scenario;
    use flyball_run::{Run, Slice, UtilizationSample, Wakeup};
    use flyball_units::KernelRules;

    const MS: u64 = 1_000_000;

    #[test]
    fn ticks_are_where_busy_cpus_change() {
        let scenario = scenario(1);
        let mut run = Run::default();
        let mut at = |t_ns: u64, cpu: u32| {
            let (kind, cpu, util_avg) = ("cpu".to_owned(), Some(cpu), Some(1));
            let sample =
                UtilizationSample { t_ns, kind, cpu, util_avg, ..UtilizationSample::default() };
            run.tables.utilization.push(sample);
        };
        for n in 0..20 {
            // CPU 0 is busy; CPU 1 is not. The tick is at 3.9 ms of 4, and read up to 150 us later.
            at(n * 4 * MS + 3_900_000 + n % 4 * 50_000, 0);
            at(n * 4 * MS + 2 * MS, 1);
        }
        let to_ns = 100 * MS;
        run.tables.slices.push(Slice { cpu: 0, tid: 1, from_ns: 0, to_ns, ..Slice::default() });
        let recording = Recording::of(&run);
        let slices: Vec<Ran> = recording.slices().collect();
        let tick = tick_ns(&scenario, &recording, &slices, |of| of.t_ns).unwrap();
        assert!((3_900_000..4 * MS).contains(&tick) || tick <= 50_000, "{tick}");
        assert_eq!(tick_ns(&scenario, &recording, &[], |of| of.t_ns), None);
    }

    /// At 1 GHz CPU 0 is busy, and reads its clock at 3.9 ms of 4, what is recorded 70 us later; CPU 1 is idle, and reads it 30 us behind that.
    /// What comes at another time is none.
    #[test]
    fn each_cpu_has_its_own_ticks() {
        let mut run = x86_at(1_000_000);
        let mut told = |read_ns: u64, cpu: u32, later: u64| {
            let period_contrib = Some((read_ns % (1024 * 1024) / 1024) as u32);
            run.tables.utilization.push(UtilizationSample {
                t_ns: read_ns + later,
                kind: "cpu".to_owned(),
                cpu: Some(cpu),
                util_avg: Some(1),
                updater_cpu: Some(cpu),
                period_contrib,
                ..UtilizationSample::default()
            });
        };
        for number in 0..20 {
            told(number * 4 * MS + 3_900_000, 0, 70_000);
            told(number * 4 * MS + 3_930_000, 1, 40_000);
            told(number * 4 * MS + 2 * MS, 1, 40_000);
        }
        // A wake-up, for which the clock is read, too.
        told(79_850_000, 1, 80_000);
        let (woken_ns, cpu) = (79_960_000, 1);
        run.tables.wakeups.push(Wakeup { woken_ns, cpu, ..Wakeup::default() });
        let to_ns = 100 * MS;
        run.tables.slices.push(Slice { cpu: 0, tid: 1, from_ns: 0, to_ns, ..Slice::default() });
        let platform = flyball_platform::Platform::named("board-x86").unwrap();
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let readings = Readings::of_run(&platform, KernelRules::newest(), &run);
        let slices: Vec<Ran> = recording.slices().collect();
        let ticks = Ticks::of(&scenario(1), &recording, &slices, (&readings, &clocks));
        let near = |found: u64, expected: u64| found.abs_diff(expected) <= 2_000;
        assert!(near(ticks.phase_ns.unwrap(), 3_900_000), "{ticks:?}");
        let [busy, idle] = [0, 1].map(|cpu| &ticks.readings[&cpu]);
        assert_eq!((busy.len(), idle.len()), (20, 20));
        assert!(near(busy[1].0, 7_900_000) && near(idle[1].0, 7_930_000), "{busy:?} {idle:?}");
    }
}
