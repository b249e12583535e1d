//! `flyball reproduce` as a user meets it.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{folder, run};

#[test]
fn the_table_its_filters_and_its_figures() {
    let dir = folder();
    let (code, stdout, stderr) = run(dir.path(), &["reproduce", "--id", "E.margin"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("E.margin.160.threshold ") && stdout.contains("Summary"), "{stdout}");

    let (code, json, _) = run(dir.path(), &["reproduce", "-s", "c", "--format", "json"]);
    assert_eq!(code, 0);
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(all["schema"], "flyball-reproduction/1");
    assert!(all["rows"].as_array().unwrap().iter().all(|row| row["source"] == "C"));

    let figures = ["reproduce", "--id", "C.slice", "--figures", "f"];
    let (code, stdout, stderr) = run(dir.path(), &figures);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Figure 5"), "{stdout}");
    assert!(dir.path().join("f/figure-4-powerd-decay.svg").exists());
}

#[test]
fn an_answer_within_a_screen_and_the_rest_on_demand() {
    let dir = folder();
    let (code, stdout, stderr) = run(dir.path(), &["reproduce", "-s", "C"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.lines().count() < 25 && stdout.contains("C.old-rule.range"), "{stdout}");
    assert!(!stdout.contains("C.slice") && stdout.contains("--verbose"), "{stdout}");

    let (_, summary, _) = run(dir.path(), &["reproduce", "-s", "C", "--summary"]);
    assert!(summary.contains("not decidable") && !summary.contains("C.old-rule"), "{summary}");

    let (_, all, _) = run(dir.path(), &["reproduce", "-s", "C", "-v"]);
    assert!(all.contains("C.slice") && all.contains("how: "), "{all}");
}

#[test]
fn how_far_ours_stays_from_a_bound_is_no_difference() {
    let dir = folder();
    let arguments = ["reproduce", "--id", "A.check.trap.first-powersave", "--format", "json"];
    let (_, json, stderr) = run(dir.path(), &arguments);
    let all: serde_json::Value = serde_json::from_str(&json).expect(&stderr);
    let row = &all["rows"][0];
    assert_eq!(
        (&row["verdict"], row["why"].as_str()),
        (&"reproduced".into(), Some("at most 43 %"))
    );
    assert!(row["difference_percent"].is_null() && row["difference"] == -43.0, "{row}");
}

#[test]
fn what_does_not_exist_is_named() {
    let dir = folder();
    for (arguments, code, words) in [
        (&["reproduce", "-s", "X"][..], 2, "expected one of A, B, C, D, E, found X"),
        (&["reproduce", "--id", "E.nothing"], 2, "no published number fits"),
        (&["reproduce", "--data", "nowhere"], 3, "expected a folder, found nowhere"),
    ] {
        let (found, _, stderr) = run(dir.path(), arguments);
        assert_eq!(found, code, "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
}
