//! cyclictest of rt-tests: `--json`, the histogram of `-h`, and the samples of `-v`.
//!
//! A sample is the time from the scheduled wake-up to the thread's running: our lateness; nothing
//! is executed. A histogram keeps no order, and counts what lies above its end without the
//! values: such samples are taken as the end itself (the largest as the maximum that is printed),
//! so that every quantile below the end stays right.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::reading::{file_name, new_run, read_text, record_file};
use crate::sampled::{Sample, Sampler};
use flyball_run::manifest::Machine;
use flyball_run::run::{Run, Warning};
use flyball_run::tally::{CUT, Tally};
use flyball_run::{Error, Result};

/// More samples than this are not laid out as windows: three hours at 1 kHz.
const SAMPLES_MAX: u64 = 10_000_000;

const WORKLOAD: &str = "cyclictest";

/// One thread's histogram: latency in ticks of `resolution_ns`, and how often.
#[derive(Debug, Default, PartialEq)]
struct Histogram {
    counts: BTreeMap<u64, u64>,
    /// Samples above the histogram's end.
    overflows: u64,
    /// First latency above the end.
    end: u64,
    max: u64,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default, rename = "cmdline:")]
    command: Option<String>,
    #[serde(default)]
    sysinfo: BTreeMap<String, serde_json::Value>,
    /// 1 where the latencies are in nanoseconds (`-N`), 0 for microseconds.
    #[serde(default)]
    resolution_in_ns: u64,
    thread: BTreeMap<String, Thread>,
}

#[derive(Deserialize)]
struct Thread {
    #[serde(default)]
    histogram: BTreeMap<String, u64>,
    cycles: u64,
    #[serde(default)]
    max: u64,
    #[serde(default)]
    cpu: Option<u32>,
}

const HINT: &str =
    "record the samples with: cyclictest -h 2000 --json=FILE, or cyclictest -v > FILE";

pub(super) fn import_json(path: &Path) -> Result<Run> {
    let text = read_text(path)?;
    let document: Document = serde_json::from_str(&text).map_err(|error| {
        let object = format!("{}:{}", path.display(), error.line());
        Error::bad_input(object, "the output of cyclictest --json", error.to_string(), HINT)
    })?;
    let unit_ns = if document.resolution_in_ns == 0 { 1000 } else { 1 };
    let histogram_end = document.command.as_deref().and_then(histogram_end);
    let mut import = Import::new(path, unit_ns, text.len() as u64);
    for (name, thread) in &document.thread {
        let mut histogram = Histogram { max: thread.max, ..Histogram::default() };
        for (latency, &count) in &thread.histogram {
            import.tally.lines += 1;
            match latency.parse() {
                Ok(latency) => {
                    let sum = histogram.counts.entry(latency).or_default();
                    *sum = sum.saturating_add(count);
                }
                Err(_) => import.tally.bad(false, format!("expected a latency, found {latency:?}")),
            }
        }
        let total = histogram.counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        histogram.overflows = thread.cycles.saturating_sub(total);
        let above = histogram.counts.keys().next_back().map_or(0, |last| last.saturating_add(1));
        histogram.end = histogram_end.unwrap_or(above).max(above);
        if thread.histogram.is_empty() {
            let found = format!("only minimum, mean and maximum of thread {name}");
            return Err(Error::bad_input(path.display(), "a histogram", found, HINT));
        }
        import.histogram(&format!("thread {name}"), &histogram, thread.cpu)?;
    }
    let mut run = import.finish()?;
    let text_of =
        |key: &str| document.sysinfo.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    run.manifest.machine = Some(Machine {
        architecture: text_of("machine"),
        kernel: text_of("sysname")
            .zip(text_of("release"))
            .map(|(name, release)| format!("{name} {release}")),
        hostname: text_of("nodename"),
        ..Machine::default()
    });
    Ok(run)
}

