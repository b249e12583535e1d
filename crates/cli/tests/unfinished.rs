//! Runs that are not whole say so first, whatever their kind and format, and no gate passes on them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{folder, run};
use flyball_run::manifest::{ConditionRecord, PlanRecord, WorkloadRecord};
use flyball_run::{
    Manifest, RampUp, RampUpSample, Run, RunState, RunWriter, SweepValue, SwitchTrial, Window,
};
use std::path::Path;

const KINDS: [(&str, &str); 4] = [
    ("bench", "6 of 12 trials were done, 6 are missing"),
    ("transition", "40 of 640 measurements were done, 600 are missing"),
    ("rampup", "3 of 20 ramp-ups were done, 17 are missing"),
    ("sim", "2 of 8 phases were done, 6 are missing"),
];

fn manifest(kind: &str, state: RunState) -> Manifest {
    let (what, planned) = match kind {
        "bench" => ("trials", 12),
        "transition" => ("measurements", 640),
        "rampup" => ("ramp-ups", 20),
        _ => ("phases", 8),
    };
    let named = |name: &str| ConditionRecord { name: name.into(), ..ConditionRecord::default() };
    Manifest {
        kind: kind.into(),
        state,
        plan: PlanRecord::of(what, planned),
        workloads: vec![WorkloadRecord { name: "car".into(), ..WorkloadRecord::default() }],
        conditions: vec![named("idle"), named("heavy")],
        ..Manifest::default()
    }
}

/// A run of `kind` as far as a killed process left it.
fn killed(dir: &Path, kind: &str) -> RunWriter {
    let mut writer = RunWriter::create(dir, &manifest(kind, RunState::Running)).unwrap();
    match kind {
        // The seventh trial had begun.
        "bench" => (0..7_u32 * 20).for_each(|n| {
            let condition = if (n / 20) % 2 == 0 { "idle" } else { "heavy" };
            let window = Window {
                seq: u64::from(n),
                trial: n / 20,
                index: u64::from(n % 20),
                workload: "car".into(),
                condition: condition.into(),
                release_ns: u64::from(n) * 1_000_000,
                dispatch_ns: u64::from(n) * 1_000_000 + 5_000,
                end_ns: u64::from(n) * 1_000_000 + 105_000 + u64::from(n % 7),
                exec_ns: 100_000 + u64::from(n % 7),
                repeat: n / 40 + 1,
                block: n / 40,
                ..Window::default()
            };
            writer.window(&window).unwrap();
        }),
        "transition" => (0..40).for_each(|seq| {
            let trial = SwitchTrial {
                seq,
                method: "direct".into(),
                from_khz: 1_000_000,
                to_khz: 2_000_000,
                attempt: 1,
                write_ns: Some(1_000 + seq),
                ..SwitchTrial::default()
            };
            writer.append(&trial).unwrap();
        }),
        "rampup" => (0..3).for_each(|seq| {
            let rampup = RampUp {
                seq,
                condition: "idle".into(),
                repeat: 1,
                gap_ns: 1_000_000,
                sleeps: 1,
                end_ns: 1_000_000,
                ..RampUp::default()
            };
            writer.append(&rampup).unwrap();
            let sample =
                RampUpSample { rampup: seq, rate_per_us: 900.0, ..RampUpSample::default() };
            writer.append(&sample).unwrap();
        }),
        _ => (0..2).for_each(|point| {
            let value = SweepValue {
                point,
                kind: "result".into(),
                name: "energy_mj".into(),
                value: Some(3.0),
                ..SweepValue::default()
            };
            writer.append(&value).unwrap();
        }),
    }
    writer.flush().unwrap();
    writer
}

#[test]
fn a_killed_run_of_every_kind_says_so_first() {
    let dir = folder();
    for (kind, told) in KINDS {
        drop(killed(&dir.path().join(kind), kind));
        for format in ["text", "json", "md", "csv"] {
            let (code, stdout, stderr) = run(dir.path(), &["report", kind, "--format", format]);
            assert_eq!(code, 0, "{kind} as {format}: {stderr}");
            let all = stdout.clone() + &stderr;
            let flat = all.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(told), "{kind} as {format}: {all}");
            match format {
                "text" => assert!(stdout.starts_with("Not whole"), "{kind}: {stdout}"),
                "json" => {
                    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
                    assert!(report["runs"][0]["unfinished"]["missing"].as_u64() > Some(0));
                }
                _ => {}
            }
        }
        let page = fs_err::read_to_string(dir.path().join(kind).join("report.html")).unwrap();
        assert!(page.contains(told), "{kind}");
    }
}

