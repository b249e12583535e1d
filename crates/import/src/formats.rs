//! Finds out a format from the content; names prove nothing.

mod coremark;
mod cortex;
mod criterion;
mod csv_rows;
mod cyclictest;
mod ftalat;
mod go_benchmark;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod loadrec;
mod pyperf;
mod pytest_benchmark;

use std::io::Read;
use std::path::Path;

use fs_err as fs;

use crate::Options;
use flyball_run::run::Run;
use flyball_run::{Error, Result};

/// Bytes looked at.
const HEAD_BYTES: u64 = 64 * 1024;

/// Formats that can be imported, a row each: the name, how the head of a file is known (without
/// leading space), how a folder is known, and the importer. The first that knows it is taken.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident $name:literal, $head:expr, $folder:expr, $import:expr;)+) => {
        /// A format that can be imported.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $format,)+
        }

        impl Format {
            /// Every format with its name.
            pub const NAMES: [(&'static str, Format); [$($name),+].len()] =
                [$(($name, Format::$format),)+];

            fn is_head(self, head: &str) -> bool {
                let is: fn(&str) -> bool = match self {
                    $(Format::$format => $head,)+
                };
                is(head)
            }

            fn is_folder(self, path: &Path) -> Result<bool> {
                let is: fn(&Path) -> Result<bool> = match self {
                    $(Format::$format => $folder,)+
                };
                is(path)
            }

            /// Imports a file or folder of this format.
            pub(super) fn import(self, path: &Path, options: &Options<'_>) -> Result<Run> {
                let import: fn(&Path, &Options<'_>) -> Result<Run> = match self {
                    $(Format::$format => $import,)+
                };
                import(path, options)
            }
        }
    };
}

formats! {
    /// A run directory of our own.
    Run "run", |_| false, |path| Ok(Run::is_run(path)),
        |path, options| Run::open_with(path, options.columns);
    /// `cyclictest --json`.
    CyclictestJson "cyclictest-json", cyclictest::is_json, no_folder,
        |path, _| cyclictest::import_json(path);
    /// `--benchmark_out_format=json` of Google Benchmark.
    GoogleBenchmark "google-benchmark",
        |head| head.starts_with('{') && google_benchmark::is_one(head), no_folder,
        |path, _| google_benchmark::import(path);
    /// `hyperfine --export-json`.
    Hyperfine "hyperfine",
        |head| is_json(head, &["results"]) && (has(head, "times") || has(head, "command")),
        no_folder, |path, _| hyperfine::import(path);
    /// pyperf's JSON.
    Pyperf "pyperf", |head| is_json(head, &[]) && pyperf::is_one(head), no_folder,
        |path, _| pyperf::import(path);
    /// `pytest --benchmark-json`.
    PytestBenchmark "pytest-benchmark", |head| is_json(head, &["machine_info"]), no_folder,
        |path, _| pytest_benchmark::import(path);
    /// JMH's `-rf json`.
    Jmh "jmh",
        |head| head.starts_with('[') && (has(head, "jmhVersion") || has(head, "primaryMetric")),
        no_folder, |path, _| jmh::import(path);
    /// `go test -bench`, as text or with `-json`.
    GoBenchmark "go", go_benchmark::is_one, no_folder, |path, _| go_benchmark::import(path);
    /// Criterion's folder, or one `sample.json` in it.
    Criterion "criterion", |head| is_json(head, &["iters", "times"]), criterion::is_folder,
        |path, _| criterion::import(path);
    /// CORTEX telemetry: an experiment, a run folder, or one NDJSON file.
    Cortex "cortex",
        |head| {
            is_json(head, &[])
                && (["plugin", "release_ts_ns", "window_index"].iter().any(|key| has(head, key))
                    || head.starts_with("{\"_type\""))
        },
        |path| Ok(!cortex::telemetry_files(path)?.is_empty()),
        |path, options| cortex::import(path, options.columns);
    /// powerd++'s `loadrec`.
    Loadrec "loadrec", loadrec::is_loadrec, no_folder, |path, _| loadrec::import(path);
    /// CoreMark scores at fixed and alternating frequencies: `dataset.csv`, or a folder with it.
    Coremark "coremark", |head| lines(head).next().is_some_and(coremark::is_row),
        |path| Ok(!coremark::datasets(path)?.is_empty()), |path, _| coremark::import(path);
    /// Raw output of FTaLaT and its descendants: one file per switch, or a folder of them.
    Ftalat "ftalat", ftalat::is_header, |path| Ok(!ftalat::raw_files(path)?.is_empty()),
        |path, options| ftalat::import(path, options.counter_hz);
    /// `cyclictest -v` or `cyclictest -h`, as printed.
    CyclictestText "cyclictest", |head| lines(head).any(cyclictest::is_text), no_folder,
        |path, _| cyclictest::import_text(path);
    /// CSV with a header.
    Csv "csv", is_csv, no_folder, |path, options| csv_rows::import(path, &options.map);
}

fn no_folder(_: &Path) -> Result<bool> {
    Ok(false)
}

fn has(head: &str, key: &str) -> bool {
    head.contains(&format!("\"{key}\""))
}

fn is_json(head: &str, keys: &[&str]) -> bool {
    head.starts_with('{') && keys.iter().all(|key| has(head, key))
}

fn lines(head: &str) -> impl Iterator<Item = &str> {
    // NDJSON and one object over many lines have formats of their own.
    let text = if head.starts_with('{') { "" } else { head };
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn is_csv(head: &str) -> bool {
    let Some(header) = lines(head).next() else { return false };
    let columns = header.split([',', ';', '\t']).count();
    let printable = !header.chars().any(|c| c.is_control() && c != '\t');
    let named = header.chars().any(char::is_alphabetic);
    // A one-column file is CSV, too, if a number follows.
    let single = lines(head).nth(1).is_some_and(|line| line.parse::<f64>().is_ok());
    printable && named && (columns > 1 || single)
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
            "CORTEX NDJSON, CSV with a header, or the output of cyclictest, loadrec or a benchmark \
             program (Criterion, Google Benchmark, hyperfine, pyperf, pytest-benchmark, \
             go test -bench, JMH)",
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
    for (_, format) in Format::NAMES {
        if format.is_folder(path)? {
            return Ok(format);
        }
    }
    let found = "no run.toml, *.ndjson, sample.json or dataset.csv, and no *.txt of FTaLaT in it"
        .to_owned();
    Err(Error::bad_input(
        path.display(),
        "a run directory, or a folder of CORTEX, Criterion, FTaLaT or CoreMark scores",
        found,
        "name the file itself, or the folder that holds run-*/",
    ))
}

fn detect_text(head: &str) -> Option<Format> {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    Format::NAMES.into_iter().map(|(_, format)| format).find(|format| format.is_head(head))
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
