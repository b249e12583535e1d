//! Schedutil in the shadow of a simulation under schedutil.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use flyball_replay::shadow::{Answer, Ask, Source, shadow};
use flyball_run::{Run, RunWriter};
use flyball_sim::record::manifest;
use flyball_sim::scenario::{self, EXAMPLES, Scenario};
use flyball_sim::sweep::record_phase;
use flyball_units::Nanos;

fn simulated(name: &str) -> (Scenario, Run) {
    let text = EXAMPLES.iter().find(|example| example.name == name).unwrap().text;
    let scenario = scenario::read(text, scenario::Source::text_only(name, name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let manifest = manifest("sim", &scenario);
    let mut writer = RunWriter::create(&dir, &manifest).unwrap();
    record_phase(&scenario, 0, 0, &mut writer, &|| false).unwrap().unwrap();
    writer.finish(&manifest).unwrap();
    let run = Run::open(&dir).unwrap();
    (scenario, run)
}

fn answer(name: &str) -> Answer {
    let (scenario, run) = simulated(name);
    let ask = Ask {
        choice: "schedutil:rate_limit_us=10000".parse().unwrap(),
        platform: Some(scenario.platform),
        kernel: Some(scenario.kernel),
        tolerance: Nanos::from_micros(500),
        clamps: Vec::new(),
    };
    shadow(Source::Run(&run), &ask).unwrap()
}

/// One task on eight CPUs: seven of them stay idle and have no signal at all.
#[test]
fn idle_cpus_do_not_silence_their_domain() {
    let answer = answer("rampup-m1");
    let report = &answer.trials[0].report;
    assert!(report.updates > 100, "{}", report.updates);
    assert_eq!((report.predicted, report.changes), (13, 18), "{:?}", report.missed);
    assert!(!answer.predicts_nothing());
}
