//! From the rows of a run to what they say of its machine. Pure: the same rows give the same words.
//!
//! ```text
//! samples of a repetition -> settled rate: median of the last quarter of the spin
//!                         -> share of it in each stretch of time since the wake-up
//!                         -> time to shares of the run's highest settled rate
//! repetitions of a cell   -> medians and percentiles with bootstrap intervals; is there a ramp?
//! events (where there are)-> time to levels of utilisation, time on each kind of core
//! ```

mod events;
mod quantile;
mod series;

use crate::kinds::Rows;
use flyball_run::{Manifest, Tables};
use flyball_stats::median_of;
pub use quantile::{AtLevel, Quantiles};
use quantile::{NEVER, Options, quantiles};
use serde::{Deserialize, Serialize};
use series::{Series, edges, series};
use std::collections::BTreeMap;

/// Shares of the highest rate whose times are told, in percent.
pub const PERCENT: [u32; 4] = [50, 80, 95, 99];

/// Levels of utilisation whose times are told, where the kernel's were recorded.
pub const LEVELS: [u32; 2] = [450, 1000];

/// Fewer repetitions decide nothing.
const LEAST: usize = 5;

/// A rate that is lower by less is no ramp: chains of the probe that agree differ by as much.
const SMALLEST: f64 = 0.01;

/// What a run says of its machine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RampupFindings"))]
pub struct Findings {
    /// What runs are told apart by: `host`, `board:NAME`, `model:NAME`.
    pub name: String,
    /// The processor, as far as it is known.
    pub machine: Option<String>,
    /// The hypervisor; none on bare metal.
    pub virtualisation: Option<String>,
    /// Length of the spins, in milliseconds.
    pub spin_ms: f64,
    /// Median length of a sample of the probe, in microseconds; 0 on a model.
    pub sample_us: f64,
    /// What a sample resolves, as a share of the rate.
    pub resolution: f64,
    /// The highest settled rate, in work per microsecond.
    pub highest_per_us: f64,
    /// The same as a frequency in kHz, where that is known.
    pub highest_khz: Option<u64>,
    /// One per condition and gap, in the manifest's order.
    pub cells: Vec<Cell>,
    /// What else should be known.
    pub remarks: Vec<String>,
}

/// All repetitions under one condition and gap.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RampupCell"))]
pub struct Cell {
    /// The condition.
    pub condition: String,
    /// Length of the sleeps before the spin, in milliseconds.
    pub gap_ms: f64,
    /// How many sleeps.
    pub sleeps: u32,
    /// Repetitions.
    pub repetitions: usize,
    /// Time to shares of the highest rate, in milliseconds, in the order of [`PERCENT`].
    pub times: Vec<Time>,
    /// The rate since the wake-up, as a share of the repetition's settled one.
    pub curve: Vec<Stretch>,
    /// Whether it rises.
    pub ramp: Ramp,
    /// Time to levels of utilisation, in milliseconds, in the order of [`LEVELS`]; empty where
    /// nobody recorded it.
    pub utilization: Vec<Time>,
    /// Time of the spin on each kind of core, in milliseconds; empty where there is but one.
    pub cores: Vec<OnCore>,
    /// Repetitions that began on each CPU.
    pub first_cpu: BTreeMap<u32, usize>,
    /// Repetitions in which the task was seen on more than one CPU.
    pub moved: usize,
    /// Share of the samples in which something else ran.
    pub disturbed: f64,
    /// Time that the hypervisor took during the repetitions, all CPUs together, in milliseconds.
    pub steal_ms: f64,
}

/// Time to a level.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TimeToLevel"))]
pub struct Time {
    /// The level.
    pub level: u32,
    /// Repetitions that reached it.
    pub reached: usize,
    /// Over all repetitions; one that never got there counts as longer than any.
    #[serde(flatten)]
    pub quantiles: Quantiles,
}

/// A stretch of time since the wake-up.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stretch {
    /// Its begin, in microseconds.
    pub from_us: f64,
    /// Its end.
    pub to_us: f64,
    /// Repetitions with an undisturbed sample in it.
    pub n: usize,
    /// Median share of the settled rate. The intervals of all stretches of a cell hold together with
    /// the level that is said.
    pub share: AtLevel,
}

/// Time on a kind of core.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnCore {
    /// The kind.
    pub core_type: String,
    /// Its time, in milliseconds.
    #[serde(flatten)]
    pub quantiles: Quantiles,
}

