//! One cell: a workload under a condition, measured in every respect.

use flyball_run::{NO_DEADLINE, Windows};
use flyball_stats::{self as stats, Drift, ModeOptions, Prepared};

use super::contention::Contention;
use super::delivered::{self, Source};
use super::distribution::{with_intervals, without_intervals};
use super::disturbed::{self, Causes, Marks};
use super::rows::{CellRows, RepeatRows};
use super::schedule::{Releases, releases};
use super::source::Context;
use super::speed::Speeds;
use super::{contention, device, placement, points, speed};
use crate::model::{self, Distribution, Measure};

/// One window, as far as a cell needs it; kept only while the cell is measured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    pub release_ns: u64,
    /// What the cell [`Measure`]s, microseconds.
    pub execution_us: f64,
    pub cpu: Option<u32>,
    /// Delivered frequency in megahertz or percent.
    pub delivered: Option<f32>,
    pub marks: Marks,
}

impl Measure {
    /// Another tool's cell in which nothing takes any time, but something comes late, is one of
    /// wake-ups. Our own windows always execute: there a zero is the clock's.
    fn of(context: &Context<'_>, rows: &CellRows) -> Measure {
        let windows = &context.run.tables.windows;
        let executes = |row: usize| windows.exec_ns.get(row) != Some(&0);
        let late = |row: usize| windows.lateness_ns.get(row).is_some_and(|&ns| ns > 0);
        let wake_ups = context.imported() && !rows.rows().any(executes) && rows.rows().any(late);
        if wake_ups { Measure::WakeUp } else { Measure::Execution }
    }

    /// The latency of one window (of one iteration in it), microseconds; zero where there is none.
    fn us(self, windows: &Windows, row: usize) -> f64 {
        let ns = match self {
            Measure::Execution => windows.exec_ns.get(row).copied().unwrap_or(0),
            Measure::WakeUp => {
                let late = windows.lateness_ns.get(row).copied().unwrap_or(0);
                u64::try_from(late).unwrap_or(0)
            }
        };
        let iterations = windows.iterations.get(row).unwrap_or(1).max(1);
        ns as f64 / 1e3 / iterations as f64
    }
}

/// A cell as reported, and what comparisons need of it.
#[derive(Debug)]
pub(super) struct CellData {
    /// Position of its run.
    pub run: usize,
    pub model: model::Cell,
    /// Share of windows whose program failed; they are not in `cell`.
    pub failed_share: f64,
    /// Latencies by repeat, microseconds.
    pub cell: stats::Cell,
    pub prepared: Prepared,
    pub modes: Option<stats::Modes>,
    pub drift: Drift,
    /// Block of the randomised order, per repeat.
    pub blocks: Vec<u32>,
    /// The rows of the table that it is made of.
    pub rows: Vec<RepeatRows>,
    /// Stratum of each window by repeat: indices into `stratum_names`.
    pub strata: Option<Vec<Vec<u32>>>,
    pub stratum_names: Vec<String>,
    /// Place and delivered frequency of each window.
    pub speeds: Speeds,
    pub contention: Contention,
    pub releases: Releases,
}

/// Measures one cell. The texts are warnings; a cell without a single usable window is none.
pub(super) fn measure(context: &Context<'_>, rows: CellRows) -> (Option<CellData>, Vec<String>) {
    let source = Source::of(&context.run.tables.windows, &rows);
    let measure = Measure::of(context, &rows);
    let samples = samples(context, &rows, source, measure);
    let repeats: Vec<Vec<f64>> = by_repeat(&samples)
        .map(|repeat| repeat.iter().map(|sample| sample.execution_us).collect())
        .collect();
    let warnings = left_out(context, &rows, samples.windows.len());
    match stats::Cell::new(repeats) {
        Ok(cell) => (Some(assemble(context, rows, &samples, source, (measure, cell))), warnings),
        Err(_) => (None, warnings),
    }
}

/// Which windows are in no figure, and why.
fn left_out(context: &Context<'_>, rows: &CellRows, kept: usize) -> Vec<String> {
    let cell = format!("{}, {} under {}", context.name, rows.workload, rows.condition);
    let (dropped, failed) = (rows.len() - kept, rows.failed);
    let instant = (dropped > 0).then(|| {
        format!(
            "{cell}: {dropped} of {} windows took no time at all and were left out: the clock is \
             too coarse for them or ran backwards",
            rows.len()
        )
    });
    let failed = (failed > 0).then(|| {
        format!(
            "{cell}: the program failed in {failed} of {} windows, which were left out",
            rows.len() + failed
        )
    });
    failed.into_iter().chain(instant).collect()
}

/// The windows of a cell by repeat, those that took no time left out: they have no logarithm.
struct Samples {
    windows: Vec<Sample>,
    /// End of each repeat in `windows`, with its block.
    ends: Vec<(usize, u32)>,
}

