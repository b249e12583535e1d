//! What the files of benchmark programs have in common: a benchmark is a workload, each of its times a
//! window. A file is one run of the program, and its repeats (repetitions, forks, processes) are repeats
//! of that run.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::sampled::{Sample, Sampler};
use crate::reading::{file_name, new_run, read_text, record_file};
use flyball_run::run::{Run, Warning};
use flyball_run::tables::Window;
use flyball_run::tally::Tally;
use flyball_run::{Error, Result};

/// The one condition: benchmarks are compared between files.
const CONDITION: &str = "measured";

/// The longest time of one iteration: a day.
const NS_MAX: f64 = 86_400e9;

/// Collects the times of one run.
pub(super) struct Benchmarks {
    pub run: Run,
    pub tally: Tally,
    sampler: Sampler,
}

impl Benchmarks {
    pub fn of(tool: &str) -> Benchmarks {
        Benchmarks { run: new_run(tool), tally: Tally::default(), sampler: Sampler::default() }
    }

    /// A time of one iteration, in nanoseconds; what is out of range is left out and counted.
    pub fn time(&mut self, workload: &str, repeat: u32, ns: f64, rest: Window) {
        self.tally.lines += 1;
        // Zero is below what the program's clock can tell: it has no ratio to anything.
        if !(ns > 0.0 && ns <= NS_MAX) {
            let why =
                format!("{workload:?}: expected a time above 0 and below a day, found {ns} ns");
            return self.tally.bad(false, why);
        }
        self.tally.rows += 1;
        let iterations = iterations(ns);
        let scaled = |ns: u64| ns.saturating_mul(iterations);
        let rest = Window {
            iterations: (iterations > 1).then_some(iterations),
            cpu_time_ns: rest.cpu_time_ns.map(scaled),
            ..rest
        };
        let sample = Sample {
            workload,
            condition: CONDITION,
            repeat,
            exec_ns: (ns * iterations as f64).round() as u64,
            rest,
            ..Sample::default()
        };
        self.sampler.add(&mut self.run, sample);
    }

    /// A time that is not there, or not one.
    pub fn bad(&mut self, why: String) {
        self.tally.lines += 1;
        self.tally.bad(false, why);
    }

    pub fn warn(&mut self, object: &str, message: String, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.run.warnings.push(Warning { object: object.to_owned(), message, hint });
    }

    /// Ends the import of `path`; `what` is a good time in words.
    ///
    /// # Errors
    /// No good time, or too many bad ones.
    pub fn finish(mut self, path: &Path, bytes: u64, what: &str) -> Result<Run> {
        self.tally.check(&path.display().to_string(), what)?;
        let name = file_name(path);
        self.sampler.finish(&mut self.run, &name);
        record_file(&mut self.run, name, bytes, &self.tally);
        Ok(self.run)
    }
}

/// How many iterations a window stands for so that whole nanoseconds lose at most 0.05 % of its time.
fn iterations(ns: f64) -> u64 {
    match ns {
        ns if ns >= 1_000.0 => 1,
        ns if ns >= 1.0 => 1_000,
        _ => 1_000_000,
    }
}

/// A JSON file of `tool` as one document, with its text.
///
/// # Errors
/// A file that cannot be read, or one that is torn or of another form; `hint` tells how to make one.
pub(super) fn document<T: DeserializeOwned>(
    path: &Path,
    tool: &str,
    hint: &str,
) -> Result<(T, u64)> {
    let text = read_text(path)?;
    let document = serde_json::from_str(&text).map_err(|error| {
        let object = format!("{}:{}", path.display(), error.line());
        Error::bad_input(object, format!("the JSON of {tool}"), error.to_string(), hint)
    })?;
    Ok((document, text.len() as u64))
}

/// A file of `tool` in which there are only summaries: none of its times can be had from them.
pub(super) fn only_summaries(path: &Path, tool: &str, found: &str, hint: &str) -> Error {
    let expected = format!("the single times of {tool}");
    Error::bad_input(path.display(), expected, format!("only summaries ({found})"), hint)
}

/// A name with the parameters that it was run with: `sum (n=10)`.
pub(super) fn with_parameters(name: &str, parameters: &[String]) -> String {
    match parameters {
        [] => name.to_owned(),
        _ => format!("{name} ({})", parameters.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_keep_their_fractions() {
        let mut times = Benchmarks::of("x");
        let rest = || Window { cpu_time_ns: Some(7), ..Window::default() };
        for ns in [0.3127, 7.125, 51_669.4, f64::NAN, -1.0, 1e30] {
            times.time("w", 1, ns, rest());
        }
        let windows = &times.run.tables.windows;
        assert_eq!(windows.exec_ns, [312_700, 7_125, 51_669]);
        assert_eq!(
            windows.iterations.iter().collect::<Vec<_>>(),
            [Some(1_000_000), Some(1_000), None]
        );
        assert_eq!(windows.cpu_time_ns.get(1), Some(7_000));
        assert_eq!((times.tally.rows, times.tally.skipped), (3, 3));
    }
}
