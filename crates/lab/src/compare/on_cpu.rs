//! Who ran when, as the kernel counts it.
//!
//! A task counts as running from when the scheduler has picked it; that the CPU has switched to it is recorded later, after
//! some ten thousand instructions on the way there. On a board's slow CPUs that is 30 to 250 us, as much as a task of
//! 5 ms gains of utilisation in a period. No event says when, but the utilisations do: of two that were recorded on both
//! sides of a switch from idle, with u asleep until p before it and running from then on,
//!
//! ```text
//!   u2 = (u1 y^(switch - p - t1) y^s + 1024 (1 - y^s)) y^(t2 - switch + p - s)
//!        s: from p before the switch to its end or t2, as load tracking counts
//! ```
//! where u2 is best taken at the next wake-up: then p has in it, too, that a task that goes to sleep stops counting before the
//! switch from it is recorded. A single p is coarse, as utilisations are whole numbers; the median of a playing is not. Nobody
//! counts as running before he is awake, which a new task is not long before it runs.

use super::clocks::{Clocks, asleep};
use super::readings::Readings;
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Subject};
use std::collections::BTreeMap;

/// What a CPU's utilisation is looked at, at most, before a switch, in ns: the wake-up.
const NEAR_NS: u64 = 1_500_000;

/// What whole numbers tell too little of: 0 is rather nothing than a half.
const LEAST_UTIL: u32 = 16;

/// A step of time for the slope, in ns.
const STEP_NS: u64 = 100_000;

/// Whole numbers stand for what lies half above them.
const HALF: f64 = 0.5;

/// All slices of a recording by the times that count, in order of their begin; those after an idle time of their CPU begin
/// earlier than was recorded, unless it is known when the kernel reads its clock: then the model counts from there.
pub(super) fn slices(
    recording: &Recording<'_>,
    clocks: &Clocks<'_>,
    readings: &Readings,
) -> Vec<Ran> {
    let mut slices: Vec<Ran> = recording.slices().collect();
    slices.sort_by_key(|slice| (slice.from_ns, slice.to_ns));
    if readings.are_known() {
        return slices;
    }
    let idle_since = idle_since(&slices, recording.span().from_ns);
    let cycles = before_the_switch(recording, clocks, &slices, &idle_since);
    let mut wakeups: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (slice, &since) in slices.iter_mut().zip(&idle_since) {
        let Some(rate) = clocks.cycles_per_ns(slice.cpu, slice.from_ns) else { continue };
        // Nobody runs before he is awake.
        let woken = wakeups.entry(slice.tid).or_insert_with(|| {
            let mut woken: Vec<u64> = recording.wakeups_of(slice.tid).map(|of| of.t_ns).collect();
            woken.sort_unstable();
            woken
        });
        let before = woken.partition_point(|&t_ns| t_ns <= slice.from_ns);
        let last = before.checked_sub(1).and_then(|last| woken.get(last)).copied();
        let since = since.max(last.unwrap_or(0));
        let ready_ns = slice.from_ns.saturating_sub(since);
        slice.from_ns -= ready_ns.min((cycles / rate).round() as u64);
    }
    slices.sort_by_key(|slice| (slice.from_ns, slice.to_ns));
    slices
}

/// Since when the CPU of each slice has had nothing else to do.
fn idle_since(slices: &[Ran], begin_ns: u64) -> Vec<u64> {
    let mut busy_until: BTreeMap<u32, u64> = BTreeMap::new();
    let since = slices.iter().map(|slice| {
        let until = busy_until.entry(slice.cpu).or_insert(begin_ns);
        let since = (*until).min(slice.from_ns);
        *until = slice.to_ns.max(*until);
        since
    });
    since.collect()
}