/// Whether the rate rises behind the wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Ramp {
    /// It does: a stretch lies below the settled rate by more than noise and resolution.
    Visible {
        /// The lowest median share of the settled rate.
        lowest: f64,
        /// End of the last such stretch, in milliseconds: the ramp lasts at least into it.
        until_ms: f64,
    },
    /// None is seen, and one that goes below this share for a whole stretch would have been.
    NotVisible {
        /// The lowest lower bound of all stretches.
        at_least: f64,
    },
    /// Too few repetitions to say.
    TooFew,
}

/// Everything that the rows say.
pub fn analyse<'a>(run: impl Into<Rows<'a>>) -> Findings {
    let run = &run.into();
    let manifest = &run.manifest;
    let all = series(run);
    let cells = cells(manifest, &all);
    let settled = |members: &[&Series]| median_of(members.iter().filter_map(|it| it.settled));
    let highest = cells
        .iter()
        .filter_map(|(_, members)| Some((settled(members)?, members)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let highest_per_us = highest.as_ref().map_or(0.0, |(rate, _)| *rate);
    let highest_khz = highest.as_ref().and_then(|(_, members)| {
        median_of(members.iter().filter_map(|it| it.settled_khz)).map(|khz| khz as u64)
    });
    let spread = manifest.probe.iter().filter_map(|probe| probe.spread_permille);
    let resolution = SMALLEST.max(spread.fold(0.0, f64::max) / 1e3);
    let context = Context { highest_per_us, resolution, seed: manifest.seed.unwrap_or(1) };
    let spin = median_of(all.iter().map(|it| it.spin_ns as f64)).unwrap_or(0.0);
    let probe = manifest.overheads.iter().find(|overhead| overhead.name == "probe");
    Findings {
        name: name(manifest),
        machine: manifest.machine.as_ref().and_then(|machine| machine.cpu_model.clone()),
        virtualisation: manifest
            .machine
            .as_ref()
            .and_then(|machine| machine.virtualisation.clone())
            .filter(|name| name != "none"),
        spin_ms: spin / 1e6,
        sample_us: probe.map_or(0.0, |probe| probe.median_ns / 1e3),
        resolution,
        highest_per_us,
        highest_khz,
        cells: cells.iter().map(|(key, members)| cell(key, members, run, &context)).collect(),
        remarks: remarks(run),
    }
}

/// Whether a run has ramp-ups.
pub fn has_rampups(tables: &Tables) -> bool {
    !tables.rampups.is_empty()
}

/// What the machine is called beside others.
fn name(manifest: &Manifest) -> String {
    let machine = manifest.machine.as_ref();
    if let Some(board) = machine.and_then(|machine| machine.board.as_ref()) {
        return format!("board:{}", board.platform);
    }
    let asked =
        manifest.command.windows(2).find(|pair| pair.first().is_some_and(|it| it == "--machine"));
    match (manifest.is_model(), asked.and_then(|pair| pair.last())) {
        (true, Some(name)) => name.clone(),
        (true, None) => "model".to_owned(),
        (false, _) => "host".to_owned(),
    }
}

/// What all cells share.
struct Context {
    highest_per_us: f64,
    resolution: f64,
    seed: u64,
}

/// Condition, gap, sleeps.
type Key<'a> = (&'a str, u64, u32);

/// The repetitions by condition, in the manifest's order, then by gap.
fn cells<'a>(manifest: &Manifest, all: &'a [Series]) -> Vec<(Key<'a>, Vec<&'a Series>)> {
    let place = |condition: &str| {
        let found = manifest.conditions.iter().position(|it| it.name == condition);
        found.unwrap_or(usize::MAX)
    };
    let mut cells: BTreeMap<(usize, Key), Vec<&Series>> = BTreeMap::new();
    for one in all {
        let key = (one.condition.as_str(), one.gap_ns, one.sleeps);
        cells.entry((place(&one.condition), key)).or_default().push(one);
    }
    cells.into_iter().map(|((_, key), members)| (key, members)).collect()
}

