//! What else ran in a playing: the kernel's threads and the program that records.

use super::clocks::Clocks;
use super::readings::Readings;
use super::stretch::{Stretch, stretches, wakeups_of};
use flyball_events::Recording;
use flyball_events::recording::{Ended, Ran, Subject};
use flyball_sim::scenario::Scenario;
use std::collections::BTreeMap;

/// What a thread that is not the scenario's did on one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// Its name.
    pub name: String,
    /// The CPU.
    pub cpu: u32,
    /// The kernel's priority: below 100 real-time, 120 for a nice value of 0.
    pub priority: i32,
    /// What is expected of it at first (util_est).
    pub util_est: u32,
    /// Whether it was on another CPU before, and comes with its utilisation.
    pub comes: bool,
    /// Whether it had been denied time when it last slept: when it first woke up it ran before a fair task that ran there.
    pub was_denied: bool,
    /// What it did.
    pub stretches: Vec<Stretch>,
}

/// The kernel's priority of a nice value of 0.
pub(super) const NICE_0: i32 = 120;

/// A thread that is not the scenario's.
pub(super) struct Thread<'a> {
    pub(super) tid: u32,
    pub(super) name: &'a str,
    /// The kernel's.
    pub(super) priority: i32,
    /// When it ran.
    pub(super) slices: &'a [Ran],
    /// The CPU where it was before.
    pub(super) cpu_before: Option<u32>,
}