/// The bound given with `-h` on the command line.
fn histogram_end(command: &str) -> Option<u64> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        if word == "-h" || word == "--histogram" {
            return words.next()?.parse().ok();
        }
        if let Some(value) = word.strip_prefix("-h").or_else(|| word.strip_prefix("--histogram=")) {
            return value.parse().ok();
        }
    }
    None
}

/// Whether a line is of `cyclictest -h`, or a sample of `cyclictest -v`.
pub(super) fn is_text(line: &str) -> bool {
    line.starts_with("# Histogram") || verbose_line(line).is_some()
}

/// Whether a file begins as `cyclictest --json` writes it.
pub(super) fn is_json(head: &str) -> bool {
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    head.starts_with('{') && (has("rt_test_version:") || (has("thread") && has("cycles")))
}

/// A sample of `cyclictest -v`: thread, cycle, latency.
fn verbose_line(line: &str) -> Option<(u32, u64, i64)> {
    let mut parts = line.split(':').map(str::trim);
    let sample =
        (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(sample)
}

pub(super) fn import_text(path: &Path) -> Result<Run> {
    let text = read_text(path)?;
    if text.lines().any(|line| line.trim_start().starts_with("# Histogram")) {
        return import_histogram(path, &text);
    }
    let mut import = Import::new(path, 1000, text.len() as u64);
    let ended = text.ends_with('\n');
    let lines = text.lines().count();
    for (number, line) in text.lines().enumerate() {
        import.tally.lines += 1;
        let trimmed = line.trim();
        let remark =
            trimmed.is_empty() || trimmed.starts_with(['#', 'T', 'M', 'O', 'W', '/', 'p', 'D']);
        let torn = !ended && number + 1 == lines;
        match verbose_line(trimmed) {
            Some(_) if torn => import.tally.bad(true, CUT),
            // The blanks before a thread's number.
            None if torn && trimmed.is_empty() => import.tally.bad(true, CUT),
            Some((thread, _, latency)) => {
                import.sample(&format!("thread {thread}"), latency, None)?
            }
            None if remark => {}
            None => {
                import
                    .tally
                    .bad(torn, format!("expected THREAD: CYCLE: LATENCY, found {trimmed:?}"));
            }
        }
    }
    import.run.warnings.push(Warning {
        object: file_name(path),
        message: "the latencies are taken as microseconds: the text does not name the unit"
            .to_owned(),
        hint: Some("with cyclictest -N, use --json instead: it names the unit".to_owned()),
    });
    import.finish()
}

/// The text of `-h`: one line per latency with a count per thread, then remarks.
fn import_histogram(path: &Path, text: &str) -> Result<Run> {
    let mut import = Import::new(path, 1000, text.len() as u64);
    let mut threads: Vec<Histogram> = Vec::new();
    let mut totals = false;
    for line in text.split_inclusive('\n') {
        import.tally.lines += 1;
        let torn = !line.ends_with('\n');
        let line = line.trim();
        if torn && line.chars().any(|c| c.is_ascii_digit()) {
            import.tally.bad(true, CUT);
        } else if let Some(rest) = line.strip_prefix("# Max Latencies:") {
            numbers(rest, |thread, max| at(&mut threads, thread).max = max);
        } else if let Some(rest) = line.strip_prefix("# Histogram Overflows:") {
            totals = true;
            numbers(rest, |thread, count| at(&mut threads, thread).overflows = count);
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let cells: Option<Vec<u64>> =
                line.split_whitespace().map(|cell| cell.parse().ok()).collect();
            match cells.as_deref() {
                Some([latency, counts @ ..]) if !counts.is_empty() => {
                    for (thread, &count) in counts.iter().enumerate() {
                        let histogram = at(&mut threads, thread);
                        histogram.end = histogram.end.max(latency.saturating_add(1));
                        if count > 0 {
                            let sum = histogram.counts.entry(*latency).or_default();
                            *sum = sum.saturating_add(count);
                        }
                    }
                }
                _ => import
                    .tally
                    .bad(false, format!("expected a latency and its counts, found {line:?}")),
            }
        }
    }
    if !totals {
        import.run.warnings.push(Warning {
            object: file_name(path),
            message: "the overflows that end a histogram are missing: the file may be cut"
                .to_owned(),
            hint: None,
        });
    }
    for (thread, histogram) in threads.iter().enumerate() {
        import.histogram(&format!("thread {thread}"), histogram, None)?;
    }
    import.finish()
}

fn numbers(text: &str, mut give: impl FnMut(usize, u64)) {
    let parsed = text.split_whitespace().map_while(|word| word.parse().ok());
    parsed.take(4096).enumerate().for_each(|(thread, number)| give(thread, number));
}

fn at(threads: &mut Vec<Histogram>, thread: usize) -> &mut Histogram {
    while threads.len() <= thread {
        threads.push(Histogram::default());
    }
    &mut threads[thread]
}

/// What is being imported.
struct Import<'a> {
    path: &'a Path,
    unit_ns: i64,
    bytes: u64,
    run: Run,
    sampler: Sampler,
    tally: Tally,
    overflows: u64,
}