fn cell(key: &Key<'_>, members: &[&Series], run: &Rows<'_>, context: &Context) -> Cell {
    let options = |level: f64| Options { level, seed: context.seed };
    let longest = members.iter().map(|it| it.spin_ns).max().unwrap_or(0) as f64 / 1e6;
    let time = |level: u32, values: Vec<Option<f64>>| Time {
        level,
        reached: values.iter().flatten().count(),
        quantiles: quantiles(
            values.into_iter().map(|value| value.map_or(NEVER, |ns| ns / 1e6)).collect(),
            options(0.95),
        )
        .within(longest),
    };
    let times = PERCENT.iter().map(|&percent| {
        let wanted = context.highest_per_us * f64::from(percent) / 100.0;
        time(percent, members.iter().map(|it| it.time_to(wanted)).collect())
    });
    let curve = curve(members, context);
    let events = events::of(run, members);
    let utilization = LEVELS.iter().filter_map(|level| {
        let values = events.utilization.get(level)?;
        Some(time(*level, values.clone()))
    });
    let cores = events.cores.into_iter().map(|(core_type, values)| OnCore {
        core_type,
        quantiles: quantiles(values.into_iter().map(|ns| ns / 1e6).collect(), options(0.95))
            .within(longest),
    });
    let mut first_cpu = BTreeMap::new();
    for cpu in members.iter().filter_map(|it| it.cpus.first()) {
        *first_cpu.entry(cpu.1).or_insert(0) += 1;
    }
    let samples: usize = members.iter().map(|it| it.begun.len()).sum();
    let disturbed: usize = members.iter().map(|it| it.disturbed).sum();
    Cell {
        condition: key.0.to_owned(),
        gap_ms: key.1 as f64 / 1e6,
        sleeps: key.2,
        repetitions: members.len(),
        times: times.collect(),
        ramp: ramp(&curve, context.resolution),
        curve,
        utilization: utilization.collect(),
        cores: cores.collect(),
        first_cpu,
        moved: members.iter().filter(|it| it.cpus.len() > 1).count(),
        disturbed: disturbed as f64 / samples.max(1) as f64,
        steal_ms: members.iter().map(|it| it.steal_ns as f64 / 1e6).sum(),
    }
}

/// The rate in stretches of time since the wake-up, up to the last quarter of the spin.
fn curve(members: &[&Series], context: &Context) -> Vec<Stretch> {
    let spin = members.iter().map(|it| it.spin_ns).min().unwrap_or(0);
    let edges = edges(spin);
    let stretches = edges.len().saturating_sub(1).max(1);
    // Bonferroni: all of them together hold at 95 %.
    let options = Options { level: 1.0 - 0.05 / stretches as f64, seed: context.seed };
    edges
        .windows(2)
        .filter_map(|pair| {
            let &[from, to] = pair else { return None };
            let shares: Vec<f64> =
                members.iter().filter_map(|it| it.share_between(from, to)).collect();
            let n = shares.len();
            let share = quantiles(shares, options).median?;
            let us = |ns: u64| ns as f64 / 1e3;
            Some(Stretch { from_us: us(from), to_us: us(to), n, share })
        })
        .collect()
}

/// A ramp is a stretch that lies below the settled rate, interval and all, by more than the probe
/// resolves. What takes time from the task now and then, such as a hypervisor, lowers a repetition
/// and not the median of them, wherever it strikes; a ramp lowers the same stretch of each.
fn ramp(curve: &[Stretch], resolution: f64) -> Ramp {
    let known = || curve.iter().filter(|stretch| stretch.n >= LEAST);
    let slow = || known().filter(|stretch| stretch.share.ends()[2] < 1.0 - resolution);
    let lowest = slow().map(|stretch| stretch.share.estimate.value).reduce(f64::min);
    let last = slow().next_back();
    match (lowest, last) {
        (Some(lowest), Some(last)) => Ramp::Visible { lowest, until_ms: last.to_us / 1e3 },
        _ => match known().map(|stretch| stretch.share.ends()[0]).reduce(f64::min) {
            Some(at_least) => Ramp::NotVisible { at_least },
            None => Ramp::TooFew,
        },
    }
}

/// Failed checks and warnings.
fn remarks(run: &Rows<'_>) -> Vec<String> {
    use flyball_run::manifest::CheckOutcome;
    let failed = run.manifest.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let failed = failed.map(|check| {
        format!("{}: expected {}, found {}", check.object, check.expected, check.found)
    });
    let notes = (0..run.tables.notes.len()).filter_map(|row| run.tables.notes.row(row));
    let notes = notes.filter(|note| note.severity != "info");
    failed.chain(notes.map(|note| format!("{}: {}", note.object, note.message))).collect()
}

#[cfg(test)]
mod tests;
