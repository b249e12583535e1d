//! What was measured of a guest in each playing, for a model to do it again:
//!
//! - what an item of work cost, and when it was due: on the way to and from its work a task executes the kernel's
//!   code, some ten thousand instructions per period, which a board's slow CPUs feel;
//! - how long a task that slept took from its timer to its first instruction where nobody was in the way: the
//!   interrupt, the wake-up and the switch are some ten thousand instructions more, which nobody's slice holds;
//! - what else ran, and where: its kernel's own threads let the governor choose again, where a model without them
//!   keeps a frequency that nobody uses. Not those that move running tasks: that follows from scheduling;
//! - when a task was created, what it did until its first item or its mark, and where the thread was awake that
//!   created it: the kernel looks for a new task's CPU from there, and makes its first utilisation of that of the
//!   thread's queue;
//! - when the tick came, and what it cost a controller of clamps to set one.

use super::background::{Background, Calls, NICE_0, Thread, background};
use super::before::before;
use super::clocks::{Clocks, asleep};
use super::deadlines::{self, Pushed};
use super::decided;
use super::figures::span;
use super::median;
use super::on_cpu;
use super::readings::Readings;
use super::stretch::{Stretch, stretches, wakeups_of};
use super::ticks::Ticks;
use super::wake_up::{OnCpus, Sleeper, WakeUp, interrupts, usual_ns};
use flyball_events::recording::{Ran, Subject, comm};
use flyball_events::{Missing, Recording};
use flyball_platform::ClockReadings;
use flyball_qos::CONTROLLER;
use flyball_run::Run;
use flyball_sim::scenario::{Built, Scenario};
use flyball_sim::setup::{Before, Cared, Class, Placed};
use flyball_units::{KiloHertz, Nanos};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How exactly it is known when a thread took its class, in nanoseconds.
const CLASS_CHANGE_NS: u64 = 80_000;

/// The kernel's threads that move running tasks, one per CPU. Each is the watchdog of its CPU, too.
const MOVERS: &str = "migration/";

/// An item of work, in nanoseconds from the beginning of the scenario and in cycles of the reference kind of core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Item {
    /// When it was due.
    pub released_ns: u64,
    /// What it took until it was done, the kernel's part included; None where it was not done.
    pub cycles: Option<f64>,
    /// What it took then until its task slept; None where that went on with the next one.
    pub after_cycles: Option<f64>,
    /// Of these those after it had left its queue.
    pub way_cycles: f64,
    /// How its task came to it; None where that did not sleep.
    pub wake_up: Option<WakeUp>,
}

/// What a task of the scenario did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// Where its creator was awake.
    pub creator_cpu: Option<u32>,
    /// Where it first was.
    pub born_on: Option<u32>,
    /// When it was created.
    pub created_ns: Option<u64>,
    /// Its utilisation then, which follows from what else its creator did: the first recorded one less what it ran
    /// until then.
    pub util: Option<u32>,
    /// What its CPU could have executed from then until it ran; None where somebody was in the way.
    pub birth_cycles: Option<f64>,
    /// What it did until its first item or its mark.
    pub set_up: Vec<Stretch>,
    /// What its CPU could have executed from each wake-up of these until it ran, where nobody was in the way.
    pub set_up_switches: Vec<f64>,
    /// Its items, by release.
    pub items: Vec<Item>,
    /// Where it was.
    pub placed: Vec<Placed>,
    /// How it came to a CPU when a period of a deadline task began.
    pub pushed: Pushed,
}

impl Task {
    /// How it came to those for which it was woken.
    pub(super) fn wake_ups(&self) -> impl Iterator<Item = &WakeUp> + Clone {
        self.items.iter().filter_map(|item| item.wake_up.as_ref())
    }
}

/// What it cost to set clamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerCost {
    /// From a timer until the task runs that it wakes up, the median over the scenario's.
    pub delay_ns: u64,
    /// For how long the controller then runs, the median: on a board it hardly depends on the frequency.
    pub busy_ns: u64,
}

