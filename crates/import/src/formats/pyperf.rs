//! pyperf's JSON: each benchmark is a workload, each of its processes (a "run" in its words) a repeat,
//! each value a window. Values are the mean times of one loop. Processes that only calibrate have none.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::benchmarks::{Benchmarks, document};
use flyball_run::manifest::Machine;
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str = "write it with: python script.py -o FILE, or python -m pyperf timeit -o FILE";

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Benchmark>,
    /// What all benchmarks of the file have in common.
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    metadata: Map<String, Value>,
    runs: Vec<Process>,
}

#[derive(Deserialize)]
struct Process {
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(default)]
    values: Vec<f64>,
    /// Loops, and the time of one.
    #[serde(default)]
    warmups: Vec<(u64, f64)>,
}

/// Whether a JSON text begins as such a file does.
pub(super) fn is_one(head: &str) -> bool {
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    has("benchmarks") && has("runs") && (has("values") || has("warmups"))
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let (document, bytes): (Document, u64) = document(path, "pyperf", HINT)?;
    let mut times = Benchmarks::of("pyperf");
    for (number, benchmark) in document.benchmarks.iter().enumerate() {
        let told = |key: &str| {
            let own = benchmark.metadata.get(key).or_else(|| document.metadata.get(key))?;
            own.as_str()
        };
        let name = told("name").map_or_else(|| format!("benchmark {}", number + 1), str::to_owned);
        if let Some(unit) = told("unit").filter(|unit| *unit != "second") {
            times.bad(format!("{name:?}: expected values in the unit second, found {unit:?}"));
            continue;
        }
        let mut repeat = 0;
        for process in benchmark.runs.iter().filter(|process| !process.values.is_empty()) {
            repeat += 1;
            let affinity = process.metadata.get("cpu_affinity").and_then(Value::as_str);
            let cpu = affinity.or_else(|| told("cpu_affinity")).and_then(|cpus| cpus.parse().ok());
            let window =
                |warmup| Window { warmup, cpu_before: cpu, cpu_after: cpu, ..Window::default() };
            for (_, seconds) in &process.warmups {
                times.time(&name, repeat, seconds * 1e9, window(true));
            }
            for seconds in &process.values {
                times.time(&name, repeat, seconds * 1e9, window(false));
            }
        }
        if repeat == 0 {
            times.warn(
                &name,
                "no process has values, only warm-ups or calibration".to_owned(),
                None,
            );
        }
    }
    let measured = times.run.tables.windows.warmup.iter().any(|warmup| !warmup);
    if times.tally.skipped == 0 && !measured {
        return Err(Error::bad_input(path.display(), "values of benchmarks", "none", HINT));
    }
    times.run.manifest.machine = machine(&document);
    times.finish(path, bytes, "value of a benchmark")
}

/// The machine, where all benchmarks were run on it.
fn machine(document: &Document) -> Option<Machine> {
    let first = document.benchmarks.first().map(|benchmark| &benchmark.metadata);
    let of = |key: &str| document.metadata.get(key).or_else(|| first?.get(key));
    let text = |key: &str| of(key).and_then(Value::as_str).map(str::to_owned);
    let machine = Machine {
        hostname: text("hostname"),
        cpu_model: text("cpu_model_name"),
        kernel: text("platform"),
        cpu_count: of("cpu_count").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
        ..Machine::default()
    };
    (machine != Machine::default()).then_some(machine)
}
