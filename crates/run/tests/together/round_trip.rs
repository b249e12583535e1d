//! A run survives its directory: NDJSON and Parquet say the same.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test writes, damages and mounts its own files, and fails by panicking"
)]

use std::path::Path;

use flyball_run::manifest::{PlanRecord, TrialRecord};
use flyball_run::tables::*;
use flyball_run::{Columns, Error, Manifest, Run, RunState, RunWriter, newest_run};
use flyball_units::{ErrorKind, Nanos};
use proptest::prelude::*;

fn manifest() -> Manifest {
    Manifest { kind: "bench".into(), created: "2026-11-20T12:04:00Z".into(), ..Manifest::default() }
}

fn complete() -> Manifest {
    Manifest { state: RunState::Complete, ..manifest() }
}

fn window(seq: u64) -> Window {
    Window {
        seq,
        trial: (seq / 100) as u32,
        workload: ["car", "goertzel"][(seq % 2) as usize].into(),
        condition: "idle \"quoted\" ü".into(),
        release_ns: u64::MAX - seq,
        lateness_ns: -5 + seq as i64,
        exit_status: seq.is_multiple_of(3).then_some(-(seq as i32)),
        cpu_before: (seq > 10).then_some(u32::MAX),
        cycles: Some(u64::MAX),
        warmup: seq < 4,
        ..Window::default()
    }
}

fn write_some(dir: &Path, windows: u64) -> RunWriter {
    let mut writer = RunWriter::create(dir, &manifest()).unwrap();
    for seq in 0..windows {
        writer.window(&window(seq)).unwrap();
    }
    let load = LoadSample {
        cpu: 1,
        wanted_percent: 50.0,
        busy_percent: Some(0.1 + 0.2),
        ..LoadSample::default()
    };
    writer.load(&load).unwrap();
    let note = Note { message: "line\nbreak".into(), hint: Some("h".into()), ..Note::default() };
    writer.note(&note).unwrap();
    writer
        .frequency(&FrequencySample { domain: "policy0".into(), ..FrequencySample::default() })
        .unwrap();
    writer.flush().unwrap();
    writer
}

#[test]
fn ndjson_and_parquet_say_the_same() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let writer = write_some(&dir, 300_000);
    let lines = Run::open(&dir).unwrap();
    assert_eq!(lines.warnings, []);
    assert!(lines.unfinished.clone().unwrap().to_string().contains("not finished"));
    writer.finish(&complete()).unwrap();
    let names: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("ndjson")), "{names:?}");
    let parquet = Run::open(&dir).unwrap();
    assert_eq!(parquet.warnings, []);
    assert_eq!(parquet.tables.windows.len(), 300_000);
    assert!(parquet.tables == lines.tables);
    assert_eq!(parquet.tables.windows.row(299_999), Some(window(299_999)));
    assert_eq!(newest_run(root.path()).unwrap(), dir);
}

#[test]
fn a_run_in_memory_writes_itself() {
    let root = tempfile::tempdir().unwrap();
    let mut run = Run { manifest: complete(), ..Run::default() };
    run.tables.windows.push(window(3));
    let dir = run.write(root.path().join("x")).unwrap();
    let read = Run::open(&dir).unwrap();
    assert_eq!(read.tables, run.tables);
    assert_eq!(read.manifest, run.manifest);
    assert!(run.write(&dir).unwrap_err().expected().contains("empty directory"));
}

#[test]
fn projection_reads_only_what_is_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let writer = write_some(&dir, 50);
    let columns = [("windows", "exec_ns"), ("windows", "condition")];
    let from_lines = Run::open_with(&dir, Columns::Only(&columns)).unwrap();
    writer.finish(&complete()).unwrap();
    let from_parquet = Run::open_with(&dir, Columns::Only(&columns)).unwrap();
    assert_eq!(from_lines.tables, from_parquet.tables);
    assert_eq!(from_parquet.tables.windows.exec_ns.len(), 50);
    assert!(from_parquet.tables.windows.release_ns.is_empty());
    assert!(from_parquet.tables.notes.is_empty());
}

#[test]
fn a_killed_run_reads_at_every_byte() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    drop(write_some(&dir, 3));
    let path = dir.join("windows.ndjson");
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let run = Run::open(&dir).unwrap();
        let line_ends = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
        // A row that lacks only its newline is whole.
        let lacks_newline = whole.get(cut) == Some(&b'\n');
        assert_eq!(
            run.tables.windows.len(),
            line_ends + usize::from(lacks_newline),
            "cut at {cut}"
        );
        let torn = cut > 0 && whole[cut - 1] != b'\n' && !lacks_newline;
        assert_eq!(
            run.warnings.iter().any(|warning| warning.message.contains("torn")),
            torn,
            "cut at {cut}"
        );
    }
}

