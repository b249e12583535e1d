//! Deadline tasks: what they reserve they have, and no more; and what cpufreq learns of them.

use crate::common::*;
use flyball_platform::Paths;
use flyball_sim::behavior::{Behavior, Step, Work};
use flyball_sim::engine::{Machine, Summary};
use flyball_sim::setup::{Class, TaskSetup};
use flyball_units::{CpuId, Nanos};

fn deadline(name: &str, times: [u64; 3], behavior: impl Behavior + 'static) -> TaskSetup {
    let [runtime, deadline, period] = times.map(|ms| Nanos(ms * MS));
    let mut one = task(name, behavior);
    one.class = Class::Deadline { runtime, deadline, period };
    one
}

/// On an x86 board of one kind of CPU, its highest frequency held.
fn simulate(tasks: Vec<TaskSetup>, duration: u64) -> Summary {
    let mut setup = setup("board-x86", "debian-6.12", "performance", Nanos(duration * MS));
    setup.tasks = tasks;
    run(without_transitions(setup)).1
}

fn share(summary: &Summary, task: usize, duration: u64) -> f64 {
    summary.tasks[task].running.0 as f64 / (duration * MS) as f64
}

#[test]
fn a_hog_has_its_bandwidth_and_a_fifo_task_below_it_the_rest() {
    let mut tasks = vec![deadline("hog", [30, 100, 100], Spin)];
    // One on each CPU, so that they meet.
    let cpus = setup("board-x86", "debian-6.12", "performance", Nanos(MS)).platform.cpus.len();
    for cpu in 0..cpus {
        let mut one = task(&format!("fifo-{cpu}"), Spin);
        one.class = Class::Fifo { priority: 99 };
        one.allowed = vec![CpuId(cpu as u32)];
        tasks.push(one);
    }
    let summary = simulate(tasks, 2000);
    // A tick looks, so each period may take a tick more, which the next ones pay for.
    let hog = share(&summary, 0, 2000);
    assert!((hog - 0.3).abs() < 0.01, "{hog}");
    let throttles = summary.tasks[0].throttles.unwrap();
    assert!((18..=20).contains(&throttles), "{throttles}");
    assert_eq!(summary.tasks[1].throttles, None);
    let rest: f64 = (1..=cpus).map(|task| share(&summary, task, 2000)).sum();
    assert!((rest + hog - cpus as f64).abs() < 0.01, "{rest}");
}

#[test]
fn the_earlier_deadline_goes_first() {
    let work = |ms: u64| Step::Run(Work { cycles: 0, memory: Nanos(ms * MS) });
    let long = deadline("long", [40, 100, 100], Script::new(vec![work(30)]));
    let mut short = deadline("short", [10, 20, 20], Script::new(vec![work(5)]));
    short.start = Nanos(10 * MS);
    // One CPU.
    let mut setup = setup("pentium-m", "debian-6.12", "performance", Nanos(200 * MS));
    setup.tasks = vec![long, short];
    let summary = run(without_transitions(setup)).1;
    assert!(summary.tasks[1].runnable.0 < MS, "{:?}", summary.tasks[1].runnable);
    assert_eq!(summary.tasks[0].preemptions, 1);
    assert!(summary.tasks[0].runnable.0.abs_diff(5 * MS) < MS, "{:?}", summary.tasks[0].runnable);
}

#[test]
fn schedutil_gives_a_deadline_task_the_frequency_of_its_bandwidth() {
    // 60 % of the time is more than a little CPU of an M1 can give by then, so it runs on a big one; 0.6 * 3204 MHz
    // is 1922, and 1956 the operating point from there. Of its utilisation, 10, it would run at 600.
    let mut setup = setup("apple-m1", "linux-6.12", "schedutil", Nanos(2000 * MS));
    let steps = [Step::Run(Work { cycles: 0, memory: Nanos(MS) }), Step::Sleep(Nanos(99 * MS))];
    let steps: Vec<Step> = steps.iter().cycle().take(40).cloned().collect();
    setup.tasks = vec![deadline("audio", [60, 100, 100], Script::new(steps))];
    let summary = run(without_transitions(setup)).1;
    let used = summary.domains.iter().flat_map(|domain| &domain.residency);
    let busy: Vec<u64> =
        used.filter(|point| point.busy.0 > 0).map(|point| point.frequency.0).collect();
    assert_eq!(busy, [1_956_000]);
}

