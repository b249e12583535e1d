//! The two tables, row by row.

use super::*;

fn ratio(value: f64, low: f64, high: f64) -> Estimate {
    Estimate::between(value, low, high)
}

fn side(name: &str) -> SideEvidence {
    SideEvidence {
        name: name.to_owned(),
        repeats: 8,
        placement_recorded: true,
        modes_per_kernel: vec![1; 4],
        frequency_known: true,
        ..SideEvidence::default()
    }
}

fn evidence(pooled: Estimate) -> Evidence {
    let (a, b) = (side("schedutil"), side("powersave"));
    Evidence { a, b, pooled, stratified: None, margin: 0.02, across_runs: None, randomised: None }
}

fn shares(p: f64, e: f64) -> Vec<StratumShare> {
    [("P", p), ("E", e)].map(|(s, share)| StratumShare { stratum: s.to_owned(), share }).into()
}

fn kinds(judgement: &Judgement) -> Vec<(ReasonKind, bool)> {
    judgement.reasons.iter().map(|reason| (reason.kind, reason.confounds)).collect()
}

fn said(judgement: &Judgement) -> String {
    let each: Vec<&str> = judgement.reasons.iter().map(|reason| reason.sentence.as_str()).collect();
    each.join("; ")
}

#[test]
fn the_interval_decides_where_nothing_confounds() {
    let verdict = |low, value, high| judge(&evidence(ratio(value, low, high))).verdict;
    assert_eq!(verdict(1.05, 1.1, 1.15), Verdict::Effect);
    assert_eq!(verdict(0.8, 0.85, 0.9), Verdict::Effect);
    assert_eq!(verdict(0.99, 1.0, 1.01), Verdict::Equivalent);
    // Real, and inside the margin: too small to matter.
    assert_eq!(verdict(1.005, 1.01, 1.015), Verdict::Equivalent);
    // Excludes 1 but reaches out of the margin.
    assert_eq!(verdict(1.01, 1.02, 1.03), Verdict::Effect);
    assert_eq!(verdict(0.95, 1.01, 1.07), Verdict::Undecided);
}

#[test]
fn a_blind_mixture_is_confounded_however_tight() {
    let mut evidence = evidence(ratio(1.42, 1.41, 1.43));
    for side in [&mut evidence.a, &mut evidence.b] {
        side.placement_recorded = false;
        side.modes_per_kernel = vec![2; 4];
    }
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    let expected = [(ReasonKind::Mixture, true), (ReasonKind::PlacementUnrecorded, true)];
    assert_eq!(kinds(&found), expected);
    assert!(said(&found).contains("4 of 4 cells"));
}

#[test]
fn a_mixture_that_is_recorded_only_limits() {
    let mut evidence = evidence(ratio(1.42, 1.41, 1.43));
    evidence.a.modes_per_kernel = vec![2, 1, 1, 1];
    let found = judge(&evidence);
    assert_eq!(kinds(&found), [(ReasonKind::Mixture, false)]);
    assert_eq!(found.verdict, Verdict::Effect);
}

#[test]
fn another_placement_confounds_unless_stratified() {
    let mut evidence = evidence(ratio(1.42, 1.41, 1.43));
    (evidence.a.strata_shares, evidence.b.strata_shares) = (shares(0.2, 0.8), shares(0.6, 0.4));
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert!(found.reasons[0].sentence.contains("80 % of") && found.basis_kind == Basis::Pooled);
    evidence.stratified = Some(ratio(1.0, 0.99, 1.01));
    let found = judge(&evidence);
    assert_eq!((found.verdict, found.basis_kind), (Verdict::Equivalent, Basis::Stratified));
    assert_eq!(kinds(&found), [(ReasonKind::PlacementDiffers, false)]);
    evidence.a.strata_shares = shares(0.55, 0.45);
    assert!(judge(&evidence).reasons.is_empty());
}

#[test]
fn a_stratum_that_one_side_lacks_is_0_percent_of_it() {
    let mut evidence = evidence(ratio(1.42, 1.41, 1.43));
    evidence.a.strata_shares = vec![StratumShare { stratum: "P".to_owned(), share: 1.0 }];
    evidence.b.strata_shares = vec![StratumShare { stratum: "E".to_owned(), share: 1.0 }];
    let sentence = &judge(&evidence).reasons[0].sentence;
    assert!(sentence.contains(" 0 % of") && !sentence.contains("-0 %"), "{sentence}");
}

