//! Many tasks on many CPUs: who shares what.

use crate::common::*;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::Summary;
use flyball_sim::setup::{Class, Setup, TaskSetup};
use flyball_units::{CpuId, Nanos};

fn spinners(setup: &mut Setup, count: usize) {
    setup.tasks.extend((0..count).map(|_| task("spin", Spin)));
}

/// CPUs of the x86 board, this many.
fn many(cpus: u32, seconds: u64) -> Setup {
    let mut setup = setup("board-x86", "linux-6.12", "performance", Nanos::from_secs(seconds));
    let one = setup.platform.cpus[0].clone();
    let numbered = |cpu| flyball_platform::Cpu { id: CpuId(cpu), ..one.clone() };
    setup.platform.cpus = (0..cpus).map(numbered).collect();
    setup.platform.domains[0].cpus = (0..cpus).map(CpuId).collect();
    setup
}

/// What each task ran, as a share of the time: the least and the most.
fn shares(summary: &Summary) -> (f64, f64) {
    let elapsed = summary.elapsed.as_secs_f64();
    let shares = summary.tasks.iter().map(|task| task.running.as_secs_f64() / elapsed);
    shares.fold((1.0, 0.0), |(least, most), share| (share.min(least), share.max(most)))
}

/// 32 CPUs for 48 tasks are two thirds of a CPU for each, in the long run: a CPU with one task pulls
/// from one with two every second time that it looks, 16 ms x 32 CPUs apart.
#[test]
fn spinners_share_32_cpus_evenly() {
    let mut setup = many(32, 60);
    spinners(&mut setup, 48);
    let (_, summary) = run(setup);
    let (least, most) = shares(&summary);
    assert!(least > 0.667 - 0.067 && most < 0.667 + 0.067, "{least} to {most}");
    let mut crowds = vec![0; 32];
    for task in &summary.tasks {
        crowds[task.cpu.0 as usize] += 1;
    }
    assert!(crowds.iter().all(|crowd| (1..=2).contains(crowd)), "{crowds:?}");
}

/// Three tasks on two CPUs: two thirds of a CPU for each.
#[test]
fn three_spinners_share_two_cpus() {
    let mut setup = many(2, 20);
    spinners(&mut setup, 3);
    let (least, most) = shares(&run(setup).1);
    assert!(least > 0.64 && most < 0.70, "{least} to {most}");
}

/// All begin on CPU 0, where they are made to wait, and may go anywhere then.
#[test]
fn a_pile_is_spread() {
    let mut setup = many(8, 2);
    for _ in 0..16 {
        let begin = Step::SleepUntil(Nanos(5 * MS));
        let spin = Step::Run(Work::FOREVER);
        setup.tasks.push(task("spin", Script::new(vec![begin, spin])));
    }
    let (least, most) = shares(&run(setup).1);
    assert!(least > 0.45 && most < 0.55, "{least} to {most}");
}

fn cores(tasks: impl Iterator<Item = CpuId>) -> Vec<u32> {
    let mut cores: Vec<u32> = tasks.map(|cpu| cpu.0 / 2).collect();
    cores.sort_unstable();
    cores
}

#[test]
fn four_spinners_take_four_cores() {
    for governor in ["performance", "schedutil"] {
        let mut setup = setup("laptop-x86", "linux-6.12", governor, Nanos::from_secs(1));
        spinners(&mut setup, 4);
        let (_, summary) = run(setup);
        assert_eq!(cores(summary.tasks.iter().map(|task| task.cpu)), [0, 1, 2, 3], "{governor}");
    }
}

/// Eight fill the threads; the first four end after 0.5 s, wherever they are. The rest spread over the
/// cores within a few ticks.
#[test]
fn a_core_that_gets_idle_takes_over() {
    let mut setup = setup("laptop-x86", "linux-6.12", "performance", Nanos(520 * MS));
    let work = |ms: u64| Step::Run(Work { cycles: 0, memory: Nanos(ms * MS) });
    for at in 0..8 {
        let ends: Vec<Step> = vec![work(500)];
        let name = if at < 4 { "ends" } else { "stays" };
        let one: TaskSetup = match at < 4 {
            true => task(name, Script::new(ends)),
            false => task(name, Spin),
        };
        setup.tasks.push(one);
    }
    let (_, summary) = run(setup);
    let stay = summary.tasks.iter().filter(|task| task.name == "stays").map(|task| task.cpu);
    assert_eq!(cores(stay), [0, 1, 2, 3]);
}

/// A FIFO task that never sleeps leaves 50 ms in each second to a fair one on its CPU: in 5 s, 250.
#[test]
fn a_fifo_hog_leaves_50_ms_per_second() {
    for kernel in ["linux-6.6", "linux-6.12", "linux-7.2"] {
        let mut setup = setup("zen2", kernel, "performance", Nanos::from_secs(5));
        let mut hog = task("hog", Spin);
        hog.class = Class::Fifo { priority: 50 };
        for mut one in [hog, task("fair", Spin)] {
            one.allowed = vec![CpuId(0)];
            setup.tasks.push(one);
        }
        let (_, summary) = run(setup);
        let fair = summary.tasks[1].running.as_secs_f64();
        assert!((fair - 0.25).abs() < 0.001, "{kernel}: {fair}");
    }
}

