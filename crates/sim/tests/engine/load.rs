//! Load tracking across CPUs: what a task that wakes up elsewhere leaves behind, and until when.

use crate::common::*;
use flyball_platform::ClockReadings;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::{Observer, SwitchOut};
use flyball_sim::setup::{Before, Creator, Hint, HintCall, Left, Placement, Setup, TaskId};
use flyball_units::{CpuId, Nanos};

fn cycles(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// CPUs 0 and 1 of a Zen 2 at 2.5 GHz, HZ=1000. `mover` runs some ms on CPU 0, sleeps until 20.5 ms
/// and finds CPU 0 taken by `stayer`.
fn mover_and_stayer() -> Setup {
    let mut setup = setup("zen2", "linux-6.12", "performance", Nanos(60 * MS));
    setup.placement = Placement::PreviousOrIdle;
    let mut mover = task(
        "mover",
        Script::new(vec![
            cycles(8_000_000),
            Step::SleepUntil(Nanos(20 * MS + 500_000)),
            cycles(20_000_000),
            Step::Exit,
        ]),
    );
    mover.initial_util = Some(400);
    mover.allowed = vec![CpuId(0), CpuId(1)];
    let mut stayer = task("stayer", Spin);
    stayer.initial_util = Some(200);
    stayer.start = Nanos(10 * MS);
    stayer.allowed = vec![CpuId(0)];
    setup.tasks = vec![mover, stayer];
    without_transitions(setup)
}

fn at(setup: Setup, time: u64) -> Summary {
    let mut machine = Machine::new(setup).unwrap();
    machine.run_unseen(Nanos(time));
    machine.finish()
}

#[test]
fn a_queue_learns_at_its_next_update_that_a_sleeper_went_elsewhere() {
    let util_of = |time| at(mover_and_stayer(), time).cpus[0].util;
    let (before, woken) = (util_of(20 * MS + 499_999), util_of(20 * MS + 500_001));
    assert_eq!(at(mover_and_stayer(), 20 * MS + 500_001).tasks[0].cpu, CpuId(1), "it moved");
    assert!(before > 450, "both count: {before}");
    assert_eq!(before, woken, "nobody told CPU 0 yet");
    let stayer = at(mover_and_stayer(), 21 * MS + 1).tasks[1].util;
    let after = util_of(21 * MS + 1);
    assert!(after.abs_diff(stayer) <= 2, "only the one that stays counts: {after} {stayer}");
    assert!(after + 150 < woken, "{after} {woken}");
}

/// When cpufreq was asked on behalf of CPU 0.
#[derive(Default)]
struct Asked(Vec<u64>);

impl Observer for Asked {
    fn governor(
        &mut self,
        at: Nanos,
        _: usize,
        event: &flyball_governors::Event<'_>,
        _: &flyball_governors::Decision,
    ) {
        if matches!(event, flyball_governors::Event::Util { cpu: CpuId(0), .. }) {
            self.0.push(at.0);
        }
    }
}

#[test]
fn cpufreq_is_asked_at_that_update_and_not_at_the_wake_up() {
    let mut setup = mover_and_stayer();
    setup.governors = (0..4)
        .map(|_| flyball_governors::create("schedutil").unwrap())
        .take(setup.governors.len())
        .collect();
    let mut machine = Machine::new(setup).unwrap();
    let mut asked = Asked::default();
    machine.run(&mut asked);
    assert!(!asked.0.contains(&(20 * MS + 500_000)), "{:?}", asked.0);
    assert!(asked.0.contains(&(21 * MS)), "{:?}", asked.0);
}

#[test]
fn the_mover_brings_what_it_had_less_what_time_took() {
    // CPU 0 is busy: the task decays to the tick before, 0.5 ms earlier.
    let summary = at(mover_and_stayer(), 20 * MS + 500_001);
    let arrived = summary.tasks[0].util;
    let slept = at(mover_and_stayer(), 20 * MS).tasks[0].util;
    assert!(arrived < slept && arrived > slept * 70 / 100, "{slept} {arrived}");
    assert_eq!(summary.cpus[1].util, arrived);
}

#[test]
fn the_signals_of_an_ended_task_go_with_it() {
    let util_of = |time| at(mover_and_stayer(), time).cpus[1].util;
    // It runs from 20.5 to about 28.5 ms on CPU 1, which is idle behind it.
    let ended = at(mover_and_stayer(), 59 * MS).tasks[0].ended.unwrap().0;
    assert!(util_of(ended - 1) > 300);
    // Idle CPUs are updated every 32 ms at the latest.
    assert_eq!(util_of(59 * MS), 0);
}

/// When each of two tasks reaches a util_est of 600 on a P core with the series; the second one is
/// forked at 5 ms.
fn rises(hints: Vec<HintCall>) -> [u64; 2] {
    let mut setup = setup("apple-m1", "linux-6.10-series", "performance", Nanos(200 * MS));
    for (name, cpu, start) in [("parent", 4, 0), ("child", 5, 5 * MS)] {
        let mut one = task(name, Spin);
        one.allowed = vec![CpuId(cpu)];
        one.initial_util = Some(0);
        one.start = Nanos(start);
        setup.tasks.push(one);
    }
    setup.hints = hints;
    let mut machine = Machine::new(without_transitions(setup)).unwrap();
    let mut seen = Rise([None; 2]);
    machine.run(&mut seen);
    [0, 1].map(|t| seen.0[t].unwrap() - t as u64 * 5 * MS)
}

struct Rise([Option<u64>; 2]);

impl Observer for Rise {
    fn task_util(&mut self, at: Nanos, task: TaskId, _: CpuId, _: u32, util_est: u32) {
        if util_est >= 600 {
            self.0[task.0 as usize].get_or_insert(at.0);
        }
    }
}

#[test]
fn a_hint_holds_for_its_task_from_its_time_on_and_is_not_inherited() {
    let hint = |at, multiplier| HintCall {
        at: Nanos(at),
        task: TaskId(0),
        hint: Hint::RampupMultiplier(multiplier),
    };
    let [plain, child] = rises(vec![]);
    let [early, forked] = rises(vec![hint(0, 4), hint(0, 4)]);
    assert!(early * 3 < plain, "{early} {plain}");
    assert_eq!(forked, child, "the child begins without a hint");
    let [late, _] = rises(vec![hint(20 * MS, 4)]);
    assert!(late > 20 * MS && late < plain && late > early, "{early} {late} {plain}");
    let [undone, _] = rises(vec![hint(300 * MS, 1), hint(0, 4), hint(MS, 1)]);
    assert!(undone > early && undone <= plain, "{early} {undone} {plain}");
}

/// When which CPU's utilisation changed.
#[derive(Default)]
struct Changes(Vec<(u64, u32)>);

impl Observer for Changes {
    fn cpu_util(&mut self, at: Nanos, cpu: CpuId, _: u32, _: u32, _: u32) {
        self.0.push((at.0, cpu.0));
    }
}

/// A CPU that goes idle lets the signals of others decay, if 32 ms have passed since somebody did: CPU 1 works up to 10 ms,
/// CPU 0 from 61 to 61.1 ms, between ticks of 4 ms that both have stopped.
#[test]
fn a_cpu_that_goes_idle_lets_the_signals_of_others_decay() {
    let mut setup = setup("board-x86", "linux-6.12", "performance", Nanos(80 * MS));
    setup.kernel.hz = 250;
    let run = |cycles: u64| Step::Run(Work { cycles, memory: Nanos::ZERO });
    let never = Step::SleepUntil(Nanos(1_000 * MS));
    let mut early = task("early", Script::new(vec![run(10 * 3_200_000), never]));
    early.allowed = vec![CpuId(1)];
    let wakes = Step::SleepUntil(Nanos(61 * MS));
    let mut late = task("late", Script::new(vec![wakes, run(320_000), never]));
    late.allowed = vec![CpuId(0)];
    setup.tasks.extend([early, late]);
    let mut changes = Changes::default();
    Machine::new(setup).unwrap().run(&mut changes);
    let of_cpu_1 = changes.0.iter().filter(|&&(at, cpu)| cpu == 1 && at > 11 * MS);
    assert_eq!(of_cpu_1.collect::<Vec<_>>(), [&(61 * MS + 100_000, 1)]);
}

/// When a task's birth at 1 ms on a large core changes that one's frequency, HZ=250.
fn changed_by_birth(creator: u32, from_any_cpu: bool) -> u64 {
    let mut setup = setup("board-aarch64", "linux-6.12", "schedutil", Nanos(20 * MS));
    setup.kernel.hz = 250;
    setup.platform.domains[1].from_any_cpu = from_any_cpu;
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(2)];
    spin.creator = Creator::Cpu(CpuId(creator));
    spin.start = Nanos(MS);
    spin.initial_util = Some(512);
    setup.tasks.push(spin);
    let (log, _) = run(setup);
    log.frequency.iter().find(|&&(at, domain, _)| at > 0 && domain == 1).unwrap().0
}