#[test]
fn the_time_before_its_first_run_is_not_its_own() {
    // 5 ms from 200 ms on: its class has a utilisation of 1024 (1 - 2^(-5/32)) = 105 then, so less than what 20 %
    // reserved ask of a little CPU, and after a FIFO task of a big one 600 MHz. With the 200 ms before, it would be 1012.
    let work = || {
        Script::new(vec![
            Step::Run(Work { cycles: 0, memory: Nanos(5 * MS) }),
            Step::Sleep(Nanos(MS)),
        ])
    };
    let simulate = |class: Class, cpus: &[u32]| {
        let mut late = task("late", work());
        late.class = class;
        late.allowed = cpus.iter().map(|&cpu| CpuId(cpu)).collect();
        late.start = Nanos(200 * MS);
        let mut setup = setup("apple-m1", "linux-6.12", "schedutil", Nanos(400 * MS));
        setup.tasks = vec![late];
        run(without_transitions(setup)).0
    };
    let (runtime, period) = (Nanos(20 * MS), Nanos(100 * MS));
    let log = simulate(Class::Deadline { runtime, deadline: period, period }, &[]);
    assert_eq!(log.frequency.iter().map(|&(.., khz)| khz).max(), Some(972_000));
    let log = simulate(Class::Fifo { priority: 1 }, &[4]);
    let soon = |&&(at, _, khz): &&(u64, usize, u64)| at < 210 * MS && khz == 600_000;
    assert!(
        log.frequency.iter().any(|change| change.0 > 205 * MS && soon(&change)),
        "{:?}",
        log.frequency
    );
}

#[test]
fn time_does_not_pass_in_leaps_where_a_runtime_may_be_used_up() {
    let mut setup = setup("pentium-m", "debian-6.12", "performance", Nanos(MS));
    setup.tasks = vec![deadline("hog", [10, 20, 20], Spin)];
    assert_eq!(Machine::new(setup).unwrap().cannot_leap(), Some("a task may use up its runtime"));
}

#[test]
fn what_the_kernel_would_refuse_is_refused() {
    let with = |tasks: Vec<TaskSetup>, kernel: &str| {
        let mut setup = setup("board-x86", kernel, "performance", Nanos(MS));
        setup.tasks = tasks;
        Machine::new(setup).err().map(|error| error.to_string())
    };
    let cpus = setup("board-x86", "debian-6.12", "performance", Nanos(MS)).platform.cpus.len();
    let full = |count: usize| {
        (0..count).map(|n| deadline(&format!("task-{n}"), [94, 100, 100], Spin)).collect::<Vec<_>>()
    };
    assert_eq!(with(full(cpus), "debian-6.12"), None);
    let error = with(full(cpus + 1), "debian-6.12").unwrap();
    assert!(
        error.contains(&format!("task `task-{cpus}`")) && error.contains("% of a CPU"),
        "{error}"
    );
    let mut pinned = deadline("pinned", [1, 10, 10], Spin);
    pinned.allowed = vec![CpuId(0)];
    assert!(with(vec![pinned], "debian-6.12").unwrap().contains("on all CPUs"));
    let error = with(vec![deadline("long", [20, 10, 10], Spin)], "debian-6.12").unwrap();
    assert!(error.contains("a runtime up to the deadline"), "{error}");
    let error = with(vec![deadline("bsd", [1, 10, 10], Spin)], "freebsd-8.1").unwrap();
    assert!(error.contains("Linux"), "{error}");
}

/// At 3.2 GHz: from the period, at 50 ms, it is 0.1 ms until the task is in another CPU's queue, and from there 0.2 ms until an idle one runs it, or
/// 0.3 ms until one does where a fair task runs. What it runs counts from then on.
#[test]
fn a_period_takes_its_way_to_a_cpu() {
    for (spins, runs_us) in [(false, 50_300), (true, 50_400)] {
        let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(80 * MS));
        setup.platform.paths =
            Paths { period: 320_000, pushed: 640_000, pushed_busy: 960_000, ..Paths::default() };
        setup.platform.clock_readings.wake_cycles = 1;
        let mut hog = deadline("hog", [10, 50, 50], Spin);
        let period = Nanos(50 * MS);
        // Its first turn ends with the tick at 12 ms, so 9.8 are left for the second.
        hog.class = Class::Deadline { runtime: Nanos(10_900_000), deadline: period, period };
        setup.tasks.push(hog);
        for cpu in (0..4).filter(|_| spins) {
            let mut spin = task("spin", Spin);
            (spin.allowed, spin.start) = (vec![CpuId(cpu)], Nanos(30 * MS));
            setup.tasks.push(spin);
        }
        let (log, _) = run(setup);
        let of_hog = |of: &(u64, u32, u32, u32)| of.1 == 0;
        let moved: Vec<u64> =
            log.migrations.iter().filter(|of| of_hog(of)).map(|of| of.0 / 1000).collect();
        assert_eq!(moved, [50_100], "spins: {spins}");
        let second = log.switches.iter().filter(|of| of.1 == 0).nth(1).unwrap();
        assert!(second.0.abs_diff(runs_us * 1000) <= 2, "spins: {spins}, {second:?}");
        let out = log.lines.iter().rfind(|line| line.contains(" out 0 ")).unwrap();
        let out: u64 = out.split(' ').next().unwrap().parse().unwrap();
        // At 60 ms less than that has passed.
        assert_eq!(out / MS, 64, "spins: {spins}");
    }
}