fn samples(
    context: &Context<'_>,
    rows: &CellRows,
    source: Option<Source>,
    measure: Measure,
) -> Samples {
    let windows = &context.run.tables.windows;
    let causes = Causes::of(windows);
    let mut samples = Samples { windows: Vec::with_capacity(rows.len()), ends: Vec::new() };
    for repeat in &rows.repeats {
        for row in repeat.rows() {
            let execution_us = measure.us(windows, row);
            if execution_us == 0.0 {
                continue;
            }
            samples.windows.push(Sample {
                release_ns: windows.release_ns.get(row).copied().unwrap_or(0),
                execution_us,
                cpu: windows.cpu_before.get(row),
                delivered: source
                    .and_then(|source| source.value(windows, row))
                    .map(|value| value as f32),
                marks: causes.marks(row),
            });
        }
        if samples.windows.len() > samples.ends.last().map_or(0, |end| end.0) {
            samples.ends.push((samples.windows.len(), repeat.block));
        }
    }
    samples
}

fn by_repeat(samples: &Samples) -> impl Iterator<Item = &[Sample]> {
    let starts = std::iter::once(0).chain(samples.ends.iter().map(|end| end.0));
    starts.zip(&samples.ends).filter_map(|(start, end)| samples.windows.get(start..end.0))
}

fn assemble(
    context: &Context<'_>,
    rows: CellRows,
    samples: &Samples,
    source: Option<Source>,
    (measure, cell): (Measure, stats::Cell),
) -> CellData {
    let prepared = Prepared::new(&cell);
    let modes = stats::find_modes(prepared.sorted(), &ModeOptions::default()).ok();
    // Wake-ups are measured against a timer that was set beforehand.
    let releases = if context.imported() && measure == Measure::Execution {
        releases(&context.run.tables.windows, &rows)
    } else {
        Releases::Scheduled
    };
    let (strata, stratum_names) = strata(context, samples);
    let place = |sample: &Sample| match stratum_names.is_empty() {
        true => sample.cpu,
        false => stratum_of(context, &stratum_names, sample),
    };
    let speeds = speed::speeds(by_repeat(samples), source, &stratum_names, place);
    CellData {
        run: context.index,
        failed_share: rows.failed as f64 / (rows.len() + rows.failed).max(1) as f64,
        drift: stats::drift(&cell, context.options.margin),
        blocks: samples.ends.iter().map(|end| end.1).collect(),
        rows: rows.repeats.clone(),
        contention: contention::measure(context, &rows, &samples.windows),
        model: describe(
            context,
            rows,
            samples,
            source,
            (&cell, &prepared, modes.as_ref()),
            (measure, releases),
        ),
        cell,
        prepared,
        modes,
        strata,
        stratum_names,
        speeds,
        releases,
    }
}

/// Everything that the report says of a cell.
fn describe(
    context: &Context<'_>,
    rows: CellRows,
    samples: &Samples,
    source: Option<Source>,
    (cell, prepared, modes): (&stats::Cell, &Prepared, Option<&stats::Modes>),
    (measure, releases): (Measure, Releases),
) -> model::Cell {
    let windows = &context.run.tables.windows;
    let options = context.options.bootstrap();
    let size = stats::effective_size(cell);
    let marks: Vec<Marks> = samples.windows.iter().map(|sample| sample.marks).collect();
    let disturbed = disturbed::count(windows, &rows, &marks);
    let condition = context.run.manifest.condition(&rows.condition);
    let core_types = placement::core_types(&context.run.manifest);
    let mixture = modes.filter(|modes| modes.is_mixture());
    // No window is ever dispatched at its release to the nanosecond: where all are, the importer
    // laid the windows out, and nothing was recorded that a rule could pass on.
    // Nor is there a schedule where each window follows the one before.
    let record = context.run.manifest.workload(&rows.workload);
    let scheduled = context.imported() || record.is_none_or(|record| record.period_ns.is_some());
    let released =
        scheduled && rows.rows().any(|row| windows.lateness_ns.get(row).is_some_and(|&ns| ns != 0));
    model::Cell {
        n: rows.len() as u64,
        repeats: cell.repeats().len() as u32,
        measure,
        execution: with_intervals(prepared, &options),
        lateness: released
            .then(|| latency(&rows, &windows.lateness_ns, releases, context))
            .flatten(),
        response: released
            .then(|| latency(&rows, &windows.response_ns, releases, context))
            .flatten(),
        cpu_time_median_us: cpu_time_median(windows, &rows),
        missed: rows.rows().filter(|&row| windows.missed.get(row) == Some(&true)).count() as u64,
        deadline_us: deadline_us(context, &rows),
        effective_n: size.effective,
        lag1_autocorrelation: lag1(cell),
        modes: carried_modes(modes, prepared),
        placement: placement::summarise(
            &samples.windows,
            disturbed.migrated.unwrap_or(0),
            &core_types,
            device::infer(context, &rows),
        ),
        transport: device::transport(windows, &rows),
        delivered: source.and_then(|source| {
            delivered::summarise(&samples.windows, source, &context.run.manifest)
        }),
        points: points::thin(context, &samples.windows, |value| {
            mixture.map(|modes| modes.assign(value) as u32)
        }),
        disturbed,
        scheduling: condition
            .and_then(|condition| condition.scheduling_applied.as_deref())
            .map(super::words::scheduling),
        degraded: condition.map(|condition| condition.degraded.clone()).unwrap_or_default(),
        run: context.name.clone(),
        workload: rows.workload,
        condition: rows.condition,
    }
}

