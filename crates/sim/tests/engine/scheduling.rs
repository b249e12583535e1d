//! Who runs when, and what it costs.

use crate::common::*;
use flyball_platform::Cost;
use flyball_sim::behavior::{Step, Work};
use flyball_sim::engine::{Machine, SetupError};
use flyball_sim::setup::{Class, Creator, Setup, TaskId};
use flyball_units::{CpuId, KernelRule, KiloHertz, Nanos};

/// One CPU at 1 to 1.7 GHz under a governor, HZ=1000.
fn one_cpu(governor: &str, duration_ms: u64) -> Setup {
    let mut setup = setup("pentium-m", "linux-6.12", governor, Nanos(duration_ms * MS));
    setup.kernel.hz = 1000;
    without_transitions(setup)
}

fn cycles(cycles: u64) -> Step {
    Step::Run(Work { cycles, memory: Nanos::ZERO })
}

/// Nanoseconds within a relative error.
#[track_caller]
fn assert_close(found: Nanos, expected: f64, error: f64) {
    assert!((found.0 as f64 - expected).abs() <= error * expected, "{found:?}, not {expected}");
}

#[test]
fn equals_share_and_nice_values_weigh() {
    let mut setup = one_cpu("performance", 5_000);
    for nice in [0, 0, 5] {
        let mut spin = task("spin", Spin);
        spin.class = Class::Fair { nice };
        setup.tasks.push(spin);
    }
    let (_, summary) = run(setup);
    let sum = f64::from(1024 + 1024 + 335);
    for (task, weight) in summary.tasks.iter().zip([1024.0, 1024.0, 335.0]) {
        assert_close(task.running, 5e9 * weight / sum, 0.01);
        assert!(task.preemptions > 100);
    }
}

