//! What a model is given of a guest, as it was measured there:
//!
//! - what else ran: its kernel's own threads wake on every CPU, and let the governor choose again,
//!   where a model without them keeps a frequency that nobody uses;
//! - what an item of work cost: on the way to and from its work a task executes the kernel's code, some
//!   ten thousand instructions per period, which a board's slow CPUs feel;
//! - how long a task that slept took from its timer to its first instruction where nobody was in the way: the
//!   interrupt, the wake-up and the switch are some ten thousand instructions more, which nobody's slice holds;
//! - what it cost a controller of clamps to set one;
//! - where the thread was awake that created a task: the kernel looks for a new task's CPU from there, and makes
//!   its first utilisation of that of the thread's queue.

use super::figures::{frequency, span};
use flyball_events::recording::{Ran, Subject, Woken, comm};
use flyball_events::{Missing, Recording};
use flyball_qos::CONTROLLER;
use flyball_run::Run;
use flyball_sim::scenario::{Built, RecordedItem, Release, Scenario, TaskSpec, Workload};
use flyball_sim::setup::{Class, Creator};
use flyball_sim::workload::{Amount, FullSpeed, Service, Way};
use flyball_stats::median_high;
use flyball_units::{CpuId, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the tasks that stand for it in the model.
const NAME: &str = "guest";

/// The tasks on one CPU that are not the scenario's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// The CPU.
    pub cpu: CpuId,
    /// Wake-ups per second.
    pub per_s: f64,
    /// Mean work of one, in cycles of the reference kind of core.
    pub cycles: u64,
}

/// What an item of a task's work cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCost {
    /// The task.
    pub task: String,
    /// Cycles of the reference kind of core that the scenario says.
    pub stated_cycles: u64,
    /// The mean of those that they took until they were done, the kernel's part included.
    pub measured_cycles: u64,
    /// Cycles executed for each one that the scenario says, beside what each item cost; 1 where all items are the same.
    #[serde(default = "one")]
    pub per_stated: f64,
    /// The mean of those that followed until the task slept.
    pub after_cycles: u64,
}

fn one() -> f64 {
    1.0
}

impl ItemCost {
    /// What an item takes of which the scenario says `stated` cycles.
    fn of(&self, stated: u64) -> u64 {
        let each = self.measured_cycles as f64 - self.per_stated * self.stated_cycles as f64;
        (each + self.per_stated * stated as f64).max(1.0).round() as u64
    }
}

/// How long tasks that slept took from a timer to their first instruction where nobody else ran meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// The tasks.
    pub task: String,
    /// The median.
    pub median_ns: u64,
    /// Of so many items.
    pub items: u64,
}

/// Where a task was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Birth {
    /// The task.
    pub task: String,
    /// The CPU on which its creator was awake in most playings.
    pub creator_cpu: CpuId,
    /// The median of its first recorded utilisations: it follows from what else its creator did.
    pub util: Option<u32>,
}

/// What it cost to set clamps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControllerCost {
    /// From a timer until the task runs that it wakes up, the median over the scenario's.
    pub delay_ns: u64,
    /// For how long the controller then runs, the median: on a board it hardly depends on the frequency.
    pub busy_ns: u64,
}

/// What was measured on a guest, over all playings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// The tasks that are not the scenario's, per CPU.
    pub background: Vec<Background>,
    /// The scenario's periodic and recorded tasks, and those of requests of equal work.
    pub items: Vec<ItemCost>,
    /// The scenario's tasks with items.
    pub lateness: Vec<Lateness>,
    /// The scenario's tasks of which the creator was seen.
    pub births: Vec<Birth>,
    /// Where a controller set clamps: what that cost.
    #[serde(default)]
    pub controller: Option<ControllerCost>,
}

