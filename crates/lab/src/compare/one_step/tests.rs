//! The one-step judge on small recordings whose answers were worked out by hand.

use super::*;
use crate::protocol::score::{BEGIN, END};
use flyball_run::{FrequencySample, Marker, Migration, Slice, UtilizationSample, Wakeup};
use flyball_sim::scenario::{Source, read};

const MS: u64 = 1_000_000;

/// On the x86 board: four equal CPUs, one clock domain, no energy model.
fn scenario(task: &str) -> Scenario {
    let text = format!(
        "platform = \"board-x86\"\nkernel = \"debian-6.12\"\n[governor]\nname = \"schedutil\"\n\
         [[task]]\nkind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\n{task}"
    );
    read(&text, Source::text_only("x.toml", "x")).unwrap()
}

/// A playing of a second. Tasks 1 and 2 are `work` and `work-2`, others are strangers.
#[derive(Default)]
struct Playing(Run);

fn name(tid: u32) -> String {
    match tid {
        1 => "work".to_owned(),
        2 => "work-2".to_owned(),
        _ => format!("stranger-{tid}"),
    }
}

impl Playing {
    fn new() -> Playing {
        let mut playing = Playing::default();
        for (t_ns, name) in [(0, BEGIN), (1000 * MS, END)] {
            let mark = Marker { t_ns, name: name.to_owned(), ..Marker::default() };
            playing.0.tables.markers.push(mark);
        }
        for tid in [1, 2] {
            playing = playing.told(Subject::Task(tid), 0, 100);
        }
        playing
    }

    /// A task runs on a CPU from one millisecond to another.
    fn ran(mut self, tid: u32, cpu: u32, (from, to): (u64, u64), why: &str) -> Playing {
        let (from_ns, to_ns) = (from * MS, to * MS);
        let (task, why) = (name(tid), Some(why.to_owned()));
        self.0.tables.slices.push(Slice {
            cpu,
            tid,
            task,
            from_ns,
            to_ns,
            why,
            ..Slice::default()
        });
        self
    }

    /// A task wakes up on a CPU, at a time in microseconds.
    fn woke(mut self, tid: u32, cpu: u32, us: u64) -> Playing {
        let (woken_ns, task) = (us * 1000, name(tid));
        self.0.tables.wakeups.push(Wakeup { woken_ns, cpu, tid, task, ..Wakeup::default() });
        self
    }

    /// A task moves to a CPU, at a time in microseconds.
    fn moved(mut self, tid: u32, (from_cpu, to_cpu): (u32, u32), us: u64) -> Playing {
        let (t_ns, task) = (us * 1000, name(tid));
        let row = Migration { t_ns, tid, task, from_cpu, to_cpu, ..Migration::default() };
        self.0.tables.migrations.push(row);
        self
    }

    /// A util_avg at a millisecond.
    fn told(mut self, subject: Subject, ms: u64, util: u32) -> Playing {
        let (kind, cpu, tid) = match subject {
            Subject::Cpu(cpu) => ("cpu", Some(cpu), None),
            Subject::Task(tid) => ("task", None, Some(tid)),
            Subject::Class(class, cpu) => (class.name(), Some(cpu), None),
        };
        // At 0 ms there would be none yet.
        self.0.tables.utilization.push(UtilizationSample {
            t_ns: ms * MS + 1,
            kind: kind.to_owned(),
            cpu,
            tid,
            util_avg: Some(util),
            runnable_avg: Some(util),
            util_est: Some(util),
            updater_cpu: cpu,
            ..UtilizationSample::default()
        });
        self
    }

    fn judged(&self, scenario: &Scenario) -> OneStep {
        one_step(scenario, &scenario.setup(0), &self.0).unwrap()
    }

    /// Of a scenario with two tasks `work`.
    fn placements(&self) -> OneStep {
        self.judged(&scenario("name = \"work\"\ncount = 2\n"))
    }
}

/// How many, how many the same, for how many ms in all and the same.
fn figures(of: Decisions) -> (u64, u64, u64, u64) {
    (of.count, of.same, of.ns / MS, of.same_ns / MS)
}