/// What it did on each CPU, apart from what it did there after it had been on another one; `all` ran.
pub(super) fn background(
    recording: &Recording<'_>,
    thread: &Thread<'_>,
    all: &[Ran],
    (calls, readings, clocks): (&Calls, &Readings, &Clocks<'_>),
) -> Vec<Background> {
    let &Thread { tid, name, priority, slices, mut cpu_before } = thread;
    let mut stays: Vec<(bool, Vec<Stretch>)> = Vec::new();
    for mut stretch in stretches(slices, &wakeups_of(recording, tid), true, (readings, clocks)) {
        stretch.is_call = calls.before(&stretch, clocks);
        let comes = cpu_before.replace(stretch.cpu).is_some_and(|before| before != stretch.cpu);
        match stays.last_mut() {
            Some((_, stay)) if !comes => stay.push(stretch),
            _ => stays.push((comes, vec![stretch])),
        }
    }
    let of_stay = |(comes, stretches): (bool, Vec<Stretch>)| Background {
        name: name.to_owned(),
        cpu: stretches.first().map_or(0, |of| of.cpu),
        priority,
        comes,
        util_est: expected_at(recording, tid, stretches.first().map_or(0, |of| of.woken_ns)),
        was_denied: stretches.first().is_some_and(|of| goes_first(of, tid, all, clocks)),
        stretches,
    };
    stays.into_iter().map(of_stay).collect()
}

/// Cycles from a wake-up until another task has had to give way, at most.
const GIVES_WAY_CYCLES: f64 = 200_000.0;

/// Whether a fair task that ran on a CPU had to give way to one that woke up there.
fn goes_first(stretch: &Stretch, tid: u32, all: &[Ran], clocks: &Clocks<'_>) -> bool {
    let here = || all.iter().filter(|slice| slice.cpu == stretch.cpu);
    let runs = |slice: &&Ran| {
        slice.tid != tid && slice.from_ns < stretch.woken_ns && slice.to_ns > stretch.woken_ns
    };
    let own = here().find(|slice| slice.tid == tid && slice.from_ns >= stretch.woken_ns);
    let Some((other, own)) = here().find(runs).zip(own) else { return false };
    other.ended == Ended::Preempted
        && clocks.cycles(stretch.cpu, stretch.woken_ns, own.from_ns) <= GIVES_WAY_CYCLES
}

/// When each CPU brought signals of its clock domain up to date, where a sampler may be called.
pub(super) struct Calls {
    /// From such a time until the sampler's worker wakes up.
    way_cycles: f64,
    /// By CPU, in order.
    by_cpu: BTreeMap<u32, Vec<u64>>,
}

impl Calls {
    pub(super) fn of(scenario: &Scenario, recording: &Recording<'_>) -> Calls {
        let domains = &scenario.platform.domains;
        let domain = |cpu: u32| domains.iter().position(|of| of.cpus.iter().any(|c| c.0 == cpu));
        let mut by_cpu: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for of in recording.signals() {
            let Subject::Cpu(cpu) = of.subject else { continue };
            let by = of.updater.unwrap_or(cpu);
            if domain(by) == domain(cpu) {
                by_cpu.entry(by).or_default().push(of.t_ns);
            }
        }
        by_cpu.values_mut().for_each(|times| times.sort_unstable());
        Calls { way_cycles: scenario.platform.sampler.wake_cycles as f64, by_cpu }
    }

    /// Whether that was before `stretch` began, about as long as the way takes. The worker's own wake-up is nearer.
    fn before(&self, stretch: &Stretch, clocks: &Clocks<'_>) -> bool {
        /// Of the way, what it takes at least and at most.
        const WAY: (f64, f64) = (0.6, 2.2);
        if self.by_cpu.is_empty() || self.way_cycles == 0.0 {
            // Nothing is known.
            return true;
        }
        let times = self.by_cpu.get(&stretch.cpu).map_or(&[][..], Vec::as_slice);
        let before = &times[..times.partition_point(|t_ns| *t_ns <= stretch.woken_ns)];
        let cycles = |t_ns: &u64| clocks.cycles(stretch.cpu, *t_ns, stretch.woken_ns);
        let ways = before.iter().rev().map(|t_ns| cycles(t_ns) / self.way_cycles);
        ways.take_while(|ways| *ways <= WAY.1).any(|ways| ways >= WAY.0)
    }
}

/// What was expected of a task when it woke up: what was recorded when it last went to sleep. If that was before, it follows from what
/// was recorded next: when it sleeps a quarter of the way to its utilisation is gone, if that is less; what was more than that is not known.
fn expected_at(recording: &Recording<'_>, tid: u32, woken_ns: u64) -> u32 {
    let begin = recording.span().from_ns;
    let signals = recording.signals_of(Subject::Task(tid)).filter(|of| of.t_ns >= begin);
    let signals = signals.filter_map(|of| Some((of.t_ns, of.util_avg?, of.util_est?)));
    let mut signals: Vec<(u64, u32, u32)> = signals.collect();
    signals.sort_unstable();
    let next = signals.partition_point(|of| of.0 <= woken_ns);
    if let Some(last) = next.checked_sub(1).and_then(|last| signals.get(last)) {
        return last.2;
    }
    let Some(&(_, util, after)) = signals.first() else {
        return 0;
    };
    if after > util { ((4 * after - util) / 3).min(1024) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::clocks::x86_at;
    use crate::compare::given::tests::{playing, ran, scenario};
    use flyball_run::{Slice, UtilizationSample};

    const MS: u64 = 1_000_000;

    /// At 1 GHz a thread wakes up on CPU 0 at 1 ms: beside a task that gives way 0.1 ms later, or 0.3; beside one that sleeps then; alone.
    #[test]
    fn who_goes_first_had_been_denied_time() {
        let platform = flyball_platform::Platform::named("board-x86").unwrap();
        let mut run = x86_at(1_000_000);
        run.tables.slices.push(Slice { to_ns: 9 * MS, ..Slice::default() });
        let recording = Recording::of(&run);
        let clocks = Clocks::of(&platform, &run, &recording);
        let stretch = Stretch {
            cpu: 0,
            woken_ns: MS,
            cycles: 1.0,
            way: 0.0,
            rest: None,
            is_call: false,
            moves: false,
        };
        let first = |us: u64, ended: Ended, cpu: u32| {
            let other = Ran { tid: 2, ..ran(cpu, 0, MS + us * 1000, ended) };
            let own = ran(0, MS + us * 1000, 2 * MS, Ended::Slept);
            goes_first(&stretch, own.tid, &[other, own], &clocks)
        };
        assert!(first(100, Ended::Preempted, 0));
        assert!(!first(300, Ended::Preempted, 0) && !first(100, Ended::Slept, 0));
        assert!(!first(100, Ended::Preempted, 1), "elsewhere");
    }

    #[test]
    fn a_call_is_as_long_before_its_worker_as_the_way_takes() {
        // 114 us at 1 GHz, and the worker of CPU 3 is awake at 1049 ms.
        let stretch = Stretch {
            cpu: 3,
            woken_ns: 1_049 * MS,
            cycles: 1.0,
            way: 0.0,
            rest: None,
            is_call: false,
            moves: false,
        };
        let is_call = |updates: &[(u64, u32, Option<u32>)]| {
            let mut run = playing();
            for &(us_before, cpu, updater_cpu) in updates {
                let (t_ns, kind) = (stretch.woken_ns - us_before * 1000, "cpu".to_owned());
                let (cpu, util_avg) = (Some(cpu), Some(1));
                let sample = UtilizationSample {
                    t_ns,
                    kind,
                    cpu,
                    util_avg,
                    updater_cpu,
                    ..Default::default()
                };
                run.tables.utilization.push(sample);
            }
            let (scenario, recording) = (scenario(1), Recording::of(&run));
            let clocks = Clocks::of(&scenario.platform, &run, &recording);
            Calls::of(&scenario, &recording).before(&stretch, &clocks)
        };
        assert!(is_call(&[(120, 3, Some(3))]) && is_call(&[(120, 3, None)]));
        assert!(
            is_call(&[(200, 1, Some(3)), (40, 3, Some(3))]),
            "of another CPU's signals, by its own"
        );
        assert!(!is_call(&[(40, 3, Some(3))]), "its own wake-up's");
        assert!(!is_call(&[(300, 3, Some(3)), (120, 3, Some(1))]), "long ago; by another CPU");
        assert!(!is_call(&[(120, 1, Some(1))]));
        assert!(is_call(&[]), "nothing is known");
    }
}
