//! Load tracking across CPUs: what a task that wakes up elsewhere leaves behind, and until when.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::observe::{Blind, Observer};
use flyball_sim::setup::{Hint, HintCall, Placement, Setup, TaskId};
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
    machine.run_until(Nanos(time), &mut Blind);
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
