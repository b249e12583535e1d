//! What has to hold for every recording.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what should not happen")]

use flyball_platform::{Kernel, Platform};
use flyball_replay::tune::{Plan, axes, commands, tune};
use flyball_replay::{Item, Kept, Load, Placing, Stream, Subject, Way, Work, play, to_run};
use flyball_run::Run;
use flyball_sim::workload::Pace;
use flyball_units::{KiloHertz, Nanos};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Four CPUs, intervals of 10 ms, each busy for a part of them, recorded at `khz`.
fn work(busy: &[Vec<u64>], khz: Option<u64>) -> Work {
    let stream = |(cpu, busy): (usize, &Vec<u64>)| {
        let items =
            busy.iter().enumerate().filter(|(_, busy)| **busy > 0).map(|(at, &busy)| Item {
                released: Nanos(at as u64 * 10 * MS),
                busy: Nanos(busy),
                cycles: khz.map(|khz| busy * khz / 1_000_000),
            });
        Stream { name: format!("cpu{cpu}"), cpu: cpu as u32, items: items.collect() }
    };
    let intervals = busy.iter().map(Vec::len).max().unwrap_or(0) as u64;
    Work {
        name: "any".to_owned(),
        duration: Nanos(intervals * 10 * MS),
        interval: Some(Nanos(10 * MS)),
        cpus: (0..busy.len() as u32).collect(),
        streams: busy.iter().enumerate().map(stream).collect(),
        notes: Vec::new(),
    }
}

fn subject(work: &Work, platform: &str, placing: &Placing) -> Subject {
    let platform = Platform::named(platform).unwrap();
    let kernel = Kernel::named("linux-6.12").unwrap();
    let load = Load::new(work, &platform, placing).unwrap();
    Subject::Recorded { load, platform: Box::new(platform), kernel: Box::new(kernel) }
}

