//! How tasks go to sleep where it is known when the kernel reads its clock: out of the queue first, off the CPU later.

use crate::common::*;
use flyball_platform::ClockReadings;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::setup::{Class, Setup};
use flyball_units::{CpuId, Nanos};

/// Cycles of a CPU of the x86 board in so many tenths of a millisecond, at its highest frequency.
fn tenths(tenths: u64) -> u64 {
    tenths * 320_000
}

/// A task on CPU 0 of the x86 board that comes at 40 ms and executes for `work` tenths of a millisecond, of which `way` are its way out.
fn leaves(work: u64, way: u64, then: Step) -> Setup {
    let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(80 * MS));
    let work = Work { cycles: tenths(work), memory: Nanos::ZERO };
    let steps = vec![
        Step::SleepUntil(Nanos(40 * MS)),
        Step::Leave { work, way: tenths(way) },
        then,
        Step::Run(Work { cycles: tenths(10), memory: Nanos::ZERO }),
    ];
    let mut one = task("one", Script::new(steps));
    (one.initial_util, one.allowed) = (Some(0), vec![CpuId(0)]);
    setup.tasks.push(one);
    without_transitions(setup)
}

fn out(setup: Setup) -> Vec<String> {
    run(setup).0.lines.into_iter().filter(|line| line.contains(" out ")).collect()
}

/// 10 ms of which 2 are its way: it has the utilisation of 8 ms, and its CPU is switched after 10.
#[test]
fn a_task_leaves_its_queue_before_its_cpu() {
    let asleep = Step::SleepUntil(Nanos(70 * MS));
    let util = |setup| run(setup).0.util.iter().rfind(|of| of.0 < 60 * MS).unwrap().1;
    assert_eq!(util(leaves(100, 20, asleep)), util(leaves(80, 0, asleep)));
    assert_ne!(util(leaves(100, 20, asleep)), util(leaves(100, 0, asleep)));
    assert_eq!(out(leaves(100, 20, asleep))[1], "50000000 out 0 cpu0 Slept");
    assert_eq!(out(leaves(100, 20, asleep)), out(leaves(100, 0, asleep)));
}

/// One whose time has come by then works on, as does one that has been woken; and its next work follows at once.
#[test]
fn who_does_not_sleep_has_no_way_out() {
    let went_on = ["0 out 0 cpu0 Slept", "51000000 out 0 cpu0 Slept"];
    assert_eq!(out(leaves(100, 20, Step::SleepUntil(Nanos(45 * MS)))), went_on);
    assert_eq!(out(leaves(100, 20, Step::Sleep(Nanos::ZERO))), went_on);
}

/// Who comes while a CPU is on the way runs when it is over: at 50 ms, not at 49. That CPU is not idle meanwhile.
#[test]
fn who_comes_on_the_way_runs_behind_it() {
    let mut setup = leaves(100, 20, Step::SleepUntil(Nanos(70 * MS)));
    let work = Step::Run(Work { cycles: tenths(10), memory: Nanos::ZERO });
    let mut other = task("other", Script::new(vec![work]));
    (other.start, other.allowed) = (Nanos(49 * MS), vec![CpuId(0)]);
    setup.tasks.push(other);
    let (log, summary) = run(setup);
    assert!(log.switches.contains(&(50 * MS, 1, 0)), "{:?}", log.lines);
    // 40 to 51 ms and 70 to 71.
    assert_eq!(summary.cpus[0].busy, Nanos(12 * MS));
}

/// What is asked for with a wake-up at 40 ms holds 240,000 cycles later: at 600 MHz in 0.4 ms.
#[test]
fn a_frequency_changes_some_way_behind_the_reading() {
    let changed = |change_cycles: u64| {
        let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(60 * MS));
        setup.platform.clock_readings =
            ClockReadings { wake_cycles: 1, change_cycles, ..ClockReadings::default() };
        let steps = vec![
            Step::Run(Work { cycles: tenths(1), memory: Nanos::ZERO }),
            Step::SleepUntil(Nanos(40 * MS)),
            Step::Run(Work { cycles: tenths(100), memory: Nanos::ZERO }),
        ];
        let mut one = task("one", Script::new(steps));
        (one.class, one.allowed) = (Class::Fifo { priority: 1 }, vec![CpuId(3)]);
        setup.tasks.push(one);
        let (log, _) = run(without_transitions(setup));
        log.frequency.iter().find(|of| of.0 >= 40 * MS && of.2 == 3_000_000).unwrap().0
    };
    assert_eq!([changed(0), changed(240_000)], [40 * MS, 40 * MS + 400_000]);
}

/// From the reading of the clock to a task's first instruction it is 0.4 ms here. One more that is woken 0.1 ms behind the first, in the same
/// interrupt, holds that up; one that comes when the first runs does not.
#[test]
fn an_interrupt_that_wakes_two_is_over_with_the_second() {
    let begins = |second: u64| {
        let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(60 * MS));
        setup.platform.clock_readings =
            ClockReadings { wake_cycles: tenths(3), ..ClockReadings::default() };
        setup.platform.paths.switch = tenths(1);
        for due in [40 * MS, second] {
            let work = Step::Run(Work { cycles: tenths(20), memory: Nanos::ZERO });
            let mut one = task("one", Script::new(vec![Step::SleepUntil(Nanos(due)), work]));
            one.allowed = vec![CpuId(0)];
            setup.tasks.push(one);
        }
        let (log, _) = run(setup);
        log.switches.iter().find(|of| of.0 >= 40 * MS).unwrap().0
    };
    let tenth = MS / 10;
    assert_eq!(begins(40 * MS + tenth), 40 * MS + 5 * tenth);
    assert_eq!(begins(40 * MS + 6 * tenth), 40 * MS + 4 * tenth);
}
