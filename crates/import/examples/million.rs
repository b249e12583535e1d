//! Times reading a large telemetry tree: `million SOURCE COPIES` repeats every NDJSON file below
//! SOURCE, reads the result back, and prints time and peak memory.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a stopwatch, not a part of the tool"
)]

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flyball_import::{Options, import};
use flyball_run::{Columns, Run};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, source, copies, target] = arguments.as_slice() else {
        return Err(
            "usage: million SOURCE COPIES TARGET (TARGET is made where it does not exist)".into()
        );
    };
    let target = PathBuf::from(target);
    if !target.exists() {
        let bytes = repeat(Path::new(source), &target, copies.parse()?)?;
        println!("wrote {} MB", bytes / 1_000_000);
    }
    let before = Instant::now();
    let run = import(&target, &Options::default())?;
    report("import", before, &run);
    let saved = target.with_extension("run");
    if !saved.exists() {
        let before = Instant::now();
        run.write(&saved)?;
        report("write Parquet", before, &run);
    }
    drop(run);
    let before = Instant::now();
    report("read Parquet", before, &Run::open(&saved)?);
    let before = Instant::now();
    let columns = [
        ("windows", "exec_ns"),
        ("windows", "workload"),
        ("windows", "condition"),
        ("windows", "repeat"),
    ];
    report("read 4 columns", before, &Run::open_with(&saved, Columns::Only(&columns))?);
    Ok(())
}

fn report(what: &str, before: Instant, run: &Run) {
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    let (wall, cpu, windows) =
        (before.elapsed().as_secs_f64(), cpu_seconds(), run.tables.windows.len());
    println!("{what:16} {wall:.3} s, CPU until here {cpu:.2} s, {windows} windows, {peak}");
}

/// CPU time of the process so far: fields 14 and 15 of `/proc/self/stat`, in ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn repeat(source: &Path, target: &Path, copies: usize) -> std::io::Result<usize> {
    fs::create_dir_all(target)?;
    let mut bytes = 0;
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        let to = target.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            bytes += repeat(&path, &to, copies)?;
        } else if path.extension().is_some_and(|extension| extension == "ndjson") {
            let text = fs::read(&path)?;
            let mut file = fs::File::create(&to)?;
            for _ in 0..copies {
                file.write_all(&text)?;
            }
            bytes += text.len() * copies;
        } else {
            fs::copy(&path, &to)?;
        }
    }
    Ok(bytes)
}
