//! What a model is given of a guest, as it was measured there:
//!
//! - what else ran: its kernel's own threads wake on every CPU, and let the governor choose again,
//!   where a model without them keeps a frequency that nobody uses;
//! - what an item of work cost: on the way to and from its work a task executes the kernel's code, some
//!   ten thousand instructions per period, which a board's slow CPUs feel;
//! - where the thread was awake that created a task: the kernel looks for a new task's CPU from there, and makes
//!   its first utilisation of that of the thread's queue.

use super::figures::{frequency, span};
use flyball_events::recording::{Subject, comm};
use flyball_events::{Missing, Recording};
use flyball_run::Run;
use flyball_sim::scenario::{Built, Scenario, TaskSpec, Workload};
use flyball_sim::setup::{Class, Creator};
use flyball_sim::workload::{Amount, FullSpeed, Service};
use flyball_units::{CpuId, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;

/// Name of the tasks that stand for it in the model.
const NAME: &str = "guest";

/// The tasks on one CPU that are not the scenario's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Background {
    /// The CPU.
    pub cpu: CpuId,
    /// Wake-ups per second.
    pub per_s: f64,
    /// Mean work of one, in cycles of the reference kind of core.
    pub cycles: u64,
}

/// What an item of a task's work cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemCost {
    /// The task.
    pub task: String,
    /// Cycles of the reference kind of core that the scenario says.
    pub stated_cycles: u64,
    /// Those that it took, the kernel's part included.
    pub measured_cycles: u64,
}

/// Where a task was created.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Birth {
    /// The task.
    pub task: String,
    /// The CPU on which its creator was awake in most playings.
    pub creator_cpu: CpuId,
    /// The median of its first recorded utilisations: it follows from what else its creator did.
    pub util: Option<u32>,
}

/// What was measured on a guest, over all playings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Given {
    /// The tasks that are not the scenario's, per CPU.
    pub background: Vec<Background>,
    /// The scenario's periodic tasks.
    pub items: Vec<ItemCost>,
    /// The scenario's tasks of which the creator was seen.
    pub births: Vec<Birth>,
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
    let mut worked: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    let mut creators: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut born: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for run in runs {
        let recording = span(&Recording::of(run))?;
        elapsed_s += recording.span().length_ns() as f64 / 1e9;
        let name = |tid: u32| recording.task(tid).name;
        // When each task was woken first, and by whom.
        let mut first: BTreeMap<String, (u64, Option<u32>)> = BTreeMap::new();
        for woken in recording.wakeups() {
            let name = name(woken.tid);
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
        let clocks: Vec<_> = cpus.iter().map(|cpu| frequency(run, &recording, cpu.id.0)).collect();
        for slice in recording.slices() {
            let at = slice.cpu as usize;
            let (Some(cpu), Some(steps)) = (cpus.get(at), clocks.get(at)) else { continue };
            let spent = steps.segments(slice.from_ns, slice.to_ns).filter_map(|segment| {
                Some((segment.to_ns - segment.from_ns) as f64 * segment.value? as f64 / 1e6)
            });
            let spent = spent.sum::<f64>() * cpu.work_per_cycle;
            for (name, (t_ns, waker)) in &first {
                if *waker == Some(slice.tid) && (slice.from_ns..slice.to_ns).contains(t_ns) {
                    *creators.entry(name.clone()).or_default().entry(slice.cpu).or_default() += 1;
                }
            }
            let name = name(slice.tid);
            if ours.contains(&name) {
                worked.entry(name).or_default().0 += spent;
            } else {
                *cycles.entry(slice.cpu).or_default() += spent;
            }
        }
        for item in recording.items().filter(|item| item.ended_ns.is_some()) {
            worked.entry(comm(&name(item.tid))).or_default().1 += 1;
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
        let Workload::Periodic(release) = &task.workload else { return None };
        let (cycles, items) =
            worked.get(&comm(&task.name)).filter(|of| task.count == 1 && of.1 > 0)?;
        Some(ItemCost {
            task: task.name.clone(),
            stated_cycles: release.work.cycles(full_speed),
            measured_cycles: (cycles / *items as f64).round() as u64,
        })
    });
    let items = items.collect();
    let births = scenario.tasks.iter().filter_map(|task| {
        let seen = creators.get(&comm(&task.name)).filter(|_| task.creator == Creator::Nobody)?;
        let (&cpu, _) = seen.iter().max_by_key(|(_, playings)| **playings)?;
        let mut utils = born.get(&comm(&task.name)).cloned().unwrap_or_default();
        utils.sort_unstable();
        let util = utils.get(utils.len() / 2).copied();
        Some(Birth { task: task.name.clone(), creator_cpu: CpuId(cpu), util })
    });
    let births = births.collect();
    Ok(Given { background, items, births })
}

/// The scenario with the items' measured work and the tasks' creators, and a task on each CPU that wakes up at random as often
/// as what was not the scenario's, and works as much.
pub fn with(scenario: &Scenario, given: &Given) -> Scenario {
    let mut scenario = scenario.clone();
    for task in &mut scenario.tasks {
        if let Some(birth) = given.births.iter().find(|birth| birth.task == task.name) {
            task.creator = Creator::Cpu(birth.creator_cpu);
            task.initial_util = task.initial_util.or(birth.util.map(|util| util.min(1024)));
        }
        let item = given.items.iter().find(|item| item.task == task.name);
        if let (Workload::Periodic(release), Some(item)) = (&mut task.workload, item) {
            release.work = Amount::Cycles(item.measured_cycles);
        }
    }
    scenario.tasks.extend(given.background.iter().map(|of| TaskSpec {
        name: format!("{NAME}/{}", of.cpu.0),
        count: 1,
        class: Class::Fair { nice: 0 },
        cpus: vec![of.cpu],
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        start: Nanos::ZERO,
        creator: Creator::Nobody,
        initial_util: Some(0),
        workload: Workload::Poisson {
            mean: Nanos((1e9 / of.per_s) as u64),
            work: Amount::Cycles(of.cycles),
            memory: Nanos::ZERO,
            service: Service::Exponential,
        },
        deadline: None,
    }));
    scenario
}
