//! `hyperfine --export-json`: each command is a condition, each of its times a window.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::reading::{file_name, new_run, read_text, record_file};
use crate::sampled::{Sample, Sampler};
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::tally::Tally;
use flyball_run::{Error, Result};

#[derive(Deserialize)]
struct Export {
    results: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    command: String,
    #[serde(default)]
    times: Option<Vec<Option<f64>>>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

/// The one workload: hyperfine times whole programs.
const WORKLOAD: &str = "command";

pub(super) fn import(path: &Path) -> Result<Run> {
    let text = read_text(path)?;
    let export: Export = serde_json::from_str(&text).map_err(|error| {
        Error::bad_input(
            format!("{}:{}", path.display(), error.line()),
            "the output of hyperfine --export-json",
            error.to_string(),
            "export again with: hyperfine --export-json FILE ...",
        )
    })?;
    let mut run = new_run("hyperfine");
    let (mut sampler, mut tally) = (Sampler::default(), Tally::default());
    for measured in &export.results {
        let condition = name(measured);
        let Some(times) = &measured.times else {
            tally.lines += 1;
            tally.bad(false, format!("no times of {condition:?}, only a summary"));
            continue;
        };
        for (run_number, seconds) in times.iter().enumerate() {
            tally.lines += 1;
            let Some(exec_ns) = seconds.and_then(nanoseconds) else {
                tally.bad(
                    false,
                    format!(
                        "time {} of {condition:?}: expected seconds, found {seconds:?}",
                        run_number + 1
                    ),
                );
                continue;
            };
            tally.rows += 1;
            let exit_status = measured.exit_codes.get(run_number).copied().flatten();
            let rest = Window { exit_status, ..Window::default() };
            let sample = Sample {
                workload: WORKLOAD,
                condition: &condition,
                repeat: 1,
                exec_ns,
                rest,
                ..Sample::default()
            };
            sampler.add(&mut run, sample);
        }
    }
    tally.check(&path.display().to_string(), "timed run of a command")?;
    sampler.finish(&mut run, &file_name(path));
    record_file(&mut run, file_name(path), text.len() as u64, &tally);
    Ok(run)
}

/// The command, with the parameters that it was run with where it does not show them.
fn name(measured: &Measured) -> String {
    let shown =
        |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let hidden: Vec<String> = measured
        .parameters
        .iter()
        .map(|(name, value)| (name, shown(value)))
        .filter(|(_, value)| !measured.command.contains(value.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if hidden.is_empty() {
        measured.command.clone()
    } else {
        format!("{} ({})", measured.command, hidden.join(", "))
    }
}

/// Seconds as whole nanoseconds; none where negative, not finite, or above a day.
fn nanoseconds(seconds: f64) -> Option<u64> {
    (0.0..=86_400.0).contains(&seconds).then(|| (seconds * 1e9).round() as u64)
}