#[test]
fn a_load_must_be_proven() {
    let mut evidence = evidence(ratio(1.0, 0.99, 1.01));
    let asked = "stress-ng".to_owned();
    evidence.a.load = Some(LoadEvidence { asked, ..LoadEvidence::default() });
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert_eq!(kinds(&found), [(ReasonKind::UnprovenLoad, true)]);
    let load = evidence.a.load.as_mut().unwrap();
    (load.recorded, load.asked_percent, load.achieved_percent) = (true, Some(90.0), Some(70.0));
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::LoadMissed, true)]);
    // Not even a mean as asked: it may have been away in some trials.
    evidence.a.load.as_mut().unwrap().achieved_percent = Some(90.0);
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert_eq!(kinds(&found), [(ReasonKind::LoadMissed, true)]);
    evidence.a.load.as_mut().unwrap().achieved = true;
    assert!(judge(&evidence).reasons.is_empty());
}

#[test]
fn the_scheduling_class_must_be_the_one_asked_for() {
    let mut evidence = evidence(ratio(1.2, 1.1, 1.3));
    let class = |asked: &str, applied: Option<&str>| {
        let (asked, applied) = (asked.to_owned(), applied.map(str::to_owned));
        Some(SchedulingEvidence { asked, applied })
    };
    evidence.a.scheduling = class("fifo", Some("other"));
    assert_eq!(judge(&evidence).verdict, Verdict::Confounded);
    evidence.a.scheduling = class("fifo", None);
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::SchedulingClass, false)]);
    evidence.a.scheduling = class("fifo", Some("fifo"));
    evidence.b.scheduling = class("other", Some("other"));
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Effect);
    assert!(found.reasons[0].sentence.contains("part of the difference"));
}

#[test]
fn contention_that_differs_confounds() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    (evidence.a.contention_share, evidence.b.contention_share) = (Some(0.31), Some(0.01));
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert!(found.reasons[0].sentence.contains("31 %"));
    evidence.b.contention_share = Some(0.30);
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::Contention, false)]);
    (evidence.a.contention_share, evidence.b.contention_share) = (Some(0.01), None);
    assert!(judge(&evidence).reasons.is_empty());
}

#[test]
fn a_limit_that_made_one_side_wait_confounds_what_was_not_randomised() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    let throttled =
        |share| Some(ThrottledEvidence { limit: "the limit of a box".to_owned(), share });
    evidence.a.throttled = throttled(0.97);
    let found = judge(&evidence);
    assert_eq!(kinds(&found), [(ReasonKind::Throttled, true)]);
    assert!(said(&found).contains("wait for the limit of a box in 97 % of its periods"));
    evidence.b.throttled = throttled(0.95);
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::Throttled, false)]);
}

/// Both sides on loaded CPUs: all windows are disturbed on both, and yet not equally.
#[test]
fn contention_with_another_load_confounds() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    let load = |asked: &str, percent| {
        let asked = asked.to_owned();
        let (asked_percent, achieved_percent) = (Some(percent), Some(percent));
        Some(LoadEvidence {
            asked,
            recorded: true,
            achieved: true,
            asked_percent,
            achieved_percent,
        })
    };
    (evidence.a.load, evidence.b.load) = (load("heavy", 90.0), load("medium", 50.0));
    for side in [&mut evidence.a, &mut evidence.b] {
        (side.contention_share, side.beside_load_share) = (Some(1.0), Some(1.0));
    }
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::Contention, true)]);
    // The same load on both sides is no difference between them, until it preempts otherwise.
    evidence.b.load = load("heavy", 90.0);
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::Contention, false)]);
    (evidence.a.preempted_share, evidence.b.preempted_share) = (Some(0.5), Some(0.1));
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert!(said(&found).contains("preempted in 50 %"), "{found:?}");
    // Another load elsewhere in the machine is what is asked about.
    (evidence.a.load, evidence.b.load) = (load("heavy", 90.0), load("medium", 50.0));
    for side in [&mut evidence.a, &mut evidence.b] {
        (side.contention_share, side.beside_load_share) = (Some(0.01), Some(0.0));
        side.preempted_share = Some(0.01);
    }
    assert_eq!(judge(&evidence).verdict, Verdict::Effect);
}

/// A load that never got the CPU of a real-time thread limits what is said, and no more.
#[test]
fn a_load_that_was_outranked_only_limits() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    (evidence.a.contention_share, evidence.b.contention_share) = (Some(0.0), Some(0.0));
    (evidence.a.outranked_load_share, evidence.b.outranked_load_share) = (Some(1.0), Some(0.0));
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Effect);
    assert_eq!(kinds(&found), [(ReasonKind::LoadOutranked, false)]);
    assert!(found.reasons[0].sentence.contains("100 % of schedutil's"), "{:?}", found.reasons);
    evidence.a.outranked_load_share = Some(0.01);
    assert!(judge(&evidence).reasons.is_empty());
}

