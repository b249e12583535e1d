//! `kill -9` at 50 random moments of a run: every directory reads, and none loses more than a
//! second.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods)] // starts, kills and times the program from outside

mod common;

use common::{folder, run};
use flyball_host::{Host, RealHost};
use flyball_run::Run;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const KILLS: usize = 50;

/// A window every 2 ms, so that a second is 500 windows.
const EXPERIMENT: &str = "
repeats = 50
period = \"2ms\"
duration = \"200ms\"
warmup = \"20ms\"
degrade = true
[input]
channels = 4
length = \"5s\"
[[workload]]
kernel = \"car\"
[[workload]]
kernel = \"noop\"
[[condition]]
load = \"idle\"
";

#[test]
fn a_killed_run_reads_and_loses_at_most_a_second() {
    let dir = folder();
    fs_err::write(dir.path().join("e.toml"), EXPERIMENT).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let waits: Vec<u64> = (0..KILLS).map(|_| random.next_u64() % 2_500).collect();
    // Two at a time: most of it is waiting.
    let kill_those = |first: usize| {
        let of_those = waits.iter().enumerate().skip(first).step_by(2);
        of_those.filter(|&(kill, &wait)| kill_a_run(dir.path(), kill, wait)).count()
    };
    let read = std::thread::scope(|scope| {
        let beside = scope.spawn(|| kill_those(1));
        kill_those(0) + beside.join().unwrap()
    });
    assert!(read >= KILLS / 2, "only {read} of {KILLS} kills hit a run");
    let (code, _, stderr) = run_report(&dir, KILLS);
    assert!(code == 0 || code == 3, "{stderr}");
}

/// Begins a run in `dir`, kills it after `wait` ms and reads what it left. Whether it had begun.
fn kill_a_run(dir: &Path, kill: usize, wait: u64) -> bool {
    let out = dir.join(format!("run{kill}"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_flyball"))
        .current_dir(dir)
        .args(["bench", "--quiet", "--no-page", "e.toml", "--out"])
        .arg(&out)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(wait));
    let killed_at = RealHost::new().now().0;
    child.kill().unwrap();
    child.wait().unwrap();
    if !out.join("run.toml").exists() {
        return false; // there is nothing to lose
    }
    let run = Run::open(&out).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
    let ends = &run.tables.windows.end_ns;
    // Trials are 5 ms apart at most; the last window is as young as what was lost is old.
    if let Some(last) = ends.iter().max() {
        let lost = killed_at.saturating_sub(*last);
        assert!(lost < 1_000_000_000, "kill {kill}: {} ms lost", lost / 1_000_000);
    }
    true
}

/// The report of the last killed run that has windows.
fn run_report(dir: &tempfile::TempDir, kills: usize) -> (i32, String, String) {
    let named = (0..kills).rev().map(|kill| dir.path().join(format!("run{kill}")));
    let with_windows = named
        .filter(|out| out.join("run.toml").exists())
        .find(|out| Run::open(out).is_ok_and(|run| run.tables.windows.len() > 100));
    let out = with_windows.unwrap();
    run(dir.path(), &["report", "--no-page", out.to_str().unwrap()])
}
