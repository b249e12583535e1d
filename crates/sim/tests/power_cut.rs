//! What a power cut leaves of a sweep, at every point: the points that were said to be kept are in its journal, or
//! in the run directory, and the same sweep goes on.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes and damages its own files, and fails by panicking"
)]

#[path = "../../run/tests/power/disk.rs"]
mod disk;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use disk::{Claim, Random, Recorded, found, place, said};
use flyball_run::disk::Disk;
use flyball_run::tables::SweepValue;
use flyball_run::{Manifest, Run, RunState};
use flyball_sim::sweep::{Axis, Finished, Header, Journal};

fn header() -> Header {
    let axis = Axis::parse("kernel.hz=100,250,300,1000").unwrap();
    let manifest = Manifest { experiment: Some("s".into()), ..Manifest::default() };
    Header { axes: vec![axis], files: BTreeMap::new(), shard: None, manifest }
}

fn point(point: usize) -> Finished {
    let values = vec![vec![Some(point as f64 + 0.3)], vec![None]];
    Finished { point, names: vec!["a.b_ns".into()], values }
}

/// A sweep of some points, synced now and then; then its run directory, and the journal goes.
fn write_a_sweep(disk: &Recorded, dir: &Path, random: &mut Random) -> u64 {
    let path = dir.with_extension("partial");
    let mut journal = Journal::open_on(Arc::new(disk.clone()), &path, &header()).unwrap();
    disk.say(Claim::Rows(0));
    let points = 1 + random.below(8);
    for number in 0..points {
        journal.add(point(number)).unwrap();
        if random.below(3) == 0 {
            journal.sync().unwrap();
            disk.say(Claim::Rows(number as u64 + 1));
        }
    }
    journal.sync().unwrap();
    disk.say(Claim::Rows(points as u64));
    drop(journal);
    let manifest =
        Manifest { kind: "sweep".into(), state: RunState::Complete, ..Manifest::default() };
    let mut run = Run { manifest, ..Run::default() };
    for point in 0..points as u64 {
        run.tables.sweep.push(SweepValue { point, ..SweepValue::default() });
    }
    run.write_on(disk, dir).unwrap();
    disk.say(Claim::Closed);
    disk.remove(&path).unwrap();
    points as u64
}

fn check(dir: &Path, said: &[Claim], points: u64, context: &str) {
    let run = Run::open(dir).ok().filter(|run| run.unfinished.is_none());
    if let Some(run) = run {
        assert_eq!(run.tables.sweep.len() as u64, points, "{context}: passed off as whole");
        return;
    }
    assert!(!matches!(said.last(), Some(Claim::Closed)), "{context}: the run is gone");
    let kept = said.iter().rev().find_map(|claim| match claim {
        Claim::Rows(rows) => Some(*rows),
        _ => None,
    });
    match Journal::open(&dir.with_extension("partial"), &header()) {
        Ok(mut journal) => {
            let there = journal.finished.clone();
            assert!(there.len() as u64 >= kept.unwrap_or(0), "{context}: {there:?}, said {kept:?}");
            assert!(there.iter().all(|(n, found)| *found == point(*n)), "{context}: {there:?}");
            for number in (0..points as usize).filter(|number| !there.contains_key(number)) {
                journal.add(point(number)).unwrap();
            }
            drop(journal);
            let again = Journal::open(&dir.with_extension("partial"), &header()).unwrap();
            assert_eq!(again.finished.len() as u64, points, "{context}: it does not go on");
        }
        Err(error) => assert!(kept.is_none(), "{context}: {error}"),
    }
}

/// Cuts behind every call of sweeps, `draws` disks each, until there were `cuts`.
fn cut_sweeps(cuts: usize, draws: usize) {
    let (mut done, mut seed) = (0, 0);
    while done < cuts {
        seed += 1;
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1);
        let (root, disk) = (tempfile::tempdir().unwrap(), Recorded::default());
        let points = write_a_sweep(&disk, &root.path().join("one"), &mut random);
        let calls = disk.calls();
        for at in 0..=calls.len() {
            for draw in 0..draws {
                let after = tempfile::tempdir().unwrap();
                place(&found(&calls[..at], &mut random), root.path(), after.path());
                let context =
                    format!("seed {seed}, behind call {at} of {}, disk {draw}", calls.len());
                check(&after.path().join("one"), &said(&calls[..at]), points, &context);
                done += 1;
            }
        }
    }
    println!("{done} cuts of {seed} sweeps");
}

#[test]
fn points_that_were_said_to_be_kept_are_there() {
    cut_sweeps(500, 2);
}

#[test]
#[ignore = "minutes: every night"]
fn points_that_were_said_to_be_kept_are_there_at_every_point() {
    cut_sweeps(50_000, 5);
}
