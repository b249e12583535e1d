//! Costs from a run on a real machine: medians per kernel, and the frequency delivered.

use super::{CostTable, Point, Row, fit};
use crate::machine::MachineError;
use flyball_run::{Manifest, Run, Window};
use flyball_stats::median_of;
use std::collections::BTreeMap;
use std::path::Path;

/// Kernel and kind of core.
type Key = (String, Option<String>);

/// Execution times and frequencies of one kernel on one kind of core under one condition.
#[derive(Default)]
struct Sample {
    ns: Vec<f64>,
    khz: Vec<f64>,
}

impl CostTable {
    /// Costs from the run directory `dir`: for each kernel and kind of core the median time and
    /// the median delivered frequency of each condition without load. Conditions at different
    /// frequencies tell cycles from memory; one alone counts as cycles.
    ///
    /// # Errors
    /// A directory that is no run, or a run without signal kernels or without a frequency in kHz.
    pub fn measured(dir: &Path) -> Result<CostTable, MachineError> {
        let run = Run::open(dir)?;
        let wrong = |message: &str| MachineError::Costs {
            run: dir.display().to_string(),
            message: message.to_owned(),
        };
        let samples = samples(&run);
        if samples.is_empty() {
            return Err(wrong(
                "expected windows of signal kernels with a delivered frequency, found none \
                 (the probe gives kHz where it knows the core's cycles per multiplication)",
            ));
        }
        let mut points: BTreeMap<Key, (f64, Vec<Point>)> = BTreeMap::new();
        for ((key, _), (samples_per_window, sample)) in samples {
            let point = Point {
                khz: median_of(sample.khz).unwrap_or(0.0),
                ns: median_of(sample.ns).unwrap_or(0.0),
            };
            let entry = points.entry(key).or_insert((samples_per_window, Vec::new()));
            entry.1.push(point);
        }
        let rows: Vec<Row> = points
            .into_iter()
            .filter_map(|((kernel, core_type), (samples, points))| {
                Some(Row { kernel, core_type, samples, cost: fit(&points)? })
            })
            .collect();
        Ok(CostTable {
            rows,
            source: format!("medians and delivered frequency of the run {}", run.name()),
            platform: None,
            defaults_only: false,
        })
    }
}

/// The usable windows by kernel, kind of core and condition, with the samples per window.
fn samples(run: &Run) -> BTreeMap<(Key, String), (f64, Sample)> {
    let manifest = &run.manifest;
    let quiet = |condition: &str| {
        let load = manifest.condition(condition).and_then(|condition| condition.load.as_ref());
        load.is_none_or(|load| load.profile == "idle")
    };
    let mut samples: BTreeMap<(Key, String), (f64, Sample)> = BTreeMap::new();
    let windows = &run.tables.windows;
    for row in 0..flyball_run::Table::len(windows) {
        let Some(window) = flyball_run::Table::row(windows, row) else { continue };
        let Some(khz) = frequency(&window).filter(|_| usable(&window)) else { continue };
        if !quiet(&window.condition) {
            continue;
        }
        let Some((kernel, per_window)) = kernel(manifest, &window.workload) else { continue };
        let key = (kernel, core_type(manifest, window.cpu_before));
        let entry =
            samples.entry((key, window.condition)).or_insert((per_window, Sample::default()));
        entry.1.ns.push(window.exec_ns as f64);
        entry.1.khz.push(khz);
    }
    samples
}

/// Neither warm-up nor disturbed.
fn usable(window: &Window) -> bool {
    !window.warmup && window.preemptions.unwrap_or(0) == 0 && window.exec_ns > 0
}

/// The window's own frequency, else the one right after it.
fn frequency(window: &Window) -> Option<f64> {
    let probed = window.probe_after_khz.or(window.probe_before_khz);
    let probed = probed.filter(|_| window.probe_disturbed != Some(true));
    window.delivered_khz.or(probed).map(|khz| khz as f64)
}

/// The signal kernel of a workload, and the samples in one of its windows.
fn kernel(manifest: &Manifest, workload: &str) -> Option<(String, f64)> {
    let record = manifest.workload(workload)?;
    let number = |name: &str| record.params.get(name).and_then(toml::Value::as_integer);
    let samples = number("window")? as f64 * number("channels")? as f64;
    let signal = record.kernel.parse::<flyball_signal::Kernel>().is_ok();
    (signal && samples > 0.0).then(|| (record.kernel.clone(), samples))
}

fn core_type(manifest: &Manifest, cpu: Option<u32>) -> Option<String> {
    let cpus = &manifest.machine.as_ref()?.cpus;
    cpus.iter().find(|record| Some(record.cpu) == cpu)?.core_type.clone()
}
