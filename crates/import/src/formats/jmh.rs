//! JMH's JSON (`-rf json`): each benchmark with its parameters is a workload, each fork a repeat, each
//! measured iteration a window. In mode `thrpt` a window is the mean time of one operation, that is, one
//! over the throughput. In mode `sample` the windows are JMH's own samples, sorted by size: it keeps a
//! histogram per iteration, and no order.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::benchmarks::{Benchmarks, document, only_summaries, with_parameters};
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str = "write it with: java -jar benchmarks.jar -rf json -rff FILE";

/// More samples of one benchmark are not taken one by one.
const SAMPLES_MAX: u64 = 2_000_000;

/// Values with how often each occurred.
type Histogram = Vec<(f64, u64)>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    primary_metric: Metric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score_unit: String,
    /// By fork and iteration; JMH writes what is no number as text.
    #[serde(default)]
    raw_data: Option<Vec<Vec<Value>>>,
    /// By fork and iteration: values with their counts.
    #[serde(default)]
    raw_data_histogram: Option<Vec<Vec<Histogram>>>,
}

/// What a score is.
enum Unit {
    /// The time of one operation, in nanoseconds per unit of score.
    Time(f64),
    /// Operations per time, whose length in nanoseconds this is.
    Throughput(f64),
}

impl Unit {
    fn of(text: &str) -> Option<Unit> {
        let ns = |unit: &str| {
            Some(match unit {
                "ns" => 1.0,
                "us" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "min" => 60e9,
                "hr" => 3_600e9,
                "day" => 86_400e9,
                _ => return None,
            })
        };
        match text.split_once('/')? {
            (unit, "op") => ns(unit).map(Unit::Time),
            ("ops", unit) => ns(unit).map(Unit::Throughput),
            _ => None,
        }
    }

    /// Nanoseconds of one operation.
    fn ns(&self, score: f64) -> f64 {
        match self {
            Unit::Time(ns) => score * ns,
            Unit::Throughput(ns) => ns / score,
        }
    }
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let (benchmarks, bytes): (Vec<Benchmark>, u64) = document(path, "JMH", HINT)?;
    if benchmarks.is_empty() {
        return Err(Error::bad_input(path.display(), "benchmarks", "none", HINT));
    }
    let has_data =
        |metric: &Metric| metric.raw_data.is_some() || metric.raw_data_histogram.is_some();
    if !benchmarks.iter().any(|benchmark| has_data(&benchmark.primary_metric)) {
        return Err(only_summaries(path, "JMH", "score and percentiles, but no `rawData`", HINT));
    }
    let mut times = Benchmarks::of("jmh");
    for benchmark in &benchmarks {
        let mut parameters: Vec<String> = (benchmark.params.iter())
            .map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name}={text}"),
                None => format!("{name}={value}"),
            })
            .collect();
        // The same benchmark may have been run in several modes, which time different things.
        if benchmark.mode != "avgt" {
            parameters.push(benchmark.mode.clone());
        }
        let name = with_parameters(&benchmark.benchmark, &parameters);
        one(&mut times, &name, &benchmark.primary_metric);
    }
    times.finish(path, bytes, "measured iteration of a benchmark")
}

/// The windows of one benchmark.
fn one(times: &mut Benchmarks, name: &str, metric: &Metric) {
    let Some(unit) = Unit::of(&metric.score_unit) else {
        let found = &metric.score_unit;
        return times
            .bad(format!("{name:?}: expected a unit such as ns/op or ops/s, found {found:?}"));
    };
    if let Some(forks) = &metric.raw_data {
        for (fork, repeat) in forks.iter().zip(1..) {
            for score in fork {
                match score.as_f64() {
                    Some(score) => times.time(name, repeat, unit.ns(score), Window::default()),
                    None => times.bad(format!("{name:?}: expected a number, found {score}")),
                }
            }
        }
        return;
    }
    let Some(forks) = &metric.raw_data_histogram else {
        return times.bad(format!("{name:?}: only a summary, without its times"));
    };
    let samples = || forks.iter().flatten().flatten();
    let count = samples().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    if count > SAMPLES_MAX {
        let why = format!("{name:?}: expected at most {SAMPLES_MAX} samples, found {count}");
        return times.bad(why);
    }
    for (fork, repeat) in forks.iter().zip(1..) {
        for (score, count) in fork.iter().flatten() {
            for _ in 0..*count {
                times.time(name, repeat, unit.ns(*score), Window::default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_times_and_of_throughput() {
        let ns = |unit: &str, score: f64| Unit::of(unit).map(|unit| unit.ns(score));
        assert_eq!(ns("us/op", 2.5), Some(2_500.0));
        assert_eq!(ns("ops/ms", 4.0), Some(250_000.0));
        assert_eq!(ns("ops/s", 1e9), Some(1.0));
        for unit in ["B/op", "counts", "ops/", "MB/sec"] {
            assert_eq!(ns(unit, 1.0), None, "{unit}");
        }
    }
}