#[test]
fn rows_are_on_disk_after_a_tick() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let mut writer = RunWriter::create(&dir, &manifest()).unwrap();
    writer.window(&window(0)).unwrap();
    writer.tick(Nanos::from_millis(5)).unwrap();
    writer.window(&window(1)).unwrap();
    writer.tick(Nanos::from_millis(100)).unwrap();
    assert_eq!(Run::open(&dir).unwrap().tables.windows.len(), 1);
    writer.tick(Nanos::from_millis(205)).unwrap();
    assert_eq!(Run::open(&dir).unwrap().tables.windows.len(), 2);
}

#[test]
fn leftovers_are_said_and_damage_falls_back() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    drop(write_some(&dir, 30));
    let lines = std::fs::read(dir.join("windows.ndjson")).unwrap();
    let whole = write_some(&root.path().join("other"), 20).finish(&complete()).unwrap();
    std::fs::copy(whole.join("windows.parquet"), dir.join("windows.parquet")).unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.tables.windows.len(), 20, "the whole Parquet wins");
    assert!(run.warnings.iter().any(|warning| warning.message.contains("left over")));
    std::fs::write(dir.join("windows.parquet"), &lines).unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.tables.windows.len(), 30);
    assert!(run.warnings.iter().any(|warning| warning.message.contains("instead")));
    std::fs::remove_file(dir.join("windows.ndjson")).unwrap();
    assert_eq!(Run::open(&dir).unwrap_err().kind(), ErrorKind::BadInput);
}

#[test]
fn unknown_columns_and_missing_nullable_ones_pass() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    drop(write_some(&dir, 0));
    let line = r#"{"t_ns":5,"severity":"info","object":"x","message":"m","later":[1,{"a":2}]}"#;
    std::fs::write(dir.join("notes.ndjson"), format!("{line}\n\n{{}}\n{line}\n")).unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.tables.notes.len(), 2);
    let warning = run.warnings.iter().find(|warning| warning.object.contains("notes")).unwrap();
    assert!(warning.message.contains("line 3: missing field `severity`"), "{warning:?}");
}

#[test]
fn bad_places_give_promised_errors() {
    let root = tempfile::tempdir().unwrap();
    let kind = |result: Result<Run, Error>| {
        let error = result.unwrap_err();
        assert!(!error.hint().is_empty() && !error.object().is_empty());
        error.kind()
    };
    assert_eq!(kind(Run::open(root.path().join("none"))), ErrorKind::NotFound);
    assert_eq!(kind(Run::open(root.path())), ErrorKind::NotFound);
    std::fs::write(root.path().join("run.toml"), [0xff, 0xfe]).unwrap();
    assert_eq!(kind(Run::open(root.path())), ErrorKind::BadInput);
    std::fs::write(root.path().join("run.toml"), "format = 99").unwrap();
    assert_eq!(kind(Run::open(root.path())), ErrorKind::Unsupported);
    assert_eq!(newest_run(root.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(
        RunWriter::create(root.path(), &manifest()).unwrap_err().found().contains("files in it")
    );
    assert!(RunWriter::create(root.path().join("run.toml"), &manifest()).is_err());
}

#[test]
fn two_runs_of_one_second_keep_apart() {
    let root = tempfile::tempdir().unwrap();
    let made: Vec<_> = (0..11)
        .map(|_| {
            RunWriter::create_below(root.path(), 1_795_176_240, &manifest())
                .unwrap()
                .dir()
                .to_owned()
        })
        .collect();
    assert!(made[0].ends_with("20261120T120400Z-bench"));
    assert!(made[10].ends_with("20261120T120400Z-bench-11"));
    assert_eq!(newest_run(root.path()).unwrap(), made[10]);
}

/// What the manifest says to be done is on the disk before it; and where it is not, it does not count.
#[test]
fn a_trial_without_rows_is_not_done() {
    let root = tempfile::tempdir().unwrap();
    let plan = PlanRecord::of("trials", 5);
    let mut manifest = Manifest { plan, state: RunState::Running, ..manifest() };
    let mut writer = RunWriter::create(root.path().join("run"), &manifest).unwrap();
    let done = |dir: &Path| Run::open(dir).unwrap().unfinished.unwrap().plan.unwrap().done;
    for trial in 0..2 {
        writer.window(&Window { trial, ..window(u64::from(trial)) }).unwrap();
        manifest.order.push(TrialRecord { trial, ..TrialRecord::default() });
        writer.update_manifest(&manifest).unwrap();
        assert_eq!(done(writer.dir()), Some(u64::from(trial) + 1));
    }
    manifest.order.push(TrialRecord { trial: 2, ..TrialRecord::default() });
    writer.update_manifest(&manifest).unwrap();
    assert_eq!(done(writer.dir()), Some(2));
}

/// A file of a run that was closed, cut at any byte, is refused, or the run is not whole, or nothing of it is
/// other than it was.
#[test]
fn no_cut_is_silent() {
    let root = tempfile::tempdir().unwrap();
    let dir = write_some(&root.path().join("run"), 40).finish(&complete()).unwrap();
    let whole = Run::open(&dir).unwrap();
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            if let Ok(run) = Run::open(&dir) {
                assert!(run.unfinished.is_some() || run == whole, "{}, {length}", path.display());
            }
        }
        std::fs::write(&path, bytes).unwrap();
    }
}

