//! Which CPU a task gets, and where the energy counts that it would take there.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::setup::{Before, Class, Creator, Left, Setup, TaskId};
use flyball_units::{CpuId, Nanos};

fn cycles(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// An M1 (CPUs 0 to 3 small, 4 to 7 large) under a kernel without an energy model. A task runs for
/// 30 ms, sleeps for 200 ms, and runs a little.
fn sleeper() -> Setup {
    let mut setup = setup("apple-m1", "linux-6.8", "performance", Nanos(400 * MS));
    let steps = vec![cycles(100_000_000), Step::Sleep(Nanos(200 * MS)), cycles(1_000_000)];
    let mut sleeper = task("sleeper", Script::new(steps));
    sleeper.initial_util = Some(600);
    setup.tasks.push(sleeper);
    without_transitions(setup)
}

/// CPUs that task 0 was switched in on.
fn cpus(setup: Setup) -> Vec<u32> {
    let (log, _) = run(setup);
    let mut cpus: Vec<u32> =
        log.switches.iter().filter(|&&(_, t, _)| t == 0).map(|&(.., c)| c).collect();
    cpus.dedup();
    cpus
}

#[test]
fn a_task_stays_where_it_was_if_that_is_idle_and_fits() {
    let mut begun = sleeper();
    begun.tasks[0].allowed = (4..8).map(CpuId).collect();
    assert_eq!(cpus(begun), [4]);
    let found = cpus(sleeper());
    let last = *found.last().unwrap();
    assert!(last >= 4, "it outgrew the small cores and wakes up where it was: {found:?}");
    assert_eq!(found.iter().filter(|&&c| c == last).count(), 1, "and nowhere else: {found:?}");
}

#[test]
fn from_a_busy_cpu_it_goes_to_the_next_idle_one_that_fits() {
    let mut setup = sleeper();
    setup.tasks[0].initial_util = Some(0);
    setup.tasks[0].behavior = Box::new(Script::new(vec![
        cycles(1_000_000),
        Step::SleepUntil(Nanos(50 * MS)),
        cycles(1_000_000),
    ]));
    // It begins on CPU 0, which is taken when it wakes up, as is CPU 1.
    for cpu in [0, 1] {
        let mut spin = task("spin", Spin);
        spin.start = Nanos(20 * MS);
        spin.allowed = vec![CpuId(cpu)];
        setup.tasks.push(spin);
    }
    assert_eq!(cpus(setup), [0, 2]);
}

/// Where a task begins that somebody on `creator` creates, beside spinning tasks on `busy`: on a machine of
/// four small CPUs (0 to 3) and four big ones (4 to 7), each kind a clock domain.
fn born_on(creator: Creator, busy: &[u32], uclamp_min: u32) -> u32 {
    let mut setup = setup("apple-m1", "linux-6.12", "schedutil", Nanos(20 * MS));
    for cpu in busy {
        let mut spin = task("busy", Spin);
        spin.allowed = vec![CpuId(*cpu)];
        setup.tasks.push(spin);
    }
    let mut born = task("born", Spin);
    (born.start, born.creator, born.uclamp_min) = (Nanos(10 * MS), creator, uclamp_min);
    setup.tasks.push(born);
    let number = setup.tasks.len() - 1;
    let (_, summary) = run(setup);
    let running = &summary.tasks[number].running_on;
    let first = running.iter().position(|time| *time > Nanos::ZERO).unwrap();
    assert!(running[first] > Nanos(3 * MS), "{running:?}");
    first as u32
}

#[test]
fn a_new_task_goes_to_the_group_with_most_idle_cpus() {
    let on = |cpu| Creator::Cpu(CpuId(cpu));
    assert_eq!(born_on(Creator::Nobody, &[], 0), 0, "nobody creates it: the smallest");
    // The creator's own CPU is not idle: three against four.
    assert!((4..8).contains(&born_on(on(1), &[], 0)));
    assert!((0..4).contains(&born_on(on(5), &[], 0)));
    // Three and three: it stays in the creator's group, but not on its CPU.
    let stays = born_on(on(1), &[6], 0);
    assert!((0..4).contains(&stays) && stays != 1, "{stays}");
    // Two against three.
    assert!((0..4).contains(&born_on(on(5), &[6, 0], 0)));
    // No small CPU has what it asks for.
    let clamped = born_on(on(5), &[6, 7], 900);
    assert!(clamped == 4, "{clamped}");
}

#[test]
fn a_parent_creates_from_where_it_runs() {
    // The first task spins on CPU 5: three big CPUs are idle, and four small ones.
    assert!((0..4).contains(&born_on(Creator::Task(TaskId(0)), &[5], 0)));
    // On CPU 2 it leaves three small ones, and four big ones are idle.
    assert!((4..8).contains(&born_on(Creator::Task(TaskId(0)), &[2], 0)));
}

/// What ran before time began decides where the first tasks are born: on equal CPUs the least utilisation as it was last brought up to
/// date, however long ago, and among those of another group who went idle last. As eight playings on a board have it, one of which is
/// here: utilisations of 0, 10, 0 and 0, and a creator on CPU 3.
#[test]
fn what_was_left_decides_where_a_task_is_born() {
    let born = |platform: &str, creator: u32, left: Vec<Left>| {
        let mut setup = setup(platform, "debian-7.3", "schedutil", Nanos(20 * MS));
        let mut one = task("one", Script::new(vec![cycles(1_000_000)]));
        (one.creator, one.start) = (Creator::Cpu(CpuId(creator)), Nanos(5 * MS));
        setup.tasks.push(one);
        setup.before = Some(Before { left, looked_after: Nanos(MS) });
        run(setup).0.switches[0].2
    };
    let ago = |util_avg: u32, ms: u64| {
        let long = Nanos(ms * MS);
        Left { util_avg, updated: long, idle: long, ..Left::default() }
    };
    let utils = |utils: [u32; 4]| utils.map(|util| ago(util, 400)).to_vec();
    assert_eq!(born("board-x86", 3, utils([0, 10, 0, 0])), 0, "the first of the least");
    assert_eq!(born("board-x86", 3, utils([10, 10, 0, 0])), 2);
    assert_eq!(born("board-x86", 3, utils([72, 7, 10, 0])), 1);
    // The other cluster has two idle CPUs, where the creator's has one besides itself.
    assert_eq!(born("board-aarch64", 0, [90, 90, 64, 13].map(|ms| ago(0, ms)).to_vec()), 3);
    let mut left = [90, 90, 8, 13].map(|ms| ago(0, ms)).to_vec();
    assert_eq!(born("board-aarch64", 0, left.clone()), 2);
    // A tick that finds it idle does not change that.
    left[3].timers = vec![Nanos(1)];
    assert_eq!(born("board-aarch64", 0, left), 2);
}

/// A wake-up that raises the frequency at once: the way to the task's first instruction, 60,000 cycles, is that fast, too. At 600 MHz
/// it would be 100 us, at 3 GHz it is 20.
#[test]
fn the_way_to_a_task_is_as_fast_as_its_wake_up_asks_for() {
    let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
    setup.platform.paths.switch = 60_000;
    let steps = vec![cycles(100_000), Step::SleepUntil(Nanos(40 * MS)), cycles(100_000)];
    let mut urgent = task("urgent", Script::new(steps));
    (urgent.class, urgent.allowed) = (Class::Fifo { priority: 1 }, vec![CpuId(3)]);
    setup.tasks.push(urgent);
    let (log, _) = run(without_transitions(setup));
    assert!(log.frequency.iter().any(|&(at, _, khz)| at == 40 * MS && khz == 3_000_000));
    assert_eq!(log.switches[1].0, 40 * MS + MS / 50, "{:?}", log.switches);
}

/// A new task's way to its first instruction is one of its own: 64,000 cycles at 3200 MHz are 20 us, where a wake-up takes 60.
#[test]
fn a_new_task_has_a_way_of_its_own() {
    let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(20 * MS));
    (setup.platform.paths.switch, setup.platform.paths.birth) = (192_000, 64_000);
    let steps = vec![cycles(100_000), Step::SleepUntil(Nanos(10 * MS)), cycles(100_000)];
    let mut one = task("one", Script::new(steps));
    (one.creator, one.start) = (Creator::Cpu(CpuId(0)), Nanos(MS));
    setup.tasks.push(one);
    let (log, _) = run(setup);
    let began = |number: usize| log.switches[number].0;
    assert_eq!([began(0), began(1)], [MS + 20_000, 10 * MS + 60_000]);
}

