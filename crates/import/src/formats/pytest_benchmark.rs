//! pytest-benchmark's JSON: each benchmark is a workload, each of its rounds a window. A round is the
//! mean over its iterations.

use std::path::Path;

use serde::Deserialize;

use crate::benchmarks::{Benchmarks, document, only_summaries};
use flyball_run::manifest::Machine;
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str = "write it with: pytest --benchmark-json=FILE, or --benchmark-save-data beside \
    --benchmark-save";

#[derive(Deserialize)]
struct Document {
    machine_info: MachineInfo,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct MachineInfo {
    #[serde(default)]
    node: Option<String>,
    #[serde(default)]
    system: Option<String>,
    #[serde(default)]
    release: Option<String>,
    #[serde(default)]
    cpu: Cpu,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cpu {
    brand_raw: Option<String>,
    count: Option<u32>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    #[serde(default)]
    fullname: Option<String>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    /// Seconds of one iteration, by round; absent where only the summary was saved.
    #[serde(default)]
    data: Option<Vec<f64>>,
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let (document, bytes): (Document, u64) = document(path, "pytest-benchmark", HINT)?;
    if document.benchmarks.is_empty() {
        return Err(Error::bad_input(path.display(), "benchmarks", "none", HINT));
    }
    if document.benchmarks.iter().all(|benchmark| benchmark.stats.data.is_none()) {
        let found = "min, median, mean, ..., but no `data`";
        return Err(only_summaries(path, "pytest-benchmark", found, HINT));
    }
    let mut times = Benchmarks::of("pytest-benchmark");
    for benchmark in &document.benchmarks {
        let name = benchmark.fullname.as_ref().unwrap_or(&benchmark.name);
        match &benchmark.stats.data {
            Some(data) => data
                .iter()
                .for_each(|seconds| times.time(name, 1, seconds * 1e9, Window::default())),
            None => times.bad(format!("{name:?}: only a summary, without its times")),
        }
    }
    let info = document.machine_info;
    let kernel =
        info.system.zip(info.release).map(|(system, release)| format!("{system} {release}"));
    times.run.manifest.machine = Some(Machine {
        hostname: info.node,
        cpu_model: info.cpu.brand_raw,
        cpu_count: info.cpu.count,
        kernel,
        ..Machine::default()
    });
    times.finish(path, bytes, "round of a benchmark")
}