/// What a model has to be given of these playings.
///
/// # Errors
/// A run that is no playing.
pub fn given<'a>(
    scenario: &Scenario,
    built: &Built,
    runs: impl Iterator<Item = &'a Run>,
) -> Result<Given, Missing> {
    let ours: Vec<String> = built.setup.tasks.iter().map(|task| comm(&task.name)).collect();
    let mut elapsed_s = 0.0;
    let mut wakeups: BTreeMap<u32, u64> = BTreeMap::new();
    let mut cycles: BTreeMap<u32, f64> = BTreeMap::new();
    let mut worked: BTreeMap<String, Worked> = BTreeMap::new();
    let mut late: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut creators: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut born: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let (mut busy, mut alarms) = (Vec::new(), Vec::new());
    for run in runs {
        let recording = span(&Recording::of(run))?;
        elapsed_s += recording.span().length_ns() as f64 / 1e9;
        let name = |tid: u32| recording.task(tid).name;
        // When each task was woken first, and by whom.
        let mut first: BTreeMap<String, (u64, Option<u32>)> = BTreeMap::new();
        for woken in recording.wakeups() {
            let name = name(woken.tid);
            if name == CONTROLLER {
                continue;
            }
            if !ours.contains(&name) {
                *wakeups.entry(woken.cpu).or_default() += 1;
            } else if first.get(&name).is_none_or(|first| woken.t_ns < first.0) {
                first.insert(name, (woken.t_ns, woken.waker));
            }
        }
        let mut first_util: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        let begin = recording.span().from_ns;
        for signals in recording.signals().filter(|signals| signals.t_ns >= begin) {
            let (Subject::Task(tid), Some(util)) = (signals.subject, signals.util_avg) else {
                continue;
            };
            let earliest = first_util.entry(tid).or_insert((signals.t_ns, util));
            if signals.t_ns < earliest.0 {
                *earliest = (signals.t_ns, util);
            }
        }
        for (tid, (_, util)) in first_util {
            born.entry(name(tid)).or_default().push(util);
        }
        let cpus = &scenario.platform.cpus;
        // The stretches from an item's release to its end, per task.
        let mut ends: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for item in recording.items() {
            let ended_ns = item.ended_ns.unwrap_or(u64::MAX);
            ends.entry(item.tid).or_default().push((item.released_ns, ended_ns));
        }
        ends.values_mut().for_each(|items| items.sort_unstable());
        let mut costs: BTreeMap<(u32, usize), f64> = BTreeMap::new();
        let clocks: Vec<_> = cpus.iter().map(|cpu| frequency(run, &recording, cpu.id.0)).collect();
        for slice in recording.slices() {
            let at = slice.cpu as usize;
            let (Some(cpu), Some(steps)) = (cpus.get(at), clocks.get(at)) else { continue };
            let spent = |from_ns: u64, to_ns: u64| {
                let cycles = steps.segments(from_ns, to_ns).filter_map(|segment| {
                    Some((segment.to_ns - segment.from_ns) as f64 * segment.value? as f64 / 1e6)
                });
                cycles.sum::<f64>() * cpu.work_per_cycle
            };
            for (name, (t_ns, waker)) in &first {
                if *waker == Some(slice.tid) && (slice.from_ns..slice.to_ns).contains(t_ns) {
                    *creators.entry(name.clone()).or_default().entry(slice.cpu).or_default() += 1;
                }
            }
            let name = name(slice.tid);
            if name == CONTROLLER {
                busy.push(slice.length_ns());
            } else if ours.contains(&name) {
                let of = worked.entry(name).or_default();
                let items = ends.get(&slice.tid).map_or(&[][..], Vec::as_slice);
                for (from_ns, to_ns, item) in parts(&slice, items) {
                    let cycles = spent(from_ns, to_ns);
                    match item {
                        Some(item) => *costs.entry((slice.tid, item)).or_default() += cycles,
                        None => of.after += cycles,
                    }
                }
            } else {
                *cycles.entry(slice.cpu).or_default() += spent(slice.from_ns, slice.to_ns);
            }
        }
        for ((tid, item), cycles) in costs {
            let ended = ends.get(&tid).and_then(|ends| ends.get(item)).map(|item| item.1);
            if ended.is_some_and(|ended| ended < u64::MAX) {
                worked.entry(comm(&name(tid))).or_default().items.push((item, cycles));
            }
        }
        for (name, ns) in lateness(&recording, &ours) {
            late.entry(name).or_default().push(ns);
            alarms.push(ns);
        }
    }
    let of = |(&cpu, &count): (&u32, &u64)| Background {
        cpu: CpuId(cpu),
        per_s: count as f64 / elapsed_s,
        cycles: (cycles.get(&cpu).copied().unwrap_or(0.0) / count as f64).round() as u64,
    };
    let background = wakeups.iter().map(of).filter(|of| of.cycles > 0).collect();
    let full_speed = FullSpeed::of(&scenario.platform);
    let items = scenario.tasks.iter().filter_map(|task| {
        let stated = |number: usize| match &task.workload {
            Workload::Periodic(release) => Some(release.work),
            Workload::Poisson { work, service: Service::Fixed, .. } => Some(*work),
            Workload::Recorded(items) => items.get(number).map(|item| item.work),
            _ => None,
        };
        let own = task.names();
        let own = own.iter().filter_map(|name| worked.get(&comm(name)));
        // What the scenario says and what it took, for each item.
        let (mut items, mut after) = (Vec::new(), 0.0);
        for of in own {
            after += of.after;
            items.extend(of.items.iter().filter_map(|&(number, cycles)| {
                Some((stated(number)?.cycles(full_speed) as f64, cycles))
            }));
        }
        let (stated, measured, per_stated) = line(&items)?;
        Some(ItemCost {
            task: task.name.clone(),
            stated_cycles: stated.round() as u64,
            measured_cycles: measured.round() as u64,
            per_stated,
            after_cycles: (after / items.len() as f64).round() as u64,
        })
    });
    let items = items.collect();
    let lateness = scenario.tasks.iter().filter_map(|task| {
        let own = task.names();
        let own = own.iter().filter_map(|name| late.get(&comm(name)));
        let mut all: Vec<u64> = own.flatten().copied().collect();
        let median_ns = median(&mut all)?;
        Some(Lateness { task: task.name.clone(), median_ns, items: all.len() as u64 })
    });
    let lateness = lateness.collect();
    let births = scenario.tasks.iter().filter_map(|task| {
        let seen = creators.get(&comm(&task.name)).filter(|_| task.creator == Creator::Nobody)?;
        let (&cpu, _) = seen.iter().max_by_key(|(_, playings)| **playings)?;
        let mut utils = born.get(&comm(&task.name)).cloned().unwrap_or_default();
        utils.sort_unstable();
        let util = utils.get(utils.len() / 2).copied();
        Some(Birth { task: task.name.clone(), creator_cpu: CpuId(cpu), util })
    });
    let births = births.collect();
    let controller = median(&mut busy)
        .map(|busy_ns| ControllerCost { delay_ns: median(&mut alarms).unwrap_or(0), busy_ns });
    Ok(Given { background, items, lateness, births, controller })
}

