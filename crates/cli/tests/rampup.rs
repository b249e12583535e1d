//! `flyball rampup` on machines, as a user meets it.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{folder, run};
use serde_json::Value;

const SHORT: &[&str] =
    &["rampup", "--machine", "host", "--duration", "20ms", "--repeats", "5", "--quiet"];

#[test]
fn this_machine_is_measured_and_read_again() {
    let dir = folder();
    let arguments = [SHORT, &["--gap", "1ms,5ms", "--out", "r"]].concat();
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for words in ["highest settled rate: ", "1 ms", "5 ms", "began on", "Run          r"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let (code, again, stderr) = run(dir.path(), &["report", "r"]);
    assert_eq!((code, without_page(&again)), (0, without_page(&stdout)), "{stderr}");
    let (code, json, _) = run(dir.path(), &["report", "r", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json["rampups"][0]["cells"][1]["gap_ms"].as_f64()), (0, Some(5.0)));
    let (code, _, stderr) = run(dir.path(), &["report", "r", "--fail-if", "p99 > +5%"]);
    assert_eq!(code, 7, "what cannot be decided is neither held nor failed\n{stderr}");
    let (code, csv, _) = run(dir.path(), &["report", "r", "--format", "csv"]);
    assert!(code == 0 && csv.starts_with("run,condition,figure,statistic,value_us"), "{csv}");
    let files = ["report", "r", "--figures", "f", "--page", "p.html", "--bundle", "b.tar.gz"];
    let (code, _, stderr) = run(dir.path(), &files);
    assert_eq!(code, 0, "{stderr}");
    for file in ["f/rampup.svg", "p.html", "b.tar.gz"] {
        assert!(dir.path().join(file).exists(), "{file}");
    }
}

/// Without the line that says where the page is.
fn without_page(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("Page ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_machine_and_a_model_side_by_side() {
    let dir = folder();
    let beside = ["--machine", "model:apple-m1", "--phases", "2", "--gap", "2ms", "--sleeps", "3"];
    let arguments = [SHORT, &beside, &["--variant", "now:", "--out", "r"]].concat();
    let (code, stdout, stderr) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{stderr}");
    for words in ["now, 3 x 2 ms", "host", "model:apple-m1", "to 99 % of the highest rate"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let (code, again, stderr) = run(dir.path(), &["report", "r/1-host", "r/2-model-apple-m1"]);
    assert_eq!((code, again), (0, stdout), "{stderr}");
}