fn busy() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let interval = prop_oneof![Just(0), 1_000..10 * MS, Just(10 * MS)];
    proptest::collection::vec(proptest::collection::vec(interval, 40), 1..=4)
        .prop_filter("some work", |busy| busy.iter().flatten().any(|busy| *busy > 0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Cycles in are cycles done and cycles left, under every governor, in leaps or event by event,
    /// at the recorded times or after the gaps, pinned or not.
    #[test]
    fn work_is_conserved(busy in busy(), scale in 0.2..3.0, closed: bool, free: bool) {
        let pace = if closed { Pace::Closed } else { Pace::Open };
        let work = work(&busy, Some(2_500_000));
        let placing = Placing { pace, free, scale, ..Placing::default() };
        let subject = subject(&work, "zen2", &placing);
        let Subject::Recorded { load, .. } = &subject else { panic!() };
        for governor in ["ondemand", "powerd++", "powersave", "schedutil"] {
            let outcome = play(&subject, &governor.parse().unwrap(), None, &|| false).unwrap();
            let all = outcome.cycles_done + outcome.cycles_left;
            prop_assert!((all - load.cycles() as f64).abs() < 1.0, "{governor}: {all}");
            prop_assert_eq!(outcome.done + outcome.left, load.items() as u64);
            if closed {
                prop_assert_eq!((outcome.left, outcome.cycles_left), (0, 0.0));
            }
            let leaps = !free && governor != "schedutil";
            prop_assert_eq!(outcome.way == Way::Leaps, leaps, "{:?}", outcome.way);
            let shares: f64 = outcome.domains[0].residency.iter().map(|at| at.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-9);
        }
    }

    /// The frequency of the recording gives the busy time of the recording.
    #[test]
    fn the_recorded_frequency_gives_the_recorded_busy_time(busy in busy(), highest: bool) {
        let (governor, khz) =
            if highest { ("performance", 2_500_000) } else { ("powersave", 1_500_000) };
        let work = work(&busy, Some(khz));
        let subject = subject(&work, "zen2", &Placing { pace: Pace::Closed, ..Placing::default() });
        let outcome = play(&subject, &governor.parse().unwrap(), None, &|| false).unwrap();
        let found = outcome.busy_percent / 100.0 * outcome.elapsed_ns as f64 * 4.0;
        let recorded = work.busy().0 as f64;
        // A cycle is a fraction of a nanosecond; each item is rounded up to one.
        prop_assert!((found - recorded).abs() <= 3.0 * work.items() as f64, "{found} {recorded}");
    }

    /// What was recorded at half the frequency needs half the time.
    #[test]
    fn cycles_not_percent_are_replayed(busy in busy()) {
        let assumed = Some(KiloHertz(1_250_000));
        let placing = Placing { pace: Pace::Closed, assumed, ..Placing::default() };
        let subject = subject(&work(&busy, None), "zen2", &placing);
        let outcome = play(&subject, &"performance".parse().unwrap(), None, &|| false).unwrap();
        let found = outcome.busy_percent / 100.0 * outcome.elapsed_ns as f64 * 4.0;
        let items: usize = busy.iter().flatten().filter(|busy| **busy > 0).count();
        let half = busy.iter().flatten().sum::<u64>() as f64 / 2.0;
        prop_assert!((found - half).abs() <= 3.0 * items as f64, "{found} {half}");
    }
}

#[test]
fn a_kept_run_has_every_item_and_says_nothing_of_this_machine() {
    let work = work(&[vec![3 * MS, 0, 8 * MS], vec![MS; 3]], None);
    let subject = subject(&work, "zen2", &Placing::default());
    let folder = tempfile::tempdir().unwrap();
    let dir = |name: &str| {
        let mut kept = Kept::default();
        let choice = "ondemand".parse().unwrap();
        let outcome = play(&subject, &choice, Some(&mut kept), &|| false).unwrap();
        assert_eq!(outcome.done, 5);
        to_run(&subject, &outcome, kept).write(folder.path().join(name)).unwrap()
    };
    let (first, second) = (Run::open(dir("a")).unwrap(), Run::open(dir("b")).unwrap());
    assert_eq!((first.tables.items.len(), first.manifest.kind.as_str()), (5, "replay"));
    assert!(!first.tables.frequency.is_empty() && !first.tables.energy.is_empty());
    let note = first.tables.notes.row(0).unwrap();
    assert!(note.message.contains("assumed: recorded at 2500 MHz"), "{}", note.message);
    assert_eq!((first.tables, first.manifest), (second.tables, second.manifest));
}

#[test]
fn a_machine_that_is_too_small_is_refused() {
    let work = work(&vec![vec![MS]; 5], None);
    let platform = Platform::named("zen2").unwrap();
    let error = Load::new(&work, &platform, &Placing::default()).unwrap_err();
    assert!(error.to_string().contains("at least 5 CPUs, found 4"), "{error}");
}

/// A load that needs the highest frequency now and then: the search finds tunables that meet the goal
/// with less energy than the defaults, and on what it never saw as well.
#[test]
fn a_search_meets_its_goal_and_generalises() {
    let burst = |at: u64| if at % 20 < 3 { 8 * MS } else { MS / 2 };
    let busy: Vec<Vec<u64>> =
        (0..4).map(|cpu| (0..900).map(|at| burst(at + 5 * cpu)).collect()).collect();
    let work = work(&busy, Some(2_500_000));
    let part = |from, to| {
        let part = work.between(Nanos::from_millis(from), Nanos::from_millis(to));
        subject(&part, "zen2", &Placing::default())
    };
    let (searched, held_out) = (part(0, 6000), part(6000, 9000));
    let start: flyball_units::GovernorSpec = "ondemand:sampling_rate=500000".parse().unwrap();
    let plan = Plan {
        axes: axes(&start, &[]).unwrap(),
        start,
        goal: "p99<14ms".parse().unwrap(),
        restarts: 1,
        budget: 120,
    };
    let tuned = tune(&plan, &searched, Some(&held_out), &|| false, &|_| {}).unwrap();
    assert!(tuned.met && tuned.met_held_out == Some(true), "{tuned:?}");
    assert!(!plan.goal.is_met(&tuned.before), "the start was meant to be bad");
    assert!(tuned.tried <= 120);
    let commands = commands(&tuned, "ondemand");
    assert!(commands.iter().any(|line| line.contains("ondemand/up_threshold")), "{commands:?}");
    let again = tune(&plan, &searched, Some(&held_out), &|| false, &|_| {}).unwrap();
    assert_eq!((again.best, again.tried), (tuned.best, tuned.tried), "the same search");
}

#[test]
fn tunables_are_checked() {
    let choice: flyball_units::GovernorSpec = "ondemand".parse().unwrap();
    let wrong = |text: &str| axes(&choice, &[text.to_owned()]).unwrap_err().to_string();
    assert!(wrong("up_treshold").contains("up_treshold"));
    assert!(wrong("up_threshold=5").contains("\"5\""));
    assert!(wrong("up_threshold=0..900").contains("inside 1..100"));
    let found = axes(&choice, &["up_threshold=50..90".to_owned()]).unwrap();
    assert_eq!((found[0].1.min, found[0].1.max), (50, 90));
    let fixed: flyball_units::GovernorSpec = "performance".parse().unwrap();
    assert!(axes(&fixed, &[]).unwrap_err().hint.unwrap().contains("no tunables"));
}
