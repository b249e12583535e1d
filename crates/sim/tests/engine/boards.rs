//! The virtual boards' ramp-ups, measured on real kernels (`debian-7.2`, `debian-6.12`).

use crate::common::*;
use flyball_governors::ResponseRamp;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::setup::{Controller, TaskId};
use flyball_sim::workload::{OnCall, Rampup};
use flyball_units::Nanos;

/// A hundred sleeps of 10 ms, then a spin; the log, and when it begins.
fn board(platform: &str, kernel: &str, phase: u64) -> (Log, u64) {
    ramped(platform, kernel, phase, None)
}

/// The same with a lower clamp that follows a ramp.
fn ramped(platform: &str, kernel: &str, phase: u64, ramp: Option<u32>) -> (Log, u64) {
    controlled((platform, kernel, phase), ramp, Nanos::ZERO, None)
}

/// The same by a controller that begins late, and has work.
fn controlled(
    (platform, kernel, phase): (&str, &str, u64),
    ramp: Option<u32>,
    delay: Nanos,
    cycles: Option<u64>,
) -> (Log, u64) {
    let mut setup = setup(platform, kernel, "schedutil", Nanos(3000 * MS));
    setup.tick_phase = Nanos(phase);
    let mut spin = task("rampup", Rampup::new(100, Nanos(10 * MS)));
    spin.clamp_ramp = ramp.map(ResponseRamp::new);
    setup.tasks.push(spin);
    setup.controller = Controller { delay, task: cycles.map(|_| TaskId(1)) };
    if let Some(cycles) = cycles {
        setup.tasks.push(task("controller", OnCall::new(Work { cycles, memory: Nanos::ZERO })));
    }
    let (log, _) = run(setup);
    let from = log.marks[0].0;
    (log, from)
}

/// Eight phases of a tick of 4 ms.
fn phases() -> impl Iterator<Item = u64> {
    (0..8).map(|n| n * MS / 2)
}

/// A tick of the boards, in ms.
const TICK: f64 = 4.0;

/// Our range over the phases lies within `slack` ms of what three runs measured.
#[track_caller]
fn assert_near(what: &str, ours: impl Iterator<Item = f64>, measured: &[f64], slack: f64) {
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (low, high) = bounds(&mut ours.into_iter());
    let (least, most) = bounds(&mut measured.iter().copied());
    let near = low <= most + slack && high >= least - slack && high <= most + 2.0 * slack;
    assert!(near, "{what}: {low}..{high}, measured {least}..{most}");
}

#[test]
fn aarch64_ramps_as_measured() {
    let runs: Vec<(Log, u64)> =
        phases().map(|phase| board("board-aarch64", "debian-7.2", phase)).collect();
    for (domain, khz, measured) in [
        (0, 1_000_000, [42.5, 38.1, 36.4]),
        (0, 1_400_000, [62.2, 54.0, 56.5]),
        (0, 1_800_000, [74.0, 70.1, 72.3]),
        (1, 1_800_000, [90.7, 90.1, 88.6]),
        (1, 2_400_000, [114.0, 106.0, 108.4]),
        (1, 3_000_000, [134.1, 126.0, 132.4]),
    ] {
        let ours = runs.iter().map(|(log, from)| log.frequency_reached(domain, khz, *from));
        assert_near(&format!("{domain} at {khz}"), ours, &measured, TICK);
    }
    let moves = runs.iter().map(|(log, from)| {
        let first = log.migrations.iter().find(|&&(at, ..)| at >= *from).unwrap();
        (first.0 - from) as f64 / 1e6
    });
    // The model's balancer acts a whole tick after the mark, the kernel's a fraction of one.
    assert_near("moves to a big CPU", moves, &[87.1, 82.9, 85.2], 1.5 * TICK);
    for (util, measured) in [(450, [106.0, 105.9, 104.3]), (1000, [266.2, 266.0, 264.3])] {
        let ours = runs.iter().map(|(log, from)| log.reached(util, *from));
        assert_near(&format!("util {util}"), ours, &measured, TICK);
    }
}

#[test]
fn x86_without_invariance_waits_at_the_lowest_frequency() {
    let runs: Vec<(Log, u64)> =
        phases().map(|phase| board("board-x86", "debian-6.12", phase)).collect();
    for (khz, measured) in [(800_000, 48.6), (3_200_000, 68.0)] {
        let ours = runs.iter().map(|(log, from)| log.frequency_reached(0, khz, *from));
        assert_near(&format!("{khz}"), ours, &[measured], TICK);
    }
    for (util, measured) in [(450, 28.2), (1000, 180.0)] {
        let ours = runs.iter().map(|(log, from)| log.reached(util, *from));
        assert_near(&format!("util {util}"), ours, &[measured], TICK);
    }
}

#[test]
fn clamps_that_follow_a_ramp_bring_the_frequency_as_measured() {
    // To 80 % of the highest frequency, medians of 30 spins on the board under `flyball qos`.
    for (multiplier, measured) in [(4, 10.3), (8, 9.9)] {
        let runs =
            phases().map(|phase| ramped("board-aarch64", "debian-7.3", phase, Some(multiplier)));
        let times: Vec<f64> =
            runs.map(|(log, from)| log.frequency_reached(1, 2_400_000, from)).collect();
        assert_near(&format!("m = {multiplier}"), times.into_iter(), &[measured], TICK);
    }
}

