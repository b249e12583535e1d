//! A scenario as a model does it that was given what a guest measured: its phases take the playings in turn.

use super::background::{Background, NICE_0};
use super::cause::Kernels;
use super::deadlines::PERIOD_CYCLES;
use super::given::{Given, Played, Task};
use super::median;
use super::readings::BUSY_UPDATE_CYCLES;
use super::stretch::Stretch;
use super::wake_up::usual_paths;
use flyball_events::recording::comm;
use flyball_platform::{ClockReadings, Paths, SamplerCost};
use flyball_sim::behavior::{Interrupt, Work};
use flyball_sim::scenario::{Measured, Release, Scenario, TaskSpec, Workload};
use flyball_sim::setup::{Class, Creator};
use flyball_sim::workload::{After, Amount, FullSpeed, Late, Overrun, Recorded, Service, Way};
use flyball_units::{CpuId, Nanos};
use std::collections::{BTreeMap, HashMap};

/// Name of the tasks that stand for what else ran.
const NAME: &str = "guest";

/// The scenario with what its tasks did, and tasks for what else ran; of decisions it has those of the `kernels` that are asked for.
pub fn informed(scenario: &Scenario, given: &Given, kernels: Kernels) -> Scenario {
    let mut scenario = scenario.clone();
    let full_speed = FullSpeed::of(&scenario.platform);
    if let Some(cost) = given.controller {
        scenario.controller_delay = Nanos(cost.delay_ns);
        scenario.controller_busy = Nanos(cost.busy_ns);
    }
    let tasks = given.playings.iter().flat_map(|playing| playing.tasks.values());
    let switches = tasks.clone().flat_map(|task| task.set_up_switches.iter().copied());
    let births = tasks.clone().filter_map(|task| task.birth_cycles);
    let usual = |cycles: Vec<f64>| {
        median(&mut cycles.into_iter().map(|of| of.round() as u64).collect::<Vec<_>>())
    };
    let pushed = usual(tasks.clone().flat_map(|task| task.pushed.idle.clone()).collect());
    let pushed_busy = usual(tasks.clone().flat_map(|task| task.pushed.busy.clone()).collect());
    scenario.platform.paths = Paths {
        birth: usual(births.collect()).unwrap_or(0),
        period: if pushed.is_some() { PERIOD_CYCLES } else { 0 },
        pushed: pushed.unwrap_or(0),
        pushed_busy: pushed_busy.or(pushed).unwrap_or(0),
        ..usual_paths(tasks.flat_map(Task::wake_ups), switches)
    };
    scenario.platform.clock_readings = usual_readings(given);
    if scenario.platform.clock_readings != ClockReadings::default() {
        // Ticks are where they read the clock, from which on a sampler's call has to go this way, too.
        scenario.platform.sampler.wake_cycles += BUSY_UPDATE_CYCLES;
    }
    // Each playing as often as the others.
    scenario.phases = scenario.phases.next_multiple_of(given.playings.len().max(1) as u32);
    let duration = scenario.duration;
    for spec in &mut scenario.tasks {
        let names = spec.names();
        let did = |task: &Task| {
            let placed = if kernels.placements { task.placed.clone() } else { Vec::new() };
            Measured { placed, ..measured(spec, task, duration, full_speed) }
        };
        let own = |playing: &Played| -> Vec<Measured> {
            let tasks = names.iter().map(|name| playing.tasks.get(&comm(name)));
            tasks.map(|task| task.map(did).unwrap_or_default()).collect()
        };
        spec.measured = given.playings.iter().map(own).collect();
    }
    let ticks = given.playings.iter().map(|playing| playing.tick_ns.map(Nanos));
    scenario.measured_ticks = ticks.collect::<Option<_>>().unwrap_or_default();
    let before = given.playings.iter().map(|playing| playing.before.clone());
    scenario.measured_before = before.collect();
    if kernels.frequencies {
        let playings = given.playings.iter();
        scenario.measured_frequencies =
            playings.map(|playing| playing.frequencies.clone()).collect();
    }
    if kernels.care {
        scenario.measured_care =
            given.playings.iter().map(|playing| playing.care.clone()).collect();
    }
    let others = without_samplers(&mut scenario, given);
    scenario.tasks.extend(stand_ins(&others, duration));
    scenario
}

