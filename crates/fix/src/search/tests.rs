//! The search over machines whose latencies are known.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::ladder::Rung;
use flyball_stats::Estimate;
use flyball_units::KiloHertz;

/// A machine that takes so long under a candidate, in milliseconds, give or take 5 %.
struct Known<F: Fn(&Candidate) -> f64> {
    goal: Goal,
    ladder: Ladder,
    p99_ms: F,
    measured: Vec<String>,
}

impl<F: Fn(&Candidate) -> f64> Trier for Known<F> {
    fn measure(&mut self, stage: &str, candidates: &[Candidate]) -> Result<Stage, FixError> {
        self.measured.push(stage.to_owned());
        let tried = candidates.iter().map(|candidate| {
            let value = (self.p99_ms)(candidate) * 1e6;
            let found = Resampled {
                estimate: Estimate::between(value, value * 0.95, value * 1.05),
                level: 0.95,
                replicates: 2000,
                method: String::new(),
                reliable: true,
            };
            let standing = self.goal.judge(&found.estimate);
            Tried { candidate: candidate.clone(), found, standing, windows: 1000, power_w: None }
        });
        let (name, run) = (stage.to_owned(), PathBuf::new());
        Ok(Stage { name, run, tried: tried.collect(), home: Some(CpuId(1)) })
    }

    fn ladder(&mut self, home: CpuId) -> Result<Ladder, FixError> {
        assert_eq!(home, CpuId(1));
        Ok(self.ladder.clone())
    }
}

fn ladder() -> Ladder {
    let cpu = CpuId(1);
    let uclamp = [256, 512, 1024].map(|least| Change::Uclamp { least });
    let frequency = |khz| Change::MinFrequency { policy: 0, cpu, frequency: KiloHertz(khz) };
    let governor = Change::Governor { policy: 0, cpu, name: "performance".into() };
    let rung = |kind, levels: &[Change]| Rung { kind, levels: levels.to_vec() };
    Ladder {
        rungs: vec![
            rung(Kind::Uclamp, &uclamp),
            rung(Kind::MinFrequency, &[1_000_000, 1_800_000].map(frequency)),
            rung(Kind::IdleLatency, &[Change::IdleLatency { us: 0 }]),
            rung(Kind::Governor, &[governor]),
        ],
        ..Ladder::default()
    }
}

fn search(goal: &str, p99_ms: impl Fn(&Candidate) -> f64) -> (Report, Vec<String>) {
    let goal: Goal = goal.parse().unwrap();
    let mut known = Known { goal, ladder: ladder(), p99_ms, measured: Vec::new() };
    let report = fix(goal, &mut known).unwrap();
    (report, known.measured)
}

fn has(candidate: &Candidate, kind: Kind) -> bool {
    candidate.changes.iter().any(|change| change.kind() == kind)
}

/// Latency falls with the clamp; every other change of the frequency acts like the highest clamp.
fn by_uclamp(candidate: &Candidate) -> f64 {
    let least = candidate.changes.iter().map(|change| match change {
        Change::Uclamp { least } => f64::from(*least),
        Change::MinFrequency { frequency, .. } => frequency.0 as f64 / 1_800.0,
        Change::Governor { .. } => 1024.0,
        _ => 0.0,
    });
    10.0 - 8.0 * least.fold(0.0, f64::max) / 1024.0
}

#[test]
fn the_weakest_level_of_the_smallest_kind_wins() {
    let (report, stages) = search("p99<7ms", by_uclamp);
    let Outcome::Found { changes, confirmed, baseline } = report.outcome else { unreachable!() };
    assert_eq!(changes.to_string(), "uclamp min 512");
    assert_eq!((confirmed.standing, baseline.standing), (Standing::Met, Standing::Missed));
    assert_eq!(stages, ["pilot", "screen", "levels", "confirm"]);
}

#[test]
fn a_kind_that_does_not_help_is_left_alone() {
    let (report, _) = search("p99<7ms", |candidate| {
        if has(candidate, Kind::MinFrequency) || has(candidate, Kind::Governor) {
            return by_uclamp(candidate);
        }
        10.0
    });
    let Outcome::Found { changes, .. } = report.outcome else { unreachable!() };
    assert_eq!(changes.to_string(), "policy0 at least 1000 MHz");
}

#[test]
fn a_goal_that_is_met_changes_nothing() {
    let (report, stages) = search("p99<20ms", by_uclamp);
    assert_eq!((report.outcome, stages), (Outcome::AlreadyMet, vec!["pilot".to_owned()]));
}

#[test]
fn what_nothing_reaches_is_unreachable() {
    let (report, stages) = search("p99<1ms", by_uclamp);
    let Outcome::Unreachable { closest } = report.outcome else { unreachable!() };
    assert!((closest.found.estimate.value - 2e6).abs() < 1.0);
    assert_eq!(stages, ["pilot", "screen"]);
}

#[test]
fn a_limit_inside_the_interval_proves_nothing() {
    let (report, _) = search("p99<2050us", by_uclamp);
    assert!(matches!(report.outcome, Outcome::NotProven { .. }), "{:?}", report.outcome);
}

#[test]
fn what_is_not_needed_together_is_left_out() {
    // Frequency and idle states each cost 4 ms; the governor and the clamp do the same.
    let (report, stages) = search("p99<3ms", |candidate| {
        let fast = has(candidate, Kind::Uclamp) || has(candidate, Kind::Governor);
        let awake = has(candidate, Kind::IdleLatency);
        10.0 - if fast { 4.0 } else { 0.0 } - if awake { 4.0 } else { 0.0 }
    });
    let Outcome::Found { changes, .. } = report.outcome else { unreachable!("{report:?}") };
    assert_eq!(changes.changes.len(), 2, "{changes}");
    assert!(has(&changes, Kind::IdleLatency), "{changes}");
    assert!(stages.contains(&"together".to_owned()), "{stages:?}");
}

#[test]
fn a_lucky_winner_makes_way() {
    // 512 looks good while it is one of many, and is not.
    let lucky = std::cell::Cell::new(0);
    let (report, _) = search("p99<7ms", |candidate| {
        if candidate.to_string() == "uclamp min 512" {
            lucky.set(lucky.get() + 1);
            return if lucky.get() == 1 { 6.0 } else { 8.0 };
        }
        by_uclamp(candidate)
    });
    let Outcome::Found { changes, .. } = report.outcome else { unreachable!() };
    assert_eq!(changes.to_string(), "uclamp min 1024");
}
