//! What changed between versions of Linux: each rule against a value by hand.

use crate::common::*;
use flyball_platform::Kernel;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::setup::Setup;
use flyball_units::{CpuId, Nanos};

fn cycles(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// Frames of 1 ms at 3204 MHz every 16 ms with a lower clamp of 1024 on a large core of an M1,
/// HZ=250, the first tick `phase` after the beginning. Mean time of a frame, in us.
fn frame_us(kernel: &str, phase: u64) -> f64 {
    let mut setup = setup("apple-m1", kernel, "schedutil", Nanos(1_600 * MS));
    setup.kernel.hz = 250;
    setup.tick_phase = Nanos(phase);
    let mut frames = task("frames", Periodic::new(16 * MS, 3_204_000));
    frames.uclamp_min = 1024;
    frames.initial_util = Some(0);
    frames.allowed = vec![CpuId(4)];
    setup.tasks.push(frames);
    let (_, summary) = run(without_transitions(setup));
    summary.tasks[0].running.0 as f64 / 1e3 / 100.0
}

/// Up to 6.15 the wake-up asks for the frequency before the clamp counts. The frame begins at 600 MHz. The
/// next tick, x ms later, asks with the clamp: if not because load tracking crossed a period, then as the
/// CPU was idle and balances again, which lets signals decay that were last brought up to date 16 ms ago.
/// So it takes x ms + (1 - x 600 / 3204) ms: 4.251 with x = 4, 2.625 with 2. Since 6.16: 1 ms.
#[test]
fn a_clamp_counts_at_the_next_tick_up_to_6_15() {
    for (phase, expected) in [(0, 4_251.0), (2 * MS, 2_625.0)] {
        let old = frame_us("linux-6.14-asahi", phase);
        assert!((old / expected - 1.0).abs() < 0.02, "{old}, by hand {expected}");
        let new = frame_us("linux-7.2", phase);
        assert!((new / 1_000.0 - 1.0).abs() < 0.01, "{new}");
    }
}

/// A task that begins at utilisation 0 on a CPU of capacity 1024 at its highest frequency, runs for
/// 10.5 ms and sleeps; ticks at each ms. Periods of 1.048576 ms end at 9.437 and 10.486 ms.
///
/// With y^32 = 1/2 the sum of 1024 y^k over all k >= 0 is 47788, and over 1 to n 47788 (y - y^(n+1)).
/// At the tick of 10 ms: 9 periods and 549 units, (8283 + 549) x 1024 / (46718 + 549) = 191. At 10.5
/// ms: 10 periods and 14 units, (9107 + 14) x 1024 / (46718 + 14) = 200.
#[test]
fn util_est_is_of_the_update_before_from_6_12_to_6_19() {
    for (kernel, expected) in
        [("linux-6.8", 200), ("linux-6.12", 191), ("linux-6.18", 191), ("linux-7.2", 200)]
    {
        let mut setup = setup("board-x86", kernel, "performance", Nanos(20 * MS));
        setup.kernel.hz = 1000;
        let steps = vec![cycles(10_500 * 3_200), Step::SleepUntil(Nanos(1_000 * MS))];
        let mut one = task("one", Script::new(steps));
        one.initial_util = Some(0);
        setup.tasks.push(one);
        let (_, summary) = run(setup);
        let found = summary.tasks[0].util_est;
        assert!(found.abs_diff(expected) <= 1, "{kernel}: {found}, by hand {expected}");
    }
}

/// What a driver declares to need, it is given: on the laptop intel_cpufreq's rate limit of 500 us.
#[test]
fn intel_cpufreq_has_a_rate_limit_of_500_us() {
    let Setup { platform, .. } = setup("laptop-x86", "linux-6.12", "schedutil", Nanos(MS));
    for kernel in ["linux-5.10", "linux-6.12", "linux-7.2"] {
        let kernel = Kernel::named(kernel).unwrap();
        for domain in &platform.domains {
            assert_eq!(flyball_platform::rule::rate_limit_us(domain, &kernel), 500);
            let seen = flyball_platform::rule::domain(&platform, domain, &kernel, false);
            assert!(seen.need_update_limits);
        }
    }
}

/// A CPU of one, at 1.7 GHz, under a kernel, HZ=1000, ticks at half a millisecond.
fn one_cpu(kernel: &str, duration: u64) -> Setup {
    let mut setup = setup("pentium-m", kernel, "performance", Nanos(duration));
    setup.kernel.hz = 1000;
    setup.kernel.slice = Nanos(750_000);
    setup.tick_phase = Nanos(MS / 2);
    without_transitions(setup)
}

/// A task that slept for 19 ms comes back 3 ms (half a latency of 6) before one that spins, which is more
/// than the wake-up granularity of 1 ms: up to 6.5 it runs at once and for its 1 ms, less than its share of
/// 3 ms (the first time it is new, and waits for a slice). With EEVDF it waits for the end of the slice: the tick half a millisecond
/// later. Up to 6.11 it is also still charged for the millisecond it ran while the other one waited. Half of it more than its share,
/// it is placed 1 ms behind, and is eligible when the other one ran that long: at the second tick. Having waited for 1.5 ms it is
/// charged with 0.25 next, waits for the first tick, and so on by turns.
#[test]
fn who_slept_runs_at_once_up_to_6_5() {
    let waits =
        [("linux-5.10", 0), ("linux-6.1", 0), ("linux-6.6", 1_000_000), ("linux-6.12", 500_000)];
    for (kernel, waits) in waits {
        let mut setup = one_cpu(kernel, 1_010 * MS);
        setup.tasks.push(task("spin", Spin));
        let mut frames = task("frames", Periodic::new(20 * MS, 1_700_000));
        frames.start = Nanos(20 * MS);
        setup.tasks.push(frames);
        let (_, summary) = run(setup);
        let frames = &summary.tasks[1];
        let of_each = frames.runnable.0 / frames.wakeups;
        assert!(of_each.abs_diff(waits) < 100_000, "{kernel}: {of_each} ns, by hand {waits}");
    }
}

/// Two that spin have 3 ms each of a latency of 6. They change places at the first tick at which one ran for
/// more: each fourth. EEVDF changes them at every tick, as its slice is 0.75 ms.
#[test]
fn slices_are_long_up_to_6_5() {
    for (kernel, ticks) in [("linux-6.1", 4), ("linux-6.6", 1)] {
        let mut setup = one_cpu(kernel, 4_000 * MS);
        setup.tasks.extend([task("one", Spin), task("two", Spin)]);
        let (_, summary) = run(setup);
        let [one, two] = [0, 1].map(|at| &summary.tasks[at]);
        let found = one.preemptions + two.preemptions;
        let expected = 4_000 / ticks;
        assert!(found.abs_diff(expected) * 50 < expected, "{kernel}: {found}, by hand {expected}");
        assert!(one.running.0.abs_diff(two.running.0) < 5 * MS, "{one:?} {two:?}");
    }
}

/// Shares go by weight under both.
#[test]
fn nice_values_weigh_under_cfs() {
    let mut setup = one_cpu("linux-6.1", 20_000 * MS);
    for nice in [0, 0, 5] {
        let mut spin = task("spin", Spin);
        spin.class = flyball_sim::setup::Class::Fair { nice };
        setup.tasks.push(spin);
    }
    let (_, summary) = run(setup);
    for (task, weight) in summary.tasks.iter().zip([1024.0, 1024.0, 335.0]) {
        let (found, expected) = (task.running.0 as f64, 20e9 * weight / (1024.0 + 1024.0 + 335.0));
        assert!((found / expected - 1.0).abs() < 0.02, "{found}, by hand {expected}");
    }
}

/// Ticks that find CPU 0 of the x86 board, which has no idle states, idle: it works for 10 ms, then nobody does. HZ=250.
fn idle_ticks(kernel: &str) -> Vec<u64> {
    #[derive(Default)]
    struct Changes(Vec<u64>);
    impl flyball_sim::observe::Observer for Changes {
        fn cpu_util(&mut self, at: Nanos, _: CpuId, _: u32, _: u32, _: u32) {
            self.0.push(at.0);
        }
    }
    let mut setup = setup("board-x86", kernel, "performance", Nanos(100 * MS));
    let steps = vec![cycles(10 * 3_200_000), Step::SleepUntil(Nanos(1_000 * MS))];
    let mut one = task("one", Script::new(steps));
    one.allowed = vec![CpuId(0)];
    setup.tasks.push(one);
    setup.kernel.hz = 250;
    let mut changes = Changes::default();
    flyball_sim::engine::Machine::new(setup).unwrap().run(&mut changes);
    changes.0.retain(|&at| at > 10 * MS);
    changes.0
}

/// A CPU without a choice of idle states keeps its tick until it has come once; before, it stopped at once.
#[test]
fn a_tick_finds_a_cpu_without_idle_states_idle_once_from_7_2_on() {
    assert!(idle_ticks("linux-6.12").is_empty());
    assert_eq!(idle_ticks("linux-7.2"), [12 * MS]);
    assert_eq!(idle_ticks("debian-6.12"), [12 * MS], "Debian's has the change");
}

/// A task of 2 ms on CPU 0, for the last 1 ms of which another one waits that may run nowhere else, sleeps for 0.3 ms. It had 0.5 ms
/// more than its share, and the other one had 0.3 ms meanwhile: from 6.12 on the queue still has it (its lag is -0.5 + 0.15 ms), and
/// it goes on there though CPU 1 is idle. Before, it finds its CPU taken and goes to the idle one.
#[test]
fn who_had_more_than_his_share_stays_in_the_queue_from_6_12_on() {
    let moves = |kernel: &str, slept_us: u64| {
        let until = Nanos::from_micros(2_500 + slept_us);
        let mut setup = setup("board-x86", kernel, "performance", until);
        let steps =
            vec![cycles(6_400_000), Step::Sleep(Nanos::from_micros(slept_us)), cycles(1_000)];
        setup.tasks = vec![task("first", Script::new(steps)), task("second", Spin)];
        setup.tasks[0].allowed = vec![CpuId(0), CpuId(1)];
        setup.tasks[1].allowed = vec![CpuId(0)];
        setup.tasks[1].start = Nanos(MS);
        run(without_transitions(setup)).1.tasks[0].migrations
    };
    assert_eq!(moves("linux-6.12", 300), 0);
    assert_eq!(moves("linux-6.8", 300), 1);
    // After 1 ms of the other one's it would have been next, and left.
    assert_eq!(moves("linux-6.12", 5_300), 1);
}
