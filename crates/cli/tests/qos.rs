//! `flyball qos` as a user meets it, without a clamp on this machine: sessions in virtual time are the crate
//! `qos`'s, those on a real kernel `scripts/try-qos`'s.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{flyball, folder};
use std::path::Path;

/// Exit code, stdout and stderr of `flyball qos ARGUMENTS` with the journal below `dir`.
fn qos(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = flyball(dir);
    command.env("FLYBALL_STATE", dir.join("state")).arg("qos").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Whether this machine could do it, so that what is refused elsewhere is not here.
fn is_possible(dir: &Path) -> bool {
    qos(dir, &["status"]).0 == 0
}

#[test]
fn the_command_line_is_checked_first() {
    let dir = folder();
    for (arguments, expected) in [
        (&["--ramp", "4"][..], "--cgroup, --user or -- CMD"),
        (&["--socket", "--ramp", "4"], "--cgroup, --user or -- CMD"),
        (&["--socket", "--class", "ui"], "--cgroup, --user or -- CMD"),
        (&["--thread", "x"], "--thread"),
        (&["measure", "--predict", "host"], "expected a model (model:NAME), found host"),
        (&["measure", "--ramp", "4", "--margin", "much"], "--margin"),
        (&["--ramp", "0", "--", "true"], "--ramp"),
        (
            &["--ramp", "4", "--reach", "80%", "--within", "20ms", "--", "true"],
            "cannot be used with",
        ),
        (&["--reach", "80%", "--", "true"], "--within"),
        (&["--reach", "80%", "--within", "5ms", "--", "true"], "9ms or more for 80 %"),
        (&["--reach", "fast", "--within", "20ms", "--", "true"], "percent above 0"),
        (&["--pid", "1", "--", "true"], "cannot be used with"),
        (&["--recover", "--ramp", "4"], "cannot be used with"),
        (&["--class", "audo", "--", "true"], "did you mean \"audio\"?"),
        (&["--class", "ui", "--ramp", "4", "--", "true"], "cannot be used with"),
        (&["--class", "ui", "--rules", "qos.toml"], "cannot be used with"),
        (&["--name", "no-such-name-here", "guard"], "unexpected argument 'guard'"),
    ] {
        let (code, _, stderr) = qos(dir.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(!dir.path().join("state").exists());
}

#[test]
fn a_file_that_is_no_rules_is_named_with_its_place() {
    let dir = folder();
    fs_err::write(dir.path().join("qos.toml"), "[[rule]]\nclass = \"uj\"\n").unwrap();
    let (code, _, stderr) = qos(dir.path(), &["--rules", "qos.toml"]);
    assert_eq!(code, 3, "{stderr}");
    let expected =
        "qos.toml: rule 1: class: expected a class (audio, background, render, ui), found";
    assert!(stderr.contains(expected), "{stderr}");
    let (code, _, stderr) = qos(dir.path(), &["--rules", "none.toml"]);
    assert!(code == 3 && stderr.contains("none.toml"), "{code} {stderr}");
}

#[test]
fn rules_of_a_socket_alone_take_a_socket() {
    let dir = folder();
    fs_err::write(dir.path().join("qos.toml"), "[socket]\n").unwrap();
    let (code, _, stderr) = qos(dir.path(), &["--rules", "qos.toml"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("expected a rule or more, or a socket, found neither"), "{stderr}");
    fs_err::write(dir.path().join("qos.toml"), "[socket]\nramp = 0\n").unwrap();
    let (code, _, stderr) = qos(dir.path(), &["--rules", "qos.toml", "--socket"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("qos.toml: socket: ramp: expected 1 to 64, found 0"), "{stderr}");
}

#[test]
fn where_it_cannot_be_done_it_says_why_and_what_can_be_had() {
    let dir = folder();
    if is_possible(dir.path()) {
        return eprintln!("skipped: this machine can do it");
    }
    let (code, stdout, stderr) = qos(dir.path(), &["status"]);
    assert_eq!((code, stdout.as_str()), (4, "no controller runs, and none left anything\n"));
    assert!(stderr.contains("expected") && stderr.contains("hint: "), "{stderr}");
    assert_eq!(qos(dir.path(), &["--pid", "1"]).0, 4);
    // CMD's own codes are not to be taken for it.
    assert_eq!(qos(dir.path(), &["--", "true"]).0, 125);
    let (code, stdout, _) = qos(dir.path(), &["status", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &found["backend"]), (4, &serde_json::Value::Null));
    assert_eq!(found["controller"]["state"], "idle");
    assert!(!dir.path().join("state").exists());
}

#[test]
fn a_measurement_is_predicted_even_where_it_cannot_be_made() {
    let dir = folder();
    if is_possible(dir.path()) {
        return eprintln!("skipped: this machine can do it");
    }
    // Refused before anything is written.
    assert_eq!(qos(dir.path(), &["measure", "--", "true"]).0, 4);
    assert!(!dir.path().join("flyball-runs").exists());
    let predict = ["measure", "--predict", "model:apple-m1", "--ramp", "8", "--out", "run"];
    let (code, stdout, stderr) = qos(dir.path(), &predict);
    assert_eq!(code, 4, "{stderr}");
    let line = stdout.lines().find(|line| line.starts_with("time to 80 %, model")).unwrap();
    assert!(line.contains(" -> ") && line.ends_with("EFFECT"), "{stdout}");
    assert!(dir.path().join("run/predicted/run.toml").is_file());
}

#[test]
fn a_recovery_needs_nothing_to_recover() {
    let dir = folder();
    let (code, _, stderr) = qos(dir.path(), &["--recover"]);
    assert_eq!((code, stderr.as_str()), (0, "nothing to remove: none was killed\n"));
    assert_eq!(qos(dir.path(), &["guard"]).0, 0);
    assert!(!dir.path().join("state").exists());
}

#[test]
fn a_journal_of_a_killed_controller_is_told_and_recovered() {
    let dir = folder();
    let boot = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let journal = dir.path().join("state/qos/qos.json");
    fs_err::create_dir_all(dir.path().join("state/qos")).unwrap();
    // A process that is not there any more: nothing has its number above the kernel's limit.
    let text = format!(
        "{{\"format\": 1, \"boot_id\": \"{}\", \"owner\": {{\"pid\": 5000000, \"start_ticks\": 2}}, \
         \"created_realtime_ns\": 3, \"began_ticks\": 2, \"multiplier\": 4, \"processes\": [], \"own\": []}}",
        boot.trim()
    );
    fs_err::write(&journal, &text).unwrap();
    let (_, stdout, _) = qos(dir.path(), &["status"]);
    assert!(stdout.contains("process 5000000 was killed"), "{stdout}");
    let (code, _, stderr) = qos(dir.path(), &["--recover"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("0 clamps of 0 processes"), "{stderr}");
    assert!(!journal.exists());
    fs_err::write(&journal, &text[..60]).unwrap();
    let (code, _, stderr) = qos(dir.path(), &["--recover"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("expected a journal of clamps") && journal.exists(), "{stderr}");
}
