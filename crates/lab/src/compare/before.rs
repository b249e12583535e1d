//! What was on a board before a playing began: births follow from it, when idle CPUs are next looked after, and when signals
//! change. And which timers of the kernel's own were yet to come.

use super::clocks::Clocks;
use super::readings::Readings;
use super::ticks::Ticks;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Signals, Subject, comm};
use flyball_platform::IdleBalanceCost;
use flyball_run::Run;
use flyball_sim::scenario::{Scenario, TaskSpec};
use flyball_sim::setup::{Before, Class, Left};
use flyball_units::{CpuId, Nanos};

/// What was on each CPU until `begin`, and when one CPU last brought the signals of another one up to date, which is then mostly
/// done for idle ones.
pub(super) fn before(
    scenario: &Scenario,
    run: &Run,
    (readings, clocks): (&Readings, &Clocks<'_>),
    (begin, ticks): (u64, &Ticks),
) -> Before {
    let recording = Recording::of(run);
    let cpus: Vec<u32> = scenario.platform.cpus.iter().map(|cpu| cpu.id.0).collect();
    let tick =
        ticks.phase_ns.map(|first| (begin + first, 1_000_000_000 / u64::from(scenario.kernel.hz)));
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
            pushed_to: first_pushed(&recording, scenario, cpu)
                .map(|to| CpuId(turn_before(to, &cpus))),
            timers: tick.map_or_else(Vec::new, |tick| {
                let timers = timers(&recording, (cpu, &cpus), (readings, clocks), tick);
                timers.into_iter().map(|at| Nanos(at - begin)).collect()
            }),
            ticks: ticks.readings.get(&cpu).cloned().unwrap_or_default(),
        }
    };
    let left = cpus.iter().map(|&cpu| of_cpu(cpu)).collect();
    Before { left, looked_after: Nanos(begin - looked_after) }
}

/// The CPU to which one first pushed a deadline task of the scenario.
fn first_pushed(recording: &Recording<'_>, scenario: &Scenario, cpu: u32) -> Option<u32> {
    let has_deadlines = |name: &str| {
        let of = |spec: &&TaskSpec| spec.names().iter().any(|own| comm(own) == name);
        let spec = scenario.tasks.iter().find(of);
        spec.is_some_and(|spec| matches!(spec.class, Class::Deadline { .. }))
    };
    let tasks = recording.seen().into_iter();
    let tasks = tasks.filter(|&tid| has_deadlines(&comm(&recording.task(tid).name)));
    let pushes = tasks.flat_map(|tid| {
        let mut ran: Vec<Ran> = recording.slices_of(tid).to_vec();
        ran.sort_unstable_by_key(|slice| slice.from_ns);
        let moves = ran
            .windows(2)
            .filter(|two| two[0].cpu != two[1].cpu && two[0].ended == Ended::Preempted);
        moves.map(|two| (two[1].from_ns, two[0].cpu, two[1].cpu)).collect::<Vec<_>>()
    });
    pushes.filter(|push| push.1 == cpu).min().map(|push| push.2)
}

/// The CPU before this one, all around.
fn turn_before(cpu: u32, cpus: &[u32]) -> u32 {
    let at = cpus.iter().position(|&own| own == cpu).unwrap_or(0);
    cpus.get((at + cpus.len() - 1) % cpus.len()).copied().unwrap_or(cpu)
}

/// How late an idle CPU's tick reads its clock, at most, in ns.
const MOST_LATE: u64 = 400_000;

/// When an idle CPU's tick came although it was stopped, because a timer expired there: it brought its own signals up to date, and
/// it was not the first tick that found it idle, which is kept, nor is it the one that a busy CPU would wake to look after the others.
/// `tick`: when one came, and from one to the next.
fn timers(
    recording: &Recording<'_>,
    (cpu, all): (u32, &[u32]),
    (readings, clocks): (&Readings, &Clocks<'_>),
    (first, period): (u64, u64),
) -> Vec<u64> {
    let passed =
        |t_ns: u64| t_ns.checked_sub(first).map(|passed| (passed / period, passed % period));
    let begins = |of: &Signals| {
        let read = readings.of_update(of, clocks);
        let idle_since = readings.idle_since(cpu, of.t_ns)?;
        let ((number, late), before) = (passed(read)?, passed(idle_since));
        let is_late = late < MOST_LATE && before.is_none_or(|(before, _)| number > before + 1);
        let is_idle = |&other: &u32| readings.idle_since(other, of.t_ns).is_some();
        let is_woken =
            all.iter().find(|other| is_idle(other)) == Some(&cpu) && !all.iter().all(is_idle);
        let is_wakeup = of.util_est != Some(0) && readings.is_wakeup(cpu, of.t_ns);
        let own = of.updater == Some(cpu) && !is_wakeup;
        (own && is_late && !is_woken).then_some(read)
    };
    let signals = recording.signals_of(Subject::Cpu(cpu)).filter(|of| of.t_ns >= first);
    let mut found: Vec<u64> = signals.filter_map(|of| begins(&of)).collect();
    found.sort_unstable();
    found
}

/// What the longest look for work took a CPU when it went idle: in its smallest domain, and in all together.
fn idle_balance_cost(run: &Run, cpu: u32) -> Option<IdleBalanceCost> {
    let cpus = &run.manifest.machine.as_ref()?.cpus;
    let costs = &cpus.iter().find(|record| record.cpu == cpu)?.idle_balance_costs_ns;
    let near = Nanos(*costs.first()?);
    let all = Nanos(costs.iter().fold(0, |sum, cost| sum.saturating_add(*cost)));
    Some(IdleBalanceCost { near, all })
}

#[cfg(test)]
mod tests {
    use super::super::clocks::x86_at;
    use super::*;
    use flyball_platform::Platform;
    use flyball_run::{Slice, UtilizationSample};
    use flyball_units::KernelRules;

    const MS: u64 = 1_000_000;

    /// CPU 1 ran until 2 ms. The tick of 4 ms is kept; that of 28 ms, read 0.1 ms later, is a timer's. What another CPU did at 40 ms
    /// is none of its ticks, what came at 54 ms was no tick, and at 60 ms CPU 2 is busy, and wakes CPU 0, if any.
    #[test]
    fn ticks_of_idle_cpus_are_timers() {
        let mut run = x86_at(1_000_000);
        let mut told = |us: u64, cpu: u32, updater: u32| {
            run.tables.utilization.push(UtilizationSample {
                t_ns: us * 1000,
                kind: "cpu".to_owned(),
                cpu: Some(cpu),
                util_avg: Some(9),
                util_est: Some(0),
                updater_cpu: Some(updater),
                ..UtilizationSample::default()
            });
        };
        for (us, cpu, updater) in
            [(4_100, 1, 1), (28_100, 1, 1), (40_100, 1, 0), (54_000, 1, 1), (60_100, 1, 1)]
        {
            told(us, cpu, updater);
            told(us, 0, updater);
        }
        for (cpu, from_ns, to_ns) in [(1, 0, 2 * MS), (2, 59 * MS, 70 * MS)] {
            run.tables.slices.push(Slice { cpu, tid: 7, from_ns, to_ns, ..Slice::default() });
        }
        let platform = Platform::named("board-x86").unwrap();
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let readings = Readings::of_run(&platform, KernelRules::newest(), &run);
        let of = |cpu: u32| {
            timers(&recording, (cpu, &[0, 1, 2, 3]), (&readings, &clocks), (0, 4 * MS))
                .into_iter()
                .map(|at| at / MS)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(1), [28, 60]);
        assert_eq!(of(0), [40], "of its own");
    }
}