/// Where a driver lets only its own CPUs change their frequency, what one of another clock domain does waits for the next
/// tick.
#[test]
fn cpus_of_other_domains_ask_nobody_unless_the_driver_lets_them() {
    assert_eq!(changed_by_birth(3, false), MS);
    assert_eq!(changed_by_birth(0, true), MS);
    assert_eq!(changed_by_birth(0, false), 4 * MS);
}

/// When CPU 1, which worked for 10 ms, changes up to 30 ms while others spin, HZ=250.
fn changes_while_others_spin(spinning: &[u32]) -> Vec<u64> {
    let mut setup = setup("board-x86", "linux-6.12", "performance", Nanos(30 * MS));
    setup.kernel.hz = 250;
    let steps = vec![cycles(10 * 3_200_000), Step::SleepUntil(Nanos(1_000 * MS))];
    let mut one = task("one", Script::new(steps));
    one.allowed = vec![CpuId(1)];
    setup.tasks.push(one);
    for &cpu in spinning {
        let mut spin = task("spin", Spin);
        spin.allowed = vec![CpuId(cpu)];
        setup.tasks.push(spin);
    }
    let mut changes = Changes::default();
    Machine::new(setup).unwrap().run(&mut changes);
    changes.0.into_iter().filter(|&(at, cpu)| cpu == 1 && at > 10 * MS).map(|(at, _)| at).collect()
}

