//! A full disk: a clear error, and nothing lost that was there.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes, damages and mounts its own files, and fails by panicking"
)]

use flyball_units::ErrorKind;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flyball_run::tables::Window;
use flyball_run::{Manifest, Run, RunState, RunWriter};

/// A file system of one megabyte, unmounted at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(dir.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

fn window(seq: u64) -> Window {
    // Numbers that do not compress: the Parquet must not fit, either.
    let noise =
        seq.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    Window {
        seq,
        workload: "car".into(),
        release_ns: noise,
        cycles: Some(noise.rotate_left(7)),
        instructions: Some(noise.rotate_left(17)),
        exec_ns: noise.rotate_left(27),
        ..Window::default()
    }
}

fn manifest(state: RunState) -> Manifest {
    Manifest { kind: "bench".into(), state, ..Manifest::default() }
}

/// Appends until the disk is full; the number of rows whose bytes are all on disk.
fn fill(writer: &mut RunWriter) -> u64 {
    for seq in 0..100_000 {
        let outcome = writer.window(&window(seq)).and_then(|()| writer.flush());
        if let Err(error) = outcome {
            assert_eq!(error.kind(), ErrorKind::Storage, "{error:?}");
            assert!(error.object().ends_with("windows.ndjson"));
            assert!(error.found().contains("No space left"), "{error:?}");
            assert!(error.hint().contains("free some space"));
            return seq;
        }
    }
    panic!("a megabyte holds everything?");
}

#[test]
fn a_full_disk_loses_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        println!("skipped: mounting a small file system needs root");
        return;
    };
    let dir = disk.0.path().join("run");
    let filler = disk.0.path().join("filler");
    std::fs::write(&filler, vec![1; 200 * 1024]).unwrap();
    let mut writer = RunWriter::create(&dir, &manifest(RunState::Running)).unwrap();
    let rows = fill(&mut writer);
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.tables.windows.len() as u64, rows);

    // No room to end the run, either: the rows would go first, and they and the manifest stay as they are.
    let error = writer.update_manifest(&big_manifest()).unwrap_err();
    let rows_first = error.object().ends_with("windows.ndjson");
    assert_eq!((error.kind(), rows_first), (ErrorKind::Storage, true));
    assert_eq!(Run::open(&dir).unwrap().manifest.state, RunState::Running);

    // With room again, the torn row is completed exactly where it broke.
    std::fs::remove_file(&filler).unwrap();
    writer.flush().unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.tables.windows.len() as u64, rows + 1);
    assert!(run.warnings.iter().all(|warning| !warning.message.contains("torn")));

    // Room for the manifest but not for the Parquet: an error, and the NDJSON stays.
    fill_but(&filler, 16 * 1024);
    let error = writer.finish(&manifest(RunState::Complete)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage, "{error:?}");
    assert!(error.found().contains("No space left"), "{error:?}");
    assert_eq!(Run::open(&dir).unwrap().tables.windows.len() as u64, rows + 1);
    assert!(names(&dir).iter().all(|name| !name.contains("parquet")), "{:?}", names(&dir));
}

/// Fills the disk up, and leaves about `room` bytes.
fn fill_but(filler: &Path, room: u64) {
    let mut file = std::fs::File::create(filler).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    let bytes = file.metadata().unwrap().len();
    file.set_len(bytes - room).unwrap();
}

fn big_manifest() -> Manifest {
    Manifest { experiment: Some("x".repeat(2 * 1024 * 1024)), ..manifest(RunState::Complete) }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_always_full_says_so() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let mut writer = RunWriter::create(&dir, &manifest(RunState::Running)).unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.join("windows.ndjson")).unwrap();
    writer.window(&window(0)).unwrap();
    let error = writer.flush().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(error.found().contains("No space left on device"));
    // Nothing is dropped: the next try finds the same row in the buffer.
    assert!(writer.flush().is_err());
}