/// One that is created on the CPU where a task runs that has had its slice, and 2 of 3 ms of the next one left: it has a slice of half that, and up to
/// 6.12 runs at once, from 7.2 on with the next tick.
#[test]
fn a_new_task_waits_for_who_runs_there() {
    let began = |kernel: &str| {
        let mut setup = setup("board-aarch64", kernel, "performance", Nanos(20 * MS));
        setup.kernel.hz = 250;
        let mut spin = task("spin", Spin);
        spin.allowed = vec![CpuId(1)];
        let mut born = task("born", Spin);
        (born.creator, born.start, born.allowed) =
            (Creator::Task(TaskId(0)), Nanos(9 * MS), vec![CpuId(1)]);
        setup.tasks.extend([spin, born]);
        let (log, _) = run(setup);
        log.switches.iter().find(|switch| switch.1 == 1).unwrap().0
    };
    assert_eq!(began("linux-6.12"), 9 * MS);
    assert_eq!(began("linux-7.2"), 12 * MS);
}

/// A task with a utilisation of 20 that slept on a large core of the board, and where it wakes up: the estimate of energy
/// takes it to a small one, but the kernel asks it only where schedutil governs all.
#[test]
fn energy_counts_under_schedutil_alone() {
    let woken_on = |governor: &str| {
        let mut setup = setup("board-aarch64", "linux-6.12", governor, Nanos(60 * MS));
        setup.platform.sampler.cycles = 0;
        let steps = vec![
            Step::Run(Work { cycles: 100_000, memory: Nanos::ZERO }),
            Step::SleepUntil(Nanos(40 * MS)),
            Step::Run(Work { cycles: 100_000, memory: Nanos::ZERO }),
        ];
        let mut one = task("one", Script::new(steps));
        one.initial_util = Some(20);
        one.creator = Creator::Cpu(CpuId(0));
        setup.tasks.push(one);
        let (log, _) = run(setup);
        log.switches.iter().map(|&(.., cpu)| cpu).collect::<Vec<_>>()
    };
    let (first, then) = (woken_on("schedutil"), woken_on("ondemand"));
    assert_eq!(first[0], then[0], "born alike");
    assert!(first[0] >= 2 && first[1] < 2, "{first:?}");
    assert_eq!(then[0], then[1], "{then:?}");
}

