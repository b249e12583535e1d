//! Schedutil in the shadow of a small trace whose answers were worked out by hand: one domain of
//! two CPUs, points 600, 1000, 1400 and 1800 MHz, next = 1.25 x 1800 x util / 1024.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};

use flyball_events::import::{Options, import};
use flyball_replay::shadow::{Answer, Ask, ShadowError, Source, shadow};
use flyball_run::{Run, UtilizationSample};
use flyball_units::{Diagnostic, Nanos};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../events/tests/golden/ramp.txt")
}

fn ask(governor: &str) -> Ask {
    Ask {
        choice: governor.parse().unwrap(),
        platform: None,
        kernel: None,
        tolerance: Nanos::from_micros(500),
        clamps: Vec::new(),
    }
}

fn check(answer: &Answer) {
    let report = &answer.trials[0].report;
    // 100 -> 220, 400 -> 879, 600 -> 1318, 800 -> 1758 and 810 -> 1780 MHz, each to the next point.
    // The first change stands before the governor knows what is in force; the fifth had no signal.
    let missed: Vec<(u64, &str)> =
        report.missed.iter().map(|miss| (miss.change.t_ns / 1000, miss.why.as_str())).collect();
    assert_eq!((report.changes, report.predicted), (7, 5), "{report:?}");
    assert_eq!(missed.len(), 2);
    assert_eq!((missed[0].0, missed[1].0), (1_004_030, 1_020_000));
    assert!(missed[1].1.contains("no signal was recorded since"), "{missed:?}");
    // At 1.028 s 400 asks for 1000 MHz; the kernel keeps 1400.
    let alone: Vec<(u64, u64)> =
        report.alone.iter().map(|miss| (miss.change.t_ns / 1000, miss.change.khz)).collect();
    assert_eq!(alone, [(1_028_000, 1_000_000)]);
    assert_eq!((report.median_after_ns, report.farthest_ns), (Some(40_000), 60_000));
    assert_eq!(report.domains[0].name, "policy0");
    assert!(answer.frequency_invariant[0]);
}

#[test]
fn the_text_and_the_tables_give_the_same() {
    let from_text = shadow(Source::Text(&golden()), &ask("schedutil")).unwrap();
    check(&from_text);
    let run: Run = import(golden(), &Options::default()).unwrap();
    let from_tables = shadow(Source::Run(&run), &ask("schedutil")).unwrap();
    check(&from_tables);
    assert_eq!(from_text.trials, from_tables.trials);
}

#[test]
fn an_update_by_a_cpu_of_another_domain_asks_nobody() {
    // CPU 2 moves a task away from CPU 0, whose utilisation then asks for 1000 MHz.
    let update = "        other-80   [002] d..2.     1.021000: pelt_cfs: \
        (__probestub_pelt_cfs_tp+0x4/0x20) cpu=0 util=400 runnable=400 ue=0\n";
    let text = fs_err::read_to_string(golden()).unwrap();
    let next = text.find("         spin-70   [000] d.h2.     1.023900").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.txt");
    fs_err::write(&file, format!("{}{update}{}", &text[..next], &text[next..])).unwrap();
    let from_text = shadow(Source::Text(&file), &ask("schedutil")).unwrap();
    let mut run: Run = import(&file, &Options::default()).unwrap();
    let from_tables = shadow(Source::Run(&run), &ask("schedutil")).unwrap();
    assert_eq!(from_text.trials, from_tables.trials);
    check(&from_tables);
    // Where nobody recorded who it was, it counts as CPU 0 itself.
    let samples: Vec<_> = (0..run.tables.utilization.len())
        .filter_map(|row| run.tables.utilization.row(row))
        .collect();
    run.tables.utilization = Default::default();
    for sample in samples {
        run.tables.utilization.push(UtilizationSample { updater_cpu: None, ..sample });
    }
    let blind = shadow(Source::Run(&run), &ask("schedutil")).unwrap();
    let alone = &blind.trials[0].report.alone;
    assert!(alone.iter().any(|miss| miss.change.t_ns == 1_021_000_000), "{alone:?}");
}

#[test]
fn a_slower_governor_misses_more() {
    let slow = shadow(Source::Text(&golden()), &ask("schedutil:rate_limit_us=6000")).unwrap();
    let report = &slow.trials[0].report;
    assert!(report.predicted < 5, "{report:?}");
    assert!(report.missed.iter().all(|miss| !miss.why.is_empty()));
}

#[test]
fn what_a_trace_cannot_feed_is_refused_by_name() {
    let refused = |governor| shadow(Source::Text(&golden()), &ask(governor)).unwrap_err();
    for (governor, need) in [("ondemand", "polls"), ("tick", "ticks"), ("powersave", "predict")] {
        let error = refused(governor);
        assert!(matches!(error, ShadowError::Need { .. }));
        assert!(error.to_string().contains(need) && error.hint().is_some(), "{error}");
    }
}
