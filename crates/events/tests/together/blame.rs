//! Blame: windows whose parts were worked out by hand, what is refused, what is absent.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::schedule::*;
use flyball_events::blame::{Basis, Blame, Part, Who};
use flyball_run::manifest::{ClockRecord, CpuRecord, Machine};
use flyball_run::{FrequencySample, Interrupt, Loss, Migration, Run, Wakeup};

/// The parts that are not empty, by name.
fn parts(blame: &Blame, window: usize) -> Vec<(&'static str, u64)> {
    let window = &blame.windows[window];
    assert_eq!(window.parts.sum_ns(), window.response_ns);
    window.parts.iter().filter(|(_, ns)| *ns > 0).map(|(part, ns)| (part.name(), ns)).collect()
}

/// ```text
/// us    0    1000   1004   1010    1040  1100     1160     1200   1300
/// cpu0  |idle state 2 ...| way out |trial-0 .......|kworker |trial-0 .|
///                ^ release 1000, woken 1004  ^ dispatch 1042       ^ end 1280
/// MHz   1000 until 1100, then 2000 of 2000
/// ```
fn one_window() -> Run {
    let mut run = run();
    slice(&mut run, 0, MEASURED, "trial-0", (0, 10), "slept");
    idle(&mut run, 0, 2, "C2", (10, 1_010));
    wakeup(&mut run, MEASURED, 0, (1_004, 1_040));
    slice(&mut run, 0, MEASURED, "trial-0", (1_040, 1_160), "preempted");
    slice(&mut run, 0, 7, "kworker/0:1", (1_160, 1_200), "slept");
    slice(&mut run, 0, MEASURED, "trial-0", (1_200, 1_300), "slept");
    frequency(&mut run, "policy0", 0, 1_000_000);
    frequency(&mut run, "policy0", 1_100, 2_000_000);
    window(&mut run, 0, (1_000, 1_042, 1_280));
    run
}

#[test]
fn every_part_is_where_its_cause_was() {
    let run = one_window();
    let blame = Blame::of(&run).unwrap();
    // 1040 to 1100 at half the highest frequency, 1100 to 1160 and 1200 to 1280 at the highest.
    let expected =
        [("work", 170_000), ("frequency", 30_000), ("idle_exit", 40_000), ("preemption", 40_000)];
    assert_eq!(parts(&blame, 0), expected);
    let window = &blame.windows[0];
    assert_eq!((window.running_ns, window.basis), (200_000, Some(Basis::Claimed)));
    assert_eq!(window.khz, Some(1_700_000));
    assert_eq!(window.culprits.most_of(Part::Preemption), Some((Who::Task(7), 40_000)));
    assert_eq!(blame.name_of(Who::Task(7)), "kworker/0:1");
    assert_eq!(window.culprits.most_of(Part::IdleExit), Some((Who::Idle(2), 40_000)));
    assert_eq!(blame.name_of(Who::Idle(2)), "C2");
    assert_eq!(window.parts.largest_loss(), Some((Part::IdleExit, 40_000)));
}

#[test]
fn what_was_not_recorded_is_absent_and_its_time_is_elsewhere() {
    let mut run = one_window();
    let blame = Blame::of(&run).unwrap();
    let window = &blame.windows[0];
    assert_eq!((window.parts.get(Part::Interrupts), window.parts.get(Part::Steal)), (None, None));
    assert_eq!(window.parts.get(Part::Queue), Some(0));
    run.tables.idle = Default::default();
    run.tables.frequency = Default::default();
    let blame = Blame::of(&run).unwrap();
    assert_eq!(parts(&blame, 0), [("preemption", 40_000), ("unexplained", 240_000)]);
    let window = &blame.windows[0];
    let absent = [Part::Work, Part::Frequency, Part::IdleExit];
    assert!(absent.iter().all(|part| window.parts.get(*part).is_none()));
    assert_eq!((window.running_ns, window.basis), (200_000, None));
    assert!(!blame.recorded.idle && !blame.recorded.frequency && blame.recorded.slices);
}

