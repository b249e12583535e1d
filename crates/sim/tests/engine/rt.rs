//! Real-time tasks: where they wake up, and how they are pushed and pulled.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Summary;
use flyball_sim::setup::{Class, TaskSetup};
use flyball_units::{CpuId, Nanos};

/// So many ms of a big CPU at its highest frequency, 3204 MHz.
fn ms(time: u64) -> Step {
    Step::Run(Work { cycles: time * 3_204_000, memory: Nanos::ZERO })
}

fn fifo(name: &str, priority: u8, cpus: &[u32], steps: Vec<Step>) -> TaskSetup {
    let mut one = task(name, Script::new(steps));
    one.class = Class::Fifo { priority };
    one.allowed = cpus.iter().map(|&cpu| CpuId(cpu)).collect();
    one
}

fn simulate(tasks: Vec<TaskSetup>) -> Summary {
    let mut setup = setup("apple-m1", "linux-7.2", "performance", Nanos(100 * MS));
    setup.tasks = tasks;
    run(without_transitions(setup)).1
}

/// But for the way out of idle states.
fn near(time: Nanos, ms: u64) {
    assert!(time.0.abs_diff(ms * MS) < MS / 5, "{time}, not {ms} ms");
}

/// The kernel lets a real-time task wake up where it slept, also if a fair task runs there and other
/// CPUs are idle.
#[test]
fn a_fifo_task_takes_its_cpu_from_a_fair_one_though_others_are_idle() {
    let steps = vec![ms(1), Step::Sleep(Nanos(9 * MS)), ms(1), Step::Sleep(Nanos(9 * MS)), ms(1)];
    let mut fair = task("fair", Spin);
    fair.allowed = vec![CpuId(4)];
    fair.start = Nanos(5 * MS);
    let summary = simulate(vec![fifo("fifo", 50, &[4, 5], steps), fair]);
    assert_eq!(summary.tasks[0].running_on[4], summary.tasks[0].running);
    near(summary.tasks[0].runnable, 0);
}

/// A more urgent task takes CPU 4; the other goes to CPU 5, where a fair task runs, and waits for nothing.
#[test]
fn a_preempted_fifo_task_is_pushed_to_another_cpu() {
    let mut urgent = fifo("urgent", 90, &[4], vec![ms(20)]);
    urgent.start = Nanos(10 * MS);
    let pushed = fifo("pushed", 50, &[4, 5], vec![ms(40)]);
    let mut fair = task("fair", Spin);
    fair.allowed = vec![CpuId(5)];
    let summary = simulate(vec![urgent, pushed, fair]);
    let pushed = &summary.tasks[1];
    near(pushed.runnable, 0);
    near(pushed.running_on[4], 10);
    near(pushed.running_on[5], 30);
    assert_eq!(pushed.migrations, 1);
}

/// A task of priority 50 waits on CPU 5, behind one of 80 that takes 20 ms; CPU 4's, of 90, takes 10 ms. Then
/// CPU 4 pulls it: 1 ms more, and it has ended.
#[test]
fn a_cpu_pulls_the_fifo_task_that_waits_elsewhere() {
    let mut waits = fifo("waits", 50, &[4, 5], vec![ms(1)]);
    waits.start = Nanos(MS);
    let summary = simulate(vec![
        fifo("first", 90, &[4], vec![ms(10)]),
        fifo("second", 80, &[5], vec![ms(20)]),
        waits,
    ]);
    near(summary.tasks[2].runnable, 9);
    near(summary.tasks[2].running_on[4], 1);
}

/// Real-time tasks have a lower clamp of 1024 where uclamp is built in, also where nobody uses it: one that is
/// created on a little CPU and may run anywhere is on a big one from then on. (On the board it answered in 3.6 ms,
/// where a little CPU would take 7.5.)
#[test]
fn a_fifo_task_belongs_on_a_big_cpu() {
    let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(200 * MS));
    let mut urgent = task("urgent", Periodic::new(40 * MS, 3_000_000));
    urgent.class = Class::Fifo { priority: 50 };
    setup.tasks = vec![urgent];
    let summary = run(without_transitions(setup)).1;
    let on_big: u64 = summary.tasks[0].running_on[2..].iter().map(|time| time.0).sum();
    assert_eq!(on_big, summary.tasks[0].running.0);
}
