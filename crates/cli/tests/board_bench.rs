//! Benches on a real kernel on a virtual board, where the cache has what they need.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

mod common;

use common::{flyball, folder};
use flyball_run::manifest::CheckOutcome;
use flyball_run::{Run, Window};
use std::path::Path;
use std::process::Output;

const EXPERIMENT: &str = r#"
name = "ends"
seed = 1
repeats = 1
period = "300ms"
duration = "3s"
warmup = "600ms"
[[workload]]
kernel = "car"
batch = 40
[[condition]]
name = "slow"
frequency = "min"
[[condition]]
name = "fast"
frequency = "max"
"#;

/// Runs the bench on a board; none, with the reason on stderr, where there are no boards here.
fn bench(dir: &Path, arguments: &[&str]) -> Option<Output> {
    let probe =
        flyball(dir).args(["board", "run", "--root", "none", "--", "true"]).output().unwrap();
    if probe.status.code() != Some(0) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&probe.stderr));
        return None;
    }
    fs_err::write(dir.join("ends.toml"), EXPERIMENT).unwrap();
    Some(flyball(dir).args(arguments).output().unwrap())
}

fn median(windows: &[Window], of: impl Fn(&Window) -> f64) -> f64 {
    let mut values: Vec<f64> = windows.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn a_window_takes_as_much_longer_as_the_p_state_is_slower() {
    let dir = folder();
    let arguments =
        ["bench", "ends.toml", "--machine", "board:x86_64", "--out", "run", "--no-page"];
    let Some(output) = bench(dir.path(), &arguments) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let run = Run::open(dir.path().join("run")).unwrap_or_else(|error| {
        panic!("{error}; exit code {code:?}: {stderr}");
    });
    let pace = run.manifest.checks.iter().find(|check| check.name == "board pace").unwrap();
    if pace.outcome == CheckOutcome::Failed {
        // This computer had other work: then the run must say so, and nothing else is promised.
        assert_eq!(code, Some(5), "{stderr}");
        eprintln!("skipped: {}: {}", pace.object, pace.found);
        return;
    }
    assert_eq!(code, Some(0), "{stderr}");
    let board = run.manifest.machine.as_ref().unwrap().board.as_ref().unwrap();
    assert_eq!((board.platform.as_str(), board.step_instructions), ("board-x86", 6_666));
    assert_eq!(run.manifest.workloads[0].params["batch"].as_integer(), Some(40));
    let rows = || (0..run.tables.windows.len()).filter_map(|row| run.tables.windows.row(row));
    let of = |name: &str| -> Vec<Window> {
        rows().filter(|row| row.condition == name && !row.warmup).collect()
    };
    let (slow, fast) = (of("slow"), of("fast"));
    assert!(slow.len() >= 5 && fast.len() >= 5, "{} and {}", slow.len(), fast.len());
    // The CPU's own account bounds what may be wrong beyond that: time lost makes windows longer.
    let cpu = slow[0].cpu_before.unwrap();
    let pace = board.pace.iter().find(|pace| pace.cpu == cpu).unwrap();
    let tolerance = 0.03 + pace.lost_s / pace.busy_s;
    // A probe that was disturbed gives no frequency.
    let probed: Vec<Window> =
        slow.iter().filter(|row| row.probe_after_khz.is_some()).cloned().collect();
    assert!(probed.len() >= 3, "{} of {}", probed.len(), slow.len());
    let found = median(&probed, |row| row.probe_after_khz.unwrap_or_default() as f64);
    assert!((found / 600_000.0 - 1.0).abs() < tolerance, "{found} kHz, {tolerance}");
    let ratio = median(&slow, |row| row.exec_ns as f64) / median(&fast, |row| row.exec_ns as f64);
    assert!((ratio / (3200.0 / 600.0) - 1.0).abs() < tolerance, "{ratio}, {tolerance}");
    let governors: Vec<_> =
        run.manifest.conditions.iter().map(|condition| condition.governor.clone()).collect();
    assert_eq!(governors, [Some("userspace".to_owned()), Some("userspace".to_owned())]);
    let writes = fs_err::read_to_string(dir.path().join("run/p-states.log")).unwrap();
    assert!(writes.contains(" mhz=600 ") && writes.contains(" mhz=3200 "), "{writes}");
}

#[test]
fn a_refusal_of_the_guest_reaches_the_user() {
    let dir = folder();
    let text = EXPERIMENT.replace("frequency = \"min\"", "governor = \"no-such\"");
    let arguments = ["bench", "wrong.toml", "--machine", "board:x86_64", "--out", "run"];
    fs_err::write(dir.path().join("wrong.toml"), text).unwrap();
    let Some(output) = bench(dir.path(), &arguments) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("condition \"slow\"") && stderr.contains("found no-such"), "{stderr}");
}