/// What was measured in one playing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// The scenario's tasks by the kernel's names.
    pub tasks: BTreeMap<String, Task>,
    /// Everybody else.
    pub background: Vec<Background>,
    /// Where in its period the tick was; None where that was not seen.
    pub tick_ns: Option<u64>,
    /// What was before.
    pub before: Before,
    /// How long before events the kernel read its clock; None where that was not seen.
    pub readings: Option<ClockReadings>,
    /// When which frequency held in each clock domain.
    pub frequencies: Vec<Vec<(Nanos, KiloHertz)>>,
    /// When idle CPUs were looked after.
    pub care: Vec<Cared>,
    /// For how long a controller of clamps ran, each time.
    controller_ns: Vec<u64>,
}

/// What was measured on a guest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// For each playing.
    pub playings: Vec<Played>,
    /// Where a controller set clamps: what that cost.
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
    let playings = runs.map(|run| played(scenario, &ours, run));
    let playings = playings.collect::<Result<Vec<_>, _>>()?;
    let mut busy: Vec<u64> =
        playings.iter().flat_map(|playing| &playing.controller_ns).copied().collect();
    let tasks = playings.iter().flat_map(|playing| playing.tasks.values());
    let controller = median(&mut busy).map(|busy_ns| {
        let usual = usual_ns(tasks.flat_map(Task::wake_ups));
        ControllerCost { delay_ns: usual.map_or(0, |(late, switch)| late + switch), busy_ns }
    });
    Ok(Given { playings, controller })
}

/// One playing's.
fn played(scenario: &Scenario, ours: &[String], run: &Run) -> Result<Played, Missing> {
    let whole = Recording::of(run);
    let recording = span(&whole)?;
    let begin = recording.span().from_ns;
    let at = Clocks::of(&scenario.platform, run, &recording);
    let readings = Readings::of_run(&scenario.platform, scenario.kernel.rules, run);
    let priorities = recording.priorities();
    let all = on_cpu::slices(&recording, &at, &readings);
    let moves: Vec<u64> = recording
        .seen()
        .into_iter()
        .flat_map(|tid| recording.moves(tid))
        .map(|(t_ns, _)| t_ns)
        .collect();
    let calls = Calls::of(scenario, &recording);
    let on_cpus = OnCpus::of(&recording);
    let differ = !scenario.platform.capacities_equal();
    let mut found = Played::default();
    for tid in recording.seen() {
        let name = comm(&recording.task(tid).name);
        let mut slices: Vec<Ran> = all.iter().filter(|slice| slice.tid == tid).copied().collect();
        if name.starts_with(MOVERS) {
            // What moves a task follows from scheduling.
            let during = |slice: &Ran, t_ns: &u64| (slice.from_ns..=slice.to_ns).contains(t_ns);
            slices.retain(|slice| !moves.iter().any(|t_ns| during(slice, t_ns)));
        }
        if name == CONTROLLER {
            found.controller_ns.extend(slices.iter().map(Ran::length_ns));
        } else if ours.contains(&name) {
            let changed =
                deadlines::class_changed(&recording, class(scenario, &name), (tid, &slices), &at);
            let (set_up, own) = split(&slices, changed);
            // Until then it was a fair thread.
            let thread =
                Thread { tid, name: &name, priority: NICE_0, slices: &set_up, cpu_before: None };
            let mut thread = background(&recording, &thread, &all, (&calls, &readings, &at));
            let last = thread.last_mut().and_then(|of| of.stretches.last_mut());
            if let Some((last, changed_ns)) = last.zip(changed) {
                // It goes on in its class: the CPU is not idle between.
                let more = at.cycles(last.cpu, changed_ns, changed_ns + CLASS_CHANGE_NS);
                (last.cycles, last.way) = (last.cycles + more, 2.0 * more);
            }
            found.background.extend(thread);
            let by_size = differ && is_fair(scenario, &name);
            let reserved = matches!(class(scenario, &name), Class::Deadline { .. });
            let mut task =
                worked(&recording, (tid, &own, by_size), (&all, &on_cpus), (&readings, &at));
            task.created_ns = changed.or(task.created_ns);
            task.placed = decided::placements(&recording, (tid, &slices), reserved);
            if reserved {
                task.pushed = deadlines::pushed(&recording, (tid, &slices), &all, &at);
            }
            found.tasks.insert(name, task);
        } else {
            let priority = priorities.get(&tid).copied().unwrap_or(NICE_0);
            let cpu_before = cpu_before(&whole, tid, begin);
            let thread = Thread { tid, name: &name, priority, slices: &slices, cpu_before };
            found.background.extend(background(
                &recording,
                &thread,
                &all,
                (&calls, &readings, &at),
            ));
        }
    }
    for stretch in found.background.iter_mut().flat_map(|of| &mut of.stretches) {
        stretch.begin_at_reading(&readings, &at);
    }
    let ticks = Ticks::of(scenario, &recording, &all, (&readings, &at));
    found.tick_ns = ticks.phase_ns;
    found.before = before(scenario, run, (&readings, &at), (begin, &ticks));
    found.readings = readings.ago();
    found.care = decided::care(&recording, &at, (&scenario.platform, &all));
    found.frequencies = decided::frequencies(&scenario.platform, &at, begin);
    let items = found.tasks.values_mut().flat_map(|task| &mut task.items);
    let wake_ups = items.filter_map(|item| Some((item.released_ns, item.wake_up.as_mut()?)));
    interrupts(&mut wake_ups.collect::<Vec<_>>(), &at);
    // From the beginning of the scenario on.
    let since = |t_ns: &mut u64| *t_ns = t_ns.saturating_sub(begin);
    for task in found.tasks.values_mut() {
        task.created_ns.iter_mut().for_each(since);
        task.set_up.iter_mut().for_each(|stretch| since(&mut stretch.woken_ns));
        task.items.iter_mut().for_each(|item| since(&mut item.released_ns));
    }
    for stretch in found.background.iter_mut().flat_map(|of| &mut of.stretches) {
        since(&mut stretch.woken_ns);
    }
    Ok(found)
}

