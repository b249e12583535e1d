//! Scenarios played on this machine: what was done is what was asked for; when is the machine's.
#![allow(clippy::unwrap_used)]

use flyball_host::{Host, RealHost};
use flyball_lab::protocol::score::{Basis, PlayError, Played, Score, Speed, play};
use flyball_sim::scenario::{Scenario, Source, read};
use flyball_units::{CpuSet, Diagnostic, Nanos};
use std::sync::Arc;

fn scenario(text: &str) -> Scenario {
    let text =
        format!("platform = \"board-x86\"\nkernel = \"debian-7.3\"\nduration = \"200ms\"\n{text}");
    let open = |_: &str| Err("no files".to_owned());
    read(&text, Source { origin: "test", name: "test", open: &open }).unwrap()
}

fn online() -> CpuSet {
    RealHost::new().affinity_get().unwrap()
}

/// Little work, so that the test does not depend on this machine's speed.
fn played(text: &str) -> Played {
    let host: Arc<dyn Host> = Arc::new(RealHost::new());
    let score = Score::new(&scenario(text), 0, &online()).unwrap();
    let speed = Speed { per_ms: 1e4, cycles_per_ms: 3.2e6, basis: Basis::Measured };
    play(&host, score, speed).unwrap()
}

#[test]
fn every_release_is_an_item_in_order() {
    let played = played("[[task]]\nkind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\n");
    assert!(!played.interrupted);
    assert_eq!(played.end.since(played.begin), Nanos::from_millis(200));
    let items = &played.players[0].items;
    assert!((15..=21).contains(&items.len()), "{}", items.len());
    for (number, item) in items.iter().enumerate() {
        assert_eq!(item.item, number as u64);
        assert_eq!(item.released_ns, played.begin.0 + 10_000_000 * number as u64);
        assert_eq!(item.deadline_ns, Some(item.released_ns + 10_000_000));
        assert!(item.started_ns.unwrap() >= item.released_ns);
    }
    let done = items.iter().filter(|item| item.ended_ns.is_some()).count();
    assert!(done + 1 >= items.len(), "only the last may be open: {done} of {}", items.len());
}

#[test]
fn tasks_are_threads_that_wake_each_other_and_stay_where_they_may_run() {
    let cpu = online().first().unwrap().0;
    let played = played(&format!(
        "[[task]]\nkind = \"rampup\"\nsleeps = 3\ncpus = \"{cpu}\"\nstart = \"50ms\"\n\
         [[task]]\nkind = \"page-load\"\nstages = 4\nthink = \"10ms\"\nmain = \"0.1ms\"\n"
    ));
    let names: Vec<&str> = played.players.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names[..3], ["rampup", "page-load", "page-load.helper-1"]);
    let mut tids: Vec<u32> = played.players.iter().map(|player| player.tid).collect();
    tids.sort_unstable();
    tids.dedup();
    assert_eq!(tids.len(), played.players.len(), "a thread each");
    let rampup = &played.players[0];
    assert!(rampup.began >= played.begin + Nanos::from_millis(50));
    let [mark] = rampup.marks.as_slice() else { panic!("{:?}", rampup.marks) };
    assert_eq!((mark.name.as_str(), mark.tid, mark.cpu), ("spin", Some(rampup.tid), Some(cpu)));
    assert!(mark.t_ns >= rampup.began.0 + 30_000_000, "three sleeps of 10 ms come first");
    let pages = &played.players[1].items;
    assert!(pages.iter().any(|page| page.ended_ns.is_some()), "helpers answered: {pages:?}");
}

#[test]
fn what_only_a_model_has_is_refused() {
    let spin = "[[task]]\nkind = \"spin\"\n";
    for (text, object) in [
        (format!("{spin}initial_util = 300\n"), "initial_util"),
        (format!("{spin}rampup_multiplier = 2\n[features]\nseries = true\n"), "rampup_multiplier"),
        (format!("{spin}[[interrupt]]\nmean = \"5ms\"\nwork = \"20us\"\n"), "interrupt"),
        (format!("{spin}cpus = \"3\"\n"), "CPUs among"),
        (format!("{spin}clamp_ramp = 4\n{spin}name = \"other\"\n"), "the same for all tasks"),
    ] {
        let only = CpuSet::from(flyball_units::CpuId(0));
        let error = Score::new(&scenario(&text), 0, &only).err().unwrap();
        assert!(matches!(error, PlayError::Unplayable { .. }), "{error}");
        assert!(error.to_string().contains(object), "{error}");
        assert!(error.hint().is_some());
    }
    let both = format!("{spin}clamp_ramp = 4\n{spin}name = \"other\"\nclamp_ramp = 4\n");
    assert_eq!(Score::new(&scenario(&both), 0, &online()).unwrap().ramp, Some(4));
}

#[test]
fn a_refused_class_ends_what_had_begun() {
    let faults = flyball_host::Fault::parse_list("scheduling_set:fifo:10=EPERM").unwrap();
    let real: Arc<dyn Host> = Arc::new(RealHost::new());
    let host: Arc<dyn Host> = Arc::new(flyball_host::FaultyHost::new(real, faults));
    let text = "[[task]]\nkind = \"periodic\"\nperiod = \"10ms\"\nwork = \"1ms\"\n\
                [[task]]\nkind = \"spin\"\nclass = \"fifo:10\"\nstart = \"20ms\"\n";
    let score = Score::new(&scenario(text), 0, &online()).unwrap();
    let speed = Speed { per_ms: 1e4, cycles_per_ms: 3.2e6, basis: Basis::Measured };
    let error = play(&host, score, speed).unwrap_err();
    assert!(error.to_string().starts_with("task spin: "), "{error}");
}