#[test]
fn interrupts_come_out_of_what_they_interrupted() {
    let mut run = one_window();
    for (kind, name, (from, to)) in [
        ("vector", "local_timer", (1_002, 1_008)),
        ("softirq", "NET_RX", (1_050, 1_060)),
        ("irq", "eth0", (1_054, 1_056)),
        ("softirq", "RCU", (1_170, 1_175)),
    ] {
        run.tables.interrupts.push(Interrupt {
            kind: kind.to_owned(),
            name: Some(name.to_owned()),
            from_ns: us(from),
            to_ns: us(to),
            ..Interrupt::default()
        });
    }
    let blame = Blame::of(&run).unwrap();
    let expected = [
        ("work", 165_000),
        ("frequency", 25_000),
        ("idle_exit", 34_000),
        ("interrupts", 21_000),
        ("preemption", 35_000),
    ];
    assert_eq!(parts(&blame, 0), expected);
    let window = &blame.windows[0];
    assert_eq!(
        (window.running_ns, window.interrupted_ns),
        (190_000, 10_000),
        "others met it waiting"
    );
    let (who, ns) = window.culprits.most_of(Part::Interrupts).unwrap();
    assert_eq!((blame.name_of(who).as_str(), ns), ("softirq NET_RX", 8_000));
}

#[test]
fn steal_that_a_window_recorded_comes_out_of_its_running_time() {
    let mut run = one_window();
    run.tables.windows = Default::default();
    window_with(&mut run, 0, (1_000, 1_042, 1_280), |row| row.steal_ns = Some(us(100)));
    let blame = Blame::of(&run).unwrap();
    let expected = [
        ("work", 85_000),
        ("frequency", 15_000),
        ("idle_exit", 40_000),
        ("preemption", 40_000),
        ("steal", 100_000),
    ];
    assert_eq!(parts(&blame, 0), expected);
    // More than it ran is not possible: the clocks of guest and hypervisor tick apart.
    run.tables.windows = Default::default();
    window_with(&mut run, 0, (1_000, 1_042, 1_280), |row| row.steal_ns = Some(us(900)));
    assert_eq!(parts(&Blame::of(&run).unwrap(), 0)[2], ("steal", 200_000));
}

#[test]
fn a_queue_is_that_of_the_cpu_that_the_task_waits_on() {
    let mut run = run();
    slice(&mut run, 0, MEASURED, "trial-0", (0, 10), "slept");
    slice(&mut run, 0, 7, "load-1", (100, 2_000), "slept");
    idle(&mut run, 1, 1, "C1", (0, 1_500));
    wakeup(&mut run, MEASURED, 0, (1_000, 1_520));
    // It waits behind the load on CPU 0 until CPU 1 wakes up for it.
    run.tables.migrations.push(Migration {
        t_ns: us(1_490),
        tid: MEASURED,
        from_cpu: 0,
        to_cpu: 1,
        ..Migration::default()
    });
    slice(&mut run, 1, MEASURED, "trial-0", (1_520, 1_600), "slept");
    window(&mut run, 0, (1_000, 1_520, 1_600));
    let blame = Blame::of(&run).unwrap();
    let expected = [("idle_exit", 30_000), ("queue", 490_000), ("unexplained", 80_000)];
    assert_eq!(parts(&blame, 0), expected);
    let culprit = blame.windows[0].culprits.most_of(Part::Queue);
    assert_eq!(culprit, Some((Who::Task(7), 490_000)));
}

#[test]
fn a_window_that_begins_late_is_busy_with_the_one_before() {
    let mut run = run();
    slice(&mut run, 0, MEASURED, "trial-0", (0, 10), "slept");
    wakeup(&mut run, MEASURED, 0, (1_000, 1_000));
    slice(&mut run, 0, MEASURED, "trial-0", (1_000, 2_100), "preempted");
    slice(&mut run, 0, 7, "other", (2_100, 2_200), "slept");
    slice(&mut run, 0, MEASURED, "trial-0", (2_200, 2_900), "slept");
    wakeup(&mut run, MEASURED, 0, (2_950, 2_960));
    slice(&mut run, 0, MEASURED, "trial-0", (2_960, 3_000), "slept");
    frequency(&mut run, "policy0", 0, 2_000_000);
    window(&mut run, 0, (1_000, 1_000, 2_050));
    // Released while the one before ran; it never slept in between.
    window(&mut run, 1, (2_000, 2_300, 3_000));
    let blame = Blame::of(&run).unwrap();
    assert_eq!(parts(&blame, 0), [("work", 1_050_000)]);
    let expected = [("work", 640_000), ("queue", 100_000), ("slept", 50_000), ("backlog", 200_000)];
    let found = parts(&blame, 1);
    assert!(
        expected.iter().filter(|part| part.1 > 0).all(|part| found.contains(part)),
        "{found:?}"
    );
    // Woken at 2950, it had the CPU at 2960, and nobody was seen on it meanwhile.
    assert!(found.contains(&("unexplained", 10_000)), "{found:?}");
}

