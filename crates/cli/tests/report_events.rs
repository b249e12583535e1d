//! `flyball report` on simulations, ramps and sweeps.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{folder, run};

const QUICK: &[&str] = &["--set", "duration=1200ms", "--phases", "2"];

#[test]
fn a_simulation_is_reported() {
    let dir = folder();
    let dir = dir.path();
    for name in ["job-tick", "job-powerd"] {
        let sim = ["sim", name, "--out", name, "--record", "full", "--phases", "2"];
        assert_eq!(run(dir, &sim).0, 0, "{name}");
    }
    let (code, stdout, stderr) = run(dir, &["report", "job-tick", "--figures", "figures"]);
    assert_eq!(code, 0, "{stderr}");
    for words in ["platform ", "phases 2", "Work items", "Clock domains", "Residency", "Causes"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    assert!(!stdout.contains("No windows"), "{stdout}");
    let page = fs_err::read_to_string(dir.join("job-tick/report.html")).unwrap();
    assert!(page.contains("<section id=\"timeline\"") && page.contains("<section id=\"tables\""));
    assert!(dir.join("figures/timeline.svg").exists());
    assert!(!dir.join("figures/governor_comparison.svg").exists());

    let (code, stdout, stderr) =
        run(dir, &["report", "job-tick", "job-powerd", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let runs = report["events"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["points"][0]["phases"], 2);
        assert!(run["trials"][0]["items"][0]["done"].as_u64().unwrap() > 0);
        assert!(!run["trials"][0]["domains"][0]["residency"].as_array().unwrap().is_empty());
    }
    let (_, stdout, _) = run(dir, &["report", "job-tick", "--format", "csv"]);
    assert!(stdout.contains("latency_p99_us"), "{stdout}");
    // A rule about what was not measured cannot pass.
    let rule = ["report", "job-tick", "--fail-if", "p99 > 5ms"];
    assert_eq!(run(dir, &rule).0, 1);
}

#[test]
fn ramps_and_sweeps_are_reported() {
    let dir = folder();
    let dir = dir.path();
    let ramp = [
        &["rampup", "--machine", "model:apple-m1", "--phases", "2", "--out", "ramp"][..],
        &["--variant", "default: rate_limit_us=10000", "--variant", "70 us: rate_limit_us=70"],
    ]
    .concat();
    assert_eq!(run(dir, &ramp).0, 0);
    let (code, stdout, stderr) = run(dir, &["report", "ramp"]);
    assert_eq!(code, 0, "{stderr}");
    for words in ["default (schedutil), 70 us", "70 us: util_avg", "first mark, `spin`"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let sweep =
        [&["sim", "rampup-m1", "--out", "sweep", "--sweep", "hz=100,250"][..], QUICK].concat();
    assert_eq!(run(dir, &sweep).0, 0);
    let (code, stdout, stderr) = run(dir, &["report", "sweep"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("points 2") && stdout.contains("no events were kept"), "{stdout}");
}
