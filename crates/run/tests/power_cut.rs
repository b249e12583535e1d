//! What a power cut leaves, at every point of every writer: what was said to be kept is there, and what
//! is not whole is not passed off as whole.
//!
//! A writer's calls are recorded. For a cut behind each of them a disk is made as it may be found: what
//! was synced is there; of what was not, the names of files may be there or not, and of their bytes any
//! part may be there, be missing, or be zeros.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes and damages its own files, and fails by panicking"
)]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flyball_run::disk::{Disk, DiskFile, RealDisk, replace};
use flyball_run::manifest::PlanRecord;
use flyball_run::tables::{Note, Window};
use flyball_run::{Manifest, Run, RunState, RunWriter};

/// What was asked of the disk, or said to somebody.
#[derive(Clone, Debug)]
enum Call {
    Name(Naming),
    Write(usize, Vec<u8>),
    Sync(usize),
    SyncDir(PathBuf),
    Said(Claim),
}

/// A change of names; files are numbered as they are made.
#[derive(Clone, Debug)]
enum Naming {
    Dir(PathBuf),
    File(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Naming {
    fn folders(&self) -> Vec<&Path> {
        match self {
            Naming::Dir(path) | Naming::File(path, _) | Naming::Remove(path) => {
                vec![path.parent().unwrap()]
            }
            Naming::Rename(from, to) => vec![from.parent().unwrap(), to.parent().unwrap()],
        }
    }
}

/// What was said to be kept.
#[derive(Clone, Copy, Debug)]
enum Claim {
    /// The run directory is there.
    Begun,
    /// As many windows are on the disk.
    Windows(u64),
    /// The run is closed.
    Closed,
    /// The page is the one of this number.
    Page(u8),
}

#[derive(Clone, Debug, Default)]
struct Recorded(Arc<Mutex<Vec<Call>>>, Arc<Mutex<usize>>);

impl Recorded {
    fn call(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }

    fn file(&self, path: &Path, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let mut files = self.1.lock().unwrap();
        *files += 1;
        self.call(Call::Name(Naming::File(path.to_owned(), *files)));
        Arc::new(RecordedFile { disk: self.clone(), number: *files, file })
    }
}

impl Disk for Recorded {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Dir(path.to_owned())));
        RealDisk.create_dir(path)
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        assert!(!path.exists(), "the model knows new files only");
        Ok(self.file(path, RealDisk.append(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path, RealDisk.create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Rename(from.to_owned(), to.to_owned())));
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Name(Naming::Remove(path.to_owned())));
        RealDisk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::SyncDir(path.to_owned()));
        Ok(())
    }
}

#[derive(Debug)]
struct RecordedFile {
    disk: Recorded,
    number: usize,
    file: Arc<dyn DiskFile>,
}

impl DiskFile for RecordedFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.disk.call(Call::Write(self.number, bytes[..written].to_vec()));
        Ok(written)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(Call::Sync(self.number));
        Ok(())
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

