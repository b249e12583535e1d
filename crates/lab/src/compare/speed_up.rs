//! How long a task that has begun to run waits for a fast CPU.

use flyball_events::recording::{Ended, Ran, Steps};
use flyball_platform::Platform;
use flyball_sim::engine::{Machine, SetupError};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::scenario::{Group, Scenario};
use flyball_sim::setup::TaskId;
use flyball_stats::{Wait, mean_wait};
use flyball_units::{CpuId, KiloHertz, Nanos};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The frequency that is waited for, in percent of the machine's highest.
pub const PERCENT: u8 = 80;

/// That frequency of a machine, in kHz.
pub(super) fn level(platform: &Platform) -> u64 {
    let points = platform.domains.iter().flat_map(|domain| &domain.points);
    let highest = points.map(|point| point.frequency.0).max().unwrap_or(0);
    (highest * u64::from(PERCENT)).div_ceil(100)
}

/// Of each of these groups, with its name, in one simulated phase.
///
/// # Errors
/// A setup that contradicts itself.
pub(super) fn of_phase(
    scenario: &Scenario,
    groups: &[Group],
    phase: u32,
) -> Result<Vec<(String, Option<f64>)>, SetupError> {
    let mut seen = Seen::new(&scenario.platform);
    let mut machine = Machine::new(scenario.setup(phase).setup)?;
    machine.run_until(scenario.duration, &mut seen);
    seen.end(scenario.duration);
    let clocks = seen.clocks(&scenario.platform);
    let of = |group: &Group| {
        let own = seen.slices.iter().filter(|slice| group.tasks.contains(&slice.tid)).copied();
        (group.name.clone(), mean_ns(own, &clocks, level(&scenario.platform)))
    };
    Ok(groups.iter().map(of).collect())
}

/// Who ran where in a simulation, and how fast.
struct Seen {
    /// Per CPU: who runs since when.
    running: Vec<Option<(Nanos, TaskId)>>,
    slices: Vec<Ran>,
    /// Per clock domain.
    frequency: Vec<Vec<(u64, u64)>>,
}

impl Seen {
    fn new(platform: &Platform) -> Seen {
        Seen {
            running: vec![None; platform.cpus.len()],
            slices: Vec::new(),
            frequency: vec![Vec::new(); platform.domains.len()],
        }
    }

    fn left(&mut self, at: Nanos, cpu: CpuId, ended: Ended) {
        let running = self.running.get_mut(cpu.0 as usize).and_then(Option::take);
        self.slices.extend(running.map(|(from, task)| Ran {
            cpu: cpu.0,
            tid: task.0,
            from_ns: from.0,
            to_ns: at.0,
            ended,
        }));
    }

    /// Cuts what still runs.
    fn end(&mut self, at: Nanos) {
        for cpu in 0..self.running.len() as u32 {
            self.left(at, CpuId(cpu), Ended::Unknown);
        }
    }

    /// The frequency of each CPU.
    fn clocks(&self, platform: &Platform) -> Vec<Arc<Steps<u64>>> {
        let points = self.frequency.iter();
        let domains: Vec<_> =
            points.map(|points| Arc::new(Steps::from_points(points.iter().copied()))).collect();
        let of = |cpu: &flyball_platform::Cpu| domains.get(cpu.domain).cloned().unwrap_or_default();
        platform.cpus.iter().map(of).collect()
    }
}

impl Observer for Seen {
    fn switched_in(&mut self, at: Nanos, task: TaskId, cpu: CpuId) {
        if let Some(running) = self.running.get_mut(cpu.0 as usize) {
            *running = Some((at, task));
        }
    }

    fn switched_out(&mut self, at: Nanos, _: TaskId, cpu: CpuId, why: SwitchOut) {
        let ended = match why {
            SwitchOut::Slept => Ended::Slept,
            SwitchOut::Preempted => Ended::Preempted,
            SwitchOut::Migrated => Ended::Migrated,
        };
        self.left(at, cpu, ended);
    }

    fn frequency(&mut self, at: Nanos, domain: usize, frequency: KiloHertz) {
        if let Some(points) = self.frequency.get_mut(domain) {
            points.push((at.0, frequency.0));
        }
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