/// On equal CPUs two that are busy wake an idle one to balance, every 8 ms where four find nothing to do, and that lets idle
/// CPUs' signals decay. One alone does not.
#[test]
fn busy_cpus_let_the_signals_of_idle_ones_decay() {
    assert_eq!(changes_while_others_spin(&[2, 3]), [12 * MS, 20 * MS, 28 * MS]);
    assert!(changes_while_others_spin(&[2]).is_empty());
}

/// When CPU 1, which worked for 10 ms, changes while CPU 2 spins and has a task of 3.9 ms from 13 ms on, HZ=250.
fn changes_beside_a_second_task(kernel: &str) -> Vec<u64> {
    let mut setup = setup("board-x86", kernel, "performance", Nanos(34 * MS));
    setup.kernel.hz = 250;
    let never = || Step::SleepUntil(Nanos(1_000 * MS));
    let steps = vec![cycles(10 * 3_200_000), never()];
    let mut one = task("one", Script::new(steps));
    one.allowed = vec![CpuId(1)];
    let steps = vec![Step::SleepUntil(Nanos(13 * MS)), cycles(39 * 320_000), never()];
    let mut second = task("second", Script::new(steps));
    second.allowed = vec![CpuId(2)];
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(2)];
    setup.tasks.extend([one, second, spin]);
    let mut changes = Changes::default();
    Machine::new(setup).unwrap().run(&mut changes);
    changes.0.into_iter().filter(|&(at, cpu)| cpu == 1 && at > 10 * MS).map(|(at, _)| at).collect()
}

/// Two tasks are reason enough to have an idle CPU balance, which lets idle CPUs' signals decay. The second one waits at the tick
/// of 16 ms and then has more than its share, so that from 6.12 on it sleeps in the queue until the tick of 24 ms.
#[test]
fn a_task_that_sleeps_in_the_queue_counts_as_a_second_one() {
    assert_eq!(changes_beside_a_second_task("linux-6.8"), [16 * MS]);
    assert_eq!(changes_beside_a_second_task("linux-6.12"), [16 * MS, 24 * MS]);
}

/// An idle CPU without a tick has one where a timer of the kernel's own expires, at 26 ms, so with the tick of 24: then its signals decay. All
/// others are idle, so nobody else would see to it.
#[test]
fn a_timer_of_the_kernels_own_brings_a_tick() {
    let changes = |timers: Vec<Nanos>| {
        let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(60 * MS));
        setup.kernel.hz = 250;
        let steps = vec![cycles(5 * 3_200_000), Step::SleepUntil(Nanos(1_000 * MS))];
        let mut one = task("one", Script::new(steps));
        one.allowed = vec![CpuId(1)];
        setup.tasks.push(one);
        let left =
            [vec![], timers, vec![], vec![]].map(|timers| Left { timers, ..Left::default() });
        setup.before = Some(Before { left: left.to_vec(), looked_after: Nanos(MS) });
        let mut changes = Changes::default();
        Machine::new(setup).unwrap().run(&mut changes);
        let later = changes.0.into_iter().filter(|&(at, cpu)| cpu == 1 && at > 6 * MS);
        later.map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert!(changes(vec![]).is_empty());
    assert_eq!(changes(vec![Nanos(26 * MS)]), [24 * MS]);
}