/// The CPU where a thread last ran before a time.
fn cpu_before(recording: &Recording<'_>, tid: u32, t_ns: u64) -> Option<u32> {
    let ran = recording.slices_of(tid).into_iter().filter(|slice| slice.from_ns < t_ns);
    ran.max_by_key(|slice| slice.from_ns).map(|slice| slice.cpu)
}

/// The class of a task of the scenario.
fn class(scenario: &Scenario, name: &str) -> Class {
    let mut specs = scenario.tasks.iter();
    let spec = specs.find(|spec| spec.names().iter().any(|own| comm(own) == name));
    spec.map_or(Class::Fair { nice: 0 }, |spec| spec.class)
}

fn is_fair(scenario: &Scenario, name: &str) -> bool {
    matches!(class(scenario, name), Class::Fair { .. })
}

/// What a thread ran until a time, and from then on.
fn split(slices: &[Ran], at: Option<u64>) -> (Vec<Ran>, Vec<Ran>) {
    let at = at.unwrap_or(0);
    let before = slices.iter().map(|slice| Ran { to_ns: slice.to_ns.min(at), ..*slice });
    let behind = slices.iter().map(|slice| Ran { from_ns: slice.from_ns.max(at), ..*slice });
    let ran = |slice: &Ran| slice.from_ns < slice.to_ns;
    (before.filter(ran).collect(), behind.filter(ran).collect())
}