/// A flipped bit in any file of a run that was closed is refused, or the run is not whole, or nothing of it is
/// other than it was.
#[test]
fn no_flip_is_silent() {
    const FLIPS: usize = 1_000;
    let root = tempfile::tempdir().unwrap();
    let dir = write_some(&root.path().join("run"), 40).finish(&complete()).unwrap();
    let whole = Run::open(&dir).unwrap();
    assert_eq!(whole.unfinished, None);
    let seed = 0x9e37_79b9_7f4a_7c15_u64;
    println!("seed {seed:#x}");
    let mut random = seed;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..FLIPS {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bit = (random >> 33) as usize % (bytes.len() * 8);
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            if let Ok(run) = Run::open(&dir) {
                assert!(run.unfinished.is_some() || run == whole, "{}, bit {bit}", path.display());
            }
        }
        std::fs::write(&path, bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_as_tables_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("run");
        drop(write_some(&dir, 2));
        std::fs::write(dir.join("windows.ndjson"), &bytes).unwrap();
        let _ = Run::open(&dir);
        std::fs::write(dir.join("notes.parquet"), &bytes).unwrap();
        let _ = Run::open(&dir);
        std::fs::write(dir.join("run.toml"), &bytes).unwrap();
        let _ = Run::open(&dir);
    }

    #[test]
    fn a_flipped_byte_in_parquet_never_panics(at in any::<prop::sample::Index>(), with in 1_u8..) {
        let root = tempfile::tempdir().unwrap();
        let dir = write_some(&root.path().join("run"), 40).finish(&complete()).unwrap();
        let path = dir.join("windows.parquet");
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= with;
        std::fs::write(&path, &bytes).unwrap();
        let _ = Run::open(&dir);
    }
}

/// Tables of earlier versions and of others have no checksum: what the Parquet library trips over there is bad
/// input, and nobody waits for it.
#[test]
fn a_changed_byte_without_a_checksum_is_read_or_refused() {
    let root = tempfile::tempdir().unwrap();
    let dir = write_some(&root.path().join("run"), 40).finish(&complete()).unwrap();
    std::fs::write(dir.join("run.toml"), "format = 1\nstate = \"complete\"\n").unwrap();
    let path = dir.join("windows.parquet");
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(Run::open(&dir).unwrap().tables.windows.len(), 40);
    let (mut read, mut refused) = (0, 0);
    for at in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[at] = [0, 0x7f, 0x80, 0xff][at / 7 % 4];
        std::fs::write(&path, changed).unwrap();
        let began = std::time::Instant::now();
        match Run::open(&dir) {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                assert_eq!(error.kind(), ErrorKind::BadInput, "byte {at}: {error}");
                assert!(error.object().contains("windows.parquet"), "byte {at}: {error}");
            }
        }
        assert!(began.elapsed().as_secs() < 10, "byte {at}: {:?}", began.elapsed());
    }
    assert!(read > 10 && refused > 10, "{read} read, {refused} refused");
}

#[test]
fn cells_leave_their_table_where_they_lie() {
    use flyball_run::column::Values;

    let dir = tempfile::tempdir().unwrap();
    write_some(dir.path(), 200).finish(&complete()).unwrap();
    let mut tables = Run::open(dir.path()).unwrap().tables;
    let first = tables.windows.seq.as_ptr();
    let spec = registry().iter().find(|table| table.name == "windows").unwrap();
    let cells = tables.take("windows").unwrap();
    let of =
        |name: &str| &cells[spec.columns.iter().position(|column| column.name == name).unwrap()];
    assert!(cells.iter().all(|column| column.rows == 200));
    assert!(matches!(&of("seq").values, Values::U64(values) if values.as_ptr() == first));
    assert_eq!(of("seq").valid, None);
    // Null in the first eleven rows only, and null throughout.
    assert_eq!(of("cpu_before").valid.as_ref().unwrap()[0], !0 << 11);
    assert_eq!(of("cpu_after").valid, Some(Vec::new()));
    let Values::Text { codes, names } = &of("workload").values else { panic!("texts have codes") };
    assert_eq!((codes[1], &*names[1]), (1, "goertzel"));
    assert!(tables.windows.is_empty());
    assert!(tables.take("no such table").is_none());
    let unit = |name: &str| spec.columns.iter().find(|column| column.name == name).unwrap().unit();
    assert_eq!(
        (unit("exec_ns"), unit("delivered_khz"), unit("seq")),
        (Some("ns"), Some("kHz"), None)
    );
}