impl<'a> Import<'a> {
    fn new(path: &'a Path, unit_ns: i64, bytes: u64) -> Self {
        let run = new_run("cyclictest");
        Import {
            path,
            unit_ns,
            bytes,
            run,
            sampler: Sampler::default(),
            tally: Tally::default(),
            overflows: 0,
        }
    }

    /// Adds one sample of `latency` ticks.
    fn sample(&mut self, condition: &str, latency: i64, cpu: Option<u32>) -> Result<()> {
        let Some(lateness_ns) =
            latency.checked_mul(self.unit_ns).filter(|late| late.unsigned_abs() < 1 << 53)
        else {
            self.tally.bad(false, format!("latency {latency} is out of range"));
            return Ok(());
        };
        self.room_for(1)?;
        let mut sample =
            Sample { workload: WORKLOAD, condition, repeat: 1, lateness_ns, ..Sample::default() };
        sample.rest.cpu_before = cpu;
        self.sampler.add(&mut self.run, sample);
        self.tally.rows += 1;
        Ok(())
    }

    /// Refuses more samples than are laid out, before any is.
    fn room_for(&self, samples: u64) -> Result<()> {
        let all = self.tally.rows.saturating_add(samples);
        if all <= SAMPLES_MAX {
            return Ok(());
        }
        Err(Error::bad_input(
            self.path.display(),
            format!("at most {SAMPLES_MAX} samples"),
            if samples > 1 { all.to_string() } else { "more".to_owned() },
            "record a shorter run: three hours at 1 kHz are enough",
        ))
    }

    fn histogram(
        &mut self,
        condition: &str,
        histogram: &Histogram,
        cpu: Option<u32>,
    ) -> Result<()> {
        let counted = histogram.counts.values();
        self.room_for(counted.fold(histogram.overflows, |sum, count| sum.saturating_add(*count)))?;
        for (&latency, &count) in &histogram.counts {
            let latency = i64::try_from(latency).unwrap_or(i64::MAX);
            for _ in 0..count {
                self.sample(condition, latency, cpu)?;
            }
        }
        self.overflows += histogram.overflows;
        for number in 0..histogram.overflows {
            let latency =
                if number == 0 { histogram.max.max(histogram.end) } else { histogram.end };
            self.sample(condition, i64::try_from(latency).unwrap_or(i64::MAX), cpu)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Run> {
        self.tally.check(&self.path.display().to_string(), "latency sample")?;
        let name = file_name(self.path);
        if self.overflows > 0 {
            self.run.warnings.push(Warning {
                object: name.clone(),
                message: format!(
                    "{} samples lie above the histogram's end and are taken as the end: quantiles above {:.3} % are lower bounds",
                    self.overflows,
                    100.0 * (1.0 - self.overflows as f64 / self.tally.rows as f64)
                ),
                hint: Some("give cyclictest a larger -h".to_owned()),
            });
        }
        self.sampler.finish(&mut self.run, &name);
        record_file(&mut self.run, name, self.bytes, &self.tally);
        Ok(self.run)
    }
}
