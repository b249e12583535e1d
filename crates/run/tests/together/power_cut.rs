//! What a power cut leaves, at every point of every writer: what was said to be kept is there, and what
//! is not whole is not passed off as whole.
//!
//! A writer's calls are recorded. For a cut behind each of them a disk is made as it may be found. Sweeps
//! have such a test in their crate.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes and damages its own files, and fails by panicking"
)]

use std::path::Path;
use std::sync::Arc;

use crate::disk::{Call, Claim, Random, Recorded, found, place, said};
use flyball_run::disk::replace;
use flyball_run::manifest::PlanRecord;
use flyball_run::tables::{Note, Window};
use flyball_run::{Manifest, Run, RunState, RunWriter};

fn manifest(state: RunState, planned: u64) -> Manifest {
    let done = (state == RunState::Complete).then_some(planned);
    let plan = Some(PlanRecord { what: "trials".into(), planned, done });
    Manifest { kind: "bench".into(), state, plan, ..Manifest::default() }
}

/// A run with random rows, flushes and syncs; the number of its windows.
fn write_a_run(disk: &Recorded, dir: &Path, random: &mut Random) -> u64 {
    let mut writer =
        RunWriter::create_on(Arc::new(disk.clone()), dir, &manifest(RunState::Running, 3)).unwrap();
    disk.say(Claim::Begun);
    if random.below(2) == 0 {
        writer.begin::<Note>().unwrap();
    }
    let mut seq = 0;
    for trial in 0..3 {
        for _ in 0..random.below(4) {
            for _ in 0..random.below(5) {
                writer
                    .window(&Window { seq, trial, workload: "car".into(), ..Window::default() })
                    .unwrap();
                seq += 1;
            }
            match random.below(5) {
                0 => writer.note(&Note { message: "here".into(), ..Note::default() }).unwrap(),
                1 => writer.flush().unwrap(),
                2 => {
                    writer.sync().unwrap();
                    disk.say(Claim::Rows(seq));
                }
                3 => writer.update_manifest(&manifest(RunState::Running, 3)).unwrap(),
                _ => {}
            }
        }
    }
    writer.finish(&manifest(RunState::Complete, 3)).unwrap();
    disk.say(Claim::Closed);
    seq
}

/// The same rows, written in one go as an importer does.
fn write_an_import(disk: &Recorded, dir: &Path, random: &mut Random) -> u64 {
    let mut run = Run { manifest: manifest(RunState::Complete, 3), ..Run::default() };
    let windows = 1 + random.below(20) as u64;
    for seq in 0..windows {
        run.tables.windows.push(Window { seq, workload: "car".into(), ..Window::default() });
    }
    run.tables.notes.push(Note { message: "here".into(), ..Note::default() });
    run.write_on(disk, dir).unwrap();
    disk.say(Claim::Closed);
    windows
}

/// What is found of a run holds what was said; nothing that is missing is passed off as there.
fn check_run(dir: &Path, said: &[Claim], windows: u64, context: &str) {
    let claimed = said.iter().fold(None, |most: Option<u64>, claim| match claim {
        Claim::Begun => Some(most.unwrap_or(0)),
        Claim::Rows(n) => Some(*n),
        Claim::Closed => Some(windows),
        Claim::Page(_) => most,
    });
    let run = match Run::open(dir) {
        Ok(run) => run,
        Err(error) => {
            assert!(claimed.is_none(), "{context}: {error}");
            return;
        }
    };
    let rows = &run.tables.windows.seq;
    assert!(rows.iter().copied().eq(0..rows.len() as u64), "{context}: {rows:?}");
    assert!(rows.len() as u64 >= claimed.unwrap_or(0), "{context}: {rows:?}, said {said:?}");
    let closed = matches!(said.last(), Some(Claim::Closed));
    match &run.unfinished {
        None => assert_eq!(rows.len() as u64, windows, "{context}: passed off as whole"),
        Some(unfinished) => assert!(!closed, "{context}: {unfinished}"),
    }
}

/// Cuts behind every call of runs and imports, `draws` disks each, until there were `cuts`.
fn cut_runs(cuts: usize, draws: usize) {
    let (mut done, mut seed) = (0, 0);
    while done < cuts {
        seed += 1;
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1);
        let root = tempfile::tempdir().unwrap();
        let (disk, dir) = (Recorded::default(), root.path().join("runs/one"));
        let windows = match seed % 4 {
            0 => write_an_import(&disk, &dir, &mut random),
            _ => write_a_run(&disk, &dir, &mut random),
        };
        let calls = disk.calls();
        for at in 0..=calls.len() {
            for draw in 0..draws {
                let after = tempfile::tempdir().unwrap();
                place(&found(&calls[..at], &mut random), root.path(), after.path());
                let context =
                    format!("seed {seed}, behind call {at} of {}, disk {draw}", calls.len());
                check_run(&after.path().join("runs/one"), &said(&calls[..at]), windows, &context);
                done += 1;
            }
        }
    }
    println!("{done} cuts of {seed} runs");
}

#[test]
fn what_was_said_to_be_kept_is_there() {
    cut_runs(1_000, 3);
}

#[test]
#[ignore = "minutes: every night"]
fn what_was_said_to_be_kept_is_there_at_every_point() {
    cut_runs(100_000, 5);
}

/// Pages, figures and bundles are there as a whole under their name, the new ones or the old.
#[test]
fn a_file_with_a_name_is_whole() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("page.html");
    let page = |number: u8| vec![b'a' + number; 3000 + usize::from(number)];
    let disk = Recorded::default();
    for number in 0..3 {
        replace(&disk, &path, &page(number)).unwrap();
        disk.say(Claim::Page(number));
    }
    let calls = disk.calls();
    let mut random = Random(1);
    for at in 0..=calls.len() {
        for _ in 0..100 {
            let disk = found(&calls[..at], &mut random);
            let last = said(&calls[..at]).last().map(|claim| match claim {
                Claim::Page(number) => *number,
                other => panic!("{other:?}"),
            });
            let least = last.map_or(0, usize::from);
            match disk.get(&path) {
                None => assert!(last.is_none(), "behind call {at}: the page is gone"),
                Some(found) => {
                    let whole = (0..3).position(|n| found.as_ref() == Some(&page(n)));
                    assert!(whole.is_some_and(|n| n >= least), "behind call {at}: not whole");
                }
            }
        }
    }
}

/// Nobody calls `sync`: what was handed over is on the disk within the time that is stated.
#[test]
fn rows_are_synced_while_the_run_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let disk = Recorded::default();
    let dir = root.path().join("one");
    let mut writer =
        RunWriter::create_synced_on(Arc::new(disk.clone()), &dir, &manifest(RunState::Running, 1))
            .unwrap();
    writer.window(&Window::default()).unwrap();
    writer.flush().unwrap();
    let began = std::time::Instant::now();
    let synced = || {
        let calls = disk.calls();
        let written = calls.iter().rposition(|call| matches!(call, Call::Write(..)));
        let tail = &calls[written.unwrap()..];
        tail.iter().any(|call| matches!(call, Call::Sync(_)))
            && tail.iter().any(|call| matches!(call, Call::SyncDir(folder) if *folder == dir))
    };
    while !synced() {
        assert!(began.elapsed().as_secs() < 20, "nothing was synced");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    println!("synced after {:?}", began.elapsed());
}
