//! Timers' interrupts where it is known what they cost: whom they wake when, and how those get into their queues.

use crate::common::*;
use flyball_platform::{ClockReadings, Paths};
use flyball_sim::behavior::{Arrival, Interrupt, Step, Work};
use flyball_sim::setup::{Class, Creator, Setup};
use flyball_units::{CpuId, KiloHertz, Nanos};

const US: u64 = 1_000;

/// A task that sleeps from its start on until the interrupt of a timer has woken it, which expires at 40 ms, and then executes for 2 ms at
/// 3.2 GHz.
fn sleeper(interrupt: Interrupt) -> Script {
    let expires = Nanos(40 * MS);
    Script::new(vec![Step::SleepForInterrupt { expires, interrupt }, work(6_400_000)])
}

fn work(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// When and who was woken from 40 ms on.
fn woken(log: &Log) -> Vec<(u64, u32)> {
    let woken = log.lines.iter().filter_map(|line| {
        let (at, rest) = line.split_once(" woken ")?;
        Some((at.parse().ok()?, rest.split(' ').next()?.parse().ok()?))
    });
    woken.filter(|&(at, _)| at >= 40 * MS).collect()
}

/// On CPU 0 of the x86 board at 3.2 GHz: an interrupt takes 0.1 ms to its first task, and 0.2 to each other one.
fn one_cpu() -> Setup {
    let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(60 * MS));
    setup.platform.paths = Paths { interrupt: 320_000, next: 640_000, ..Paths::default() };
    setup
}

/// Three tasks, the last of which goes to sleep first. What the second knows of its own place is right, what the others do is not.
#[test]
fn tasks_are_woken_one_after_another_as_they_went_to_sleep() {
    let mut setup = one_cpu();
    for (number, follows, cycles) in [(0, false, 1), (1, true, 960_000), (2, true, 1)] {
        let interrupt = Interrupt { cycles, follows, arrival: None };
        let mut one = task("one", sleeper(interrupt));
        (one.allowed, one.start) = (vec![CpuId(0)], Nanos((3 - number) * MS));
        setup.tasks.push(one);
    }
    let (log, _) = run(setup);
    let at = |us: u64| 40 * MS + us * US;
    assert_eq!(woken(&log), [(at(100), 2), (at(400), 1), (at(600), 0)]);
}

/// Two FIFO tasks: the second, with the higher priority, is woken 0.2 ms after the first, and until then goes on who runs.
#[test]
fn who_runs_goes_on_until_the_interrupt_is_over() {
    let mut setup = one_cpu();
    let mut spin = task("spin", Spin);
    spin.allowed = vec![CpuId(0)];
    setup.tasks.push(spin);
    for priority in [1, 2] {
        let mut one = task("one", sleeper(Interrupt { cycles: 320_000, ..Interrupt::default() }));
        (one.class, one.allowed) = (Class::Fifo { priority }, vec![CpuId(0)]);
        setup.tasks.push(one);
    }
    let (log, _) = run(setup);
    let first = log.switches.iter().find(|of| of.0 >= 40 * MS);
    assert_eq!(first, Some(&(40 * MS + 300 * US, 2, 0)), "{:?}", log.switches);
}

/// An idle CPU begins with nobody before its interrupt is over, 0.1 ms after the second is woken.
#[test]
fn an_idle_cpu_is_awake_when_its_interrupt_is_over() {
    let mut setup = one_cpu();
    setup.platform.clock_readings = ClockReadings { wake_cycles: 1, ..ClockReadings::default() };
    setup.platform.paths.switch = 320_000;
    for _ in 0..2 {
        let mut one = task("one", sleeper(Interrupt { cycles: 320_000, ..Interrupt::default() }));
        one.allowed = vec![CpuId(0)];
        setup.tasks.push(one);
    }
    let (log, _) = run(setup);
    let first = log.switches.iter().find(|of| of.0 >= 40 * MS).unwrap();
    // One cycle more until it is recorded.
    assert!(first.0.abs_diff(40 * MS + 400 * US) <= 2, "{first:?}");
}

