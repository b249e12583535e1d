//! Each method on models whose write, stall, transition and grid are known: what it can identify comes
//! out within 3 %, and what it cannot is refused.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use flyball_lab::protocol::switches::TransitionError;
use flyball_lab::protocol::switches::methods::{Method, Plan, Sink, run};
use flyball_lab::protocol::switches::model::Model;
use flyball_platform::{Cost, Platform, Transition};
use flyball_report::kinds::switches::{Findings, analyse};
use flyball_run::{Run, SwitchTrial};
use flyball_units::{KiloHertz, Nanos};

/// Rows in memory.
#[derive(Default)]
pub struct Memory(pub Run);

impl Sink for Memory {
    fn trial(&mut self, trial: SwitchTrial) -> Result<(), TransitionError> {
        self.0.tables.trials.push(trial);
        Ok(())
    }

    fn refused(&mut self, object: &str, why: &str) -> Result<(), TransitionError> {
        self.0.tables.notes.push(flyball_run::Note {
            severity: "error".to_owned(),
            object: object.to_owned(),
            message: why.to_owned(),
            ..flyball_run::Note::default()
        });
        Ok(())
    }
}

fn us(us: f64) -> Nanos {
    Nanos((us * 1e3).round() as u64)
}

fn costs(write: f64, stall: (f64, f64), effect: (f64, f64), grid: Option<f64>) -> Transition {
    let both = |(up, down): (f64, f64)| Cost::Direction { up: us(up), down: us(down) };
    Transition {
        write: Cost::Constant(us(write)),
        stall: both(stall),
        effect: both(effect),
        grid: grid.map(us),
        declared_latency: None,
        declared_delay: None,
        need_update_limits: false,
    }
}

/// The i.MX8QM's A53 cluster with other costs, at 600 and 1200 MHz.
fn measured(costs: Transition, plan: Plan) -> Findings {
    let mut platform = Platform::named("imx8qm").unwrap();
    platform.domains[0].transition = costs;
    let mut model = Model::new(&platform.domains[0]).unwrap();
    let mut memory = Memory::default();
    run(&mut model, &plan, &mut memory).unwrap();
    analyse(&memory.0, 1)
}

fn plan(methods: &[Method]) -> Plan {
    Plan {
        methods: methods.to_vec(),
        levels: vec![KiloHertz(600_000), KiloHertz(1_200_000)],
        trials: 120,
        ..Plan::default()
    }
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.03, "expected {expected} within 3 %, found {found}");
}

/// (up, down) medians of a method.
fn both<T>(
    findings: &Findings,
    method: &str,
    pick: impl Fn(&flyball_report::kinds::switches::analysis::Switch) -> T,
) -> (T, T) {
    let of = |from, to| {
        let found = findings
            .switches
            .iter()
            .find(|s| s.method == method && (s.from_khz, s.to_khz) == (from, to));
        pick(found.expect("the direction was measured"))
    };
    (of(600_000, 1_200_000), of(1_200_000, 600_000))
}

#[test]
fn direct_finds_the_write() {
    // On a grid the stall comes later, and the write is alone.
    let findings =
        measured(costs(40.0, (30.0, 20.0), (60.0, 80.0), Some(500.0)), plan(&[Method::Direct]));
    let (up, down) = both(&findings, "direct", |s| s.write_us.clone().unwrap().median.value);
    near(up, 40.0);
    near(down, 40.0);
}

#[test]
fn direct_finds_write_and_stall_together_where_the_hardware_acts_at_once() {
    let findings = measured(costs(40.0, (150.0, 100.0), (0.0, 0.0), None), plan(&Method::ALL));
    let (up, down) = both(&findings, "direct", |s| s.write_us.clone().unwrap().median.value);
    near(up, 190.0);
    near(down, 140.0);
    // Nobody can tell which is which, and that is said.
    assert!(both(&findings, "detect", |s| s.stall_us.is_none()) == (true, true));
    assert!(findings.notes.iter().any(|note| note.contains("no stall is recorded apart")));
}

#[test]
fn windowed_finds_the_identifiable_combination_of_both_directions() {
    for (write, up, down) in [(0.0, 170.0, 170.0), (0.0, 200.0, 50.0), (30.0, 50.0, 200.0)] {
        let findings =
            measured(costs(write, (up, down), (0.0, 0.0), None), plan(&[Method::Windowed]));
        let expected = ((write + up) * 1200.0 + (write + down) * 600.0) / 1800.0;
        for pair in &findings.windowed {
            assert_eq!(pair.refused, None, "{pair:?}");
            near(pair.median_us.value, expected);
        }
        assert_eq!(findings.windowed.len(), 2, "windows of 1 and 2 ms");
        assert!(findings.notes.iter().any(|note| note.contains("cannot be told apart")));
    }
}