/// Of a program; a window of anything else has no exit status.
fn cpu_time_median(windows: &Windows, rows: &CellRows) -> Option<f64> {
    let of = |row: usize| {
        windows.exit_status.get(row)?;
        windows.cpu_time_ns.get(row).filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e3)
    };
    let times: Option<Vec<f64>> = rows.rows().map(of).collect();
    stats::median_of(times?)
}

/// Distribution of a signed latency column. Intervals are given where releases were on a
/// schedule and all values are above zero: the resampling works on logarithms.
fn latency(
    rows: &CellRows,
    column: &[i64],
    releases: Releases,
    context: &Context<'_>,
) -> Option<Distribution> {
    let repeats: Vec<Vec<f64>> = (rows.repeats.iter())
        .map(|repeat| {
            let spans = repeat.spans.iter().filter_map(|span| column.get(span.clone()));
            spans.flatten().map(|&ns| ns as f64 / 1e3).collect()
        })
        .collect();
    let positive = repeats.iter().flatten().all(|&value| value > 0.0);
    if releases == Releases::Scheduled && positive {
        let cell = stats::Cell::new(repeats).ok()?;
        return Some(with_intervals(&Prepared::new(&cell), &context.options.bootstrap()));
    }
    let mut values: Vec<f64> = repeats.into_iter().flatten().collect();
    stats::sort(&mut values);
    (!values.is_empty()).then(|| without_intervals(&values))
}

/// The deadline after release: what the workload's record says, else that of the first window.
fn deadline_us(context: &Context<'_>, rows: &CellRows) -> Option<f64> {
    let windows = &context.run.tables.windows;
    let recorded = context.run.manifest.workload(&rows.workload).and_then(|w| w.deadline_ns);
    let first = || {
        let row = rows.rows().next()?;
        let deadline = windows.deadline_ns.get(row).filter(|deadline| **deadline != NO_DEADLINE)?;
        deadline.checked_sub(*windows.release_ns.get(row)?)
    };
    recorded.or_else(first).filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e3)
}

/// Autocorrelation of log execution time at lag 1: the mean over repeats, weighted by windows.
fn lag1(cell: &stats::Cell) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for repeat in cell.repeats().iter().filter(|repeat| repeat.len() > 2) {
        let logs: Vec<f64> = repeat.iter().map(|value| value.ln()).collect();
        if let Some(&r) = stats::autocorrelation(&logs, 1).get(1) {
            sum += r * repeat.len() as f64;
            weight += repeat.len() as f64;
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

fn carried_modes(modes: Option<&stats::Modes>, prepared: &Prepared) -> model::Modes {
    let Some(modes) = modes else {
        let sorted = prepared.sorted();
        let (low, high) = (sorted.first().copied(), sorted.last().copied());
        let middle = stats::median(sorted);
        return model::Modes {
            test: "not tested".to_owned(),
            p_value: None,
            mixture: false,
            modes: vec![model::Mode {
                median_us: middle,
                low_us: low.unwrap_or(middle),
                high_us: high.unwrap_or(middle),
                share: 1.0,
                label: None,
            }],
        };
    };
    let mode = |mode: &stats::Mode| model::Mode {
        median_us: mode.median,
        low_us: mode.low,
        high_us: mode.high,
        share: mode.share,
        label: None,
    };
    model::Modes {
        test: modes.test.clone(),
        p_value: modes.p_value.is_finite().then_some(modes.p_value),
        mixture: modes.is_mixture(),
        modes: modes.modes.iter().map(mode).collect(),
    }
}

/// Index into `names` of the stratum of a window's CPU.
fn stratum_of(context: &Context<'_>, names: &[String], sample: &Sample) -> Option<u32> {
    let name = context.strata.get(&sample.cpu?)?;
    names.binary_search(name).ok().map(|at| at as u32)
}

/// The stratum of every window; none where a CPU was not recorded or belongs to no stratum.
fn strata(context: &Context<'_>, samples: &Samples) -> (Option<Vec<Vec<u32>>>, Vec<String>) {
    let mut names: Vec<String> = context.strata.values().cloned().collect();
    names.sort();
    names.dedup();
    let index = |sample: &Sample| stratum_of(context, &names, sample);
    let tags = by_repeat(samples).map(|repeat| repeat.iter().map(index).collect()).collect();
    (tags, names)
}