/// 60,000 cycles at 600 MHz until the first task, whose class asks for 3 GHz, and so many then until the second.
#[test]
fn an_interrupt_is_as_fast_as_its_cpu() {
    let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
    setup.platform.paths = Paths { next: 60_000, ..Paths::default() };
    for _ in 0..2 {
        let mut one = task("one", sleeper(Interrupt { cycles: 60_000, ..Interrupt::default() }));
        (one.class, one.allowed) = (Class::Fifo { priority: 1 }, vec![CpuId(3)]);
        setup.tasks.push(one);
    }
    let (log, _) = run(without_transitions(setup));
    let at: Vec<u64> = woken(&log).into_iter().map(|(at, _)| at - 40 * MS).collect();
    assert!(at[0].abs_diff(100 * US) <= 2 && at[1].abs_diff(120 * US) <= 4, "{at:?}");
}

/// Two tasks with a utilisation of 20 that slept on large cores of the board, all at 600 MHz, and when each is in its queue. The
/// estimate of energy takes both to small CPU 0.
fn two_for_cpu_0(paths: Paths, arrival: Option<(Arrival, u64)>) -> Vec<u64> {
    let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
    setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(600_000))); 2];
    setup.platform.paths = paths;
    for number in 0..2 {
        let interrupt = Interrupt { arrival, ..Interrupt::default() };
        let expires = Nanos(40 * MS);
        let steps =
            vec![work(100_000), Step::SleepForInterrupt { expires, interrupt }, work(100_000)];
        let mut one = task("one", Script::new(steps));
        one.initial_util = Some(20);
        one.creator = Creator::Cpu(CpuId(0));
        one.start = Nanos(number * 10 * MS);
        one.allowed = [0, 2, 3].map(CpuId).to_vec();
        setup.tasks.push(one);
    }
    let (log, _) = run(without_transitions(setup));
    let moves: Vec<(u32, u32)> = log.migrations.iter().map(|&(.., from, to)| (from, to)).collect();
    assert!(moves.len() == 2 && moves.iter().all(|of| of.0 >= 2 && of.1 == 0), "{moves:?}");
    woken(&log).into_iter().map(|(at, _)| (at - 40 * MS) / US).collect()
}

/// An idle CPU is told of both by one interrupt, and puts one after the other into its queue: 120,000 cycles of a large core are 0.3 ms of a
/// small one, 60,000 are 0.15.
#[test]
fn an_idle_cpu_is_told_of_tasks_and_takes_them_one_after_another() {
    let paths = Paths { told: 120_000, next_told: 60_000, ..Paths::default() };
    assert_eq!(two_for_cpu_0(paths, None), [300, 450]);
    let measured = Some((Arrival::Told, 200_000));
    assert_eq!(two_for_cpu_0(paths, measured), [500, 650], "what was measured of a task counts");
    let measured = Some((Arrival::Put, 200_000));
    assert_eq!(two_for_cpu_0(paths, measured), [300, 450], "but not of another way");
}

/// A busy one, which the first task joined at once, is told of nothing: the second one's own CPU needs 0.5 ms to put it there.
#[test]
fn a_task_is_put_into_the_queue_of_a_busy_cpu() {
    let paths = Paths { put: 300_000, ..Paths::default() };
    assert_eq!(two_for_cpu_0(paths, None), [0, 500]);
}

/// A task that stays is in its queue some cycles after the choice, where it could have gone elsewhere.
#[test]
fn a_choice_by_size_takes_time() {
    let begins = |allowed: Vec<CpuId>| {
        let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
        setup.limits = vec![Some((KiloHertz(600_000), KiloHertz(600_000))); 2];
        setup.platform.paths.stays = 60_000;
        let mut one = task("one", sleeper(Interrupt::default()));
        (one.initial_util, one.allowed) = (Some(20), allowed);
        setup.tasks.push(one);
        let (log, _) = run(without_transitions(setup));
        (woken(&log)[0].0 - 40 * MS) / US
    };
    // Of a small core at 600 MHz.
    assert_eq!(begins([0, 1].map(CpuId).to_vec()), 150);
    assert_eq!(begins(vec![CpuId(0)]), 0);
}