#[test]
fn settings_that_one_side_lacks_confound() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    evidence.a.not_applied = vec!["lock_memory: EPERM".to_owned()];
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert!(said(&found).contains("schedutil: lock_memory: EPERM"), "{found:?}");
    evidence.b.not_applied = evidence.a.not_applied.clone();
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::NotApplied, false)]);
}

#[test]
fn no_effect_rests_on_a_program_that_fails() {
    let mut evidence = evidence(ratio(0.5, 0.4, 0.6));
    evidence.b.failed_share = 0.25;
    let found = judge(&evidence);
    assert_eq!(kinds(&found), [(ReasonKind::CommandFailed, true)]);
    assert!(said(&found).contains("25.0 % of powersave's"), "{found:?}");
    evidence.b.failed_share = 0.005;
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::CommandFailed, false)]);
}

#[test]
fn two_runs_must_not_differ_in_anything_else() {
    let mut evidence = evidence(ratio(1.3, 1.2, 1.4));
    evidence.across_runs = Some(Vec::new());
    (evidence.a.runs, evidence.b.runs) = (1, 5);
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Undecided, "a run is one draw of what differs between runs");
    assert!(said(&found).contains("one run a side does not decide"), "{found:?}");
    evidence.a.runs = 3;
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Effect);
    assert_eq!(kinds(&found), [(ReasonKind::RunsDiffer, false)]);
    evidence.across_runs = Some(vec!["the CPU (i5 and i7)".to_owned()]);
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Confounded);
    assert!(said(&found).contains("i5 and i7"), "{found:?}");
}

#[test]
fn from_three_runs_a_side_placement_is_part_of_the_interval() {
    let judged = |runs: usize, modes: usize| {
        let mut evidence = evidence(ratio(1.05, 1.03, 1.07));
        evidence.across_runs = Some(Vec::new());
        for side in [&mut evidence.a, &mut evidence.b] {
            (side.runs, side.placement_recorded) = (runs, false);
            side.modes_per_kernel = vec![modes];
        }
        judge(&evidence)
    };
    let verdict = |runs, modes| judged(runs, modes).verdict;
    assert_eq!((verdict(3, 1), verdict(3, 2)), (Verdict::Effect, Verdict::Effect));
    assert_eq!((verdict(1, 1), verdict(2, 1)), (Verdict::Undecided, Verdict::Undecided));
    assert_eq!(verdict(2, 2), Verdict::Confounded, "modes are worth more words");
    assert!(said(&judged(1, 1)).contains("one run a side does not decide"));
}

#[test]
fn drift_as_large_as_the_difference_confounds() {
    let mut evidence = evidence(ratio(1.1, 1.06, 1.14));
    let mut drift = Drift { flagged: true, total_change: 0.12, p_value: 0.01, ..Drift::default() };
    evidence.a.drift = Some(drift.clone());
    assert_eq!(judge(&evidence).verdict, Verdict::Confounded);
    drift.total_change = -0.03;
    evidence.a.drift = Some(drift.clone());
    assert_eq!(kinds(&judge(&evidence)), [(ReasonKind::Drift, false)]);
    drift.flagged = false;
    evidence.a.drift = Some(drift);
    assert!(judge(&evidence).reasons.is_empty());
}

#[test]
fn few_repeats_limit_and_very_few_decide_nothing() {
    let mut evidence = evidence(ratio(1.2, 1.1, 1.3));
    evidence.a.repeats = 4;
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Effect);
    assert_eq!(kinds(&found), [(ReasonKind::TooFewRepeats, false)]);
    evidence.b.repeats = 2;
    assert_eq!(judge(&evidence).verdict, Verdict::Undecided);
}

#[test]
fn an_unknown_frequency_limits() {
    let mut evidence = evidence(ratio(1.2, 1.1, 1.3));
    evidence.b.frequency_known = false;
    let found = judge(&evidence);
    assert_eq!(found.verdict, Verdict::Effect);
    assert_eq!(kinds(&found), [(ReasonKind::FrequencyUnknown, false)]);
}

#[test]
fn serialises_in_snake_case() {
    let mut evidence = evidence(ratio(1.2, 1.1, 1.3));
    evidence.b.frequency_known = false;
    let text = serde_json::to_string(&judge(&evidence)).unwrap();
    assert!(text.contains(r#""verdict":"effect""#) && text.contains(r#""frequency_unknown""#));
}