#[test]
fn a_controller_that_takes_its_time_is_late_by_it() {
    let board = |phase| ("board-aarch64", "debian-7.3", phase);
    let mean = |delay: Nanos, cycles: Option<u64>| {
        let of = |phase| {
            let (log, from) = controlled(board(phase), Some(4), delay, cycles);
            log.frequency_reached(1, 2_400_000, from)
        };
        phases().map(of).sum::<f64>() / 8.0
    };
    let at_once = mean(Nanos::ZERO, None);
    // Frequencies change at ticks of 4 ms: what is late by less is mostly not seen.
    let late = mean(Nanos(2 * MS), None) - at_once;
    assert!((1.0..=6.0).contains(&late), "{late}");
    // A million cycles of the fastest kind of core are 2.5 ms of a little CPU at 600 MHz.
    let busy = mean(Nanos::ZERO, Some(1_000_000)) - at_once;
    assert!((0.5..=6.0).contains(&busy), "{busy}");
}

#[test]
fn what_becomes_due_while_a_controller_is_busy_is_seen_to_behind_it() {
    for phase in phases() {
        let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(600 * MS));
        setup.tick_phase = Nanos(phase);
        for number in 0..6 {
            // Long runs that begin a millisecond apart.
            let run = Step::Run(Work { cycles: 60_000_000, memory: Nanos::ZERO });
            let begin = Step::Sleep(Nanos((100 + number) * MS));
            let mut task = task("long", Script::new(vec![begin, run, begin, run]));
            task.clamp_ramp = Some(ResponseRamp::new(4));
            setup.tasks.push(task);
        }
        setup.controller = Controller { delay: Nanos(MS), task: Some(TaskId(6)) };
        let work = Work { cycles: 0, memory: Nanos(3 * MS) };
        setup.tasks.push(task("controller", OnCall::new(work)));
        let (log, _) = run(setup);
        let highest = log.frequency.iter().filter(|&&(_, domain, _)| domain == 1);
        assert_eq!(highest.map(|&(.., khz)| khz).max(), Some(3_000_000));
    }
}

#[test]
fn a_ramp_of_clamps_gives_short_runs_nothing_and_takes_all_back() {
    let light = |ramp: Option<u32>| {
        let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(1000 * MS));
        // 2 ms at the lowest frequency, in 20; then one long run, and the same again.
        let short = || {
            (0..20).flat_map(|_| {
                [
                    Step::Run(Work { cycles: 1_200_000, memory: Nanos::ZERO }),
                    Step::Sleep(Nanos(18 * MS)),
                ]
            })
        };
        let long = [Step::Run(Work { cycles: 60_000_000, memory: Nanos::ZERO })];
        let mut task = task("light", Script::new(short().chain(long).chain(short()).collect()));
        task.clamp_ramp = ramp.map(ResponseRamp::new);
        setup.tasks.push(task);
        run(setup).0
    };
    let (with, without) = (light(Some(4)), light(None));
    let before = |log: &Log| {
        log.frequency.iter().filter(|&&(at, ..)| at < 390 * MS).copied().collect::<Vec<_>>()
    };
    assert_eq!(before(&with), before(&without), "short runs have what they had");
    let highest = |log: &Log, from: u64| {
        log.frequency.iter().filter(|&&(at, ..)| at >= from).map(|&(.., khz)| khz).max()
    };
    assert!(highest(&with, 390 * MS) > highest(&without, 390 * MS), "a long one gets more");
    let last = |log: &Log| log.frequency.iter().rfind(|&&(.., d, _)| d == 0).map(|&(.., khz)| khz);
    assert_eq!(last(&with), last(&without), "and it is taken back");
}

/// Also one that takes longer than from tick to tick comes to an end: 5 ms, after 0.55.
#[test]
fn a_slow_balancer_is_not_begun_again_at_each_tick() {
    let moved = |latency: Nanos| {
        let mut setup = setup("board-aarch64", "debian-7.2", "schedutil", Nanos(1000 * MS));
        setup.platform.balancer_latency = latency;
        let mut spin = task("spin", Spin);
        spin.initial_util = Some(0);
        setup.tasks.push(spin);
        run(setup).0.migrations[0].0
    };
    let (fast, slow) = (moved(Nanos(550_000)), moved(Nanos(5 * MS)));
    assert_eq!(slow - fast, 5 * MS - 550_000);
}

/// A task that grows out of its little CPU leaves it 0.55 ms after the tick that finds it, with ticks of 4 ms.
#[test]
fn the_balancer_takes_as_long_as_on_the_board() {
    for phase in phases() {
        let (log, from) = board("board-aarch64", "debian-7.2", phase);
        let moved = log.migrations.iter().find(|&&(at, ..)| at >= from).unwrap().0;
        assert_eq!((moved - phase) % (4 * MS), 550_000, "phase {phase}");
    }
}