/// How long before events the kernel reads its clock, as the median of the playings; 0 where one does not tell.
fn usual_readings(given: &Given) -> ClockReadings {
    let readings = given.playings.iter().map(|playing| playing.readings);
    let Some(readings) = readings.collect::<Option<Vec<_>>>() else {
        return ClockReadings::default();
    };
    let usual = |of: fn(&ClockReadings) -> u64| {
        median(&mut readings.iter().map(of).collect::<Vec<_>>()).unwrap_or(0)
    };
    let known = |of: fn(&ClockReadings) -> u64| {
        readings.iter().map(of).filter(|cycles| *cycles > 0).collect::<Vec<_>>()
    };
    ClockReadings {
        wake_cycles: usual(|of| of.wake_cycles),
        sleep_cycles: usual(|of| of.sleep_cycles),
        crossing_sleep_cycles: usual(|of| of.crossing_sleep_cycles),
        change_cycles: median(&mut known(|of| of.change_cycles)).unwrap_or(0),
    }
}

/// What else ran in each playing, without the work of governors that sample: the model has its own, which takes as long as
/// theirs on average. Their workers have other work, too: that which nothing calls, and what takes long.
fn without_samplers(scenario: &mut Scenario, given: &Given) -> Vec<Vec<Background>> {
    let workers = given.playings.iter().flat_map(|playing| &playing.background);
    let workers = workers.filter(|of| is_worker(scenario, of)).flat_map(|of| &of.stretches);
    let samples: Vec<&Stretch> = workers.filter(|stretch| stretch.is_call).collect();
    let cycles = samples.iter().map(|sample| sample.cycles.round() as u64);
    let most = median(&mut cycles.collect::<Vec<_>>());
    let most = most.map_or(0.0, |cycles| MOST_OF_A_DECISION * cycles as f64);
    let short: Vec<&Stretch> =
        samples.iter().copied().filter(|sample| sample.cycles <= most).collect();
    let all = sampler_cost(&short, scenario.platform.sampler);
    for domain in &mut scenario.platform.domains {
        let here = |of: &&Stretch| domain.cpus.contains(&CpuId(of.cpu));
        let own: Vec<&Stretch> = short.iter().copied().filter(here).collect();
        domain.measured_sampler = Some(sampler_cost(&own, all));
    }
    let others = given.playings.iter().map(|playing| {
        let mut others = playing.background.clone();
        for of in others.iter_mut().filter(|of| is_worker(scenario, of)) {
            of.stretches.retain(|stretch| !stretch.is_call || stretch.cycles > most);
        }
        others.retain(|of| !of.stretches.is_empty());
        others
    });
    others.collect()
}

/// What samples took, those that left the frequency as it is on average; what they do not tell, as `others`.
fn sampler_cost(samples: &[&Stretch], others: SamplerCost) -> SamplerCost {
    let still: Vec<f64> =
        samples.iter().filter(|of| of.rest.is_none()).map(|of| of.cycles).collect();
    let cycles = match still.len() {
        0 => others.cycles,
        count => (still.iter().sum::<f64>() / count as f64).round() as u64,
    };
    let usual = |of: fn(f64, f64) -> f64| {
        let changes = samples.iter().filter_map(|sample| Some(of(sample.cycles, sample.rest?)));
        median(&mut changes.map(|cycles| cycles.round() as u64).collect::<Vec<_>>())
    };
    let changing = usual(|cycles, _| cycles);
    SamplerCost {
        cycles,
        decision_cycles: usual(|cycles, rest| cycles - rest).or(others.decision_cycles),
        change_cycles: changing.map_or(others.change_cycles, |of| of.saturating_sub(cycles)),
        ..others
    }
}

/// A worker that is busy for longer, in medians, had other things to do.
const MOST_OF_A_DECISION: f64 = 4.0;

/// Whether a thread is one of the kernel's workers on a CPU whose governor decides on such.
fn is_worker(scenario: &Scenario, of: &Background) -> bool {
    let bound = of.name.strip_prefix("kworker/").is_some_and(|name| !name.starts_with('u'));
    let mut domains = scenario.platform.domains.iter().zip(&scenario.governors);
    let governor = domains.find(|(domain, _)| domain.cpus.iter().any(|cpu| cpu.0 == of.cpu));
    bound && governor.is_some_and(|(_, governor)| WORKERS.contains(&governor.name.as_str()))
}

