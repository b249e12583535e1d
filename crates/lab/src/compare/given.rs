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
use super::figures::span;
use super::on_cpu;
use super::readings::Readings;
use super::stretch::{Stretch, stretches, wakeups_of};
use super::ticks::Ticks;
use flyball_events::recording::{Ran, Subject, Woken, comm};
use flyball_events::{Missing, Recording};
use flyball_platform::ClockReadings;
use flyball_qos::CONTROLLER;
use flyball_run::Run;
use flyball_sim::scenario::{Built, Scenario};
use flyball_sim::setup::{Before, Class};
use flyball_stats::median_high;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a thread's timers may come late by themselves, in nanoseconds (`timer_slack_ns`).
const TIMER_SLACK_NS: u64 = 50_000;

/// The kernel's threads that move running tasks, one per CPU. Each is the watchdog of its CPU, too.
const MOVERS: &str = "migration/";

/// An item of work, in nanoseconds from the beginning of the scenario and in cycles of the reference kind of core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// When it was due.
    pub released_ns: u64,
    /// What it took until it was done, the kernel's part included; None where it was not done.
    pub cycles: Option<f64>,
    /// What it took then until its task slept; None where that went on with the next one.
    pub after_cycles: Option<f64>,
    /// Of these those after it had left its queue.
    pub way_cycles: f64,
    /// How long its task, which slept, took until its CPU was chosen; None where it did not sleep.
    pub late_ns: Option<u64>,
    /// How long it then took to its first instruction, also on another CPU; None where somebody was in the way.
    pub switch_ns: Option<u64>,
    /// What its CPU could have executed from when its timer could expire until it was woken; None where it was woken elsewhere.
    pub interrupt_cycles: Option<f64>,
    /// What that CPU could have executed until another one had the task in its queue; None where it stayed.
    pub remote_cycles: Option<f64>,
    /// And from then to its first instruction.
    pub switch_cycles: Option<f64>,
    /// The CPU on which it was woken, if that was busy; None where it was not, or the task did not sleep.
    pub woken_on: Option<u32>,
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
        let usual = usual_ns(tasks.flat_map(|task| &task.items));
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
            let changed = class_changed(scenario, &recording, &name, (tid, &slices));
            let (set_up, own) = split(&slices, changed);
            // Until then it was a fair thread.
            let thread =
                Thread { tid, name: &name, priority: NICE_0, slices: &set_up, cpu_before: None };
            found.background.extend(background(
                &recording,
                &thread,
                &all,
                (&calls, &readings, &at),
            ));
            let mut task = worked(&recording, (tid, &own), &all, (&readings, &at));
            task.created_ns = changed.or(task.created_ns);
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
    wake_together(found.tasks.values_mut().flat_map(|task| &mut task.items));
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

