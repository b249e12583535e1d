//! Control groups: what their tasks may run together, and what they have beside others.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Summary;
use flyball_sim::setup::{Bandwidth, Cgroup, Setup, TaskSetup};
use flyball_units::{CpuId, Nanos};

fn limited(quota: u64, period: u64, burst: u64) -> Cgroup {
    let [quota, period, burst] = [quota, period, burst].map(|ms| Nanos(ms * MS));
    let bandwidth = Some(Bandwidth::new(quota, period, burst).unwrap());
    Cgroup { bandwidth, ..Cgroup::named("group") }
}

fn weighing(weight: u32) -> Cgroup {
    Cgroup { weight, ..Cgroup::named("group") }
}

fn on(cpu: u32, mut task: TaskSetup) -> TaskSetup {
    task.allowed = vec![CpuId(cpu)];
    task
}

fn inside(group: usize, mut task: TaskSetup) -> TaskSetup {
    task.cgroup = Some(group);
    task
}

/// On the x86 board, its highest frequency held.
fn board(kernel: &str, group: Cgroup, tasks: Vec<TaskSetup>, duration: u64) -> Setup {
    let mut setup = setup("board-x86", kernel, "performance", Nanos(duration * MS));
    (setup.cgroups, setup.tasks) = (vec![group], tasks);
    without_transitions(setup)
}

fn simulate(kernel: &str, group: Cgroup, tasks: Vec<TaskSetup>, duration: u64) -> Summary {
    run(board(kernel, group, tasks, duration)).1
}

fn ran(summary: &Summary, task: usize) -> f64 {
    summary.tasks[task].running.0 as f64 / summary.elapsed.0 as f64
}

const KERNELS: [&str; 3] = ["linux-6.1", "debian-6.12", "debian-7.3"];

#[test]
fn a_spin_has_its_quota_and_no_more() {
    for kernel in KERNELS {
        let summary =
            simulate(kernel, limited(30, 100, 0), vec![inside(0, task("spin", Spin))], 4000);
        // Charged at ticks of 4 ms; what was too much the next period pays for.
        let share = ran(&summary, 0);
        assert!((share - 0.3).abs() < 0.01, "{kernel}: {share}");
        let group = &summary.cgroups[0];
        assert_eq!(group.running, summary.tasks[0].running);
        let limit = group.limit.unwrap();
        let (periods, throttled) = (limit.periods, limit.throttled_periods);
        assert!((39..=40).contains(&periods) && throttled >= periods - 1, "{periods} {throttled}");
        let waited = limit.throttled.0 as f64 / summary.elapsed.0 as f64;
        assert!((waited - 0.7).abs() < 0.02, "{kernel}: {waited}");
    }
}

#[test]
fn a_quota_is_of_all_cpus_together() {
    for kernel in KERNELS {
        let tasks = (0..4).map(|cpu| inside(0, on(cpu, task(&format!("spin-{cpu}"), Spin))));
        let summary = simulate(kernel, limited(100, 100, 0), tasks.collect(), 4000);
        let all: f64 = (0..4).map(|task| ran(&summary, task)).sum();
        // The first period is cut off where the grid of periods begins, so there is one quota more in 4 s.
        assert!((1.0..1.03).contains(&all), "{kernel}: {all}");
        for task in 0..4 {
            assert!((ran(&summary, task) - 0.25).abs() < 0.03, "{kernel}: {}", ran(&summary, task));
        }
    }
}

#[test]
fn who_stays_below_the_quota_is_not_held_back() {
    for kernel in KERNELS {
        // 4 ms of 20 at the board's 24 million cycles a second and more: at most 5 ms.
        let work = Periodic::new(20 * MS, 100_000);
        let summary =
            simulate(kernel, limited(30, 100, 0), vec![inside(0, task("work", work))], 2000);
        assert_eq!(summary.cgroups[0].limit.unwrap().throttled_periods, 0, "{kernel}");
        assert_eq!(summary.cgroups[0].limit.unwrap().throttled, Nanos(0));
        assert!(summary.tasks[0].runnable.0 < MS, "{kernel}");
    }
}

/// Ten periods of rest, then work without end: with a burst the first of its periods is longer.
#[test]
fn a_burst_is_what_was_saved() {
    let first_wait = |burst| {
        let steps = vec![Step::SleepUntil(Nanos(1000 * MS)), Step::Run(Work::FOREVER)];
        let spin = inside(0, task("spin", Script::new(steps)));
        // Somebody keeps the periods going.
        let other = inside(0, on(3, task("other", Periodic::new(50 * MS, 20_000))));
        let setup = board("debian-6.12", limited(20, 100, burst), vec![spin, other], 1500);
        let (log, _) = run(setup);
        let outs = log.lines.iter().filter(|line| line.contains(" out 0 "));
        let at = |line: &String| line.split(' ').next().unwrap().parse::<u64>().unwrap();
        (outs.map(at).find(|&at| at > 1000 * MS).unwrap() - 1000 * MS) as f64 / MS as f64
    };
    let (without, with) = (first_wait(0), first_wait(20));
    assert!(with > without + 15.0, "{without} {with}");
}