/// What a task of the scenario did; times are the recording's.
fn worked(
    recording: &Recording<'_>,
    (tid, slices, by_size): (u32, &[Ran], bool),
    (all, on_cpus): (&[Ran], &OnCpus),
    (readings, clocks): (&Readings, &Clocks<'_>),
) -> Task {
    let mut task = Task::default();
    let wakeups = wakeups_of(recording, tid);
    let first = wakeups.first();
    task.creator_cpu = first.and_then(|woken| {
        let ran = recording.slices_of(woken.waker?);
        let awake = |slice: &&Ran| (slice.from_ns..slice.to_ns).contains(&woken.t_ns);
        Some(ran.iter().find(awake)?.cpu)
    });
    let begin = recording.span().from_ns;
    task.born_on = slices.first().map(|slice| slice.cpu);
    let first_run = slices.first().map(|slice| slice.from_ns);
    // Its CPU is chosen when the clock is read, which is some time before that is recorded.
    let created_ns = first.map(|woken| {
        let rate = clocks.cycles_per_ns(task.creator_cpu.unwrap_or(woken.cpu), woken.t_ns);
        let cycles = readings.ago().map_or(0.0, |ago| ago.wake_cycles as f64);
        woken.t_ns.saturating_sub(rate.map_or(0, |rate| (cycles / rate).round() as u64))
    });
    task.created_ns = created_ns.into_iter().chain(first_run).min();
    task.birth_cycles = created_ns.zip(slices.first()).and_then(|(created_ns, ran)| {
        let here = all.iter().filter(|of| of.cpu == ran.cpu && of.tid != tid);
        let mut others = here.filter(|of| of.from_ns < ran.from_ns && of.to_ns > created_ns);
        let alone = created_ns <= ran.from_ns && others.next().is_none();
        alone.then(|| clocks.cycles(ran.cpu, created_ns, ran.from_ns))
    });
    let signals = recording.signals_of(Subject::Task(tid)).filter(|of| of.t_ns >= begin);
    let first = signals.filter(|of| of.util_avg.is_some()).min_by_key(|of| of.t_ns);
    task.util = first.and_then(|of| match of.util_est {
        // What is expected of it changed, so it slept, and before it crossed no period in which its utilisation would have changed.
        Some(_) => of.util_avg,
        None => util_at_birth(of.util_avg?, of.t_ns, slices, clocks),
    });
    let mut own: Vec<_> = recording.items().filter(|item| item.tid == tid).collect();
    own.sort_unstable_by_key(|item| (item.released_ns, item.ended_ns));
    let mark = recording.marks().find(|mark| mark.tid == Some(tid)).map(|mark| mark.t_ns);
    if let Some(until) = own.first().map(|item| item.released_ns).or(mark) {
        let before = slices.iter().filter(|slice| slice.from_ns < until);
        let cut = |slice: &Ran| Ran { to_ns: slice.to_ns.min(until), ..*slice };
        let before: Vec<Ran> = before.map(cut).collect();
        task.set_up = stretches(&before, &wakeups, false, (readings, clocks));
        let switches = task.set_up.iter().skip(1).filter_map(|stretch| {
            let ran = before.iter().find(|ran| ran.from_ns >= stretch.woken_ns)?;
            let mut others = all.iter().filter(|of| of.cpu == ran.cpu && of.tid != tid);
            let in_the_way =
                others.any(|of| of.from_ns < ran.from_ns && of.to_ns > stretch.woken_ns);
            let begins_ns = on_cpus.switch_begins(ran.cpu, (stretch.woken_ns, ran.from_ns));
            (!in_the_way).then(|| clocks.cycles(ran.cpu, begins_ns, ran.from_ns))
        });
        task.set_up_switches = switches.collect();
        for (number, of) in task.set_up.iter_mut().enumerate() {
            match number {
                // It begins as soon as it is there.
                0 => of.woken_ns = task.created_ns.unwrap_or(of.woken_ns),
                _ => of.begin_at_reading(readings, clocks),
            }
        }
    }
    let ends: Vec<(u64, u64)> =
        own.iter().map(|item| (item.released_ns, item.ended_ns.unwrap_or(u64::MAX))).collect();
    let mut cycles = vec![(0.0, None, 0.0); ends.len()];
    for slice in slices {
        for (from_ns, to_ns, item) in parts(slice, &ends) {
            let spent = clocks.cycles(slice.cpu, from_ns, to_ns);
            let ended = || ends.iter().rposition(|&(_, end)| end <= from_ns);
            if let Some(item) = item {
                cycles[item].0 += spent;
            } else if let Some(ended) = ended() {
                *cycles[ended].1.get_or_insert(0.0) += spent;
                cycles[ended].2 = readings.way_to_sleep(slice);
            }
        }
    }
    let mut synced: Vec<u64> = recording.signals_of(Subject::Task(tid)).map(|of| of.t_ns).collect();
    synced.sort_unstable();
    let moves = recording.moves(tid).map(|(t_ns, _)| t_ns).collect();
    let sleeper = Sleeper { slices, wakeups: &wakeups, synced, moves, by_size, all, on_cpus };
    task.items.extend(own.iter().zip(cycles).map(|(item, (cycles, after_cycles, way_cycles))| {
        Item {
            released_ns: item.released_ns,
            cycles: item.ended_ns.map(|_| cycles),
            after_cycles,
            way_cycles,
            wake_up: item.ended_ns.and_then(|ended_ns| {
                sleeper.comes((item.released_ns, ended_ns), (readings, clocks))
            }),
        }
    }));
    task
}

/// The utilisation of a task at its creation that has this one at `t_ns`; None where that was so long after that hardly
/// anything is left of it.
fn util_at_birth(util: u32, t_ns: u64, slices: &[Ran], clocks: &Clocks<'_>) -> Option<u32> {
    const LEAST_KEPT: f64 = 0.25;
    let (mut kept, mut gained) = (1.0, 0.0);
    let mut before: Option<u64> = None;
    for slice in slices.iter().filter(|slice| slice.from_ns < t_ns) {
        let slept = before.map_or(0, |before| slice.from_ns.saturating_sub(before));
        let to_ns = slice.to_ns.min(t_ns);
        let asleep = asleep(slept as f64);
        gained = clocks.ran(gained * asleep, slice.cpu, slice.from_ns, to_ns);
        kept *= asleep * clocks.kept(slice.cpu, slice.from_ns, to_ns);
        before = Some(to_ns);
    }
    let born = || ((f64::from(util) - gained) / kept).round().clamp(0.0, 1024.0) as u32;
    (kept >= LEAST_KEPT).then(born)
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

impl Given {
    /// For people, and for the record: of each task and each CPU how much it was in each playing.
    pub fn summary(&self) -> Value {
        let playings = self.playings.iter().map(|playing| {
            let tasks = playing.tasks.iter().map(|(name, task)| {
                let cycles: Vec<f64> = task.items.iter().filter_map(|item| item.cycles).collect();
                let after: Vec<f64> =
                    task.items.iter().filter_map(|item| item.after_cycles).collect();
                let whole =
                    |sum: f64, of: usize| (of > 0).then(|| (sum / of as f64).round() as u64);
                json!({
                    "task": name,
                    "creator_cpu": task.creator_cpu,
                    "born_on": task.born_on,
                    "util": task.util,
                    "items": task.items.len(),
                    "cycles": whole(cycles.iter().sum(), cycles.len()),
                    "after_cycles": whole(after.iter().sum(), after.len()),
                    "late_ns": usual_ns(task.wake_ups()).map(|(late, switch)| late + switch),
                })
            });
            let mut per_cpu: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
            for of in &playing.background {
                let sum = per_cpu.entry(of.cpu).or_default();
                sum.0 += of.stretches.len();
                sum.1 += of.stretches.iter().map(|stretch| stretch.cycles).sum::<f64>();
            }
            let background = per_cpu.into_iter().map(|(cpu, (wakeups, cycles))| {
                json!({ "cpu": cpu, "wakeups": wakeups, "cycles": cycles.round() as u64 })
            });
            json!({
                "clock_readings": playing.readings,
                "tick_ns": playing.tick_ns,
                "tasks": tasks.collect::<Vec<_>>(),
                "background": background.collect::<Vec<_>>(),
            })
        });
        let controller = self
            .controller
            .map(|cost| json!({ "delay_ns": cost.delay_ns, "busy_ns": cost.busy_ns }));
        json!({ "playings": playings.collect::<Vec<_>>(), "controller": controller })
    }
}

#[cfg(test)]
pub(super) mod tests;