#[test]
fn windowed_is_blind_to_a_delay_that_is_the_same_both_ways() {
    // 100 us at the old speed after each write: nothing is lost on the whole, and nothing is seen.
    let findings =
        measured(costs(0.0, (0.0, 0.0), (100.0, 100.0), None), plan(&[Method::Windowed]));
    for pair in &findings.windowed {
        let why = pair.refused.as_deref().unwrap_or_default();
        assert!(why.contains("told from 0") || pair.median_us.value < 3.0, "{pair:?}");
    }
}

#[test]
fn windowed_refuses_what_comes_close_to_the_window() {
    let findings =
        measured(costs(0.0, (950.0, 950.0), (0.0, 0.0), None), plan(&[Method::Windowed]));
    let short = findings.windowed.iter().find(|pair| pair.window_us == 1000.0).unwrap();
    assert!(short.refused.as_deref().unwrap().contains("close to the window"), "{short:?}");
    let long = findings.windowed.iter().find(|pair| pair.window_us == 2000.0).unwrap();
    near(long.median_us.value, 950.0);
}

#[test]
fn detect_finds_the_transition() {
    let findings = measured(costs(20.0, (0.0, 0.0), (150.0, 90.0), None), plan(&[Method::Detect]));
    let (up, down) = both(&findings, "detect", |s| s.transition_us.clone().unwrap().median.value);
    near(up, 170.0);
    near(down, 110.0);
    let (up, down) = both(&findings, "detect", |s| s.write_us.clone().unwrap().median.value);
    near(up, 20.0);
    near(down, 20.0);
    let (up, down) = both(&findings, "detect", |s| s.valid_share());
    assert_eq!((up, down), (1.0, 1.0));
    assert!(findings.grids[0].grid.is_none(), "{:?}", findings.grids);
}

#[test]
fn detect_finds_a_grid_that_nobody_named_and_splits_by_it() {
    let findings = measured(
        costs(10.0, (0.0, 0.0), (365.0, 395.0), Some(1000.01)),
        Plan { trials: 600, ..plan(&[Method::Detect]) },
    );
    let grid = findings.grids[0].grid.expect("a grid");
    assert!((grid.period_us.value - 1000.01).abs() < 0.02, "{grid:?}");
    assert!(grid.coherence > 0.99 && grid.writes_coherence < 0.2, "{grid:?}");
    let (up, down) = both(&findings, "detect", |s| s.split.expect("a split"));
    near(up.fixed_us.value, 375.0);
    near(down.fixed_us.value, 405.0);
    assert!(up.fits && down.fits);
}

#[test]
fn detect_finds_a_stall_that_comes_after_the_write() {
    let findings = measured(
        costs(5.0, (40.0, 25.0), (60.0, 50.0), Some(500.0)),
        Plan { trials: 600, ..plan(&[Method::Detect]) },
    );
    let (up, down) =
        both(&findings, "detect", |s| s.stall_us.clone().expect("a stall").median.value);
    near(up, 40.0);
    near(down, 25.0);
    let (up, down) = both(&findings, "detect", |s| s.split.expect("a split").fixed_us.value);
    near(up, 65.0);
    near(down, 55.0);
}

#[test]
fn levels_of_one_speed_are_refused() {
    let mut platform = Platform::named("imx8qm").unwrap();
    let points = &mut platform.domains[0].points;
    points[1].effective = points[0].effective;
    let mut model = Model::new(&platform.domains[0]).unwrap();
    let mut memory = Memory::default();
    let levels = vec![KiloHertz(600_000), KiloHertz(896_000)];
    run(
        &mut model,
        &Plan { levels, trials: 10, ..plan(&[Method::Windowed, Method::Detect]) },
        &mut memory,
    )
    .unwrap();
    let findings = analyse(&memory.0, 1);
    assert!(findings.switches.is_empty(), "{findings:?}");
    assert!(findings.refused[0].contains("cannot be told apart"), "{:?}", findings.refused);
    assert!(findings.windowed.iter().all(|pair| pair.refused.is_some()));
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let rows = || {
        let platform = Platform::named("zen2").unwrap();
        let mut model = Model::new(&platform.domains[0]).unwrap();
        let mut memory = Memory::default();
        run(&mut model, &Plan { trials: 5, runs: 2, ..Plan::default() }, &mut memory).unwrap();
        memory.0
    };
    assert_eq!(rows().tables, rows().tables);
}

#[test]
fn an_unknown_level_is_named() {
    let platform = Platform::named("imx8qm").unwrap();
    let mut model = Model::new(&platform.domains[0]).unwrap();
    let levels = vec![KiloHertz(600_000), KiloHertz(700_000)];
    let error =
        run(&mut model, &Plan { levels, ..Plan::default() }, &mut Memory::default()).unwrap_err();
    assert!(error.to_string().contains("700 MHz"), "{error}");
}