/// Cycles of the reference kind of core for which a task runs, by its utilisation, before the switch to it is recorded: the
/// median of what explains each difference.
fn before_the_switch(
    recording: &Recording<'_>,
    clocks: &Clocks<'_>,
    slices: &[Ran],
    idle_since: &[u64],
) -> f64 {
    let mut seen: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
    let mut starts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for slice in slices {
        starts.entry(slice.tid).or_default().push(slice.from_ns);
    }
    let mut found = Vec::new();
    for (slice, &idle_since) in slices.iter().zip(idle_since) {
        let seen = seen.entry(slice.tid).or_insert_with(|| {
            let signals = recording.signals_of(Subject::Task(slice.tid));
            let mut seen: Vec<_> = signals.filter_map(|of| Some((of.t_ns, of.util_avg?))).collect();
            seen.sort_unstable();
            seen
        });
        let after = seen.partition_point(|of| of.0 <= slice.from_ns);
        let before = after.checked_sub(1).and_then(|before| seen.get(before));
        // Where it then sleeps, what was recorded last before it runs again tells all of the time that counted.
        let starts = starts.get(&slice.tid).map_or(&[][..], |starts| starts);
        let again = starts.get(starts.partition_point(|&from_ns| from_ns <= slice.from_ns));
        let last =
            again.and_then(|&again_ns| seen.partition_point(|of| of.0 <= again_ns).checked_sub(1));
        let slept = |of: &&(u64, u32)| slice.ended == Ended::Slept && of.0 > slice.to_ns;
        let then = last.and_then(|last| seen.get(last)).filter(slept);
        let first = seen.get(after).filter(|of| of.0 <= slice.to_ns);
        let (Some(&(t1, u1)), Some(&(t2, u2))) = (before, then.or(first)) else { continue };
        let is_near = idle_since < t1 && slice.from_ns - t1 < NEAR_NS && u1.min(u2) >= LEAST_UTIL;
        let Some(rate) = clocks.cycles_per_ns(slice.cpu, slice.from_ns).filter(|_| is_near) else {
            continue;
        };
        let expected = |earlier_ns: u64| {
            let from_ns = slice.from_ns - earlier_ns;
            let slept = asleep(from_ns as f64 - t1 as f64);
            let before = (f64::from(u1) + HALF) * slept;
            if t2 <= slice.to_ns {
                return clocks.ran(before, slice.cpu, from_ns, t2);
            }
            let counted_ns = clocks.counted_ns(slice.cpu, from_ns, slice.to_ns);
            let ran = clocks.ran(before, slice.cpu, from_ns, slice.to_ns);
            ran * asleep((t2 - from_ns) as f64 - counted_ns)
        };
        let recorded = expected(0);
        let per_cycle = (expected(STEP_NS) - recorded) / (STEP_NS as f64 * rate);
        if per_cycle > 0.0 {
            found.push((f64::from(u2) + HALF - recorded) / per_cycle);
        }
    }
    flyball_stats::median_of(found).unwrap_or(0.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use flyball_platform::Platform;
    use flyball_run::{Run, Slice, UtilizationSample, Wakeup};

    const US: u64 = 1000;

    /// A task that runs 5 of every 20 ms on CPU 1 of the x86 board at 1.6 GHz, is woken 200 us before the switch to it is
    /// recorded, and counts as running from 80 us before that; with its utilisation at each wake-up, 3 ms later and at
    /// its end.
    fn playing() -> Run {
        let mut run = x86_at(1_600_000);
        let tables = &mut run.tables;
        let mut utilization = 0.0;
        for period in 0..200 {
            let woken = (1 + period) * 20_000 * US;
            let recorded = woken + 200 * US;
            let (counts, look, end) = (
                recorded - 80 * US,
                recorded + 3_000 * US,
                recorded + (5_000 + period * 79 % 400) * US,
            );
            let mut push = |t_ns: u64, utilization: f64| {
                let util_avg = Some(utilization as u32);
                let (kind, tid) = ("task".to_owned(), Some(7));
                let sample =
                    UtilizationSample { t_ns, kind, tid, util_avg, ..UtilizationSample::default() };
                tables.utilization.push(sample);
            };
            push(woken, utilization);
            let ran =
                |utilization: f64, ns: u64| 1024.0 + (utilization - 1024.0) * asleep(ns as f64);
            utilization *= asleep((counts - woken) as f64);
            utilization = ran(utilization, look - counts);
            push(look, utilization);
            utilization = ran(utilization, end - look);
            push(end, utilization);
            let why = Some("slept".to_owned());
            let slice =
                Slice { cpu: 1, tid: 7, from_ns: recorded, to_ns: end, why, ..Slice::default() };
            tables.slices.push(slice);
            utilization *= asleep((20_000 * US - (end - woken)) as f64);
        }
        run
    }

    #[test]
    fn utilizations_tell_from_when_a_task_counts_as_running() {
        let (platform, run) = (Platform::named("board-x86").unwrap(), playing());
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let slices = slices(&recording, &clocks, &Readings::default());
        assert_eq!(slices.len(), 200);
        for (slice, recorded) in slices.iter().zip(recording.slices()) {
            let earlier = recorded.from_ns - slice.from_ns;
            assert!(earlier.abs_diff(80 * US) < 8 * US, "{earlier}");
            assert_eq!(slice.to_ns, recorded.to_ns);
        }
    }

    #[test]
    fn nobody_runs_before_he_is_awake() {
        let (platform, mut run) = (Platform::named("board-x86").unwrap(), playing());
        let recorded_ns = 40_200 * US;
        let woken_ns = recorded_ns - 30 * US;
        run.tables.wakeups.push(Wakeup { woken_ns, cpu: 1, tid: 7, ..Wakeup::default() });
        let recording = Recording::of(&run);
        let slices =
            slices(&recording, &Clocks::of(&platform, &run, &recording), &Readings::default());
        assert_eq!(slices[1].from_ns, woken_ns);
        assert!(slices[2].from_ns < 60_200 * US - 60 * US, "it was awake long before");
    }

    #[test]
    fn what_follows_another_task_begins_where_that_one_ended() {
        let platform = Platform::named("board-x86").unwrap();
        let mut run = playing();
        let (from_ns, to_ns) = (25_200 * US, 25_500 * US);
        run.tables.slices.push(Slice { cpu: 1, tid: 8, from_ns, to_ns, ..Slice::default() });
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let after = slices(&recording, &clocks, &Readings::default())
            .into_iter()
            .find(|slice| slice.tid == 8)
            .unwrap();
        assert_eq!((after.from_ns, after.to_ns), (from_ns, to_ns));
    }
}