/// 1 ms of a little CPU at its highest frequency every 20 ms with a lower clamp of 400: a little CPU
/// (capacity 409) would run at 1800 MHz for it, 300 mW, a big one at 1200, 222 mW for the same speed
/// (1024 x 1200 / 3000 = 410). Without the clamp both would be at 600 MHz: 21.5 mW / 136 against
/// 42.0 / 205, and the little one is cheaper.
#[test]
fn clamps_count_in_the_energy_estimate() {
    let on_big = |clamp| {
        let mut setup = setup("board-aarch64", "linux-7.2", "schedutil", Nanos::from_secs(2));
        let mut one = task("clamped", Periodic::new(20 * MS, 500_000));
        one.uclamp_min = clamp;
        one.initial_util = Some(20);
        setup.tasks.push(one);
        let (_, summary) = run(setup);
        let task = &summary.tasks[0];
        let big: u64 = task.running_on[2..].iter().map(|time| time.0).sum();
        big as f64 / task.running.0 as f64
    };
    assert!(on_big(400) > 0.95, "{}", on_big(400));
    assert!(on_big(1) < 0.05, "{}", on_big(1));
}

/// Three tasks that may use two of four CPUs: who has one of them alone has more than all four have on average, and the kernel
/// lets them be.
#[test]
fn a_cpu_with_more_than_the_average_takes_nothing() {
    let mut setup = setup("board-x86", "linux-6.12", "performance", Nanos(1_000 * MS));
    for name in ["one", "two", "three"] {
        let mut spin = task(name, Spin);
        spin.allowed = vec![CpuId(0), CpuId(1)];
        setup.tasks.push(spin);
    }
    let (_, summary) = run(setup);
    let mut shares: Vec<u64> = summary.tasks.iter().map(|task| task.running.0 / MS).collect();
    shares.sort_unstable();
    assert!(shares[0].abs_diff(500) < 10 && shares[1].abs_diff(500) < 10, "{shares:?}");
    assert!(shares[2] > 990, "{shares:?}");
}

/// A spinning task with an upper clamp is content on a small core of the board until one without a clamp wants to run there: then the
/// CPU counts as overutilised, and an idle one takes the one that waits. It is the other small one.
#[test]
fn a_task_that_waits_goes_to_an_idle_cpu_of_its_cluster_first() {
    let mut setup = setup("board-aarch64", "linux-6.12", "schedutil", Nanos(1_100 * MS));
    let mut capped = task("capped", Spin);
    capped.uclamp_max = 200;
    let steps = vec![
        Step::SleepUntil(Nanos(1_000 * MS)),
        Step::Run(Work { cycles: 6_000_000, memory: Nanos::ZERO }),
    ];
    let mut free = task("free", Script::new(steps));
    free.allowed = vec![CpuId(0)];
    free.initial_util = Some(0);
    setup.tasks.extend([capped, free]);
    let (log, _) = run(setup);
    assert_eq!(log.switches[0].2, 0, "the first small core");
    let moved: Vec<_> =
        log.migrations.iter().map(|&(_, task, from, to)| (task, from, to)).collect();
    assert_eq!(moved.first(), Some(&(0, 0, 1)), "{moved:?}");
}

/// For how long a fair task of this utilisation waits behind a FIFO task of 12 ms beside idle CPUs.
fn waits_behind_fifo(util: u32) -> u64 {
    let work = |ms: u64| Step::Run(Work { cycles: 0, memory: Nanos(ms * MS) });
    let mut fair = task("fair", Script::new(vec![work(20)]));
    (fair.initial_util, fair.initial_util_est) = (Some(util), util);
    let mut fifo = task("fifo", Script::new(vec![work(12)]));
    fifo.class = Class::Fifo { priority: 50 };
    fifo.start = Nanos(MS);
    let mut setup = setup("board-x86", "debian-6.12", "performance", Nanos(100 * MS));
    // Where the fair one is born, on an idle machine.
    fifo.allowed = vec![CpuId(0)];
    setup.tasks = vec![fair, fifo];
    let summary = run(without_transitions(setup)).1;
    assert_eq!(summary.tasks[0].preemptions, 1, "they met");
    summary.tasks[0].runnable.0
}

#[test]
fn nobody_takes_a_single_task_from_behind_a_fifo_task() {
    // 6.12's find_busiest_group: one fair task, so none that waits; 100 of 1024 is not overloaded.
    let light = waits_behind_fifo(100);
    assert!((11 * MS..=13 * MS).contains(&light), "{light}");
    // 1000 of 1024 in 117 % is: the next tick, 4 ms apart, lets an idle CPU have it.
    let heavy = waits_behind_fifo(1000);
    assert!(heavy <= 4 * MS, "{heavy}");
}
