//! `kill -9` at many moments: every directory reads, and no row older than one flush is lost.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the test is its own victim: it starts itself, and kills that process"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flyball_run::tables::Window;
use flyball_run::writer::FLUSH_NS;
use flyball_run::{Manifest, Run, RunState, RunWriter};
use flyball_units::Nanos;

const DIR: &str = "FLYBALL_TEST_KILL_DIR";
const ROWS_BEFORE_FINISH: &str = "FLYBALL_TEST_KILL_ROWS";

fn manifest(state: RunState) -> Manifest {
    Manifest { kind: "bench".into(), state, ..Manifest::default() }
}

/// The process that is killed: writes rows, prints each row's number and time once written.
#[test]
fn victim() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let rows: Option<u64> =
        std::env::var(ROWS_BEFORE_FINISH).ok().and_then(|rows| rows.parse().ok());
    let mut writer = RunWriter::create(Path::new(&dir), &manifest(RunState::Running)).unwrap();
    let start = Instant::now();
    for seq in 0..rows.unwrap_or(u64::MAX) {
        let now = Nanos(start.elapsed().as_nanos() as u64);
        writer
            .window(&Window { seq, release_ns: now.0, workload: "car".into(), ..Window::default() })
            .unwrap();
        writer.tick(now).unwrap();
        if rows.is_none() {
            println!("row {seq} {}", now.0);
            std::thread::sleep(Duration::from_micros(500));
        }
    }
    writer.flush().unwrap();
    println!("finishing");
    writer.finish(&manifest(RunState::Complete)).unwrap();
}

fn start(dir: &Path, rows: Option<u64>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped());
    if let Some(rows) = rows {
        command.env(ROWS_BEFORE_FINISH, rows.to_string());
    }
    command.spawn().unwrap()
}

#[test]
fn a_killed_run_loses_at_most_one_flush() {
    for round in 0..10_u64 {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("run");
        let mut child = start(&dir, None);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Kill after a number of rows that falls at other points of the flush in each round.
        let mut last_ns = 0;
        let rows = lines.by_ref().filter_map(|line| {
            let time = line.split_once("row ")?.1.split_once(' ')?.1;
            time.parse::<u64>().ok()
        });
        for time in rows.take(1 + (round * 97) as usize) {
            last_ns = time;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let run = Run::open(&dir).unwrap();
        let windows = &run.tables.windows;
        assert!(windows.seq.iter().copied().eq(0..windows.len() as u64), "no gap");
        let saved_ns = windows.release_ns.last().copied().unwrap_or(0);
        assert!(
            saved_ns + FLUSH_NS >= last_ns,
            "round {round}: saved until {saved_ns}, written until {last_ns}"
        );
        assert_eq!(run.manifest.state, RunState::Running);
    }
}

#[test]
fn a_kill_while_finishing_loses_nothing() {
    const ROWS: u64 = 20_000;
    for round in 0..8 {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("run");
        let mut child = start(&dir, Some(ROWS));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("finishing")));
        std::thread::sleep(Duration::from_millis(round * 12));
        let _ = child.kill();
        child.wait().unwrap();
        let run = Run::open(&dir).unwrap();
        assert_eq!(run.tables.windows.len() as u64, ROWS, "round {round}: {:?}", run.warnings);
    }
}
