//! How long a task that has begun to run waits for a fast CPU.

use flyball_events::recording::{Ended, Ran, Steps};
use flyball_platform::Platform;
use flyball_run::Run;
use flyball_sim::engine::{Machine, SetupError};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::record::EventRows;
use flyball_sim::scenario::Scenario;
use flyball_sim::setup::TaskId;
use flyball_stats::{Wait, mean_wait};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The frequency that is waited for, in percent of the machine's highest.
pub(super) const PERCENT: u8 = 80;

/// That frequency, in kHz.
pub(super) fn level(platform: &Platform) -> u64 {
    let points = platform.domains.iter().flat_map(|domain| &domain.points);
    let highest = points.map(|point| point.frequency.0).max().unwrap_or(0);
    (highest * u64::from(PERCENT)).div_ceil(100)
}

/// One simulated phase, as a run that a playing could have left: who ran where, and how fast.
///
/// # Errors
/// A setup that contradicts itself.
pub(super) fn phase(scenario: &Scenario, phase: u32) -> Result<Run, SetupError> {
    let setup = scenario.setup(phase).setup;
    let governors = scenario.governors.iter().map(|spec| spec.name.clone()).collect();
    let rows = EventRows::new(&scenario.platform, &setup.tasks, governors, phase);
    let mut seen = Seen { rows, run: Run::default() };
    seen.rows.capacities().into_iter().for_each(|row| seen.run.tables.capacity.push(row));
    Machine::new(setup)?.run_seen(scenario.duration, &mut [&mut seen]);
    let (cut, _) = seen.rows.end(scenario.duration);
    cut.into_iter().for_each(|row| seen.run.tables.slices.push(row));
    Ok(seen.run)
}

/// What is seen of it.
struct Seen<'a> {
    rows: EventRows<'a>,
    run: Run,
}

impl Observer for Seen<'_> {
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        self.rows.switched_in(at, task, cpu);
    }

    fn switched_out(&mut self, at: Nanos, task: TaskId, cpu: CpuId, why: SwitchOut) {
        if let Some(row) = self.rows.switched_out(at, task, cpu, why) {
            self.run.tables.slices.push(row);
        }
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        self.run.tables.frequency.push(self.rows.frequency(at, domain, frequency));
    }
}

/// The mean time in nanoseconds for which a task runs below `khz`, since it last slept, until the CPU under it has
/// that; stays awake that ended before say what they say ([`mean_wait`]). Those that begin with it have nothing to wait
/// for, and do not count. None where it never comes. `slices` are those of some tasks, `clocks` the frequencies of the
/// CPUs.
pub(super) fn mean_ns(
    slices: impl Iterator<Item = Ran>,
    clocks: &[Arc<Steps<u64>>],
    khz: u64,
) -> Option<f64> {
    let mut of_task: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    for slice in slices {
        of_task.entry(slice.tid).or_default().push(slice);
    }
    let mut waits = Vec::new();
    for mut slices in of_task.into_values() {
        slices.sort_unstable_by_key(|slice| slice.from_ns);
        let awake =
            slices.split_inclusive(|slice| matches!(slice.ended, Ended::Slept | Ended::Exited));
        waits.extend(awake.filter_map(|stay| wait(stay, clocks, khz)));
    }
    mean_wait(waits)
}

/// A CPU has a frequency once it has had it for so long, in nanoseconds: a clock that is still fast when a task wakes up,
/// and slow a moment later, is slow.
const HELD_NS: u64 = 1_000_000;

/// Of one stay awake.
fn wait(stay: &[Ran], clocks: &[Arc<Steps<u64>>], khz: u64) -> Option<Wait> {
    let (mut held_ns, mut slow_ns) = (0, 0);
    let came = |slow_ns: u64| (slow_ns > 0).then_some(Wait { time: slow_ns as f64, came: true });
    for slice in stay {
        let Some(steps) = clocks.get(slice.cpu as usize) else { continue };
        for segment in steps.segments(slice.from_ns, slice.to_ns) {
            let time_ns = segment.to_ns - segment.from_ns;
            match segment.value.is_some_and(|now| now >= khz) {
                true => held_ns += time_ns,
                false => (held_ns, slow_ns) = (0, slow_ns + time_ns),
            }
            if held_ns >= HELD_NS {
                return came(slow_ns);
            }
        }
    }
    // It has it to its end, or ended before.
    match held_ns {
        0 => (slow_ns > 0).then_some(Wait { time: slow_ns as f64, came: false }),
        _ => came(slow_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(cpu: u32, from_ns: u64, to_ns: u64, ended: Ended) -> Ran {
        Ran { cpu, tid: 7, from_ns, to_ns, ended }
    }

    #[test]
    fn what_a_task_ran_slowly_counts_from_its_wake_up_and_over_a_move() {
        let ms = |at: u64| at * 1_000_000;
        let ran = |cpu, from, to, ended| ran(cpu, ms(from), ms(to), ended);
        let fast = [(0, 600), (25, 3000), (60, 600), (70, 3000)];
        let clocks = [vec![(0, 600)], fast.map(|(at, mhz)| (ms(at), mhz)).to_vec()];
        let clocks = clocks.map(|points| Arc::new(Steps::from_points(points)));
        let mean = |slices: &[Ran]| {
            let ns = mean_ns(slices.iter().copied(), &clocks, 2400);
            ns.map(|ns| ns / 1e6)
        };
        let stay = [ran(0, 10, 20, Ended::Preempted), ran(1, 22, 40, Ended::Slept)];
        assert_eq!(mean(&stay), Some(13.0), "10 there and 3 here");
        assert_eq!(mean(&stay[..1]), None, "it never had it");
        // Short stays before say nothing of a long one, nor do those that begin on a fast CPU, be it slow a moment later
        // or at their end.
        let short = [ran(0, 0, 1, Ended::Slept), ran(0, 2, 3, Ended::Slept), stay[0], stay[1]];
        assert_eq!(mean(&short), Some(13.0));
        assert_eq!(mean(&[ran(1, 30, 50, Ended::Slept)]), None);
        assert_eq!(mean(&[ran(1, 59, 90, Ended::Slept)]), None);
        let moment = ms(60) - 900_000;
        let stay = Ran { from_ns: moment, ..ran(1, 60, 90, Ended::Slept) };
        assert_eq!(mean(&[stay]), Some(10.0), "fast for less than a millisecond, and slow for 10");
        assert_eq!(mean(&[ran(1, 20, 61, Ended::Slept)]), Some(5.0), "slow again when it sleeps");
        assert_eq!(
            mean(&[ran(1, 20, 90, Ended::Slept)]),
            Some(5.0),
            "and what comes later is later"
        );
    }
}
