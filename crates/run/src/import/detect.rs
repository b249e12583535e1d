//! Finds out a format from the content; names prove nothing.

use std::io::Read;
use std::path::Path;

use fs_err as fs;

use crate::error::{Error, Result};
use crate::run::Run;

/// Bytes looked at.
const HEAD_BYTES: u64 = 64 * 1024;

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A run directory of our own.
    Run,
    /// CORTEX telemetry: an experiment, a run folder, or one NDJSON file.
    Cortex,
    /// CSV with a header.
    Csv,
    /// `cyclictest --json`.
    CyclictestJson,
    /// `cyclictest -v` or `cyclictest -h`, as printed.
    CyclictestText,
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `--benchmark_out_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// Raw output of FTaLaT and its descendants: one file per switch, or a folder of them.
    Ftalat,
    /// CoreMark scores at fixed and alternating frequencies: `dataset.csv`, or a folder with it.
    Coremark,
    /// powerd++'s `loadrec`.
    Loadrec,
}

impl Format {
    /// Every format with the name that `--format` takes.
    pub const NAMES: [(&'static str, Format); 10] = [
        ("run", Format::Run),
        ("cortex", Format::Cortex),
        ("csv", Format::Csv),
        ("cyclictest-json", Format::CyclictestJson),
        ("cyclictest", Format::CyclictestText),
        ("hyperfine", Format::Hyperfine),
        ("google-benchmark", Format::GoogleBenchmark),
        ("ftalat", Format::Ftalat),
        ("coremark", Format::Coremark),
        ("loadrec", Format::Loadrec),
    ];
}

/// Finds out the format of a file or folder from its content.
///
/// # Errors
/// No such file, no permission, or content of no known format.
pub fn detect(path: impl AsRef<Path>) -> Result<Format> {
    let path = path.as_ref();
    let failed = |error: std::io::Error| Error::io(path, "to read it", &error);
    if fs::metadata(path).map_err(failed)?.is_dir() {
        return detect_folder(path);
    }
    let mut head = Vec::new();
    fs::File::open(path)
        .map_err(failed)?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)
        .map_err(failed)?;
    detect_text(&String::from_utf8_lossy(&head)).ok_or_else(|| {
        let first = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
        let found = if head.is_empty() {
            "an empty file".to_owned()
        } else if is_binary(&head) {
            "binary data".to_owned()
        } else {
            format!("{:?}", shorten(&first))
        };
        unknown(
            path,
            "CORTEX NDJSON, CSV with a header, or the output of cyclictest, hyperfine, Google Benchmark or loadrec",
            found,
        )
    })
}

/// Whether this is not text: what no tool of ours writes, and what would garble a terminal.
fn is_binary(head: &[u8]) -> bool {
    // The head may end inside a character; what is garbled before is not UTF-8.
    let valid = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), str::len);
    head.contains(&0) || head.len() - valid > 3
}

fn unknown(path: &Path, expected: &str, found: String) -> Error {
    let hint =
        "convert it to CSV with a header and name the column with the durations: latency_us=COLUMN";
    Error::bad_input(format!("{}:1", path.display()), expected, found, hint)
}

fn detect_folder(path: &Path) -> Result<Format> {
    if Run::is_run(path) {
        return Ok(Format::Run);
    }
    if !super::cortex::telemetry_files(path)?.is_empty() {
        return Ok(Format::Cortex);
    }
    if !super::coremark::datasets(path)?.is_empty() {
        return Ok(Format::Coremark);
    }
    if !super::ftalat::raw_files(path)?.is_empty() {
        return Ok(Format::Ftalat);
    }
    let found = "no run.toml, *.ndjson or dataset.csv, and no *.txt of FTaLaT in it".to_owned();
    Err(Error::bad_input(
        path.display(),
        "a run directory, or a folder of CORTEX, FTaLaT or CoreMark scores",
        found,
        "name the file itself, or the folder that holds run-*/",
    ))
}

fn detect_text(head: &str) -> Option<Format> {
    let trimmed = head.trim_start_matches('\u{feff}').trim_start();
    if trimmed.starts_with('{') {
        return detect_json(trimmed);
    }
    if super::loadrec::is_loadrec(trimmed) {
        return Some(Format::Loadrec);
    }
    let lines = || trimmed.lines().map(str::trim).filter(|line| !line.is_empty());
    if super::ftalat::is_header(trimmed) {
        return Some(Format::Ftalat);
    }
    if lines().next().is_some_and(super::coremark::is_row) {
        return Some(Format::Coremark);
    }
    if lines()
        .any(|line| line.starts_with("# Histogram") || super::cyclictest::is_verbose_line(line))
    {
        return Some(Format::CyclictestText);
    }
    let header = lines().next()?;
    let columns = header.split([',', ';', '\t']).count();
    let printable = !header.chars().any(|c| c.is_control() && c != '\t');
    let named = header.chars().any(char::is_alphabetic);
    // A one-column file is CSV, too, if a number follows.
    let single = lines().nth(1).is_some_and(|line| line.parse::<f64>().is_ok());
    (printable && named && (columns > 1 || single)).then_some(Format::Csv)
}

/// NDJSON has a whole object in its first whole lines; the others are one object over many.
fn detect_json(head: &str) -> Option<Format> {
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    if has("rt_test_version:") || (has("thread") && has("cycles")) {
        Some(Format::CyclictestJson)
    } else if super::google_benchmark::is_one(head) {
        Some(Format::GoogleBenchmark)
    } else if has("results") && (has("times") || has("command")) {
        Some(Format::Hyperfine)
    } else if has("plugin")
        || has("release_ts_ns")
        || has("window_index")
        || head.starts_with("{\"_type\"")
    {
        Some(Format::Cortex)
    } else {
        None
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