#[test]
fn a_group_counts_as_one_task_of_its_weight() {
    for (weight, expected) in [(100, 0.5), (200, 2.0 / 3.0), (50, 1.0 / 3.0)] {
        for kernel in ["linux-6.1", "debian-6.12"] {
            let group = three_beside_one(kernel, weight);
            assert!((group - expected).abs() < 0.02, "{kernel} {weight}: {group}");
        }
    }
}

/// The share of a group of three spinning tasks that have a CPU with one that is in none.
fn three_beside_one(kernel: &str, weight: u32) -> f64 {
    let mut tasks = vec![on(0, task("alone", Spin))];
    tasks.extend((1..=3).map(|n| inside(0, on(0, task(&format!("one-{n}"), Spin)))));
    let summary = simulate(kernel, weighing(weight), tasks, 6000);
    let shares = (1..=3).map(|task| ran(&summary, task));
    let group: f64 = shares.clone().sum();
    for share in shares {
        assert!((share - group / 3.0).abs() < 0.02, "{kernel} {weight}: {share} of {group}");
    }
    group
}

/// 7.3 counts the weight once for each task of the group that is runnable, and takes the averages of these for their number:
/// what is a little less than 3 counts as 2, and a little less than 2 as 1. The kernel does just that
/// (`x86-7-cgroup-three` and `x86-7-cgroup-weights` of scripts/board-vs-model).
#[test]
fn a_weight_counts_more_than_once_since_7_3() {
    let group = three_beside_one("debian-7.3", 100);
    assert!((group - 2.0 / 3.0).abs() < 0.02, "{group}");
    // A task of the group and one outside on each of two CPUs: 512 beside 1024.
    for kernel in ["debian-6.12", "debian-7.3"] {
        let mut tasks: Vec<TaskSetup> =
            (0..2).map(|cpu| inside(0, on(cpu, task(&format!("in-{cpu}"), Spin)))).collect();
        tasks.extend((0..2).map(|cpu| on(cpu, task(&format!("out-{cpu}"), Spin))));
        let summary = simulate(kernel, weighing(100), tasks, 6000);
        for task in 0..2 {
            let share = ran(&summary, task);
            assert!((share - 1.0 / 3.0).abs() < 0.02, "{kernel}: {share}");
        }
    }
}

/// What is expected of a task that waits for its group's next period: up to 6.17 all of it stays.
#[test]
fn what_is_expected_goes_with_the_task_since_6_18() {
    for (kernel, goes) in [("debian-6.12", false), ("debian-7.3", true)] {
        // At seven of ten ends it waits.
        let left = (0..10).filter(|end| {
            let mut spin = inside(0, task("spin", Spin));
            spin.initial_util_est = 500;
            let summary = simulate(kernel, limited(30, 100, 0), vec![spin], 1000 + 10 * end);
            summary.cpus.iter().all(|cpu| cpu.util_est == 0)
        });
        let left = left.count();
        assert_eq!((6..=8).contains(&left), goes, "{kernel}: {left}");
    }
}

#[test]
fn the_clamps_of_a_group_bound_those_of_its_tasks() {
    let capped = Cgroup { uclamp_max: 200, ..Cgroup::named("group") };
    let mut setup = setup("board-aarch64", "debian-7.3", "schedutil", Nanos(1000 * MS));
    (setup.cgroups, setup.tasks) = (vec![capped], vec![inside(0, task("spin", Spin))]);
    let (_, summary) = run(without_transitions(setup));
    // 200 of 1024 is a little CPU at less than its highest frequency; without a clamp a big one.
    let little: u64 = summary.tasks[0].running_on[..2].iter().map(|time| time.0).sum();
    assert!(little as f64 > 0.99 * summary.tasks[0].running.0 as f64, "{summary:?}");
    let boosted = Cgroup { uclamp_min: 1024, ..Cgroup::named("group") };
    let mut setup = self::setup("board-aarch64", "debian-7.3", "schedutil", Nanos(1000 * MS));
    let work = Periodic::new(20 * MS, 10_000);
    (setup.cgroups, setup.tasks) = (vec![boosted], vec![inside(0, task("work", work))]);
    let (_, summary) = run(without_transitions(setup));
    let big: u64 = summary.tasks[0].running_on[2..].iter().map(|time| time.0).sum();
    assert!(big as f64 > 0.99 * summary.tasks[0].running.0 as f64, "{summary:?}");
}