#[test]
fn a_decision_counts_by_the_time_that_the_task_then_ran() {
    let found = Playing::new()
        .ran(1, 1, (10, 12), "slept")
        .woke(1, 1, 20_000) // its CPU is idle: there
        .ran(1, 1, (20, 23), "preempted")
        .ran(1, 1, (25, 28), "slept")
        .woke(1, 3, 40_000) // and again, but the kernel takes CPU 3
        .ran(1, 3, (40, 44), "slept")
        .placements();
    assert_eq!(figures(found.placement), (2, 1, 10, 6));
    assert_eq!(figures(found.placement_by_domain), (2, 2, 10, 10), "one domain");
    let of = Elsewhere { task: "work".to_owned(), previous: 1, kernel: 3, model: 1 };
    assert_eq!(found.elsewhere, BTreeMap::from([(of, 1)]));
    assert!((found.placement.share().unwrap() - 0.6).abs() < 1e-12);
    assert!(!found.agrees(), "the bar is 90 %");
}

/// A slow CPU records late that a task woke up there: 0.3 ms after its signals were brought up to date, from when on others see it.
#[test]
fn a_task_is_in_its_queue_before_it_is_recorded_to_be_awake() {
    let of_first = |updated_ms: u64| {
        Playing::new()
            .ran(1, 1, (10, 12), "slept")
            .ran(2, 1, (12, 14), "slept")
            .told(Subject::Task(2), updated_ms, 50)
            .woke(1, 2, 20_200)
            .woke(2, 1, 20_300)
            .ran(1, 2, (21, 23), "slept")
            .placements()
    };
    let seen = of_first(20);
    assert_eq!(figures(seen.placement), (2, 2, 2, 2), "{seen:?}");
    assert_eq!(of_first(14).placement.same, 1, "CPU 1 looked idle to the first");
}

#[test]
fn strangers_make_a_cpu_busy_and_are_no_question_themselves() {
    let busy = |to: u32| {
        Playing::new()
            .ran(1, 1, (10, 12), "slept")
            .ran(9, 1, (15, 30), "slept")
            .woke(9, 1, 50_000)
            .woke(1, to, 20_000)
            .ran(1, to, (20, 23), "slept")
            .placements()
    };
    // CPU 2 is the next idle one.
    assert_eq!(figures(busy(2).placement), (1, 1, 3, 3));
    assert_eq!(figures(busy(0).placement), (1, 0, 3, 0));
    assert!(busy(2).agrees() && !busy(0).agrees());
}

#[test]
fn a_task_that_ran_for_less_than_the_clock_shows_has_left_its_cpu() {
    let playing = || Playing::new().ran(1, 1, (10, 12), "slept");
    let brief = playing().woke(9, 1, 15_000).ran(9, 1, (15, 15), "slept");
    let found = brief.woke(1, 1, 20_000).ran(1, 1, (20, 22), "slept").placements();
    assert_eq!(figures(found.placement), (1, 1, 2, 2));
}

#[test]
fn a_cpu_to_which_a_task_is_on_its_way_is_not_idle() {
    // The one that wakes both up takes CPU 2 for the first, whose wake-up CPU 2 says 0.4 ms later; between,
    // it looks for a CPU for the second.
    let found = Playing::new()
        .ran(1, 1, (10, 12), "slept")
        .ran(2, 1, (12, 14), "slept")
        .ran(9, 1, (15, 30), "slept")
        .moved(1, (1, 2), 20_000)
        .moved(2, (1, 3), 20_100)
        .woke(1, 2, 20_400)
        .woke(2, 3, 20_500)
        .ran(1, 2, (21, 23), "slept")
        .ran(2, 3, (21, 23), "slept")
        .placements();
    assert_eq!(figures(found.placement), (2, 2, 4, 4));
}

