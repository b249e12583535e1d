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
    for words in ["highest settled rate: ", "1 ms", "5 ms", "began on", "Run   r"] {
        assert!(stdout.contains(words), "expected {words}\n{stdout}");
    }
    let (code, again, stderr) = run(dir.path(), &["report", "r"]);
    assert_eq!((code, again), (0, stdout), "{stderr}");
    let (code, json, _) = run(dir.path(), &["report", "r", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json["machines"][0]["cells"][1]["gap_ms"].as_f64()), (0, Some(5.0)));
    let (code, _, stderr) = run(dir.path(), &["report", "r", "--fail-if", "p99 > +5%"]);
    assert_eq!(code, 2, "{stderr}");
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