/// Two tasks share a CPU of HZ=250. A slice of 2.1 ms ends with a tick, 4 ms after it began; by a timer, where a kernel of this
/// architecture has one, when it is over.
#[test]
fn slices_end_with_ticks_or_by_a_timer() {
    for (platform, kernel, slice_us) in [
        ("board-x86", "debian-6.12", 4000),
        ("board-x86", "debian-7.3", 2100),
        ("board-aarch64", "debian-7.3", 4000),
    ] {
        let mut setup = setup(platform, kernel, "performance", Nanos(400 * MS));
        assert_eq!(setup.kernel.hz, 250);
        setup.kernel.slice = Nanos::from_micros(2100);
        for name in ["one", "two"] {
            let mut spin = task(name, Spin);
            spin.allowed = vec![CpuId(1)];
            setup.tasks.push(spin);
        }
        let (log, summary) = run(without_transitions(setup));
        let starts: Vec<u64> = log.switches.iter().map(|&(at, ..)| at).collect();
        let slices: Vec<u64> = starts[2..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(slices.len() > 90, "{platform}, {kernel}: {}", slices.len());
        assert!(slices.iter().all(|slice| *slice == slice_us * 1000), "{kernel}: {slices:?}");
        assert_close(summary.tasks[0].running, 200e6, 0.02);
    }
}

/// A timer rounds as virtual time does, whatever a task weighs: no storm of events, and shares as the weights say. Under CFS, which
/// has no such timer, nothing changes.
#[test]
fn timers_of_slices_come_to_an_end_whatever_a_task_weighs() {
    let run_with = |nice, cfs| {
        let mut setup = setup("board-x86", "debian-7.3", "performance", Nanos(400 * MS));
        setup.kernel.rules = setup.kernel.rules.set(KernelRule::Cfs, cfs);
        for nice in [nice, 0] {
            let mut spin = task("spin", Spin);
            spin.class = Class::Fair { nice };
            spin.allowed = vec![CpuId(1)];
            setup.tasks.push(spin);
        }
        run(without_transitions(setup)).1
    };
    for (nice, weight) in [(-1, 1277), (-5, 3121), (-20, 88_761), (19, 15)] {
        let summary = run_with(nice, false);
        let share = f64::from(weight) / f64::from(weight + 1024);
        let found = summary.tasks[0].running.0 as f64 / 400e6;
        assert!((found - share).abs() < 0.02, "{nice}: {found} for {share}");
        assert!(summary.events < 3000, "{nice}: {}", summary.events);
    }
    assert!(run_with(0, true).events < 1000);
}

/// Three equal tasks become runnable, the last one first, while a FIFO task has the CPU: all get the average as their virtual
/// time, hence the same deadline, and run in the order in which they came.
#[test]
fn of_equals_the_one_that_came_first_runs() {
    let mut setup = setup("pentium-m", "linux-6.12", "performance", Nanos(40 * MS));
    for begins in [7, 6, 5] {
        let mut one = task("equal", Script::new(vec![cycles(170_000)]));
        one.start = Nanos(begins * MS);
        setup.tasks.push(one);
    }
    let mut fifo = task("fifo", Script::new(vec![cycles(17_000_000)]));
    fifo.class = Class::Fifo { priority: 10 };
    fifo.start = Nanos(MS);
    setup.tasks.push(fifo);
    let (log, _) = run(without_transitions(setup));
    let order: Vec<u32> = log.switches.iter().map(|&(_, task, _)| task).collect();
    assert_eq!(order, [3, 2, 1, 0]);
}

/// A thread that was there before comes back beside a spinning task whose slice has just begun: one that was denied a slice runs at once, the
/// other one when that slice is over.
#[test]
fn who_was_denied_time_goes_first() {
    let waited = |creator: Creator| {
        let mut setup = one_cpu("performance", 60);
        setup.tasks.push(task("spin", Spin));
        let mut thread = task("thread", Script::new(vec![cycles(1000)]));
        (thread.creator, thread.start) = (creator, Nanos(30 * MS));
        setup.tasks.push(thread);
        let log = run(setup).0;
        log.switches.iter().find(|&&(_, task, _)| task == 1).unwrap().0 - 30 * MS
    };
    let earlier = |was_denied| waited(Creator::Earlier { comes: false, was_denied });
    let (denied, earlier) = (earlier(true), earlier(false));
    assert!(denied < earlier, "{denied} {earlier}");
}

#[test]
fn fifo_runs_first_and_at_the_maximum_under_schedutil() {
    let m1 = setup("apple-m1", "linux-6.12", "schedutil", Nanos(100 * MS));
    let mut setup = without_transitions(m1);
    let mut fair = task("fair", Spin);
    fair.initial_util = Some(0);
    fair.allowed = vec![CpuId(4)];
    setup.tasks.push(fair);
    let mut fifo = task("fifo", Script::new(vec![cycles(32_040_000)]));
    fifo.class = Class::Fifo { priority: 10 };
    fifo.start = Nanos(2 * MS);
    fifo.allowed = vec![CpuId(4)];
    setup.tasks.push(fifo);
    let (log, summary) = run(setup);
    assert!(log.frequency.contains(&(2 * MS, 1, 3_204_000)), "{:?}", log.frequency);
    // 32.04 M cycles at 3.204 GHz, at once.
    assert_eq!(summary.tasks[1].ended, Some(Nanos(12 * MS)));
    assert_eq!(summary.tasks[1].runnable, Nanos::ZERO);
}

#[test]
fn work_takes_cycles_and_memory_time() {
    let mut setup = one_cpu("powersave", 1_000);
    let work = Work { cycles: 6_000_000, memory: Nanos(5 * MS) };
    setup.tasks.push(task("job", Script::new(vec![Step::Run(work)])));
    let (_, summary) = run(setup);
    // 10 ms at 600 MHz and 5 ms of memory, on a CPU that wakes up at once or after its latency.
    assert_eq!(summary.tasks[0].running, Nanos(15 * MS));
    assert!((summary.tasks[0].cycles - 6e6).abs() < 1.0);
}

#[test]
fn interrupts_take_time_from_tasks_and_count_as_irq() {
    let mut setup = one_cpu("performance", 1_000);
    setup.tasks.push(task("fair", Spin));
    // 170,000 cycles at 1.7 GHz every ms: a tenth of the time.
    let mut noise = task("noise", Periodic::new(MS, 170_000));
    noise.class = Class::Interrupt;
    setup.tasks.push(noise);
    let (_, summary) = run(setup);
    assert_close(summary.cpus[0].interrupt, 1e8, 0.02);
    assert_close(summary.tasks[0].running, 9e8, 0.02);
    // The task's clock stands still meanwhile: it is as busy as a task can be.
    assert!(summary.tasks[0].util > 1000, "{}", summary.tasks[0].util);
}

#[test]
fn tasks_wake_each_other() {
    let mut setup = one_cpu("performance", 100);
    let ping = vec![Step::Wake(TaskId(1)), Step::Wait, Step::Mark("back"), cycles(1000)];
    let pong = vec![Step::Wait, cycles(17_000_000), Step::Wake(TaskId(0))];
    setup.tasks.push(task("ping", Script::new(ping)));
    setup.tasks.push(task("pong", Script::new(pong)));
    let (log, _) = run(setup);
    let begin = log.switches[0].0;
    assert_eq!(log.marks, [(begin + 10 * MS, "back")]);
}

#[test]
fn a_program_that_never_works_does_not_stop_time() {
    let mut setup = one_cpu("performance", 10);
    let steps = vec![Step::Mark("again"); 5000];
    setup.tasks.push(task("busy", Script::new(steps)));
    let (log, summary) = run(setup);
    assert_eq!(log.marks.len(), 5000);
    assert_eq!(summary.elapsed, Nanos(10 * MS));
    assert!(summary.tasks[0].running >= Nanos(4_000));
}

/// One change from 600 to 1700 MHz at the start, with these costs.
fn change(write: u64, stall: u64, effect: u64, grid: Option<u64>) -> (Log, Nanos, Nanos) {
    let mut setup = one_cpu("performance", 100);
    setup.initial = vec![Some(KiloHertz(600_000))];
    setup.kernel.idle_governor = flyball_platform::IdleGovernor::None;
    for state in &mut setup.platform.domains[0].idle {
        state.exit_latency = Nanos::ZERO;
    }
    let transition = &mut setup.platform.domains[0].transition;
    transition.write = Cost::Constant(Nanos(write));
    transition.stall = Cost::Constant(Nanos(stall));
    transition.effect = Cost::Constant(Nanos(effect));
    transition.grid = grid.map(Nanos);
    // 6 M cycles take 10 ms at 600 MHz.
    setup.tasks.push(task("job", Script::new(vec![cycles(6_000_000)])));
    let (log, summary) = run(setup);
    (log, summary.tasks[0].running, summary.cpus[0].stalled)
}

#[test]
fn changes_cost_a_stall_and_hold_after_their_effect() {
    let (log, running, stalled) = change(0, 0, 5 * MS, None);
    assert_eq!(log.frequency[1], (5 * MS, 0, 1_700_000));
    // 3 M cycles at 600 MHz, 3 M at 1700.
    assert_eq!((running.0, stalled.0), (5 * MS + 1_764_706, 0));
    let (_, running, stalled) = change(0, MS, 5 * MS, None);
    assert_eq!((running.0, stalled.0), (5 * MS + 1_764_706 + 352_942, MS), "{running:?}");
    let (log, ..) = change(200_000, 0, 365_000, Some(MS));
    assert_eq!(log.frequency[1].0, MS + 365_000, "hardware looks every ms");
}

#[test]
fn idle_states_delay_what_wakes_up() {
    let mut setup = one_cpu("performance", 995);
    setup.platform.domains[0].idle.truncate(1);
    setup.platform.domains[0].idle[0].exit_latency = Nanos(100_000);
    setup.tasks.push(task("periodic", Periodic::new(10 * MS, 1_700_000)));
    let (_, summary) = run(setup);
    let (task, cpu) = (&summary.tasks[0], &summary.cpus[0]);
    assert_eq!(task.runnable.0, cpu.wakeups * 100_000);
    assert_eq!(cpu.wakeups, task.wakeups + 1, "its creation, and each wake-up");
    assert_eq!(cpu.idle.0 - cpu.idle_residency[0].0, cpu.wakeups * 100_000);
}

#[test]
fn ticks_stop_on_idle_cpus_only_where_the_kernel_says_so() {
    let ticks = |kernel: &str| {
        let mut setup = setup("pentium-m", kernel, "performance", Nanos(1_000 * MS));
        setup.tasks.clear();
        run(setup).1.cpus[0].clone()
    };
    assert_eq!(ticks("linux-6.12").ticks, 0);
    let idle = ticks("freebsd-8.1");
    assert_eq!((idle.ticks, idle.wakeups), (100, 100), "at 100 Hz");
}

#[test]
fn a_busy_package_heats_up_and_is_throttled() {
    let mut setup = one_cpu("performance", 20_000);
    setup.platform.thermal = Some(flyball_platform::Thermal {
        ambient_c: 25.0,
        resistance_k_per_w: 3.0,
        time_constant_s: 2.0,
        throttle_c: Some(60.0),
        critical_c: None,
    });
    setup.tasks.push(task("spin", Spin));
    let (log, summary) = run(setup);
    let temperature = summary.temperature.unwrap();
    assert!(temperature.highest_c < 65.0, "{temperature:?}");
    assert!(temperature.throttled > Nanos::from_secs(1));
    assert!(log.frequency.iter().any(|&(_, _, khz)| khz < 1_700_000));
    assert!(log.temperatures.windows(2).take(10).all(|pair| pair[0].1 < pair[1].1));
}

#[test]
fn setups_that_contradict_themselves_are_refused() {
    let refused = |change: fn(&mut Setup)| {
        let mut setup = one_cpu("performance", 1);
        setup.tasks.push(task("spin", Spin));
        change(&mut setup);
        match Machine::new(setup) {
            Err(error) => error,
            Ok(_) => panic!("accepted"),
        }
    };
    let cpu = refused(|setup| setup.tasks[0].allowed = vec![CpuId(1)]);
    assert_eq!(cpu.to_string(), "task `spin` is allowed on cpu1, the platform has 1 CPUs");
    assert!(matches!(refused(|s| s.tick_phase = Nanos(MS)), SetupError::Phase { .. }));
    assert!(matches!(refused(|s| s.kernel.hz = 0), SetupError::Rate { .. }));
    assert!(matches!(refused(|s| s.limits.clear()), SetupError::PerDomain { .. }));
    let initial = |s: &mut Setup| s.initial = vec![Some(KiloHertz(1))];
    assert!(matches!(refused(initial), SetupError::NoPoint { which: "initial", .. }));
    assert!(matches!(refused(|s| s.tasks[0].uclamp_min = 2000), SetupError::TaskRange { .. }));
}

/// 100 ms of work alone on a core. After 50 ms the other CPU of the core begins to spin: from then on each has
/// 0.62 of the core's speed, so the other half of the work takes 80.6 ms. When the work is done the spinning
/// CPU has the core again: by 200 ms it has done 80.6 x 0.62 + 69.4 ms of work.
#[test]
fn cpus_of_a_core_share_its_speed() {
    let mut setup =
        without_transitions(setup("laptop-x86", "linux-6.12", "powersave", Nanos(200 * MS)));
    let khz = setup.platform.domains[0].points[0].effective.0;
    let mut work = task("work", Script::new(vec![cycles(khz * 100)]));
    work.allowed = vec![CpuId(0)];
    let mut spin = task("spin", Spin);
    (spin.allowed, spin.start) = (vec![CpuId(1)], Nanos(50 * MS));
    let mut alone = task("alone", Script::new(vec![cycles(khz * 100)]));
    alone.allowed = vec![CpuId(2)];
    setup.tasks.extend([work, spin, alone]);
    let (_, summary) = run(setup);
    let [work, spin, alone] = [0, 1, 2].map(|at| &summary.tasks[at]);
    assert_close(alone.ended.unwrap(), 100e6, 0.001);
    let second = 50e6 / 0.62;
    // Less what the other one needs to leave its idle state.
    assert_close(work.ended.unwrap(), 50e6 + second, 0.01);
    let expected = khz as f64 * (second * 0.62 + 150e6 - second) / 1e6;
    assert!((spin.cycles / expected - 1.0).abs() < 0.01, "{} of {expected}", spin.cycles);
}