/// A run of each kind whose rows are made at its end, killed before.
fn killed_playings(dir: &Path) -> [&'static str; 3] {
    let kinds = ["play", "capture", "replay"];
    for kind in kinds {
        let mut begun = manifest(kind, RunState::Running);
        begun.plan = PlanRecord::of("milliseconds", 60_000);
        drop(RunWriter::create(dir.join(kind), &begun).unwrap());
    }
    kinds
}

/// Runs whose rows are made at the end do not say that little is lost.
#[test]
fn a_killed_playing_promises_nothing() {
    let dir = folder();
    for kind in killed_playings(dir.path()) {
        let (code, stdout, stderr) = run(dir.path(), &["report", kind, "--no-page"]);
        let all = (stdout + &stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            all.contains("may all be lost") && !all.contains("last second"),
            "{kind} {code}: {all}"
        );
        assert!(all.contains("60000 milliseconds"), "{kind}: {all}");
    }
}

/// A machine that reads what is left of them is told, and a gate on it does not pass.
#[test]
fn a_killed_playing_is_unfinished_in_json_and_passes_no_gate() {
    let dir = folder();
    for kind in killed_playings(dir.path()) {
        let (_, stdout, stderr) = run(dir.path(), &["report", kind, "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let unfinished = &report["runs"][0]["unfinished"];
        // How much of it was done nobody counted.
        assert_eq!(unfinished["planned"].as_u64(), Some(60_000), "{kind}: {unfinished}{stderr}");
        assert!(unfinished["done"].is_null() && unfinished["missing"].is_null(), "{unfinished}");
        assert!(unfinished["text"].as_str().unwrap().contains("may all be lost"), "{unfinished}");
        let (code, _, stderr) = run(dir.path(), &["report", kind, "--fail-if", "median > 1s"]);
        assert_eq!(code, 7, "{kind}: {stderr}");
    }
}

#[test]
fn no_gate_passes_on_a_killed_run() {
    let dir = folder();
    for (kind, _) in KINDS {
        drop(killed(&dir.path().join(kind), kind));
        for rule in ["median > 1s", "ratio > 5", "verdict == effect"] {
            let (code, _, stderr) = run(dir.path(), &["report", kind, "--fail-if", rule]);
            assert_eq!(code, 7, "{kind}, {rule}: {stderr}");
        }
    }
}

/// A run that says that it is whole is not, where a table of it is gone.
#[test]
fn a_table_that_is_gone_is_missed() {
    let dir = folder();
    let path = dir.path().join("bench");
    let mut whole = manifest("bench", RunState::Complete);
    whole.did(12);
    killed(&path, "bench").finish(&whole).unwrap();
    assert_eq!(Run::open(&path).unwrap().unfinished, None);
    let (code, stdout, stderr) = run(dir.path(), &["report", "bench", "--fail-if", "median > 1s"]);
    assert_eq!(code, 0, "{stdout}{stderr}");

    fs_err::remove_file(path.join("windows.parquet")).unwrap();
    let (code, stdout, _) = run(dir.path(), &["report", "bench", "--fail-if", "median > 1s"]);
    assert_eq!(code, 7, "{stdout}");
    let flat = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the table windows of 140 rows is missing"), "{stdout}");
}

/// Each bit of a table, flipped, is noticed.
#[test]
fn a_flipped_bit_is_refused() {
    let dir = folder();
    let path = dir.path().join("bench");
    killed(&path, "bench").finish(&manifest("bench", RunState::Complete)).unwrap();
    let table = path.join("windows.parquet");
    let bytes = fs_err::read(&table).unwrap();
    for bit in (0..bytes.len() * 8).step_by(97) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs_err::write(&table, flipped).unwrap();
        let error = Run::open(&path).unwrap_err();
        assert!(error.found().contains("other bytes"), "bit {bit}: {error}");
    }
    let (code, _, stderr) = run(dir.path(), &["report", "bench"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("crc32:"), "{stderr}");
}
