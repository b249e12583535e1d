//! `flyball replay shadow`, and `flyball report` on the text of a trace.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run, shared_data};
use serde_json::Value;
use std::path::PathBuf;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../events/tests/golden/ramp.txt")
}

fn shadow(trace: &str, platform: &str) -> Option<(String, Value)> {
    let trace = shared_data("board-rampup")?.join(trace);
    let dir = folder();
    let platform = format!("model:{platform}");
    let arguments = ["replay", "shadow", trace.to_str().unwrap(), "--machine", &platform];
    let (code, text, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    let (code, json, stderr) = run(dir.path(), &[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    Some((text, serde_json::from_str(&json).unwrap()))
}

/// Changes, predicted, missed and alone of the only trial; every miss has a reason.
fn counts(found: &Value) -> (u64, u64, usize, usize) {
    let report = &found["shadow"]["trials"][0]["report"];
    let list = |name: &str| report[name].as_array().unwrap().clone();
    for miss in list("missed").iter().chain(&list("alone")) {
        assert!(!miss["why"].as_str().unwrap().is_empty());
    }
    let number = |name: &str| report[name].as_u64().unwrap();
    (number("changes"), number("predicted"), list("missed").len(), list("alone").len())
}

#[test]
fn schedutil_explains_the_aarch64_kernel() {
    let Some((text, found)) = shadow("rampup-arm64.trace", "board-aarch64") else { return };
    assert_eq!(counts(&found), (23, 22, 1, 0), "{text}");
    assert!(text.contains("predicts 22 of 23 changes (95.7 %)"), "{text}");
    assert!(text.contains("little (cpu0,1)") && text.contains("not yet shown"), "{text}");
}

#[test]
fn the_x86_kernels_misses_have_their_reasons() {
    let Some((text, found)) = shadow("rampup-x86.trace", "board-x86") else { return };
    assert_eq!(counts(&found), (21, 18, 3, 3), "{text}");
    assert!(text.contains("Missed") && text.contains("Decided alone"), "{text}");
}

#[test]
fn a_small_trace_is_enough() {
    let dir = folder();
    let trace = golden();
    let (code, text, stderr) = run(dir.path(), &["replay", "shadow", trace.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("predicts 5 of 7 changes (71.4 %) and decides once alone"), "{text}");
    assert!(text.contains("no signal was recorded since"), "{text}");
    assert!(text.contains("limits and operating points are those seen"), "{text}");
}

#[test]
fn what_cannot_be_shadowed_is_told() {
    let dir = folder();
    let trace = golden();
    let trace = trace.to_str().unwrap();
    for (arguments, code, words) in [
        (vec!["replay", "shadow", trace, "--governor", "ondemand"], 4, "its own polls"),
        (vec!["replay", "shadow", trace, "--governor", "shedutil"], 2, "did you mean `schedutil`"),
        (vec!["replay", "shadow", trace, "--governor", "schedutil:x=1"], 2, "no tunable `x`"),
        (vec!["replay", "shadow", trace, "--machine", "model:rk3399,kernel=no"], 2, "kernels: "),
        (vec!["replay", "shadow", "nothing.txt"], 3, "nothing.txt"),
        (vec!["replay", "shadow", trace, "--tolerance", "soon"], 2, "--tolerance"),
    ] {
        let (found, _, stderr) = run(dir.path(), &arguments);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
    fs_err::write(dir.path().join("other.toml"), "title = 1\n").unwrap();
    let (code, _, stderr) = run(dir.path(), &["replay", "shadow", trace, "-m", "model:other.toml"]);
    assert_eq!(code, 3, "{stderr}");
}

#[test]
fn a_trace_is_reported_as_it_is() {
    let dir = folder();
    let trace = golden();
    let trace = trace.to_str().unwrap();
    let (code, text, stderr) = run(dir.path(), &["report", trace]);
    assert_eq!(code, 0, "{stderr}");
    for words in
        ["Tasks: shares of the time", "spin-70", "CPUs: busy", "state 1", "utilization (cpu0)"]
    {
        assert!(text.contains(words), "expected {words}\n{text}");
    }
    let (code, json, stderr) =
        run(dir.path(), &["report", trace, "--task", "spin", "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&json).unwrap();
    let trial = &report["events"][0]["trials"][0];
    assert_eq!(trial["detail"]["task"], "spin");
    assert_eq!(trial["tasks"][0]["wakeup_median_us"], 20.0);
    assert_eq!(trial["domains"][0]["changes"][0]["cause"], "utilization (cpu0 400)");
    assert_eq!(trial["cpus"][0]["idle"][0]["state"], 1);
    // Two side by side, with a page.
    let (code, text, stderr) = run(dir.path(), &["report", trace, trace, "--page", "both.html"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("ramp.txt (2)"), "{text}");
    let page = fs_err::read_to_string(dir.path().join("both.html")).unwrap();
    for id in ["tasks", "cpus", "levels", "running", "utilization", "idle", "changes"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let (code, _, stderr) = run(dir.path(), &["report", trace, "--task", "nobody"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("those that ran longest: spin"), "{stderr}");
}
