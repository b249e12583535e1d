//! Criterion's folder (`target/criterion`, or `CRITERION_HOME`): each benchmark is a workload, each
//! sample a window, the mean time of one of its iterations. Read are the samples of the newest run,
//! `NAME/new/sample.json`; `estimates.json` is a summary of the same.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Deserialize;

use crate::benchmarks::{Benchmarks, document, only_summaries};
use crate::reading::file_name;
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str =
    "name the folder that `cargo bench` wrote: target/criterion, or what CRITERION_HOME says";
const SAMPLE: &str = "sample.json";
const ESTIMATES: &str = "estimates.json";
/// The folder of the newest run, beside those of saved baselines.
const NEW: &str = "new";
/// Group, function, value and run, with some room.
const DEPTH_MAX: u32 = 6;

#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    /// Nanoseconds of all iterations of a sample.
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Described {
    full_id: String,
}

/// The folders of runs of benchmarks: those with samples, or, where `file` says so, with estimates.
fn folders(dir: &Path, file: &str, depth: u32, found: &mut Vec<PathBuf>) -> Result<()> {
    if dir.join(file).is_file() {
        found.push(dir.to_owned());
        return Ok(());
    }
    let failed = |error: std::io::Error| Error::io(dir, "to list the folder", &error);
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Links are not followed: a ring of them would never end.
        if depth > 0 && entry.file_type().map_err(failed)?.is_dir() {
            folders(&entry.path(), file, depth - 1, found)?;
        }
    }
    Ok(())
}

fn listed(dir: &Path, file: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    folders(dir, file, DEPTH_MAX, &mut found)?;
    found.sort();
    Ok(found)
}

/// Whether a folder is one of Criterion.
pub(super) fn is_folder(path: &Path) -> Result<bool> {
    // Estimates alone are one, too, and are refused with the reason.
    Ok(!listed(path, SAMPLE)?.is_empty() || !listed(path, ESTIMATES)?.is_empty())
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let mut times = Benchmarks::of("criterion");
    if path.is_file() {
        let bytes = one(&mut times, path)?;
        return times.finish(path, bytes, "sample of a benchmark");
    }
    let all = listed(path, SAMPLE)?;
    let runs_of = |wanted: &str| -> Vec<&PathBuf> {
        all.iter().filter(|dir| file_name(dir) == wanted).collect()
    };
    let mut names: Vec<String> = all.iter().map(|dir| file_name(dir)).collect();
    names.sort();
    names.dedup();
    // The newest run, or the only one that there is.
    let chosen = match names.as_slice() {
        [] if listed(path, ESTIMATES)?.is_empty() => {
            return Err(Error::bad_input(path.display(), "samples of Criterion", "none", HINT));
        }
        [] => {
            let found = "estimates.json, but no sample.json beside it";
            return Err(only_summaries(path, "Criterion", found, HINT));
        }
        [only] => only.clone(),
        names if names.iter().any(|name| name == NEW) => NEW.to_owned(),
        names => {
            let found = format!("those of {}", names.join(", "));
            let hint = "keep each run in a folder of its own: CRITERION_HOME=runs/new1 cargo bench";
            return Err(Error::bad_input(path.display(), "the samples of one run", found, hint));
        }
    };
    let mut bytes = 0;
    for dir in runs_of(&chosen) {
        bytes += one(&mut times, &dir.join(SAMPLE))?;
    }
    // Criterion itself keeps the run before as `base`.
    names.retain(|name| *name != chosen && name != "base");
    if !names.is_empty() {
        let message = format!("baselines that were saved here are not read: {}", names.join(", "));
        let hint = "keep each run in a folder of its own: CRITERION_HOME=runs/new1 cargo bench";
        times.warn(&file_name(path), message, Some(hint));
    }
    times.finish(path, bytes, "sample of a benchmark")
}

/// The samples of one benchmark; their file's length.
fn one(times: &mut Benchmarks, path: &Path) -> Result<u64> {
    let (samples, bytes): (Samples, u64) = document(path, "Criterion's samples", HINT)?;
    if samples.iters.len() != samples.times.len() {
        return Err(Error::bad_input(
            path.display(),
            "as many times as numbers of iterations",
            format!("{} and {}", samples.times.len(), samples.iters.len()),
            HINT,
        ));
    }
    let name = name(path);
    for (iterations, ns) in samples.iters.iter().zip(&samples.times) {
        times.time(&name, 1, ns / iterations, Window::default());
    }
    Ok(bytes)
}

/// What the benchmark of a `sample.json` is called.
fn name(path: &Path) -> String {
    let described = path.with_file_name("benchmark.json");
    let told = fs::read_to_string(described).ok();
    let told = told.and_then(|text| serde_json::from_str::<Described>(&text).ok());
    if let Some(described) = told {
        return described.full_id;
    }
    // Without its description: the folder above that of the run.
    match path.file_name().is_some_and(|name| name == SAMPLE) {
        true => path.ancestors().nth(2).map(file_name).filter(|name| !name.is_empty()),
        false => None,
    }
    .unwrap_or_else(|| "benchmark".to_owned())
}
