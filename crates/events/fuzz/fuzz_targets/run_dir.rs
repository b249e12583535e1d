//! Run directories: a manifest of any text, lines of any bytes, and a Parquet table of which any bytes were
//! changed (the input is a list of offsets and bytes) are read or refused.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use flyball_run::tables::Window;
use flyball_run::{Manifest, Run, RunState, RunWriter};
use libfuzzer_sys::fuzz_target;

/// A run directory in memory, and the bytes of its table.
fn whole() -> &'static (PathBuf, Vec<u8>) {
    static WHOLE: OnceLock<(PathBuf, Vec<u8>)> = OnceLock::new();
    WHOLE.get_or_init(|| {
        // What the Parquet library trips over is caught; here a panic would end the fuzzer.
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.location().is_some_and(|at| at.file().contains("/parquet-")) {
                usual(info);
            }
        }));
        let dir = PathBuf::from(format!("/dev/shm/flyball-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        let manifest = Manifest { kind: "bench".into(), state: RunState::Complete, ..Manifest::default() };
        let mut writer = RunWriter::create(&dir, &manifest).unwrap();
        for seq in 0..50 {
            let cycles = (seq % 3 == 0).then_some(seq * 1000);
            writer.window(&Window { seq, cycles, workload: "car".into(), ..Window::default() }).unwrap();
        }
        let dir = writer.finish(&manifest).unwrap();
        let table = fs::read(dir.join("windows.parquet")).unwrap();
        // Without checksums, which would refuse every change.
        fs::write(dir.join("run.toml"), "format = 1\nstate = \"complete\"\n").unwrap();
        (dir, table)
    })
}

fuzz_target!(|data: &[u8]| {
    let (dir, table) = whole();
    let _ = Manifest::from_toml(&String::from_utf8_lossy(data), "run.toml");
    let mut changed = table.clone();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % changed.len();
        changed[at] = edit[2];
    }
    fs::write(dir.join("windows.parquet"), &changed).unwrap();
    let _ = Run::open(dir);
    fs::remove_file(dir.join("windows.parquet")).unwrap();
    fs::write(dir.join("windows.ndjson"), data).unwrap();
    let _ = Run::open(dir);
    fs::remove_file(dir.join("windows.ndjson")).unwrap();
});
