//! `--fail-if`: the language, its errors, and that doubt never passes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

use crate::sample;

use flyball_report::gate::{Gate, Outcome, Status, overall};
use flyball_report::model::{Effect, Estimate, Judged, Report, VerdictWord};

fn outcomes(report: &Report, rules: &str) -> Vec<Outcome> {
    Gate::parse(rules).expect(rules).evaluate(report)
}

fn statuses(report: &Report, rules: &str) -> Vec<Status> {
    outcomes(report, rules).into_iter().map(|o| o.status).collect()
}

#[test]
fn absolute_limits_apply_to_every_cell_that_the_selector_names() {
    let report = sample::bench();
    assert_eq!(statuses(&report, "median > 2ms"), [Status::Pass; 8]);
    let found = outcomes(&report, "median[workload=car,condition=idle] > 5us");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].status, found[0].object.as_str()), (Status::Fail, "car, idle"));
    assert_eq!(
        found[0].text,
        "10.9 us [10.8 us, 11.0 us], the interval excludes the limit of 5.00 us"
    );
    let near = outcomes(&report, "median > 10.85us [workload=car,condition=idle]");
    assert!(
        near[0].status == Status::Fail && near[0].text.contains("does not exclude"),
        "{near:?}"
    );
}

#[test]
fn relative_limits_use_the_comparisons_intervals() {
    let report = sample::bench();
    let found = outcomes(&report, "p99[workload=car] > +5%");
    assert_eq!(found[0].status, Status::CannotDecide, "only a whole interval decides a change");
    assert_eq!(
        found[0].text,
        "+8.0 % [-1.0 %, +21.0 %], the interval does not exclude the limit of +5.0 %"
    );
    assert_eq!(statuses(&report, "median > +5%"), [Status::Pass; 4]);
    assert_eq!(statuses(&report, "ratio > 1.05; ratio < 0.96"), [Status::Pass, Status::Fail]);
    // Without an interval nothing is known of how sure the figure is.
    let lateness = statuses(&report, "lateness.p99[workload=car] > +500%");
    assert_eq!(lateness, [Status::CannotDecide]);
}

#[test]
fn where_times_do_not_decide_the_cpu_time_is_told() {
    let mut report = sample::bench();
    let estimate = |value, low, high| Estimate { value, low: Some(low), high: Some(high) };
    for comparison in &mut report.comparisons {
        comparison.effects = vec![Effect {
            workload: Some("car".into()),
            of: Judged::CpuTime,
            quantile: Some(0.5),
            subject: 1.08,
            baseline: 1.0,
            ratio: Some(estimate(1.08, 1.07, 1.09)),
            difference: None,
            by_chance: Some(0.01),
            verdict: VerdictWord::Effect,
        }];
    }
    let told = |rule: &str| outcomes(&report, rule).remove(0);
    let undecided = told("p99[workload=car] > +5%");
    assert_eq!(undecided.status, Status::CannotDecide, "the rule asked for the wall's time");
    assert!(
        undecided.text.contains("fails for the CPU time, cpu.median: +8.0 % [+7.0 %, +9.0 %]"),
        "{undecided:?}"
    );
    assert!(told("p99[workload=car] > +20%").text.contains("passes for the CPU time"));
    assert!(!told("p99[workload=car] > +8%").text.contains("CPU time"), "nor does it decide");
}

#[test]
fn counts_shares_and_verdicts() {
    let report = sample::bench();
    assert_eq!(statuses(&report, "missed > 0"), [Status::Pass; 8]);
    assert_eq!(statuses(&report, "disturbed[condition=heavy,workload=car] > 1%"), [Status::Fail]);
    assert_eq!(statuses(&report, "verdict == confounded"), [Status::Pass]);
    assert_eq!(statuses(&report, "verdict != equivalent"), [Status::Fail]);
    let cortex = sample::cortex();
    assert_eq!(
        statuses(&cortex, "verdict == confounded"),
        [Status::Fail, Status::Fail, Status::Pass]
    );
}

#[test]
fn what_cannot_be_decided_is_a_finding() {
    let cortex = sample::cortex();
    for rules in [
        "median > +5%",
        "ratio > 1.1",
        "lateness.p99 > 1ms",
        "missed > 0",
        "p99[workload=nothing] > 1ms",
        "verdict[workload=nothing] == effect",
    ] {
        let found = outcomes(&cortex, rules);
        assert!(
            !found.is_empty() && found.iter().all(|o| o.status == Status::CannotDecide),
            "{rules}: {found:?}"
        );
        assert_ne!(overall(&found), Status::Pass);
    }
    assert_eq!(overall(&outcomes(&cortex, "median > 1s")), Status::Pass);
}

#[test]
fn errors_name_the_column_and_the_nearest_word() {
    let cases = [
        ("", 1, "the end", None),
        ("p98 > 1ms", 1, "`p98`", Some("p95")),
        ("medain > 1ms", 1, "`medain`", Some("median")),
        ("latness.p99 > 1ms", 1, "`latness.p99`", Some("lateness.p99")),
        ("p99 1ms", 5, "`1ms`", None),
        ("p99 > ", 7, "the end", None),
        ("p99 > abc", 7, "`abc`", None),
        ("p99 > 5", 7, "`5`", Some("5us` or `+5%")),
        ("p99 > 5%", 7, "`5%`", Some("+5%")),
        ("p99 > 5 parsecs", 7, "`5`", Some("5us` or `+5%")),
        ("p99[wrkload=car] > 1ms", 5, "`wrkload=car`", None),
        ("p99[workload] > 1ms", 13, "`]`", None),
        ("p99[workload=] > 1ms", 14, "`]`", None),
        ("p99[workload=car > 1ms", 23, "the end", None),
        ("p99 > 1ms p95 > 1ms", 11, "`p95`", None),
        ("p99 > 1ms; verdict > confounded", 20, "`>`", None),
        ("verdict == confonded", 12, "`confonded`", Some("confounded")),
        ("ratio > 5%", 9, "`5%`", Some("5")),
        ("µ > 1ms", 1, "`µ`", None),
    ];
    for (rules, column, found, nearest) in cases {
        let error = Gate::parse(rules).expect_err(rules);
        assert_eq!((error.column, error.found.as_str()), (column, found), "{rules}: {error}");
        if let Some(nearest) = nearest {
            assert_eq!(error.nearest.as_deref(), Some(nearest), "{rules}: {error}");
        }
        assert!(!error.hint().is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(rules in "[a-z0-9µ><=!\\[\\];,.%+ -]{0,40}") {
        if let Ok(gate) = Gate::parse(&rules) {
            proptest::prop_assert!(!gate.evaluate(&sample::bench()).is_empty());
        }
    }
}
