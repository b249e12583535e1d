//! A program with and without a ramp of its demand, by the verdicts of this project: how soon a spin has its
//! frequency, how long the program's runs take, what it costs in energy and what others pay.

use crate::analysis::{AnalysisOptions, RunData, analyse};
use crate::kinds::rampup::Findings;
use crate::model::{Estimate, Judged, Report, VerdictWord, quantile_name};
use crate::text;
use flyball_run::Run;
use flyball_stats::{
    BlockDraws, BlockValues, BootstrapOptions, LEVEL, Replicated, Statistic, Verdict,
    judge_contrast, share_of_orders, together,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Share of the highest rate whose time is told, in percent.
const LEVEL_PERCENT: u32 = 80;
/// What others wait between a wake-up and their CPU is told at this quantile.
const TAIL: f64 = 0.99;

/// Length of a kernel's name of a program.
const COMM: usize = 15;

/// The two conditions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Conditions<'a> {
    /// As it is.
    pub without: &'a str,
    /// With the ramp.
    pub with: &'a str,
}

/// One figure under both conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RampedFigure"))]
pub struct Figure {
    /// What it is: `time to 80 %`, `response p99`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// As it is; none where it was not measured, or never came.
    pub without: Option<Estimate>,
    /// With the ramp.
    pub with: Option<Estimate>,
    /// With over without; none where it is judged by whether the intervals lie apart.
    pub ratio: Option<Estimate>,
    /// What both say.
    pub verdict: Option<VerdictWord>,
    /// Why there is no figure.
    pub why: Option<String>,
}

impl Figure {
    /// One that there is not.
    #[must_use]
    pub fn none(name: &str, why: &str) -> Figure {
        let (name, unit) = (name.to_owned(), String::new());
        let why = Some(why.to_owned());
        Figure { name, unit, without: None, with: None, ratio: None, verdict: None, why }
    }
}

/// Time from the begin of a spin to 80 % of the highest rate.
#[must_use]
pub fn time_to_level(found: &Findings, conditions: Conditions<'_>) -> Figure {
    let of = |condition: &str| {
        let cell = found.cells.iter().find(|cell| cell.condition == condition)?;
        let time = cell.times.iter().find(|time| time.level == LEVEL_PERCENT)?;
        Some(time.quantiles.median?.estimate)
    };
    let (without, with) = (of(conditions.without), of(conditions.with));
    let verdict = without.zip(with).map(|(a, b)| match a.is_apart_from(&b) {
        true => VerdictWord::Effect,
        false => VerdictWord::Undecided,
    });
    Figure {
        name: format!("time to {LEVEL_PERCENT} %"),
        unit: "ms".to_owned(),
        without,
        with,
        ratio: None,
        verdict,
        why: verdict.is_none().then(|| "half of the spins never got there".to_owned()),
    }
}

/// All figures of a measurement, as they are told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured<'a> {
    /// Name and number of its form.
    pub schema: &'static str,
    /// By what the ramp is given on this machine; none where it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// The two conditions.
    #[serde(flatten)]
    pub conditions: Conditions<'a>,
    /// The figures, in the order in which they were measured.
    pub figures: &'a [Figure],
    /// Where the runs are.
    pub run: String,
}

impl Measured<'_> {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let Conditions { without, with } = self.conditions;
        format!("{without} -> {with}\n{}\nRun   {}\n", lines(self.figures), self.run)
    }
}

/// What runs of a program with and without, in this directory, say; `program` is the name of its file.
///
/// # Errors
/// A directory that does not read.
pub fn of_directory(
    dir: &Path,
    conditions: Conditions<'_>,
    (seed, margin): (u64, f64),
    program: &str,
) -> flyball_run::Result<Vec<Figure>> {
    let run = Run::open(dir)?;
    let data = [RunData::beside(run.name(), dir, run)?];
    let baseline = Some(conditions.without.to_owned());
    let options = AnalysisOptions { seed, baseline, margin, ..AnalysisOptions::default() };
    let report = analyse(&data, &options);
    let run = Run::open(dir)?;
    Ok(of_runs(&report, &run, conditions, margin, program))
}

fn of_runs(
    report: &Report,
    run: &Run,
    conditions: Conditions<'_>,
    margin: f64,
    program: &str,
) -> Vec<Figure> {
    let program: String = program.chars().take(COMM).collect();
    let ours = |task: &str| {
        task == program
            || task == "telemetry"
            || task.starts_with("flyball")
            || task.starts_with("trial-")
    };
    vec![response(report), power(run, conditions, margin), others(run, conditions, margin, &ours)]
}

