//! `flyball report` on simulations, ramps and sweeps.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run};

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
    assert_eq!(run(dir, &rule).0, 7);
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
    for words in ["default, 100 x 10 ms", "70 us, 100 x 10 ms", "to utilisation 450"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let sweep =
        [&["sim", "rampup-m1", "--out", "sweep", "--sweep", "hz=100,250"][..], QUICK].concat();
    assert_eq!(run(dir, &sweep).0, 0);
    let (code, stdout, stderr) = run(dir, &["report", "sweep"]);
    assert_eq!(code, 0, "{stderr}");
    let manifest = fs_err::read_to_string(dir.join("sweep/run.toml")).unwrap();
    assert!(manifest.contains("# sweep: hz=100,250") && manifest.contains("--sweep"), "{manifest}");
    assert!(stdout.contains("points 2") && stdout.contains("no events were kept"), "{stdout}");
}

#[test]
fn a_sweep_is_drawn() {
    let dir = folder();
    let dir = dir.path();
    let axes = ["--sweep", "hz=100,250", "--sweep", "governor.rate_limit_us=0,10000"];
    let sweep = [&["sim", "rampup-m1", "--out", "sweep"][..], &axes, QUICK].concat();
    assert_eq!(run(dir, &sweep).0, 0);
    let (code, _, stderr) = run(dir, &["report", "sweep", "--figures", "figures"]);
    assert_eq!(code, 0, "{stderr}");
    let map = fs_err::read_to_string(dir.join("figures/sweep-map.svg")).unwrap();
    assert!(map.contains("hz 100, governor.rate_limit_us 0: "), "{map}");
    assert!(dir.join("figures/sweep.png").exists());
    let page = fs_err::read_to_string(dir.join("sweep/report.html")).unwrap();
    assert!(page.contains("<section id=\"sweep\""), "a section of the page");
}

#[test]
fn several_runs_on_each_side() {
    let dir = folder();
    let dir = dir.path();
    for (name, governor) in [("old", "performance"), ("new", "powersave")] {
        for seed in ["1", "2", "3"] {
            let out = format!("{name}{seed}");
            let sim =
                ["sim", "job-tick", "--set", &format!("governor.name={governor}"), "--seed", seed];
            let more = ["--out", &out, "--record", "full"];
            assert_eq!(run(dir, &[&sim[..], &more, QUICK].concat()).0, 0, "{out}");
        }
    }
    let sides = ["report", "new1", "new2", "new3", "--against", "old1", "old2", "old3"];
    let (code, stdout, stderr) = run(dir, &[&sides[..], &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let comparisons = report["traces"].as_array().unwrap();
    assert_eq!(comparisons.len(), 1);
    assert_eq!(comparisons[0]["title"], "new1 and 2 more against old1 and 2 more");
    assert_eq!(comparisons[0]["units"], "3 recordings on each side");
    assert_eq!(report["events"].as_array().unwrap().len(), 6);
    let (code, _, stderr) = run(dir, &["report", "--against", "old1"]);
    assert_eq!(code, 2, "{stderr}");

    for (name, ms) in [("fast1", 5), ("fast2", 6), ("slow1", 50), ("slow2", 60), ("slow3", 55)] {
        let rows = (0..40).map(|at| format!("{}\n", ms * 1000 + at));
        let text = format!("lat\n{}", rows.collect::<String>());
        fs_err::write(dir.join(format!("{name}.csv")), text).unwrap();
    }
    let files =
        ["report", "slow1.csv", "slow2.csv", "slow3.csv", "--against", "fast1.csv", "fast2.csv"];
    let options = ["--map", "latency_us=lat", "--format", "json"];
    let (code, stdout, stderr) = run(dir, &[&files[..], &options].concat());
    assert_eq!(code, 0, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let repeats: Vec<u64> =
        report["cells"].as_array().unwrap().iter().filter_map(|c| c["repeats"].as_u64()).collect();
    assert_eq!(repeats, [2, 3], "each file is one repeat: {}", report["cells"]);
    let (code, _, stderr) =
        run(dir, &["report", "new1", "--map", "latency_us=lat", "--against", "fast1.csv"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("all hold windows or all hold events, found new1"), "{stderr}");
}

/// Output of `go test -bench` whose times differ between runs by some percent, as they do.
fn benchmark(run: u64, slower: f64) -> String {
    let line = |at: u64| {
        let ns = (2.0 + 0.004 * (run % 3) as f64 + 0.001 * (at % 3) as f64) * slower;
        format!("BenchmarkAdd-2 \t 1000000 \t {ns:.4} ns/op\n")
    };
    format!("goos: linux\n{}PASS\n", (0..5).map(line).collect::<String>())
}

#[test]
fn benchmark_files_on_each_side() {
    let dir = folder();
    let dir = dir.path();
    for at in 0..6 {
        fs_err::write(dir.join(format!("old{at}")), benchmark(at, 1.0)).unwrap();
        fs_err::write(dir.join(format!("new{at}")), benchmark(at, 1.1)).unwrap();
    }
    let judged = |new: &[&str], old: &[&str]| {
        let sides = [&["report", "--format", "json"], new, &["--against"], old].concat();
        let (code, stdout, stderr) = run(dir, &sides);
        assert_eq!(code, 0, "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let found = &report["comparisons"][0];
        let text = |key: &str| found[key].as_str().unwrap().to_owned();
        (text("verdict"), text("sentence"), found["ratio"]["value"].as_f64().unwrap())
    };
    let (new, old) = (["new0", "new1", "new2"], ["old3", "old4", "old5"]);
    let (verdict, sentence, ratio) = judged(&new, &old);
    assert_eq!(verdict, "effect", "{sentence}");
    assert!((ratio - 1.1).abs() < 0.005, "two nanoseconds keep their fractions: {ratio}");
    let (verdict, sentence, _) = judged(&["old0", "old1", "old2"], &old);
    assert_eq!(verdict, "equivalent", "{sentence}");
    for few in [1, 2] {
        let (verdict, sentence, _) = judged(&new[..few], &old[..few]);
        assert_eq!(verdict, "undecided", "{sentence}");
        assert!(sentence.contains("3 runs a side would tell"), "{sentence}");
    }
}

#[test]
fn a_device_is_told_from_the_way_to_it() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/cortex-linux-2026-02-28");
    if fs_err::metadata(data).is_err() {
        eprintln!("skipped: {data} is not here");
        return;
    }
    let dir = folder();
    let (code, stdout, stderr) = run(dir.path(), &["report", data, "--verbose"]);
    assert_eq!(code, 0, "{stderr}");
    let stdout = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["car 18.2 of 373 us", "P, inferred", "2.06 GHz claimed", "2.9", "to 3.2", "P cores"]
    {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
}