/// When a thread took its class, which is another one than the fair class in which it was created: its utilisation is then no longer
/// part of its CPU's.
fn class_changed(
    scenario: &Scenario,
    recording: &Recording<'_>,
    name: &str,
    (tid, slices): (u32, &[Ran]),
) -> Option<u64> {
    let mut specs = scenario.tasks.iter();
    let spec = specs.find(|spec| spec.names().iter().any(|own| comm(own) == name))?;
    if matches!(spec.class, Class::Fair { .. }) {
        return None;
    }
    let begin = recording.span().from_ns;
    let first = recording.items().filter(|item| item.tid == tid).map(|item| item.released_ns).min();
    let last = first.unwrap_or(u64::MAX);
    slices.iter().filter(|slice| slice.from_ns >= begin && slice.from_ns < last).find_map(|slice| {
        let own = recording.signals_of(Subject::Task(tid));
        let own = own.filter(|of| (slice.from_ns..=slice.to_ns).contains(&of.t_ns));
        let own = own.filter_map(|of| of.util_avg).max()?;
        let queue = recording.signals_of(Subject::Cpu(slice.cpu));
        let mut queue: Vec<(u64, u32)> = queue
            .filter(|of| of.t_ns <= slice.to_ns.min(last))
            .filter_map(|of| Some((of.t_ns, of.util_avg?)))
            .collect();
        queue.sort_unstable();
        let mut falls = queue.windows(2).filter(|two| two[1].0 >= slice.from_ns);
        falls.find(|two| two[1].1.saturating_add(own / 2) < two[0].1).map(|two| two[1].0)
    })
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
    (tid, slices): (u32, &[Ran]),
    all: &[Ran],
    (readings, clocks): (&Readings, &Clocks<'_>),
) -> Task {
    let mut task = Task::default();
    let wakeups = wakeups_of(recording, tid);
    let mut synced: Vec<u64> = recording.signals_of(Subject::Task(tid)).map(|of| of.t_ns).collect();
    synced.sort_unstable();
    // The estimate of energy begins with bringing its signals up to date.
    let moves = recording.moves(tid).map(|(t_ns, _)| t_ns);
    let moves: Vec<(u64, u64)> =
        moves.map(|moved_ns| (choice_ns(&synced, moved_ns), moved_ns)).collect();
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
            (!in_the_way).then(|| clocks.cycles(ran.cpu, stretch.woken_ns, ran.from_ns))
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
    task.items.extend(own.iter().zip(cycles).map(|(item, (cycles, after_cycles, way_cycles))| {
        let wake_up = item
            .ended_ns
            .and_then(|ended| wake_up(all, (item.released_ns, ended), slices, &wakeups, &moves))
            .map(|of| of.since_reading(item.released_ns, readings, clocks));
        let executed = |of: &WakeUp, from_ns: u64, ns: u64| {
            clocks.cycles(of.cpu, item.released_ns + from_ns, item.released_ns + from_ns + ns)
        };
        Item {
            released_ns: item.released_ns,
            cycles: item.ended_ns.map(|_| cycles),
            after_cycles,
            way_cycles,
            late_ns: wake_up.map(|of| of.late_ns),
            switch_ns: wake_up.and_then(|of| Some(of.remote_ns.unwrap_or(0) + of.switch_ns?)),
            interrupt_cycles: wake_up
                .filter(|of| of.remote_ns.is_none())
                .map(|of| executed(&of, TIMER_SLACK_NS, of.late_ns.saturating_sub(TIMER_SLACK_NS))),
            remote_cycles: wake_up
                .and_then(|of| of.remote_ns.map(|ns| executed(&of, of.late_ns, ns))),
            switch_cycles: wake_up.and_then(|of| {
                let queued_ns = of.late_ns + of.remote_ns.unwrap_or(0);
                of.switch_ns.map(|ns| executed(&of, queued_ns, ns))
            }),
            woken_on: wake_up.filter(|of| !of.was_idle).map(|of| of.cpu),
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

/// Timers that expire at once on one CPU are one interrupt: whom it wakes there runs only when all are awake. On a busy CPU they count as
/// woken as late as the last of them, in their order, 1 ns apart, and the way to the first that runs begins there.
fn wake_together<'a>(items: impl Iterator<Item = &'a mut Item>) {
    let mut due = BTreeMap::<(u64, u32), Vec<&mut Item>>::new();
    for item in items.filter(|item| item.remote_cycles.is_none() && item.late_ns.is_some()) {
        if let Some(cpu) = item.woken_on {
            due.entry((item.released_ns, cpu)).or_default().push(item);
        }
    }
    for mut together in due.into_values().filter(|together| together.len() > 1) {
        together.sort_unstable_by_key(|item| item.late_ns);
        let last = together.last().and_then(|item| item.late_ns).unwrap_or(0);
        for (rank, item) in together.into_iter().enumerate() {
            let until = last - item.late_ns.unwrap_or(last);
            let part = |ns: u64| ns.saturating_sub(until) as f64 / ns.max(1) as f64;
            let part = item.switch_ns.map(part).filter(|part| *part > 0.0);
            item.switch_ns = item.switch_ns.zip(part).map(|(ns, part)| (ns as f64 * part) as u64);
            item.switch_cycles = item.switch_cycles.zip(part).map(|(cycles, part)| cycles * part);
            item.late_ns = Some(last + rank as u64);
        }
    }
}

/// How a task that slept came to an item, from when its CPU read the clock for that.
#[derive(Clone, Copy)]
struct WakeUp {
    /// From the release until its CPU was chosen.
    late_ns: u64,
    /// From then until it was in that CPU's queue, where that was another one.
    remote_ns: Option<u64>,
    /// From then until it ran, if nobody else was in the way.
    switch_ns: Option<u64>,
    /// Where it was woken.
    cpu: u32,
    /// Whether that had nothing else to do.
    was_idle: bool,
}

impl WakeUp {
    /// What is recorded is later than the clock's reading, with which the task is in its queue.
    fn since_reading(self, released_ns: u64, readings: &Readings, clocks: &Clocks<'_>) -> WakeUp {
        let woken_ns = released_ns + self.late_ns + self.remote_ns.unwrap_or(0);
        let ago = readings.before_wakeup(self.cpu, woken_ns, clocks);
        match self.remote_ns {
            Some(remote_ns) => WakeUp { remote_ns: Some(remote_ns.saturating_sub(ago)), ..self },
            None => WakeUp { late_ns: self.late_ns.saturating_sub(ago), ..self },
        }
    }
}

/// The choice of a CPU takes no longer than this until the task is moved there, in ns.
const LONGEST_CHOICE_NS: u64 = 400_000;

/// When the choice began with which a task moved.
fn choice_ns(synced: &[u64], moved_ns: u64) -> u64 {
    let begins = synced.partition_point(|&t_ns| t_ns + LONGEST_CHOICE_NS < moved_ns);
    synced.get(begins).copied().filter(|&t_ns| t_ns < moved_ns).unwrap_or(moved_ns)
}

/// How a task came to the item that was `released` and `ended` then; None where it did not sleep.
fn wake_up(
    all: &[Ran],
    (released, ended): (u64, u64),
    own: &[Ran],
    wakeups: &[Woken],
    moves: &[(u64, u64)],
) -> Option<WakeUp> {
    let woken = wakeups.iter().find(|woken| (released..=ended).contains(&woken.t_ns))?;
    if own.iter().any(|ran| ran.to_ns > released && ran.from_ns <= released) {
        return None;
    }
    let ran_ns = woken.ran_ns.filter(|ran_ns| *ran_ns <= ended)?;
    let ran = own.iter().rev().find(|slice| slice.from_ns <= ran_ns)?.from_ns;
    let mut others = all.iter().filter(|of| of.cpu == woken.cpu && of.tid != woken.tid);
    let in_the_way = others.any(|of| of.from_ns < ran && of.to_ns > released);
    let switch_ns = (!in_the_way).then(|| ran.saturating_sub(woken.t_ns));
    let moved = moves.iter().find(|of| (released..=woken.t_ns).contains(&of.1));
    let chosen_ns = moved.map(|&(chosen_ns, _)| chosen_ns.max(released));
    let remote_ns = chosen_ns.map(|chosen_ns| woken.t_ns - chosen_ns);
    let late_ns = chosen_ns.unwrap_or(woken.t_ns) - released;
    let was_idle =
        !all.iter().any(|of| of.cpu == woken.cpu && (of.from_ns..of.to_ns).contains(&woken.t_ns));
    Some(WakeUp { late_ns, remote_ns, switch_ns, cpu: woken.cpu, was_idle })
}

/// The medians of what tasks took until they were woken, and from then until they ran.
pub(super) fn usual_ns<'a>(items: impl Iterator<Item = &'a Item>) -> Option<(u64, u64)> {
    let (mut late, mut switch) = (Vec::new(), Vec::new());
    for item in items {
        late.extend(item.late_ns);
        switch.extend(item.switch_ns);
    }
    median(&mut late).map(|late| (late, median(&mut switch).unwrap_or(0)))
}

/// Cycles of a wake-up's parts.
pub(super) struct Paths {
    pub(super) interrupt: u64,
    pub(super) remote: u64,
    pub(super) switch: u64,
}

/// Their medians, 0 of what there was none.
pub(super) fn usual_cycles<'a>(tasks: impl Iterator<Item = &'a Task> + Clone) -> Paths {
    let usual = |cycles: &mut dyn Iterator<Item = f64>| {
        median(&mut cycles.map(|cycles| cycles.round() as u64).collect::<Vec<_>>()).unwrap_or(0)
    };
    let items = || tasks.clone().flat_map(|task| &task.items);
    let set_ups = tasks.clone().flat_map(|task| task.set_up_switches.iter().copied());
    Paths {
        interrupt: usual(&mut items().filter_map(|item| item.interrupt_cycles)),
        remote: usual(&mut items().filter_map(|item| item.remote_cycles)),
        switch: usual(&mut items().filter_map(|item| item.switch_cycles).chain(set_ups)),
    }
}

pub(super) fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    median_high(values)
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
                    "late_ns": usual_ns(task.items.iter()).map(|(late, switch)| late + switch),
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
