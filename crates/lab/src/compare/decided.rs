//! What the kernel decided in a playing: which frequency held when, on which CPU a task was, and when signals of idle CPUs were brought up to
//! date.
//!
//! A phase decides all of it itself. Given one of them as the kernel had it, or several, it tells which kind of decision a distance
//! comes from ([`super::cause`]).

use super::clocks::Clocks;
use super::readings::UPDATE_CYCLES;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Subject};
use flyball_platform::{ClockDomain, Platform};
use flyball_sim::setup::{Cared, Placed};
use flyball_units::{CpuId, KiloHertz, Nanos};

/// When which frequency held in each clock domain, from the beginning of the recording's span; a domain of which nothing is recorded, or one that
/// the platform has not, has none.
pub(super) fn frequencies(
    platform: &Platform,
    clocks: &Clocks<'_>,
    begin_ns: u64,
) -> Vec<Vec<(Nanos, KiloHertz)>> {
    let of_domain = |domain: &ClockDomain| {
        let cpu = domain.cpus.first()?;
        let steps = clocks.steps().get(cpu.0 as usize)?;
        let first = steps.at(begin_ns).map(|khz| (begin_ns, khz));
        let later = steps.points().filter(|&(t_ns, _)| t_ns > begin_ns);
        let known = |(t_ns, khz): (u64, u64)| {
            let point = domain.points.iter().find(|point| point.frequency.0 == khz)?;
            Some((Nanos(t_ns - begin_ns), point.frequency))
        };
        first.into_iter().chain(later).map(known).collect::<Option<Vec<_>>>()
    };
    platform.domains.iter().map(|domain| of_domain(domain).unwrap_or_default()).collect()
}

/// Where a task was, from the beginning of the recording's span on: its birth, and each move. One that slept when it moved, or that had
/// used up the time `reserved` for it, is prescribed its new CPU from when it last ran, as in a phase it may come back sooner.
pub(super) fn placements(
    recording: &Recording<'_>,
    (tid, slices): (u32, &[Ran]),
    reserved: bool,
) -> Vec<Placed> {
    let begin_ns = recording.span().from_ns;
    let at = |t_ns: u64| Nanos(t_ns.saturating_sub(begin_ns));
    let mut wakeups: Vec<(u64, u32)> =
        recording.wakeups_of(tid).map(|woken| (woken.t_ns, woken.cpu)).collect();
    wakeups.sort_unstable();
    let born_on = wakeups.first().map(|&(_, cpu)| cpu);
    let born_on = born_on.or(slices.first().map(|slice| slice.cpu));
    let born = born_on.map(|cpu| Placed { at: Nanos::ZERO, cpu: CpuId(cpu), awake: false });
    let mut moves: Vec<(u64, u32)> = recording.moves(tid).collect();
    moves.sort_unstable();
    let moved = moves.into_iter().map(|(t_ns, cpu)| {
        let before = slices.iter().take_while(|slice| slice.from_ns < t_ns).last();
        let stopped = |slice: &&Ran| slice.ended == Ended::Slept || reserved;
        let slept = before.filter(stopped).filter(|slice| slice.to_ns <= t_ns);
        let asleep_since = slept.map(|slice| slice.to_ns).filter(|&since_ns| {
            let woken = |&(woken_ns, _): &(u64, u32)| (since_ns..t_ns).contains(&woken_ns);
            !wakeups.iter().any(woken)
        });
        let cpu = CpuId(cpu);
        Placed { at: at(asleep_since.unwrap_or(t_ns)), cpu, awake: asleep_since.is_none() }
    });
    born.into_iter().chain(moved).collect()
}

/// A wake-up or a birth is recorded so much later than the update of its CPU's signals, at most.
const WAKE_UP_NS: u64 = 400_000;