/// The disk as it may be found after a cut behind `calls`: paths and contents, none for a directory.
fn found(calls: &[Call], random: &mut Random) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut bytes: BTreeMap<usize, (Vec<u8>, usize)> = BTreeMap::new();
    // Each naming, and whether it lasts for sure.
    let mut namings: Vec<(&Naming, bool)> = Vec::new();
    for call in calls {
        match call {
            Call::Name(naming) => namings.push((naming, false)),
            Call::Write(file, more) => bytes.entry(*file).or_default().0.extend(more),
            Call::Sync(file) => {
                let (written, synced) = bytes.entry(*file).or_default();
                *synced = written.len();
            }
            Call::SyncDir(dir) => {
                for (naming, lasts) in &mut namings {
                    *lasts |= naming.folders().contains(&dir.as_path());
                }
            }
            Call::Said(_) => {}
        }
    }
    // A journal keeps the order of changes; without one, any of them may be there.
    let ordered = random.below(2) == 0;
    let sure = namings.iter().rposition(|(_, lasts)| *lasts).map_or(0, |at| at + 1);
    let until = sure + random.below(namings.len() - sure + 1);
    let mut disk: BTreeMap<PathBuf, Option<usize>> = BTreeMap::new();
    for (at, (naming, lasts)) in namings.iter().enumerate() {
        let applied = *lasts || if ordered { at < until } else { random.below(2) == 0 };
        if !applied {
            continue;
        }
        match naming {
            Naming::Dir(path) => drop(disk.insert(path.clone(), None)),
            Naming::File(path, file) => drop(disk.insert(path.clone(), Some(*file))),
            Naming::Remove(path) => drop(disk.remove(path)),
            Naming::Rename(from, to) => {
                // A name that lasts leads to the file, whatever became of the name before.
                let file = disk.remove(from).or_else(|| Some(last_file(calls, from)));
                disk.insert(to.clone(), file.flatten());
            }
        }
    }
    let content = |file: usize, random: &mut Random| {
        let (written, synced) = bytes.get(&file).cloned().unwrap_or_default();
        let kept = synced + random.below(written.len() - synced + 1);
        match random.below(4) {
            0 => written[..synced].to_vec(),
            1 => written,
            2 => written[..kept].to_vec(),
            _ => [&written[..kept], &vec![0; written.len() - kept]].concat(),
        }
    };
    disk.into_iter().map(|(path, file)| (path, file.map(|file| content(file, random)))).collect()
}

/// The file that was last made under a name.
fn last_file(calls: &[Call], name: &Path) -> Option<usize> {
    calls.iter().rev().find_map(|call| match call {
        Call::Name(Naming::File(path, file)) if path == name => Some(*file),
        _ => None,
    })
}

/// Puts the disk of a cut below `root`, where `from` was.
fn place(disk: &BTreeMap<PathBuf, Option<Vec<u8>>>, from: &Path, root: &Path) {
    for (path, content) in disk {
        let Ok(below) = path.strip_prefix(from) else { continue };
        let target = root.join(below);
        match content {
            None => std::fs::create_dir_all(target).unwrap(),
            Some(bytes) if target.parent().unwrap().is_dir() => {
                std::fs::write(target, bytes).unwrap();
            }
            // Its folder is not there.
            Some(_) => {}
        }
    }
}

fn manifest(state: RunState, planned: u64) -> Manifest {
    let done = (state == RunState::Complete).then_some(planned);
    let plan = Some(PlanRecord { what: "trials".into(), planned, done });
    Manifest { kind: "bench".into(), state, plan, ..Manifest::default() }
}

/// A run with random rows, flushes and syncs; the number of its windows.
fn write_a_run(disk: &Recorded, dir: &Path, random: &mut Random) -> u64 {
    let mut writer =
        RunWriter::create_on(Arc::new(disk.clone()), dir, &manifest(RunState::Running, 3)).unwrap();
    disk.call(Call::Said(Claim::Begun));
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
                    disk.call(Call::Said(Claim::Windows(seq)));
                }
                3 => writer.update_manifest(&manifest(RunState::Running, 3)).unwrap(),
                _ => {}
            }
        }
    }
    writer.finish(&manifest(RunState::Complete, 3)).unwrap();
    disk.call(Call::Said(Claim::Closed));
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
    disk.call(Call::Said(Claim::Closed));
    windows
}

/// What is found of a run holds what was said; nothing that is missing is passed off as there.
fn check_run(dir: &Path, said: &[Claim], windows: u64, context: &str) {
    let claimed = said.iter().fold(None, |most: Option<u64>, claim| match claim {
        Claim::Begun => Some(most.unwrap_or(0)),
        Claim::Windows(n) => Some(*n),
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

fn said(calls: &[Call]) -> Vec<Claim> {
    let claims = calls.iter().filter_map(|call| match call {
        Call::Said(claim) => Some(*claim),
        _ => None,
    });
    claims.collect()
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
        let calls = disk.0.lock().unwrap().clone();
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
        disk.call(Call::Said(Claim::Page(number)));
    }
    let calls = disk.0.lock().unwrap().clone();
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
        let calls = disk.0.lock().unwrap();
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