#[test]
fn a_sleeper_that_its_queue_still_had_may_have_moved() {
    let playing = || Playing::new().ran(1, 1, (10, 12), "slept").moved(1, (1, 3), 15_000);
    // CPU 3 is where it slept last, and idle.
    let found = playing().woke(1, 3, 30_000).ran(1, 3, (30, 31), "slept").placements();
    assert_eq!(figures(found.placement), (1, 1, 1, 1));
    // CPU 3 is taken: the timer fires on CPU 1, which has nothing else to do.
    let taken = || playing().ran(9, 3, (20, 40), "slept");
    let found = taken().woke(1, 1, 30_000).ran(1, 1, (30, 31), "slept").placements();
    assert_eq!(figures(found.placement), (1, 1, 1, 1));
    let found = taken().woke(1, 0, 30_000).ran(1, 0, (30, 31), "slept").placements();
    assert_eq!(figures(found.placement), (1, 0, 1, 0));
}

#[test]
fn where_there_is_no_choice_or_nothing_is_known_there_is_no_question() {
    let playing =
        Playing::new().ran(1, 1, (10, 12), "slept").woke(1, 1, 20_000).ran(1, 1, (20, 23), "slept");
    let pinned = playing.judged(&scenario("name = \"work\"\ncpus = \"1\"\n"));
    assert_eq!(pinned.placement, Decisions::default());
    assert_eq!(pinned.placement.share(), None);
    assert!(pinned.agrees());
    let mut silent = playing;
    silent.0.tables.utilization = Default::default();
    assert_eq!(silent.placements().placement, Decisions::default(), "no signals");
    // Who was not seen to go to sleep may have been anywhere.
    let begun = Playing::new().woke(1, 1, 20_000).ran(1, 1, (20, 23), "slept").placements();
    assert_eq!(begun.placement, Decisions::default());
}

#[test]
fn sums_of_recordings_are_sums_and_each_bar_counts() {
    let decisions = |same_ns, ns| Decisions { count: 1, same: 1, ns, same_ns };
    let of = Elsewhere { task: "work".to_owned(), previous: 0, kernel: 1, model: 0 };
    let one = || OneStep {
        frequency: Some(decisions(95, 100)),
        placement: decisions(90, 100),
        elsewhere: BTreeMap::from([(of.clone(), 2)]),
        ..OneStep::default()
    };
    assert!(one().agrees());
    let mut sum = one();
    sum.add(one());
    sum.add(OneStep::default());
    let twice = |same_ns| Decisions { count: 2, same: 2, ns: 200, same_ns };
    assert_eq!((sum.frequency, sum.placement), (Some(twice(190)), twice(180)));
    assert_eq!(sum.elsewhere[&of], 4);
    let few = OneStep { frequency: Some(decisions(94, 100)), ..one() };
    assert!(!few.agrees());
    let few = OneStep { placement: decisions(89, 100), ..one() };
    assert!(!few.agrees());
    assert!(OneStep { frequency: None, ..one() }.agrees(), "no governor that can be followed");
}

#[test]
fn only_schedutil_can_be_asked_which_frequency() {
    let mut playing = Playing::new();
    for (ms, khz) in [(1, 3_200_000), (100, 1_600_000)] {
        playing.0.tables.frequency.push(FrequencySample {
            t_ns: ms * MS,
            domain: "package".to_owned(),
            claimed_khz: Some(khz),
            source: "cpu_frequency".to_owned(),
            ..FrequencySample::default()
        });
    }
    let playing = playing.ran(1, 1, (50, 300), "slept").told(Subject::Cpu(1), 99, 400);
    let judged = |governor: &str| {
        let scenario = read(&toml_of(governor), Source::text_only("x.toml", "x")).unwrap();
        playing.judged(&scenario).frequency
    };
    assert!(judged("schedutil").is_some());
    assert_eq!(judged("ondemand"), None);
}

fn toml_of(governor: &str) -> String {
    format!(
        "platform = \"board-x86\"\nkernel = \"debian-6.12\"\n[governor]\nname = \"{governor}\"\n\
         [[task]]\nkind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\nname = \"work\"\n"
    )
}