/// The kernel's governors that sample, each time on a worker of the CPU where the scheduler called.
const WORKERS: [&str; 2] = ["ondemand", "conservative"];

/// What a task did as the model does it.
fn measured(spec: &TaskSpec, task: &Task, duration: Nanos, full_speed: FullSpeed) -> Measured {
    // Real-time tasks are born on CPUs by turns, and whose turn it is follows from all that were ever pushed; deadline tasks
    // are fair threads at first.
    let by_turns = matches!(spec.class, Class::Fifo { .. } | Class::Deadline { .. });
    let mut measured = Measured {
        creator_cpu: task.creator_cpu.map(CpuId),
        born_on: task.born_on.filter(|_| by_turns).map(CpuId),
        initial_util: task.util,
        start: task.created_ns.map(Nanos),
        set_up: (!task.set_up.is_empty()).then(|| task.set_up.iter().map(recorded).collect()),
        ..Measured::default()
    };
    let Some(works) = Works::of(spec, task, full_speed) else { return measured };
    let mut items: Vec<Recorded> = Vec::new();
    for (number, item) in task.items.iter().enumerate() {
        items.push(due(Nanos(item.released_ns), works.work(number, item.cycles)));
    }
    while let Some(released) = next_release(spec, &items).filter(|&released| released < duration) {
        items.push(due(released, works.work(items.len(), None)));
    }
    // It does not end with the scenario's last item: it sleeps, and its utilisation stays where it is.
    items.push(due(duration + duration, works.work(items.len(), None)));
    let late = |number: usize| task.items.get(number)?.wake_up?.late;
    let after = |number: usize| {
        let item = task.items.get(number)?;
        let (cycles, way) = (item.after_cycles?.round() as u64, item.way_cycles.round() as u64);
        Some(After { cycles, way })
    };
    let afters = || (0..task.items.len()).filter_map(after);
    let median_of = |of: fn(After) -> u64| median(&mut afters().map(of).collect::<Vec<_>>());
    let usual_after = After {
        cycles: median_of(|of| of.cycles).unwrap_or(0),
        way: median_of(|of| of.way).unwrap_or(0),
    };
    let lates = || task.wake_ups().filter_map(|of| of.late);
    let mut expire: Vec<u64> = lates().map(|late| late.expires.0).collect();
    let firsts = lates().filter(|late| !late.interrupt.follows);
    let mut firsts: Vec<u64> = firsts.map(|late| late.interrupt.cycles).collect();
    let usual_late = Late {
        expires: Nanos(median(&mut expire).unwrap_or(0)),
        interrupt: Interrupt { cycles: median(&mut firsts).unwrap_or(0), ..Interrupt::default() },
    };
    let way = Way {
        late: (0..items.len()).map(|number| late(number).unwrap_or(usual_late)).collect(),
        after: (0..items.len()).map(|number| after(number).unwrap_or(usual_after)).collect(),
    };
    measured.items = Some((items.into(), way));
    measured
}

/// What items of a task cost.
enum Works<'a> {
    /// As many cycles as they took; what was not done, or not even begun, as much more than is said as the rest.
    Cycles { spec: &'a TaskSpec, full_speed: FullSpeed, more: f64 },
    /// The time that is said, whatever the frequency.
    Time(Nanos),
}

