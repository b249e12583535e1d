//! `flyball govern` as a user meets it, on whatever machine this is: nothing is written.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{folder, run};
use std::path::Path;

const LOG: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../govern/tests/fixtures/board-powerd.ndjson");

#[test]
fn what_cannot_be_is_refused() {
    let dir = folder();
    for (arguments, code, words) in [
        (vec!["govern", "schedutil"], 4, "utilisation"),
        (vec!["govern", "threshold", "--dry-run"], 4, "utilisation"),
        (vec!["govern", "tick:idle_hook_us=5", "--dry-run"], 4, "idle loop"),
        (vec!["govern", "powerdd"], 2, "did you mean `powerd`?"),
        (vec!["govern", "powerd:poll_ival"], 2, "a tunable with a whole number"),
        (vec!["govern", "powerd:poll=1"], 2, "has no tunable `poll`"),
        (vec!["govern", "powerd", "--cpus", "x"], 2, "--cpus: expected CPU numbers"),
        (vec!["govern", "ctl", "nonsense"], 2, "status, switch POLICY"),
        (vec!["govern", "ctl", "status", "--socket", "no/such.sock"], 3, "is it running"),
        (vec!["govern", "replay", "no-such-log"], 3, "no-such-log"),
    ] {
        let (found, _, stderr) = run(dir.path(), &arguments);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

/// Nothing decided is not "0 different".
#[test]
fn a_log_without_a_decision_is_refused() {
    let dir = folder();
    for text in ["", "\n", "[[[["] {
        fs_err::write(dir.path().join("log"), text).unwrap();
        for format in ["text", "json"] {
            let arguments = ["govern", "replay", "log", "--format", format];
            let (code, stdout, stderr) = run(dir.path(), &arguments);
            assert_eq!((code, stdout.as_str()), (3, ""), "{text:?}: {stderr}");
            assert!(stderr.contains("log"), "{text:?}: {stderr}");
        }
    }
}

#[test]
fn the_outline_needs_no_rights() {
    let dir = folder();
    let (code, stdout, stderr) = run(dir.path(), &["govern", "powerd", "--dry-run"]);
    match Path::new("/sys/devices/system/cpu/cpufreq/policy0").exists() {
        true => assert!(code == 0 && stdout.contains("poll_ival"), "{stderr}"),
        false => assert!(code == 4 && stderr.contains("cpufreq policies"), "{stderr}"),
    }
}

#[test]
fn a_log_of_a_board_is_replayed() {
    let dir = folder();
    // It was written before logs said that they ended.
    let (code, stdout, stderr) = run(dir.path(), &["govern", "replay", LOG]);
    let undecided = code == 7 && stdout.starts_with("Not whole");
    assert!(undecided && stdout.contains(" 0 different"), "{stdout}{stderr}");
    let ended = "{\"kind\":\"note\",\"t_ns\":0,\"domain\":null,\"note\":\"ended\"}\n";
    let whole = fs_err::read_to_string(LOG).unwrap() + ended;
    fs_err::write(dir.path().join("whole"), whole).unwrap();
    let (code, stdout, stderr) = run(dir.path(), &["govern", "replay", "whole"]);
    assert!(code == 0 && stdout.contains(" 0 different"), "{stdout}{stderr}");
    let changed = fs_err::read_to_string(LOG).unwrap().replacen("hadp: ", "hadp? ", 1);
    fs_err::write(dir.path().join("changed"), changed).unwrap();
    let (code, stdout, _) = run(dir.path(), &["govern", "replay", "changed", "--format", "json"]);
    assert_eq!(code, 1, "{stdout}");
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["different"].as_array().unwrap().len(), 1);
}