/// The program's runs, as the report judges them: the tail of the response where there are windows enough
/// for it, else its median.
#[must_use]
pub fn response(report: &Report) -> Figure {
    let effects = report.comparisons.iter().flat_map(|comparison| &comparison.effects);
    let responses = effects.filter(|it| it.of == Judged::Response && it.workload.is_none());
    let quantile = |wanted: f64| responses.clone().find(|it| it.quantile == Some(wanted));
    let Some(effect) = quantile(TAIL).or_else(|| quantile(0.5)) else {
        return Figure::none("response", "too few blocks to judge it");
    };
    let ms = |us: f64| Some(Estimate::bare(us / 1e3));
    Figure {
        name: format!("response {}", quantile_name(effect.quantile.unwrap_or(0.5))),
        unit: "ms".to_owned(),
        without: ms(effect.baseline),
        with: ms(effect.subject),
        ratio: effect.ratio,
        verdict: Some(effect.verdict),
        why: None,
    }
}

/// Mean power while each condition was measured.
#[must_use]
pub fn power(run: &Run, conditions: Conditions<'_>, margin: f64) -> Figure {
    let energy = &run.tables.energy;
    let mut watts: BTreeMap<u32, f64> = BTreeMap::new();
    for row in (0..energy.len()).filter_map(|row| energy.row(row)) {
        if let Some(trial) = row.trial.filter(|_| row.residency_ns > 0) {
            *watts.entry(trial).or_default() += row.energy_mj * 1e6 / row.residency_ns as f64;
        }
    }
    let blocks = |condition: &str| {
        by_block(run, condition, |trial| watts.get(&trial).map(|watts| vec![*watts]))
    };
    let sides = [blocks(conditions.without), blocks(conditions.with)];
    let why = "none: the machine has no counter of a package's energy that may be read";
    judged(("energy", "W"), sides, Statistic::Mean, (run, margin), why)
}

/// What other tasks waited from a wake-up until they ran. `ours` tells the program's own and Flyball's.
#[must_use]
pub fn others(
    run: &Run,
    conditions: Conditions<'_>,
    margin: f64,
    ours: &dyn Fn(&str) -> bool,
) -> Figure {
    // When each trial ran, by its windows.
    let windows = &run.tables.windows;
    let mut spans: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for row in (0..windows.len()).filter_map(|row| windows.row(row)) {
        let span = spans.entry(row.trial).or_insert((row.release_ns, row.end_ns));
        *span = (span.0.min(row.release_ns), span.1.max(row.end_ns));
    }
    let wakeups = &run.tables.wakeups;
    let mut waits: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in (0..wakeups.len()).filter_map(|row| wakeups.row(row)) {
        let during = |(_, (from, to)): &(&u32, &(u64, u64))| (*from..=*to).contains(&row.woken_ns);
        if let (Some(wait), Some((trial, _))) = (row.latency_ns, spans.iter().find(during))
            && !ours(&row.task)
        {
            // A microsecond is finer than any of them matters, and above zero.
            waits.entry(*trial).or_default().push((wait as f64 / 1e3).max(1.0));
        }
    }
    let blocks = |condition: &str| by_block(run, condition, |trial| waits.get(&trial).cloned());
    let sides = [blocks(conditions.without), blocks(conditions.with)];
    let why = "none: no events were recorded beside the runs, which takes root";
    let mut found =
        judged(("others' latency", "us"), sides, Statistic::Quantile(TAIL), (run, margin), why);
    if found.why.is_none() {
        found.name = format!("{} {}", found.name, quantile_name(TAIL));
    }
    found
}

/// The values of a condition's trials, by block.
fn by_block(
    run: &Run,
    condition: &str,
    of: impl Fn(u32) -> Option<Vec<f64>>,
) -> BTreeMap<u32, Vec<f64>> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in &run.manifest.order {
        if trial.condition == condition && !trial.set_aside {
            blocks.entry(trial.block).or_default().extend(of(trial.trial).unwrap_or_default());
        }
    }
    blocks.retain(|_, values| !values.is_empty());
    blocks
}