/// When signals of CPUs were brought up to date while these were idle, from the beginning of the recording's span on, in order; not for who then
/// wakes up there. None where it is not recorded who did that.
pub(super) fn care(
    recording: &Recording<'_>,
    clocks: &Clocks<'_>,
    (platform, slices): (&Platform, &[Ran]),
) -> Vec<Cared> {
    let span = recording.span();
    let mut found = Vec::new();
    for cpu in platform.cpus.iter().map(|cpu| cpu.id) {
        let here: Vec<&Ran> = slices.iter().filter(|slice| slice.cpu == cpu.0).collect();
        let mut wakeups: Vec<u64> =
            recording.wakeups().filter(|of| of.cpu == cpu.0).map(|of| of.t_ns).collect();
        wakeups.sort_unstable();
        let rows = recording.signals_of(Subject::Cpu(cpu.0));
        for of in rows.filter(|of| (span.from_ns..span.to_ns).contains(&of.t_ns)) {
            let Some(by) = of.updater else { continue };
            let next = wakeups.get(wakeups.partition_point(|&t_ns| t_ns < of.t_ns));
            let wakes = next.is_some_and(|&t_ns| t_ns <= of.t_ns + WAKE_UP_NS);
            let before = here.partition_point(|slice| slice.from_ns <= of.t_ns).checked_sub(1);
            let busy =
                before.and_then(|at| here.get(at)).is_some_and(|slice| slice.to_ns >= of.t_ns);
            let rate = clocks.cycles_per_ns(by, of.t_ns);
            if let Some(rate) = rate.filter(|_| !wakes && !busy) {
                let read_ns = of.t_ns.saturating_sub((UPDATE_CYCLES as f64 / rate) as u64);
                let at = Nanos(read_ns.saturating_sub(span.from_ns));
                found.push(Cared { at, cpu, by: CpuId(by) });
            }
        }
    }
    found.sort_by_key(|of| of.at);
    found
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::{playing, scenario};
    use super::*;
    use crate::compare::figures::span;
    use flyball_run::{FrequencySample, Migration, UtilizationSample, Wakeup};

    const MS: u64 = 1_000_000;

    /// `work` is born on CPU 0, moves to CPU 1 while it sleeps from 4 to 20.5 ms, and, as it runs until 27.75 ms, to CPU 3.
    #[test]
    fn who_slept_moves_from_when_it_went_to_sleep() {
        let mut run = playing();
        run.tables.migrations = Default::default();
        for (us, to_cpu) in [(20_400, 1), (22_000, 3)] {
            let (t_ns, task) = (1_000 * MS + us * 1000, "work".to_owned());
            run.tables.migrations.push(Migration {
                t_ns,
                tid: 1,
                task,
                to_cpu,
                ..Migration::default()
            });
        }
        let whole = Recording::of(&run);
        let recording = span(&whole).unwrap();
        let placed = placements(&recording, (1, &recording.slices_of(1)), false);
        let placed: Vec<_> = placed.iter().map(|of| (of.at.0 / MS, of.cpu.0, of.awake)).collect();
        assert_eq!(placed, [(0, 0, false), (4, 1, false), (22, 3, true)]);
    }

    /// What held when the playing began counts from there.
    #[test]
    fn frequencies_begin_with_the_playing() {
        let mut run = playing();
        for (ms, khz) in [(900, 600_000), (1_010, 800_000), (1_050, 1_200_000)] {
            run.tables.frequency.push(FrequencySample {
                t_ns: ms * MS,
                domain: "policy0".to_owned(),
                claimed_khz: Some(khz),
                source: "cpu_frequency".to_owned(),
                ..FrequencySample::default()
            });
        }
        let platform = scenario(1).platform;
        let whole = Recording::of(&run);
        let recording = span(&whole).unwrap();
        let clocks = Clocks::of(&platform, &run, &recording);
        let found = frequencies(&platform, &clocks, recording.span().from_ns);
        let found: Vec<_> = found[0].iter().map(|(at, khz)| (at.0 / MS, khz.0 / 1000)).collect();
        assert_eq!(found, [(0, 600), (10, 800), (50, 1200)]);
    }

    /// Of CPU 2: while it runs something, before somebody wakes up there, and twice while it is idle, by another CPU and by itself; the clock was read 40,000
    /// cycles before, at 1 GHz.
    #[test]
    fn idle_cpus_are_looked_after_but_not_for_who_wakes_up() {
        let mut run = playing();
        for (us, updater_cpu) in [(1_900, 2), (3_500, 0), (30_000, 0), (50_000, 2)] {
            run.tables.utilization.push(UtilizationSample {
                t_ns: 1_000 * MS + us * 1000,
                kind: "cpu".to_owned(),
                cpu: Some(2),
                util_avg: Some(5),
                updater_cpu: Some(updater_cpu),
                ..UtilizationSample::default()
            });
        }
        let woken_ns = 1_000 * MS + 2_000_000;
        run.tables.wakeups.push(Wakeup { woken_ns, cpu: 2, tid: 9, ..Wakeup::default() });
        let platform = scenario(1).platform;
        let whole = Recording::of(&run);
        let recording = span(&whole).unwrap();
        let clocks = Clocks::of(&platform, &run, &recording);
        let slices: Vec<Ran> = recording.slices().collect();
        let found = care(&recording, &clocks, (&platform, &slices));
        let found: Vec<_> = found.iter().map(|of| (of.at.0 / 1000, of.cpu.0, of.by.0)).collect();
        assert_eq!(found, [(29_960, 2, 0), (49_960, 2, 2)]);
    }
}