/// Rounds are 32 ms apart while something is left; where nothing is, the next one is with the first tick after a CPU stopped its own:
/// of CPU 1, which never worked before it does from 62 to 63 ms, while CPU 2 spins. Every 32 ms would be 76 ms.
#[test]
fn a_round_begins_where_a_cpu_has_stopped_its_tick() {
    let mut setup = setup("board-x86", "linux-6.12", "performance", Nanos(80 * MS));
    setup.kernel.hz = 250;
    let never = Step::SleepUntil(Nanos(1_000 * MS));
    let mut one = task("one", Script::new(vec![cycles(3_200_000), never]));
    one.allowed = vec![CpuId(1)];
    one.start = Nanos(62 * MS);
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(2)];
    setup.tasks.extend([one, spin]);
    let mut changes = Changes::default();
    Machine::new(setup).unwrap().run(&mut changes);
    let of_cpu_1 = changes.0.iter().filter(|&&(at, cpu)| cpu == 1 && at > 63 * MS);
    assert_eq!(of_cpu_1.collect::<Vec<_>>(), [&(64 * MS, 1)]);
}

/// A round that calls a sampler whose worker then has to run there breaks off, and goes on when the worker is done. CPU 0 looks
/// after CPUs 1 and 3, which worked for 10 ms and stopped their ticks after the one of 12 ms, while CPU 2 spins: with its ticks of 16 ms and, as 32 ms
/// have to have passed, 52 ms. A worker takes 0.42 ms with the way there.
#[test]
fn a_round_breaks_off_where_its_cpu_gets_work() {
    let mut setup = setup("board-aarch64", "linux-6.12", "ondemand", Nanos(60 * MS));
    setup.kernel.hz = 250;
    setup.platform.sampler.cycles = 370_000;
    for cpu in [1, 3] {
        let steps = vec![cycles(10 * 600_000), Step::SleepUntil(Nanos(1_000 * MS))];
        let mut one = task("one", Script::new(steps));
        one.allowed = vec![CpuId(cpu)];
        setup.tasks.push(one);
    }
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(2)];
    setup.tasks.push(spin);
    let mut seen = (Changes::default(), Worker::default());
    Machine::new(setup).unwrap().run_seen(Nanos(60 * MS), &mut [&mut seen.0, &mut seen.1]);
    let (Changes(changes), Worker(slept)) = seen;
    let first = |of| changes.iter().find(|&&(at, cpu)| cpu == of && at > 40 * MS).unwrap().0;
    let done = *slept.iter().find(|&&at| at > 50 * MS).unwrap();
    assert_eq!([first(1), first(3)], [52 * MS, done]);
    assert!((52 * MS + 400_000..53 * MS).contains(&done), "{done}");
}

/// When CPU 0 was done with something.
#[derive(Default)]
struct Worker(Vec<u64>);

impl Observer for Worker {
    fn switched_out(&mut self, at: Nanos, _: TaskId, cpu: CpuId, why: SwitchOut) {
        if cpu == CpuId(0) && matches!(why, SwitchOut::Slept) {
            self.0.push(at.0);
        }
    }
}

/// The kernel reads its clock 1 ms before a wake-up is complete, and 0.5 ms before a task sleeps, here: a task that is awake at 41 ms,
/// and runs for 10 ms, has the utilisation of one that runs from 40 to 50.5. With 0.7 ms, where the period from 50.4 on would be
/// crossed, it has that of one that runs to 50.3.
#[test]
fn a_task_counts_from_one_reading_of_the_clock_to_another() {
    let utilization = |wake: u64, busy: u64, readings: ClockReadings| {
        let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(60 * MS));
        setup.platform.clock_readings = readings;
        let cycles = busy * 32 / 10;
        let work = Step::Run(Work { cycles, memory: Nanos::ZERO });
        let mut one = task(
            "one",
            Script::new(vec![
                Step::SleepUntil(Nanos(wake)),
                work,
                Step::SleepUntil(Nanos(90 * MS)),
            ]),
        );
        one.initial_util = Some(0);
        one.allowed = vec![CpuId(0)];
        setup.tasks.push(one);
        run(setup).0.util.last().unwrap().1
    };
    let ms = |tenths: u64| tenths * 3_200_000 / 10;
    let readings = |crossing: u64| ClockReadings {
        wake_cycles: ms(10),
        sleep_cycles: ms(5),
        crossing_sleep_cycles: ms(crossing),
        change_cycles: 0,
    };
    let (none, tenth) = (ClockReadings::default(), MS / 10);
    assert_eq!(
        utilization(41 * MS, 100 * tenth, readings(5)),
        utilization(40 * MS, 105 * tenth, none)
    );
    assert_eq!(
        utilization(41 * MS, 100 * tenth, readings(7)),
        utilization(40 * MS, 103 * tenth, none)
    );
}