/// What a task executed in cycles of the reference kind of core: for each item with its number, and after them.
#[derive(Clone, Default)]
struct Worked {
    items: Vec<(usize, f64)>,
    after: f64,
}

/// The means of both coordinates, and the slope of the line through points that are nearest to it by least squares; 1 where
/// all lie above each other. None of nothing.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (!points.is_empty()).then_some((x / n, y / n))?;
    let sums = points.iter().fold((0.0, 0.0), |sum, point| {
        let apart = point.0 - x;
        (sum.0 + apart * apart, sum.1 + apart * (point.1 - y))
    });
    Some((x, y, if sums.0 > 0.0 { sums.1 / sums.0 } else { 1.0 }))
}

/// A slice in parts, each with the number of the item that is under way of these, (release, end) in order; none
/// is after an item.
fn parts(slice: &Ran, items: &[(u64, u64)]) -> Vec<(u64, u64, Option<usize>)> {
    let (mut parts, mut at) = (Vec::new(), slice.from_ns);
    for (number, &(released_ns, ended_ns)) in items.iter().enumerate() {
        let (from, to) = (released_ns.max(at), ended_ns.min(slice.to_ns));
        if from < to {
            parts.push((at, from, None));
            parts.push((from, to, Some(number)));
            at = to;
        }
    }
    parts.push((at, slice.to_ns, None));
    parts.retain(|&(from_ns, to_ns, _)| from_ns < to_ns);
    parts
}

fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    median_high(values)
}

/// For each item that found its task asleep, and nobody else in the way: its task, and the time from the release
/// until the task ran.
fn lateness(recording: &Recording<'_>, ours: &[String]) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let slices: Vec<Ran> = recording.slices().collect();
    let mut woken: BTreeMap<u32, Vec<Woken>> = BTreeMap::new();
    for wakeup in recording.wakeups() {
        woken.entry(wakeup.tid).or_default().push(wakeup);
    }
    for item in recording.items() {
        let name = recording.task(item.tid).name;
        let (released, tid) = (item.released_ns, item.tid);
        let Some(ended) = item.ended_ns.filter(|_| ours.contains(&name)) else { continue };
        let wakeups = woken.get(&tid).map_or(&[][..], Vec::as_slice);
        let wakeup = wakeups.iter().find(|of| (released..=ended).contains(&of.t_ns));
        let Some((cpu, ran)) = wakeup.and_then(|of| Some((of.cpu, of.ran_ns?))) else { continue };
        let awake = |ran: &Ran| ran.tid == tid && ran.to_ns > released && ran.from_ns <= released;
        let in_the_way =
            |of: &Ran| of.cpu == cpu && of.tid != tid && of.from_ns < ran && of.to_ns > released;
        if ran <= ended && !slices.iter().any(|of| awake(of) || in_the_way(of)) {
            found.push((name, ran - released));
        }
    }
    found
}

