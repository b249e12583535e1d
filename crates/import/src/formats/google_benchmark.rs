//! Google Benchmark's JSON: each benchmark is a workload, each of its repetitions a repeat of one
//! window.
//!
//! A repetition is itself the mean over its iterations: the window's execution time is the time of
//! one iteration, so the spread is that between repetitions. Aggregates (mean, median, stddev, cv)
//! are computed from the repetitions and left out; a file of aggregates alone is refused.

use std::path::Path;

use serde::Deserialize;

use crate::benchmarks::{Benchmarks, document, only_summaries};
use crate::reading::file_name;
use flyball_run::manifest::Machine;
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str =
    "run it with: --benchmark_repetitions=20 --benchmark_out=FILE --benchmark_out_format=json";

#[derive(Deserialize)]
struct Document {
    context: Context,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    host_name: Option<String>,
    #[serde(default)]
    num_cpus: Option<u32>,
    #[serde(default)]
    cpu_scaling_enabled: Option<bool>,
    #[serde(default)]
    library_build_type: Option<String>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    #[serde(default)]
    run_name: Option<String>,
    /// `iteration` or `aggregate`; before 1.5 absent.
    #[serde(default)]
    run_type: Option<String>,
    /// Before 1.5 the only sign of an aggregate is the end of the name.
    #[serde(default)]
    aggregate_name: Option<String>,
    #[serde(default)]
    repetition_index: Option<u32>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    real_time: Option<f64>,
    #[serde(default)]
    cpu_time: Option<f64>,
    #[serde(default)]
    time_unit: Option<String>,
}

impl Benchmark {
    fn is_aggregate(&self) -> bool {
        let old = ["_mean", "_median", "_stddev", "_cv"];
        self.run_type.as_deref() == Some("aggregate")
            || self.aggregate_name.is_some()
            || (self.run_type.is_none() && old.iter().any(|end| self.name.ends_with(end)))
    }

    /// Real time and CPU time of one iteration in ns.
    fn times(&self) -> std::result::Result<(f64, Option<u64>), String> {
        let unit_ns = match self.time_unit.as_deref() {
            None | Some("ns") => 1.0,
            Some("us") => 1e3,
            Some("ms") => 1e6,
            Some("s") => 1e9,
            Some(other) => return Err(format!("expected a unit ns, us, ms or s, found {other:?}")),
        };
        let Some(real) = self.real_time.filter(|time| *time >= 0.0) else {
            return Err(format!("expected a real_time, found {:?}", self.real_time));
        };
        let cpu = self.cpu_time.map(|time| time * unit_ns);
        let cpu = cpu.filter(|ns| (0.0..=86_400e9).contains(ns)).map(|ns| ns.round() as u64);
        Ok((real * unit_ns, cpu))
    }
}

/// Whether a JSON text begins as such a file does.
pub(super) fn is_one(head: &str) -> bool {
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    has("context") && (has("library_build_type") || (has("benchmarks") && has("real_time")))
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let (document, bytes): (Document, u64) = document(path, "Google Benchmark", HINT)?;
    let mut times = Benchmarks::of("google-benchmark");
    let mut aggregates = 0;
    for benchmark in &document.benchmarks {
        if benchmark.is_aggregate() {
            aggregates += 1;
            continue;
        }
        let workload = benchmark.run_name.as_deref().unwrap_or(&benchmark.name);
        if benchmark.error_occurred {
            let why = benchmark.error_message.as_deref().unwrap_or("no message");
            times.bad(format!("{workload:?} failed: {why}"));
            continue;
        }
        match benchmark.times() {
            Ok((ns, cpu_time_ns)) => {
                let repeat = benchmark.repetition_index.unwrap_or(0).saturating_add(1);
                times.time(workload, repeat, ns, Window { cpu_time_ns, ..Window::default() });
            }
            Err(wrong) => times.bad(format!("{workload:?}: {wrong}")),
        }
    }
    if times.tally.lines == 0 {
        return Err(match aggregates {
            0 => Error::bad_input(path.display(), "repetitions of benchmarks", "none", HINT),
            n => {
                let found = format!("{n} aggregates: mean, median, ...");
                only_summaries(path, "Google Benchmark", &found, HINT)
            }
        });
    }
    let context = &document.context;
    warn(&mut times, &file_name(path), context);
    times.run.manifest.machine = Some(Machine {
        hostname: context.host_name.clone(),
        cpu_count: context.num_cpus,
        ..Machine::default()
    });
    times.finish(path, bytes, "repetition of a benchmark")
}

/// What the tool itself says against its numbers.
fn warn(times: &mut Benchmarks, name: &str, context: &Context) {
    if context.cpu_scaling_enabled == Some(true) {
        times.warn(
            name,
            "frequency scaling was on: times depend on how long a CPU was busy before".to_owned(),
            Some("hold the frequency while the benchmark runs"),
        );
    }
    if context.library_build_type.as_deref() == Some("debug") {
        times.warn(
            name,
            "the benchmark library was built for debugging: times may be too long".to_owned(),
            Some("build it with -DCMAKE_BUILD_TYPE=Release"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Benchmark {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn aggregates_of_any_version() {
        assert!(of(r#"{"name": "x_mean", "run_type": "aggregate"}"#).is_aggregate());
        assert!(of(r#"{"name": "x_mean"}"#).is_aggregate(), "before 1.5");
        assert!(!of(r#"{"name": "take_mean", "run_type": "iteration"}"#).is_aggregate());
    }

    #[test]
    fn units_and_values_out_of_range() {
        assert_eq!(
            of(r#"{"name": "x", "real_time": 1.5, "time_unit": "us"}"#).times(),
            Ok((1500.0, None))
        );
        let both = of(r#"{"name": "x", "real_time": 7.4, "cpu_time": 3}"#);
        assert_eq!(both.times(), Ok((7.4, Some(3))));
        for text in [
            r#"{"name": "x"}"#,
            r#"{"name": "x", "real_time": -1.0}"#,
            r#"{"name": "x", "real_time": 1.0, "time_unit": "h"}"#,
        ] {
            assert!(of(text).times().is_err(), "{text}");
        }
    }
}
