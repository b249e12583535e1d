//! `go test -bench`, as text or with `-json`: each benchmark is a workload, each of its lines (`-count`)
//! a repeat of one window, the mean time of one operation.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::benchmarks::Benchmarks;
use crate::reading::read_text;
use flyball_run::manifest::Machine;
use flyball_run::run::Run;
use flyball_run::tables::Window;
use flyball_run::{Error, Result};

const HINT: &str = "write it with: go test -run '^$' -bench . -count 10 > FILE";

/// Whether a text begins as such output does.
pub(super) fn is_one(head: &str) -> bool {
    let is_json = head.starts_with('{') && head.contains("\"Action\":\"");
    is_json && head.contains("\"Package\":\"")
        || head
            .lines()
            .any(|line| line.starts_with("goos: ") || matches!(result(line), Some(Ok(_))))
}

/// A line of a result: its name and the nanoseconds of one operation; none for any other line.
fn result(line: &str) -> Option<std::result::Result<(&str, f64), String>> {
    let mut fields = line.split_whitespace();
    let name = fields.next().filter(|name| name.starts_with("Benchmark"))?;
    // With -v the name stands alone first, and what the benchmark prints may stand beside it.
    fields.next()?.parse::<u64>().ok()?;
    let fields: Vec<&str> = fields.collect();
    let value = fields.chunks(2).find_map(|pair| match pair {
        [value, "ns/op"] => Some(*value),
        _ => None,
    });
    let name = name.strip_prefix("Benchmark").filter(|name| !name.is_empty()).unwrap_or(name);
    Some(match value.map(|value| (value, value.parse::<f64>())) {
        Some((_, Ok(ns))) => Ok((name, ns)),
        Some((value, Err(_))) => {
            Err(format!("{name:?}: expected a number of ns/op, found {value:?}"))
        }
        None => Err(format!("{name:?}: expected a value in ns/op, found none")),
    })
}

/// What `go test -json` tells of one line of output.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    #[serde(default)]
    package: String,
    #[serde(default)]
    output: String,
}

/// The text that the events of `go test -json` carry, package by package: a line of a result comes in
/// two events, and packages may be interleaved. Lines that are no event are counted.
fn from_events(text: &str) -> (String, u64) {
    let mut packages = BTreeMap::<String, String>::new();
    let mut torn = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Event>(line) {
            Ok(event) => packages.entry(event.package).or_default().push_str(&event.output),
            Err(_) => torn += 1,
        }
    }
    (packages.into_values().collect(), torn)
}

pub(super) fn import(path: &Path) -> Result<Run> {
    let raw = read_text(path)?;
    let (text, torn) = match raw.trim_start().starts_with('{') {
        true => from_events(&raw),
        false => (raw.clone(), 0),
    };
    let mut times = Benchmarks::of("go");
    for _ in 0..torn {
        times.tally.lines += 1;
        times.tally.bad(true, "no event of go test -json");
    }
    // What `go test` says at the end of each package.
    let ended = text.lines().any(|line| {
        matches!(line, "PASS" | "FAIL") || line.starts_with("ok  ") || line.starts_with("FAIL\t")
    });
    let packages = text.lines().filter(|line| line.starts_with("pkg: ")).count();
    let (mut package, mut cpu, mut failed) = ("", None, false);
    let mut repeats = HashMap::<String, u32>::new();
    for (line, number) in text.lines().zip(1_u64..) {
        if let Some(name) = line.strip_prefix("pkg: ") {
            package = name.trim();
        } else if let Some(model) = line.strip_prefix("cpu: ") {
            cpu = Some(model.trim().to_owned());
        }
        failed |= line.starts_with("--- FAIL") || line == "FAIL" || line.starts_with("FAIL\t");
        match result(line) {
            Some(Ok((name, ns))) => {
                let name = match packages {
                    0 | 1 => name.to_owned(),
                    _ => format!("{package}: {name}"),
                };
                let repeat = repeats.entry(name.clone()).or_default();
                *repeat += 1;
                times.time(&name, *repeat, ns, Window::default());
            }
            Some(Err(why)) => times.bad(format!("at {number}: {why}")),
            None => {}
        }
    }
    if times.tally.lines == 0 {
        let found = "none (a line reads: BenchmarkName-8  1000  12.3 ns/op)";
        return Err(Error::bad_input(path.display(), "results of benchmarks", found, HINT));
    }
    if !ended {
        let cut = "the PASS or FAIL that ends a package is missing: the file may be cut".to_owned();
        times.warn(&crate::reading::file_name(path), cut, None);
    }
    if failed {
        let hint = "what ran before the failure is taken";
        times.warn(
            &crate::reading::file_name(path),
            "go test says that it failed".to_owned(),
            Some(hint),
        );
    }
    times.run.manifest.machine = Some(Machine { cpu_model: cpu, ..Machine::default() });
    times.finish(path, raw.len() as u64, "result of a benchmark")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_results_and_others() {
        assert_eq!(result("BenchmarkAdd-2  \t 100  \t 65.17 ns/op"), Some(Ok(("Add-2", 65.17))));
        let more = "BenchmarkA/n=1-2 10 14565 ns/op 54.92 MB/s 9 B/op 1 allocs/op";
        assert_eq!(result(more), Some(Ok(("A/n=1-2", 14565.0))));
        let metric = "BenchmarkA-2 10 3.0 widgets/op 7 ns/op";
        assert_eq!(result(metric), Some(Ok(("A-2", 7.0))));
        for other in ["BenchmarkAdd", "PASS", "ok  \tx\t1s", "BenchmarkAdd says hello", ""] {
            assert_eq!(result(other), None, "{other}");
        }
        assert!(matches!(result("BenchmarkAdd-2 100 65"), Some(Err(_))), "torn");
    }
}