#[test]
fn what_lies_in_a_gap_is_unexplained() {
    let mut run = one_window();
    let (from_ns, to_ns) = (us(1_100), us(1_170));
    run.tables.lost.push(Loss { cpu: Some(0), from_ns, to_ns, ..Loss::default() });
    let blame = Blame::of(&run).unwrap();
    let expected = [
        ("work", 110_000),
        ("frequency", 30_000),
        ("idle_exit", 40_000),
        ("preemption", 30_000),
        ("unexplained", 70_000),
    ];
    assert_eq!(parts(&blame, 0), expected);
}

#[test]
fn windows_outside_the_recording_are_counted_not_guessed() {
    let mut run = one_window();
    window(&mut run, 1, (5_000, 5_000, 5_100));
    window_with(&mut run, 2, (1_000, 1_042, 1_280), |row| row.trial = 4);
    let blame = Blame::of(&run).unwrap();
    assert_eq!((blame.windows.len(), blame.uncovered), (1, 2));
}

#[test]
fn frequency_comes_from_the_best_that_is_there() {
    let half = |edit: fn(&mut Run), basis, work| {
        let mut run = one_window();
        edit(&mut run);
        let blame = Blame::of(&run).unwrap();
        let window = &blame.windows[0];
        assert_eq!((window.basis, window.parts.get(Part::Work)), (Some(basis), Some(work)));
        assert_eq!(window.parts.sum_ns(), window.response_ns);
    };
    // Delivered changes before the window's own cycles before what the kernel claims.
    let cycles = |run: &mut Run| {
        run.tables.windows = Default::default();
        window_with(run, 0, (1_000, 1_042, 1_280), |row| row.delivered_khz = Some(500_000));
    };
    half(cycles, Basis::Cycles, 50_000);
    half(
        |run| {
            run.tables.frequency = Default::default();
            run.tables.frequency.push(FrequencySample {
                domain: "policy0".to_owned(),
                delivered_khz: Some(1_500_000),
                source: "model".to_owned(),
                ..FrequencySample::default()
            });
            run.tables.windows = Default::default();
            window_with(run, 0, (1_000, 1_042, 1_280), |row| row.delivered_khz = Some(500_000));
        },
        Basis::Changes,
        150_000,
    );
    // Without any: the probes, in kHz or in thousandths of the best.
    half(
        |run| {
            run.tables.frequency = Default::default();
            run.tables.windows = Default::default();
            window_with(run, 0, (1_000, 1_042, 1_280), |row| {
                row.probe_before_permille = Some(300);
                row.probe_after_permille = Some(500);
            });
        },
        Basis::Probe,
        80_000,
    );
}

#[test]
fn a_frequency_that_never_changes_is_known_from_samples_alone() {
    let mut run = one_window();
    run.tables.frequency = Default::default();
    for t in [500, 900_000] {
        run.tables.frequency.push(FrequencySample {
            t_ns: us(t),
            domain: "policy0".to_owned(),
            claimed_khz: Some(500_000),
            source: "scaling_cur_freq".to_owned(),
            ..FrequencySample::default()
        });
    }
    let blame = Blame::of(&run).unwrap();
    assert_eq!(blame.windows[0].parts.get(Part::Work), Some(50_000));
    // Where samples differ and no change was recorded, they tell nothing about a window.
    run.tables.frequency.push(FrequencySample {
        t_ns: us(950_000),
        domain: "policy0".to_owned(),
        claimed_khz: Some(600_000),
        source: "scaling_cur_freq".to_owned(),
        ..FrequencySample::default()
    });
    assert_eq!(Blame::of(&run).unwrap().windows[0].parts.get(Part::Work), None);
}

#[test]
fn clocks_that_cannot_be_brought_together_are_refused() {
    let clock = |table: &str, clock: &str| ClockRecord {
        table: table.to_owned(),
        clock: clock.to_owned(),
        ..ClockRecord::default()
    };
    let mut run = one_window();
    run.manifest.clocks = vec![clock("windows", "monotonic"), clock("slices", "boot")];
    let error = Blame::of(&run).unwrap_err();
    assert!(error.to_string().contains("windows on monotonic, slices on boot"), "{error}");
    assert!(error.hint().contains("mono"), "{}", error.hint());
    run.manifest.clocks = vec![clock("windows", "monotonic")];
    assert!(Blame::of(&run).unwrap_err().to_string().contains("slices on an unknown clock"));
    // A known offset: the events' clock is 5 ms ahead.
    let mut slices = clock("slices", "guest");
    (slices.offset_to, slices.offset_ns) = (Some("monotonic".to_owned()), Some(-5_000_000));
    run.manifest.clocks = vec![clock("windows", "monotonic"), slices.clone()];
    assert!(Blame::of(&run).unwrap_err().to_string().contains("without its uncertainty"));
    slices.uncertainty_ns = Some(300);
    run.manifest.clocks = vec![clock("windows", "monotonic"), slices];
    shift_events(&mut run, 5_000_000);
    let blame = Blame::of(&run).unwrap();
    assert_eq!((blame.clocks.offset_ns, blame.clocks.uncertainty_ns), (-5_000_000, 300));
    let preemption = blame.windows[0].parts.get(Part::Preemption);
    assert_eq!(preemption, Some(40_000));
    // Frequency rows are on a clock that nobody named: they are not joined.
    assert_eq!(blame.windows[0].parts.get(Part::Work), None);
}