impl<'a> Works<'a> {
    /// None where the scenario does not say what they are, or none was done.
    fn of(spec: &'a TaskSpec, task: &Task, full_speed: FullSpeed) -> Option<Works<'a>> {
        if let Workload::Periodic(Release { work: Amount::Cycles(0), memory, .. }) = spec.workload {
            return Some(Works::Time(memory));
        }
        let (mut said, mut took) = (0.0, 0.0);
        for (number, item) in task.items.iter().enumerate() {
            let stated = stated(spec, number, full_speed);
            let Some((stated, cycles)) = stated.zip(item.cycles) else { continue };
            (said, took) = (said + stated, took + cycles);
        }
        (said > 0.0).then(|| Works::Cycles { spec, full_speed, more: took / said })
    }

    fn work(&self, number: usize, took: Option<f64>) -> Work {
        match *self {
            Works::Cycles { spec, full_speed, more } => {
                let expected = || Some(stated(spec, number, full_speed)? * more);
                cycles(took.or_else(expected).unwrap_or(1.0))
            }
            Works::Time(memory) => Work { cycles: 0, memory },
        }
    }
}

fn cycles(cycles: f64) -> Work {
    Work { cycles: cycles.round().max(1.0) as u64, memory: Nanos::ZERO }
}

fn due(released: Nanos, work: Work) -> Recorded {
    Recorded { released, work, ..Recorded::default() }
}

fn recorded(stretch: &Stretch) -> Recorded {
    let way = stretch.way.round() as u64;
    Recorded { way, ..due(Nanos(stretch.woken_ns), cycles(stretch.cycles)) }
}

/// Cycles of the reference kind of core that the scenario says of an item; None where it says none.
fn stated(spec: &TaskSpec, number: usize, full_speed: FullSpeed) -> Option<f64> {
    let work = match &spec.workload {
        Workload::Periodic(release) => release.work,
        Workload::Poisson { work, service: Service::Fixed, .. } => *work,
        Workload::Recorded(items) => items.get(number)?.work,
        _ => return None,
    };
    Some(work.cycles(full_speed) as f64)
}

/// When the item after these is due, where the scenario says that whatever became of them: a board that is
/// behind never came to it.
fn next_release(spec: &TaskSpec, items: &[Recorded]) -> Option<Nanos> {
    match &spec.workload {
        Workload::Periodic(of) if of.overrun == Overrun::Queue => {
            Some(items.last()?.released + of.period)
        }
        Workload::Recorded(all) => Some(spec.start + all.get(items.len())?.released),
        _ => None,
    }
}

/// Tasks that do what threads did, in each playing others: one for each CPU, class and thread.
fn stand_ins(playings: &[Vec<Background>], duration: Nanos) -> Vec<TaskSpec> {
    let mut tasks: BTreeMap<(u32, i32, usize), Vec<Vec<Measured>>> = BTreeMap::new();
    let never = duration + duration;
    // One that did nothing in a playing is not there.
    let absent = Measured { start: Some(never), ..Measured::default() };
    for (at, playing) in playings.iter().enumerate() {
        let mut threads: HashMap<(u32, i32), usize> = HashMap::new();
        for of in playing {
            let number = threads.entry((of.cpu, of.priority)).or_default();
            let key = (of.cpu, of.priority, *number);
            *number += 1;
            let measured =
                tasks.entry(key).or_insert_with(|| vec![vec![absent.clone()]; playings.len()]);
            // None of them ends, but where it moves away: after the last time they sleep.
            let moves = of.stretches.last().is_some_and(|stretch| stretch.moves);
            let last = (!moves).then(|| due(never, cycles(1.0)));
            let did = Measured {
                initial_util_est: of.util_est,
                comes: of.comes,
                was_denied: of.was_denied,
                start: of.stretches.first().map(|stretch| Nanos(stretch.woken_ns)),
                set_up: Some(of.stretches.iter().map(recorded).chain(last).collect()),
                ..Measured::default()
            };
            if let Some(playing) = measured.get_mut(at) {
                *playing = vec![did];
            }
        }
    }
    let task = |((cpu, priority, number), measured)| TaskSpec {
        name: format!("{NAME}/{cpu}/{priority}/{number}"),
        count: 1,
        class: class(priority),
        cpus: vec![CpuId(cpu)],
        cgroup: None,
        uclamp_min: 0,
        uclamp_max: 1024,
        rampup_multiplier: None,
        clamp_ramp: None,
        start: Nanos::ZERO,
        creator: Creator::Earlier { comes: false, was_denied: false },
        initial_util: None,
        workload: Workload::Recorded([].into()),
        measured,
        deadline: None,
    };
    tasks.into_iter().map(task).collect()
}

/// The class of a kernel's priority. None of its threads but those that stop a CPU has the highest one.
fn class(priority: i32) -> Class {
    match priority {
        ..=0 => Class::Stop,
        1..100 => Class::Fifo { priority: (99 - priority).clamp(1, 99) as u8 },
        100.. => Class::Fair { nice: (priority - NICE_0).clamp(-20, 19) as i8 },
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::{playing, scenario};
    use super::super::given::{Item, given};
    use super::*;
    use crate::protocol::score::{BEGIN, END};
    use flyball_run::{Marker, Run};
    use flyball_sim::scenario::{Source, read};

    const MS: u64 = 1_000_000;

    #[test]
    fn phases_take_the_playings_in_turn() {
        let (mut scenario, run) = (scenario(4), playing());
        scenario.phases = 3;
        let mut other = playing();
        // All of the other one is 1 ms later, but for its beginning.
        other.tables.markers = Run::default().tables.markers;
        for (t_ns, name) in [(999 * MS, BEGIN), (1_099 * MS, END)] {
            other.tables.markers.push(Marker { t_ns, name: name.to_owned(), ..Marker::default() });
        }
        let given = given(&scenario, &scenario.setup(0), [&run, &other].into_iter()).unwrap();
        let done = informed(&scenario, &given, Kernels::default());
        let starts = |phase: u32| -> Vec<u64> {
            done.setup(phase).setup.tasks.iter().map(|task| task.start.0 / MS).collect()
        };
        // `work`, and what stands for the watchdog, the conductor and the worker.
        assert_eq!([starts(0), starts(1)], [[3, 92, 2, 49].to_vec(), [4, 93, 3, 50].to_vec()]);
        assert_eq!([starts(2), starts(3)], [starts(0), starts(1)]);
        assert_eq!(done.platform.paths.switch, MS / 4);
        assert_eq!(done.phases, 4, "each as often");
    }

    /// Under ondemand a worker samples twice on a little CPU and three times on a big one, where one sample changes the frequency and one is
    /// other work.
    #[test]
    fn samples_cost_what_they_took_in_their_own_clock_domain() {
        let text = "platform = \"board-aarch64\"\nduration = \"100ms\"\n[governor]\nname = \"ondemand\"\n\
                    [[task]]\nkind = \"spin\"\n";
        let mut scenario = read(text, Source::text_only("x.toml", "x")).unwrap();
        let sample = |cpu: u32, cycles: f64, rest: Option<f64>| Stretch {
            cpu,
            woken_ns: 0,
            cycles,
            way: 0.0,
            rest,
            is_call: true,
            moves: false,
        };
        let worker = |cpu: u32, stretches: Vec<Stretch>| Background {
            name: format!("kworker/{cpu}:0"),
            cpu,
            priority: NICE_0,
            util_est: 0,
            comes: false,
            was_denied: false,
            stretches,
        };
        let other = sample(2, 9e5, None);
        let big = vec![sample(2, 7e4, None), sample(2, 1e5, Some(2e4)), other];
        let little = vec![sample(0, 1e5, None), sample(0, 1.2e5, None)];
        let mut playing = Played::default();
        playing.background = vec![worker(0, little), worker(2, big)];
        let given = Given { playings: vec![playing], ..Given::default() };
        let others = without_samplers(&mut scenario, &given);
        assert_eq!(others, [vec![worker(2, vec![other])]]);
        let cost = |d: usize| {
            let of = scenario.platform.domains[d].measured_sampler.unwrap();
            (of.cycles, of.decision_cycles, of.change_cycles)
        };
        assert_eq!(cost(1), (70_000, Some(80_000), 30_000));
        assert_eq!(cost(0), (110_000, Some(80_000), 3_333), "changes as on all: 100,000 of 96,667");
    }

    #[test]
    fn what_a_board_never_came_to_is_expected_as_its_rest() {
        let scenario = scenario(1);
        let spec = &scenario.tasks[0];
        let item =
            |ms: u64, cycles: Option<f64>| Item { released_ns: ms * MS, cycles, ..Item::default() };
        let task = Task { items: vec![item(20, Some(2e6)), item(60, None)], ..Task::default() };
        let full_speed = FullSpeed::of(&scenario.platform);
        let measured = measured(spec, &task, Nanos(150 * MS), full_speed);
        let (items, _) = measured.items.unwrap();
        let items: Vec<_> =
            items.iter().map(|item| (item.released.0 / MS, item.work.cycles)).collect();
        assert_eq!(
            items,
            [20, 60, 100, 140, 300].map(|ms| (ms, 2_000_000)),
            "the last one never comes"
        );
    }
}
