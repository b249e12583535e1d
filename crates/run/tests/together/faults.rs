//! Every call that the writers make of the disk fails once, and from then on: an error that names the file or a run
//! that is whole, never a panic, never rows that are missing or doubled in what passes for whole; and who tries again
//! after a fault that went goes on where it stopped.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes and damages its own files, and fails by panicking"
)]

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flyball_run::disk::{Disk, DiskFile, RealDisk, replace};
use flyball_run::manifest::PlanRecord;
use flyball_run::tables::{Note, Window};
use flyball_run::{Manifest, Result, Run, RunState, RunWriter};
use flyball_units::ErrorKind;

/// A real disk on which the calls `from..until` fail with the error `errno`.
#[derive(Clone, Debug)]
struct Faulty {
    calls: Arc<AtomicUsize>,
    from: usize,
    until: usize,
    errno: i32,
}

impl Faulty {
    fn new(from: usize, until: usize, errno: i32) -> Faulty {
        Faulty { calls: Arc::default(), from, until, errno }
    }

    fn fails(&self) -> bool {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        (self.from..self.until).contains(&call)
    }

    fn pass(&self) -> io::Result<()> {
        match self.fails() {
            true => Err(io::Error::from_raw_os_error(self.errno)),
            false => Ok(()),
        }
    }

    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FaultyFile { disk: self.clone(), file })
    }
}