#[test]
fn a_run_without_events_or_windows_says_what_it_needs() {
    let mut run = one_window();
    run.tables.slices = Default::default();
    assert!(!Blame::is_possible(&run.tables));
    let error = Blame::of(&run).unwrap_err();
    assert!(error.to_string().contains("rows of the table `slices`"), "{error}");
    assert!(error.hint().contains("record the scheduler"));
    let mut run = one_window();
    run.manifest.order[0].tid = None;
    run.tables.slices = Default::default();
    slice(&mut run, 0, MEASURED, "somebody", (0, 10), "slept");
    run.tables.wakeups = Default::default();
    assert!(Blame::of(&run).unwrap_err().to_string().contains("the measuring task"));
}

#[test]
fn a_boost_above_the_described_maximum_is_no_negative_part() {
    let mut run = one_window();
    let cpu = CpuRecord { max_khz: Some(800_000), ..CpuRecord::default() };
    run.manifest.machine = Some(Machine { cpus: vec![cpu], ..Machine::default() });
    let blame = Blame::of(&run).unwrap();
    let window = &blame.windows[0];
    assert_eq!(window.parts.get(Part::Frequency), Some(0));
    assert_eq!(window.parts.get(Part::Work), Some(200_000));
}

/// ```text
/// us    1000     1020        1100     1200      1300     1350    1380  1400
/// cpu0  |trial-0 |  (sleeps)                                      |trial-0|
/// cpu1           |make .......|(sleeps)                    |make ..|
/// cpu0                        |child ..|load ....|child ...|
/// ```
/// The task waits for `make`, which waits for its child, which another task preempts.
fn a_tree_of_three(last_waker: Option<u32>) -> Run {
    let mut run = run();
    let (make, child) = (50, 51);
    slice(&mut run, 0, MEASURED, "trial-0", (0, 10), "slept");
    wakeup(&mut run, MEASURED, 0, (1_000, 1_000));
    slice(&mut run, 0, MEASURED, "trial-0", (1_000, 1_020), "slept");
    slice(&mut run, 1, make, "make", (1_020, 1_100), "slept");
    slice(&mut run, 0, child, "cc", (1_100, 1_200), "preempted");
    slice(&mut run, 0, 7, "load-0", (1_200, 1_300), "slept");
    slice(&mut run, 0, child, "cc", (1_300, 1_350), "exited");
    slice(&mut run, 1, make, "make", (1_350, 1_380), "exited");
    slice(&mut run, 0, MEASURED, "trial-0", (1_380, 1_410), "slept");
    for (tid, cpu, t, waker_tid) in [
        (make, 1, 1_020, Some(MEASURED)),
        (child, 0, 1_100, Some(make)),
        (make, 1, 1_350, Some(child)),
        (MEASURED, 0, 1_380, last_waker),
    ] {
        run.tables.wakeups.push(Wakeup {
            woken_ns: us(t),
            ran_ns: Some(us(t)),
            cpu,
            tid,
            waker_tid,
            ..Wakeup::default()
        });
    }
    frequency(&mut run, "policy0", 0, 2_000_000);
    window(&mut run, 0, (1_000, 1_000, 1_400));
    run
}

#[test]
fn what_a_window_waits_for_is_followed_from_waker_to_waker() {
    let blame = Blame::of(&a_tree_of_three(Some(50))).unwrap();
    assert_eq!(parts(&blame, 0), [("work", 300_000), ("preemption", 100_000)]);
    let culprit = blame.windows[0].culprits.most_of(Part::Preemption);
    assert_eq!(culprit, Some((Who::Task(7), 100_000)));
    assert_eq!(blame.windows[0].running_ns, 300_000);

    // Nobody saw who woke it: it slept.
    let blame = Blame::of(&a_tree_of_three(None)).unwrap();
    assert_eq!(parts(&blame, 0), [("work", 40_000), ("slept", 360_000)]);
}
