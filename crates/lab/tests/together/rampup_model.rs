//! A model leaves the same tables, and the same questions have its answers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use flyball_host::RealHost;
use flyball_lab::protocol::rampup::Variant;
use flyball_lab::protocol::rampup::ask::Ask;
use flyball_lab::protocol::rampup::model::{Case, run};
use flyball_lab::session::{Destination, Silent};
use flyball_report::kinds::rampup::analyse;
use flyball_report::kinds::rampup::analysis::Ramp;
use flyball_run::manifest::{CpuRecord, Machine};
use flyball_run::{Run, RunState};
use flyball_sim::scenario::{Scenario, Source, from_tree, parse_text};
use flyball_units::Nanos;

const TEXT: &str = "platform = \"apple-m1\"\nphases = 6\nduration = \"1300ms\"\n\
                    [[task]]\nkind = \"rampup\"\nsleeps = 100\ngap = \"10ms\"\n";

fn scenario() -> Scenario {
    let tree = parse_text(TEXT, "test").unwrap();
    from_tree(&tree, Source::text_only("test", "rampup")).unwrap()
}

#[test]
fn a_ramp_on_an_m1() {
    let scenario = scenario();
    let cpu = |cpu: &flyball_platform::Cpu| CpuRecord {
        cpu: cpu.id.0,
        core_type: Some(cpu.core_type.clone()),
        ..CpuRecord::default()
    };
    let machine =
        Machine { cpus: scenario.platform.cpus.iter().map(cpu).collect(), ..Machine::default() };
    let case =
        Case { condition: "as it is".into(), gap: Nanos::from_millis(10), sleeps: 100, scenario };
    let folder = tempfile::tempdir().unwrap();
    let destination = Destination::Dir(folder.path().join("run"));
    let host = RealHost::new();
    let left = run(&[case], ("model:apple-m1", machine), &host, &destination, &mut Silent).unwrap();
    let left = left.outcome;
    assert_eq!(left.state, RunState::Complete);
    let found = analyse(&Run::open(left.dir).unwrap());
    assert_eq!(found.name, "model:apple-m1");
    let cell = &found.cells[0];
    assert_eq!(cell.repetitions, 6);
    let Ramp::Visible { lowest, .. } = cell.ramp else { panic!("{:?}", cell.ramp) };
    assert!(lowest < 0.5, "it begins on a small core at a low frequency: {lowest}");
    let times: Vec<f64> =
        cell.times.iter().map(|time| time.quantiles.median.unwrap().estimate.value).collect();
    assert!(times.is_sorted() && times[0] > 50.0, "{times:?}");
    // The spin of 300 ms is on the two kinds of core together.
    let on: f64 = cell.cores.iter().map(|on| on.quantiles.median.unwrap().estimate.value).sum();
    assert!((on - 300.0).abs() < 10.0, "{on}");
    assert_eq!(cell.utilization.len(), 2);
}

#[test]
fn a_ramp_is_the_kernels_own_where_it_has_one() {
    let ramps = |kernel: &str, words: &str| {
        let variant = Variant::usual(false).with("fast", words).unwrap();
        let ask = Ask {
            words: Vec::new(),
            variants: vec![variant],
            spin: Nanos::from_millis(100),
            repeats: 1,
            phases: 1,
            seed: 1,
            events: None,
        };
        let cases = ask.cases("apple-m1", kernel).map_err(|error| error.to_string())?;
        let task = &cases[0].scenario.tasks[0];
        Ok::<_, String>((task.rampup_multiplier, task.clamp_ramp))
    };
    assert_eq!(ramps("linux-6.12", "ramp=4"), Ok((None, Some(4))));
    assert_eq!(ramps("linux-6.12", "ramp=2 ramp=4"), Ok((None, Some(4))));
    for words in ["series ramp=4", "ramp=4 series", "ramp=4 features.util_est_ramp_up=true"] {
        assert_eq!(ramps("linux-6.12", words), Ok((Some(4), None)), "{words}");
    }
    // As its file says, without a word.
    assert_eq!(ramps("linux-6.10-series", "ramp=4"), Ok((Some(4), None)));
    let refused = ramps("debian-6.12", "ramp=4").unwrap_err();
    assert!(refused.contains("utilisation clamps"), "{refused}");
    let refused = ramps("linux-6.12", "ramp=65").unwrap_err();
    assert!(refused.contains("from 1 to 64"), "{refused}");
}