/// Two such tasks sleep on large cores, and their timers expire at once. The estimate of energy takes the first to a small
/// one. Where its CPU is told of it by an interrupt, nobody sees it there before: so the second goes to the same one, where
/// it would have gone to the other.
#[test]
fn a_task_that_is_on_its_way_to_a_cpu_is_not_seen_there() {
    let woken_on = |told: u64| {
        let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
        setup.platform.paths.told = told;
        for number in 0..2 {
            let steps = vec![cycles(100_000), Step::SleepUntil(Nanos(40 * MS)), cycles(100_000)];
            let mut one = task(["one", "other"][number], Script::new(steps));
            one.initial_util = Some(20);
            one.creator = Creator::Cpu(CpuId(0));
            one.start = Nanos(number as u64 * 10 * MS);
            setup.tasks.push(one);
        }
        let (log, _) = run(without_transitions(setup));
        let moves = log.migrations.iter().filter(|of| of.0 == 40 * MS);
        let to: Vec<u32> =
            moves.map(|&(.., from, to)| (from >= 2).then_some(to).unwrap()).collect();
        let woken: Vec<u64> = log
            .lines
            .iter()
            .filter_map(|line| {
                let (at, rest) = line.split_once(' ')?;
                rest.starts_with("woken").then(|| at.parse().unwrap()).filter(|at| *at >= 40 * MS)
            })
            .collect();
        (to, woken)
    };
    let (to, woken) = woken_on(0);
    assert!(to.len() == 2 && to[0] != to[1], "{to:?}");
    assert_eq!(woken, [40 * MS, 40 * MS]);
    // 120,000 cycles of a large core are 180,000 of a small one, at 600 MHz 0.3 ms. The second is on the same list.
    let (to, woken) = woken_on(120_000);
    assert!(to.len() == 2 && to[0] == to[1], "{to:?}");
    assert_eq!(woken, [40 * MS + 300_000, 40 * MS + 300_000]);
}