impl Disk for Faulty {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.pass().and_then(|()| RealDisk.create_dir(path))
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.pass().and_then(|()| RealDisk.append(path)).map(|file| self.file(file))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.pass().and_then(|()| RealDisk.create(path)).map(|file| self.file(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass().and_then(|()| RealDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.pass().and_then(|()| RealDisk.remove(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.pass()?;
        let _ = path;
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: Faulty,
    file: Arc<dyn DiskFile>,
}

impl DiskFile for FaultyFile {
    /// A write that fails has written half of it, as on a disk that fills up.
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.disk.fails() {
            return self.file.write(bytes);
        }
        match bytes.len() / 2 {
            0 => Err(io::Error::from_raw_os_error(self.disk.errno)),
            half => self.file.write(&bytes[..half]),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.pass()
    }
}

fn manifest(state: RunState) -> Manifest {
    let done = (state == RunState::Complete).then_some(3);
    let plan = Some(PlanRecord { what: "trials".into(), planned: 3, done });
    Manifest { kind: "bench".into(), state, plan, ..Manifest::default() }
}

/// Errors of a failing and of a full disk.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const WINDOWS: u64 = 12;

/// Again, where it fails and `tries` are left.
fn tried(tries: &mut usize, mut doing: impl FnMut() -> Result<()>) -> Result<()> {
    loop {
        match doing() {
            Err(error) if *tries == 0 => return Err(error),
            Err(_) => *tries -= 1,
            Ok(()) => return Ok(()),
        }
    }
}

/// A run; `tries` more for what fails, where the writer is still there to be asked.
fn write_a_run(disk: &Faulty, dir: &Path, mut tries: usize) -> Result<()> {
    let mut writer =
        RunWriter::create_on(Arc::new(disk.clone()), dir, &manifest(RunState::Running))?;
    tried(&mut tries, || writer.begin::<Note>())?;
    for seq in 0..WINDOWS {
        let window =
            Window { seq, trial: (seq / 4) as u32, workload: "car".into(), ..Window::default() };
        // A row that was appended is in the buffer, also where handing it over failed.
        writer.window(&window)?;
        match seq % 4 {
            1 => tried(&mut tries, || writer.flush())?,
            2 => tried(&mut tries, || writer.sync())?,
            3 => tried(&mut tries, || writer.update_manifest(&manifest(RunState::Running)))?,
            _ => {}
        }
    }
    writer.note(&Note { message: "here".into(), ..Note::default() })?;
    writer.finish(&manifest(RunState::Complete)).map(drop)
}

fn write_an_import(disk: &Faulty, dir: &Path, _: usize) -> Result<()> {
    let mut run = Run { manifest: manifest(RunState::Complete), ..Run::default() };
    for seq in 0..WINDOWS {
        run.tables.windows.push(Window { seq, workload: "car".into(), ..Window::default() });
    }
    run.tables.notes.push(Note { message: "here".into(), ..Note::default() });
    run.write_on(disk, dir).map(drop)
}

type Write = fn(&Faulty, &Path, usize) -> Result<()>;

/// How many faults, of which how many ended in an error.
fn fail_everywhere(write: Write, once: bool, errno: i32, tries: usize) -> (usize, usize) {
    let (mut faults, mut errors) = (0, 0);
    for call in 1.. {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("runs/one");
        let until = if once { call + 1 } else { usize::MAX };
        let disk = Faulty::new(call, until, errno);
        let outcome = write(&disk, &dir, tries);
        let context = format!("call {call}, once {once}, error {errno}: {outcome:?}");
        if disk.calls.load(Ordering::SeqCst) < call {
            outcome.unwrap();
            break;
        }
        faults += 1;
        if let Err(error) = &outcome {
            errors += 1;
            assert_eq!(error.kind(), ErrorKind::Storage, "{context}");
            assert!(error.object().contains("runs"), "{context}");
        }
        match Run::open(&dir) {
            Err(_) => assert!(outcome.is_err(), "{context}: told as done, and does not read"),
            Ok(run) => {
                let rows = &run.tables.windows.seq;
                assert!(rows.iter().copied().eq(0..rows.len() as u64), "{context}: {rows:?}");
                if run.unfinished.is_none() {
                    assert_eq!(rows.len() as u64, WINDOWS, "{context}: passed off as whole");
                    assert_eq!(run.tables.notes.len(), 1, "{context}");
                }
                assert!(
                    outcome.is_err() || run.unfinished.is_none(),
                    "{context}: {:?}",
                    run.unfinished
                );
            }
        }
    }
    (faults, errors)
}

#[test]
fn a_fault_at_every_call_is_told() {
    let mut all = (0, 0);
    for (write, name) in [(write_a_run as Write, "run"), (write_an_import as Write, "import")] {
        for once in [true, false] {
            for errno in [EIO, ENOSPC] {
                let (faults, errors) = fail_everywhere(write, once, errno, 0);
                assert!(faults > 15 && errors > 10, "{name}: {faults} faults, {errors} errors");
                all = (all.0 + faults, all.1 + errors);
            }
        }
    }
    println!("{} faults, {} errors", all.0, all.1);
}

#[test]
fn who_tries_again_goes_on_where_it_stopped() {
    let (faults, errors) = fail_everywhere(write_a_run, true, ENOSPC, 1);
    // Only making the directory and closing the run are not tried again here.
    assert!(faults > 15 && errors < faults, "{faults} faults, {errors} errors");
}

#[test]
fn a_page_is_the_old_one_or_the_new_one() {
    let root = tempfile::tempdir().unwrap();
    let page = root.path().join("page.html");
    for call in 1.. {
        std::fs::write(&page, "old").unwrap();
        let disk = Faulty::new(call, call + 1, EIO);
        let outcome = replace(&disk, &page, b"the new one");
        if disk.calls.load(Ordering::SeqCst) < call {
            break;
        }
        let found = std::fs::read_to_string(&page).unwrap();
        assert!(["old", "the new one"].contains(&found.as_str()), "call {call}: {found}");
        assert!(outcome.is_err() || found == "the new one", "call {call}");
        // Nothing is left beside it.
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1, "call {call}");
    }
}

#[test]
fn a_link_beside_a_page_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let (page, aim) = (root.path().join("page.html"), root.path().join("aim"));
    std::fs::write(&aim, "precious").unwrap();
    // Names that a half-written file may have, now and in earlier versions.
    for name in ["page.html.tmp".to_owned()]
        .into_iter()
        .chain((0..20_000).map(|n| format!("page.html.{}-{n}.tmp", std::process::id())))
    {
        std::os::unix::fs::symlink(&aim, root.path().join(name)).unwrap();
    }
    replace(&RealDisk, &page, b"new").unwrap();
    assert_eq!(std::fs::read_to_string(&aim).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "new");
}

#[test]
fn two_runs_never_share_a_directory() {
    for _ in 0..50 {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("one");
        let made: Vec<bool> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| RunWriter::create(&dir, &manifest(RunState::Running)).is_ok())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|made| **made).count(), 1, "{made:?}");
    }
}