/// With over without, in the blocks that have both, as the report judges programs.
fn judged(
    (name, unit): (&str, &str),
    [without, with]: [BTreeMap<u32, Vec<f64>>; 2],
    statistic: Statistic,
    (run, margin): (&Run, f64),
    why: &str,
) -> Figure {
    let both: Vec<u32> = without.keys().filter(|block| with.contains_key(block)).copied().collect();
    let values = |of: &BTreeMap<u32, Vec<f64>>| -> Vec<Vec<f64>> {
        both.iter().filter_map(|block| of.get(block).cloned()).collect()
    };
    if both.is_empty() {
        return Figure::none(name, why);
    }
    let seed = run.manifest.seed.unwrap_or(1);
    let options = BootstrapOptions { seed, ..BootstrapOptions::default() };
    let draws = BlockDraws::new(both.len(), &options);
    let of = |side| draws.statistic(&BlockValues::new(&values(side)), statistic);
    let (without, with) = (of(&without), of(&with));
    let contrast = Replicated::log_ratio(&with, &without);
    let by_chance = share_of_orders(&[&contrast], LEVEL, seed);
    let by_chance = by_chance.and_then(|shares| shares.first().copied());
    let found = together(std::slice::from_ref(&contrast), both.len(), LEVEL);
    let found = found.first().copied().unwrap_or(Estimate::bare(contrast.value));
    let verdict = match judge_contrast(&found, margin.ln_1p(), by_chance, LEVEL) {
        Verdict::Equivalent => VerdictWord::Equivalent,
        Verdict::Effect => VerdictWord::Effect,
        _ => VerdictWord::Undecided,
    };
    Figure {
        name: name.to_owned(),
        unit: unit.to_owned(),
        without: Some(Estimate::bare(without.value)),
        with: Some(Estimate::bare(with.value)),
        ratio: Some(Estimate {
            value: found.value.exp(),
            low: found.low.map(f64::exp),
            high: found.high.map(f64::exp),
        }),
        verdict: Some(verdict),
        why: None,
    }
}

/// One line for each figure.
#[must_use]
pub fn lines(figures: &[Figure]) -> String {
    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    let mut lines = String::new();
    for figure in figures {
        let _ = write!(lines, "{:width$}  ", figure.name);
        let _ = match (&figure.without, &figure.with) {
            (Some(without), Some(with)) => write!(
                lines,
                "{} -> {} {}{}",
                number(without.value),
                number(with.value),
                figure.unit,
                bounds(with, number)
            ),
            _ => write!(lines, "{}", figure.why.as_deref().unwrap_or("none")),
        };
        if let Some(ratio) = &figure.ratio {
            let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
            let _ = write!(lines, ", {} %{}", percent(ratio.value), bounds(ratio, percent));
        }
        if let Some(verdict) = figure.verdict {
            let _ = write!(lines, "  {}", text::verdict(verdict).to_uppercase());
        }
        lines.push('\n');
    }
    lines
}

fn bounds(estimate: &Estimate, number: impl Fn(f64) -> String) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", number(low), number(high)),
        (Some(low), None) => format!(" [{}, -]", number(low)),
        _ => String::new(),
    }
}

/// Three digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_run::manifest::TrialRecord;
    use flyball_run::{EnergyShare, Wakeup, Window};

    const BOTH: Conditions<'static> = Conditions { without: "as it is", with: "ramp=4" };

    /// Ten blocks; the ramp takes 10 % more power, and others wait as long as before.
    fn run() -> Run {
        let mut run = Run::default();
        for trial in 0..20_u32 {
            let (block, with) = (trial / 2, trial % 2 == 1);
            run.manifest.order.push(TrialRecord {
                trial,
                condition: if with { BOTH.with } else { BOTH.without }.to_owned(),
                block,
                ..TrialRecord::default()
            });
            let from = u64::from(trial) * 1_000_000_000;
            run.tables.windows.push(Window {
                trial,
                release_ns: from,
                end_ns: from + 900_000_000,
                ..Window::default()
            });
            let watts = (5.0 + 0.01 * f64::from(block)) * if with { 1.1 } else { 1.0 };
            run.tables.energy.push(EnergyShare {
                residency_ns: 1_000_000_000,
                energy_mj: watts * 1e3,
                trial: Some(trial),
                ..EnergyShare::default()
            });
            for at in 0..50_u64 {
                run.tables.wakeups.push(Wakeup {
                    woken_ns: from + at * 1_000_000,
                    latency_ns: Some(20_000 + 100 * ((at * 7 + u64::from(block)) % 50)),
                    task: if at % 5 == 0 { "game" } else { "kworker" }.to_owned(),
                    ..Wakeup::default()
                });
            }
        }
        run
    }

    #[test]
    fn power_and_what_others_wait_are_judged_by_block() {
        let run = run();
        let found = power(&run, BOTH, 0.03);
        assert_eq!(found.verdict, Some(VerdictWord::Effect));
        assert!((found.ratio.unwrap().value - 1.1).abs() < 1e-9);
        let waits = others(&run, BOTH, 0.03, &|task| task == "game");
        assert_eq!(waits.verdict, Some(VerdictWord::Equivalent), "{waits:?}");
        let text = lines(&[found, waits]);
        assert!(text.starts_with("energy               5.04 -> 5.55 W, +10.0 %"), "{text}");
        assert!(text.contains("others' latency p99  24.9 -> 24.9 us"), "{text}");
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let found = [power(&Run::default(), BOTH, 0.03), response(&Report::default())];
        let text = lines(&found);
        assert!(text.contains("energy    none: the machine has no counter"), "{text}");
        assert!(text.contains("response  too few blocks"), "{text}");
    }
}