/// The scenario with the items' measured work and the tasks' creators, and a task on each CPU that wakes up at random as often
/// as what was not the scenario's, and works as much.
pub fn with(scenario: &Scenario, given: &Given) -> Scenario {
    let mut scenario = scenario.clone();
    let full_speed = FullSpeed::of(&scenario.platform);
    if let Some(cost) = given.controller {
        scenario.controller_delay = Nanos(cost.delay_ns);
        scenario.controller_busy = Nanos(cost.busy_ns);
    }
    for task in &mut scenario.tasks {
        if let Some(birth) = given.births.iter().find(|birth| birth.task == task.name) {
            task.creator = Creator::Cpu(birth.creator_cpu);
            task.initial_util = task.initial_util.or(birth.util.map(|util| util.min(1024)));
        }
        let item = given.items.iter().find(|item| item.task == task.name);
        match (&mut task.workload, item) {
            (
                Workload::Periodic(Release { work, .. }) | Workload::Poisson { work, .. },
                Some(item),
            ) => *work = Amount::Cycles(item.measured_cycles),
            (Workload::Recorded(items), Some(of)) => {
                let heavier = |item: &RecordedItem| RecordedItem {
                    work: Amount::Cycles(of.of(item.work.cycles(full_speed))),
                    ..*item
                };
                *items = items.iter().map(heavier).collect();
            }
            _ => {}
        }
        let lateness = given.lateness.iter().find(|lateness| lateness.task == task.name);
        task.way = item.zip(lateness).map(|(item, lateness)| Way {
            late: Nanos(lateness.median_ns),
            after_cycles: item.after_cycles,
        });
    }
    scenario.tasks.extend(given.background.iter().map(|of| TaskSpec {
        name: format!("{NAME}/{}", of.cpu.0),
        count: 1,
        class: Class::Fair { nice: 0 },
        cpus: vec![of.cpu],
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        start: Nanos::ZERO,
        creator: Creator::Nobody,
        initial_util: Some(0),
        workload: Workload::Poisson {
            mean: Nanos((1e9 / of.per_s) as u64),
            work: Amount::Cycles(of.cycles),
            memory: Nanos::ZERO,
            service: Service::Exponential,
        },
        way: None,
        deadline: None,
    }));
    scenario
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_events::recording::Ended;

    #[test]
    fn what_items_cost_is_a_part_of_each_and_one_of_its_work() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[(3.0, 4.0), (3.0, 6.0)]), Some((3.0, 5.0, 1.0)));
        // 2 of each item and 1.1 of its work: of 10 and 100, a mean of 62.5 for 55.
        let (stated, measured, per_stated) = line(&[(10.0, 13.0), (100.0, 112.0)]).unwrap();
        assert_eq!((stated, measured), (55.0, 62.5));
        let (stated_cycles, measured_cycles) = (5500, 6250);
        let cost = ItemCost {
            task: "a".to_owned(),
            stated_cycles,
            measured_cycles,
            per_stated,
            after_cycles: 0,
        };
        assert_eq!((cost.of(5500), cost.of(1000), cost.of(10_000)), (6250, 1300, 11_200));
    }

    #[test]
    fn a_slice_is_its_items_and_what_comes_after_them() {
        let slice = Ran { cpu: 0, tid: 1, from_ns: 10, to_ns: 50, ended: Ended::Slept };
        let items = [(5, 20), (18, 30), (40, 60)];
        let expected = [(10, 20, Some(0)), (20, 30, Some(1)), (30, 40, None), (40, 50, Some(2))];
        assert_eq!(parts(&slice, &items), expected);
        assert_eq!(parts(&slice, &[]), [(10, 50, None)]);
        assert_eq!(parts(&slice, &[(60, 70)]), [(10, 50, None)]);
    }
}
