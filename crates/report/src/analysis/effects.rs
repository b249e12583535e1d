//! How much: the total effects of the conditions of a run whose order was drawn at random.
//!
//! Every quantity of every pair of conditions in a run is one family, whose intervals hold at once:
//! however much is looked at, 95 of 100 experiments without any effect show none.

use std::collections::HashMap;

use flyball_run::RunState;
use flyball_stats::{
    self as stats, BlockDraws, BlockValues, LEAST_BLOCKS, Replicated, Statistic, Verdict,
};
use rayon::prelude::*;

use super::cause;
use super::cell::CellData;
use super::compare::Sides;
use super::rows::RepeatRows;
use super::source::Context;
use crate::model::{Cause, Effect, Estimate, Judged, VerdictWord, headline};

/// Shares of missed deadlines that differ by less are equal.
const MISSED_MARGIN: f64 = 0.001;
/// Replicates for the parts of a difference, which walk all windows.
const CAUSE_REPLICATES: u32 = 400;

/// What the randomisation says of one pair.
#[derive(Debug)]
pub(super) struct Found {
    pub verdict: Verdict,
    /// Of all workloads together first, then of each.
    pub effects: Vec<Effect>,
    pub cause: Option<Cause>,
}

/// The effects of each of the given comparisons; none for those whose order was not random.
pub(super) fn find(sides: &[Sides<'_>]) -> Vec<Option<Found>> {
    let mut found: Vec<Option<Found>> = Vec::new();
    found.resize_with(sides.len(), || None);
    let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, sides) in sides.iter().enumerate() {
        let [subject, baseline] = sides.contexts;
        if subject.index == baseline.index && is_random(subject) {
            runs.entry(subject.index).or_default().push(at);
        }
    }
    for members in runs.into_values() {
        let family: Vec<&Sides<'_>> = members.iter().filter_map(|&at| sides.get(at)).collect();
        for (at, effects) in members.iter().zip(of_run(&family)) {
            if let Some(slot) = found.get_mut(*at) {
                *slot = Some(effects);
            }
        }
    }
    found
}

/// Whether the run's trials were in an order that Flyball drew at random: those of a bench are, and kernels on boards
/// take random turns since runs say so.
fn is_random(context: &Context<'_>) -> bool {
    let manifest = &context.run.manifest;
    let drawn = manifest.kind == "bench" || manifest.order_drawn;
    !context.imported() && drawn && !manifest.order.is_empty()
}

/// The blocks in which every one of these cells ran once, ascending; empty where a cell ran more
/// than once in a block.
fn common_blocks<'a>(cells: impl Iterator<Item = &'a CellData>) -> Vec<u32> {
    let mut common: Option<Vec<u32>> = None;
    for cell in cells {
        let mut blocks: Vec<u32> = cell.rows.iter().map(|repeat| repeat.block).collect();
        blocks.sort_unstable();
        if blocks.windows(2).any(|pair| pair[0] == pair[1]) {
            return Vec::new();
        }
        common = Some(match common {
            None => blocks,
            Some(known) => known.into_iter().filter(|b| blocks.binary_search(b).is_ok()).collect(),
        });
    }
    common.unwrap_or_default()
}

/// The repeats of a cell that ran in these blocks, in the blocks' order.
pub(super) fn in_blocks<'a>(cell: &'a CellData, blocks: &[u32]) -> Vec<&'a RepeatRows> {
    let of = |block: &u32| cell.rows.iter().find(|repeat| repeat.block == *block);
    blocks.iter().filter_map(of).collect()
}

/// A contrast of the family, and what becomes of it.
struct Contrast {
    effect: Effect,
    change: Replicated,
    is_ratio: bool,
    /// What counts as equal: a ratio minus 1, microseconds, or a share.
    margin: f64,
}

fn of_run(family: &[&Sides<'_>]) -> Vec<Found> {
    let all = || family.iter().flat_map(|sides| sides.pairs.iter().flat_map(|(a, b)| [*a, *b]));
    let blocks = common_blocks(all());
    let Some(context) = family.first().map(|sides| sides.contexts[0]) else { return Vec::new() };
    let options = context.options.bootstrap();
    let draws = BlockDraws::new(blocks.len(), &options);
    let mut cells: Vec<&CellData> = Vec::new();
    for cell in all() {
        if !cells.iter().any(|known| std::ptr::eq(*known, cell)) {
            cells.push(cell);
        }
    }
    let figures: Vec<Figures> =
        cells.par_iter().map(|cell| Figures::of(context, cell, &blocks, &draws)).collect();
    let figures_of = |cell: &CellData| {
        let at = cells.iter().position(|known| std::ptr::eq(*known, cell));
        at.and_then(|at| figures.get(at))
    };
    let contrasts: Vec<Vec<Contrast>> = family
        .iter()
        .map(|sides| {
            let pairs: Vec<(&str, &Figures, &Figures)> = (sides.pairs.iter())
                .filter_map(|(a, b)| {
                    Some((a.model.workload.as_str(), figures_of(a)?, figures_of(b)?))
                })
                .collect();
            contrasts(&pairs, context.options.margin)
        })
        .collect();
    let changes: Vec<Replicated> = contrasts.iter().flatten().map(|c| c.change.clone()).collect();
    // Whoever looked while it ran has a stricter level, which was fixed beforehand.
    let level = context.run.manifest.looks.as_ref().map_or(options.level, |looks| looks.level);
    let mut intervals = stats::together(&changes, blocks.len(), level).into_iter();
    let by_chance = contrasts.iter().flat_map(|own| {
        let changes: Vec<&Replicated> = own.iter().map(|contrast| &contrast.change).collect();
        match stats::share_of_orders(&changes, level, options.seed) {
            Some(shares) => shares.into_iter().map(Some).collect(),
            None => vec![None; own.len()],
        }
    });
    let mut by_chance = by_chance.collect::<Vec<Option<f64>>>().into_iter();
    let cause_draws = BlockDraws::new(
        blocks.len(),
        &stats::BootstrapOptions { replicates: CAUSE_REPLICATES, ..options },
    );
    // Who ends a run by hand has looked where no look was planned: nothing is decided then.
    let manifest = &context.run.manifest;
    let unplanned = manifest.looks.is_some() && manifest.state != RunState::Complete;
    let judged: Vec<Vec<Effect>> = contrasts
        .into_iter()
        .map(|own| {
            own.into_iter()
                .zip(&mut intervals)
                .zip(&mut by_chance)
                .map(|((contrast, interval), by_chance)| {
                    let effect = contrast.judge(interval, by_chance, level);
                    let verdict = if unplanned { VerdictWord::Undecided } else { effect.verdict };
                    Effect { verdict, ..effect }
                })
                .collect()
        })
        .collect();
    let whole = |(sides, effects): (&&Sides<'_>, Vec<Effect>)| {
        let verdict = overall(effects.iter().filter(|effect| effect.workload.is_none()));
        // CPU time and missed deadlines have no parts.
        let in_time = |of: Judged| !matches!(of, Judged::CpuTime | Judged::Missed);
        let split = headline(&effects).filter(|effect| in_time(effect.of));
        let split = split.and_then(|effect| effect.quantile);
        let cause = split.filter(|_| blocks.len() >= LEAST_BLOCKS).and_then(|quantile| {
            cause::split(context, &sides.pairs, &blocks, &cause_draws, quantile)
        });
        Found { verdict, effects, cause }
    };
    family.par_iter().zip(judged).map(whole).collect()
}

/// The total effect on the execution at a quantile, of one workload or of all.
pub(super) fn ratio_of(
    effects: &[Effect],
    workload: Option<&str>,
    quantile: f64,
) -> Option<Estimate> {
    let own = |effect: &&Effect| {
        (effect.workload.as_deref(), effect.of, effect.quantile)
            == (workload, Judged::Execution, Some(quantile))
    };
    effects.iter().find(own)?.ratio
}

impl Found {
    /// What the effects of one workload say; those of all together where it is the only one.
    pub fn of_workload(&self, name: &str) -> Verdict {
        let own = |effect: &&Effect| effect.workload.as_deref() == Some(name);
        match self.effects.iter().any(|effect| own(&effect)) {
            true => overall(self.effects.iter().filter(own)),
            false => self.verdict,
        }
    }
}

/// An effect where any is one; equivalent where all are; else undecided.
fn overall<'a>(effects: impl Iterator<Item = &'a Effect>) -> Verdict {
    let words: Vec<VerdictWord> = effects.map(|effect| effect.verdict).collect();
    let is = |word: VerdictWord| move |found: &VerdictWord| *found == word;
    match () {
        () if words.iter().any(is(VerdictWord::Effect)) => Verdict::Effect,
        () if !words.is_empty() && words.iter().all(is(VerdictWord::Equivalent)) => {
            Verdict::Equivalent
        }
        () => Verdict::Undecided,
    }
}

impl Contrast {
    fn judge(self, interval: Estimate, by_chance: Option<f64>, level: f64) -> Effect {
        let Contrast { mut effect, is_ratio, margin, .. } = self;
        effect.by_chance = by_chance;
        let bound = if is_ratio { margin.ln_1p() } else { margin };
        effect.verdict = match stats::judge_contrast(&interval, bound, by_chance, level) {
            Verdict::Equivalent => VerdictWord::Equivalent,
            Verdict::Effect => VerdictWord::Effect,
            _ => VerdictWord::Undecided,
        };
        if is_ratio {
            let exp = |end: Option<f64>| end.map(|end| end.exp().min(f64::MAX));
            let (value, low, high) = (interval.value.exp(), exp(interval.low), exp(interval.high));
            effect.ratio = Some(Estimate { value, low, high });
        } else {
            effect.difference = Some(interval);
        }
        effect
    }
}

/// What is judged: a quantile of a latency, or the share of missed deadlines.
type Question = (Judged, Option<f64>);

/// The figures of one cell, with their replicates.
struct Figures(Vec<(Question, Replicated)>);

impl Figures {
    fn of(context: &Context<'_>, cell: &CellData, blocks: &[u32], draws: &BlockDraws) -> Figures {
        let windows = &context.run.tables.windows;
        let repeats = in_blocks(cell, blocks);
        let values = |of: &dyn Fn(usize) -> f64| -> BlockValues {
            let block = |repeat: &&RepeatRows| repeat.rows().map(of).collect();
            BlockValues::new(&repeats.iter().map(block).collect::<Vec<Vec<f64>>>())
        };
        let us = |ns: i64| ns as f64 / 1e3;
        let response = |row: usize| us(windows.response_ns.get(row).copied().unwrap_or(0));
        let lateness = |row: usize| us(windows.lateness_ns.get(row).copied().unwrap_or(0));
        let execution = |row: usize| windows.exec_ns.get(row).map_or(0.0, |&ns| ns as f64 / 1e3);
        let missed = |row: usize| f64::from(u8::from(windows.missed.get(row) == Some(&true)));
        let count: usize = repeats.iter().map(|repeat| repeat.len()).sum();
        let mut found = Vec::new();
        let mut add = |of: Judged, values: &BlockValues| {
            for quantile in stats::quantiles_judged(count) {
                let statistic = Statistic::Quantile(quantile);
                found.push(((of, Some(quantile)), draws.statistic(values, statistic)));
            }
        };
        add(Judged::Execution, &values(&execution));
        if cell.model.response.is_some() {
            add(Judged::Response, &values(&response));
            add(Judged::Lateness, &values(&lateness));
            if cell.model.deadline_us.is_some() {
                let share = draws.statistic(&values(&missed), Statistic::Mean);
                found.push(((Judged::Missed, None), share));
            }
        }
        let cpu_time = |row: usize| windows.cpu_time_ns.get(row).unwrap_or(0) as f64 / 1e3;
        let mut rows = repeats.iter().flat_map(|repeat| repeat.rows());
        // A program whose CPU time was never counted, or too short for its clock, has none to judge.
        if rows.all(|row| windows.exit_status.get(row).is_some() && cpu_time(row) > 0.0) {
            let median = draws.statistic(&values(&cpu_time), Statistic::Median);
            found.push(((Judged::CpuTime, Some(0.5)), median));
        }
        Figures(found)
    }

    fn get(&self, question: Question) -> Option<&Replicated> {
        self.0.iter().find(|(own, _)| *own == question).map(|(_, figure)| figure)
    }
}

/// The contrasts of one pair of conditions: over all workloads, then of each where there are
/// several.
fn contrasts(pairs: &[(&str, &Figures, &Figures)], margin: f64) -> Vec<Contrast> {
    let Some((_, first, _)) = pairs.first() else { return Vec::new() };
    let questions: Vec<Question> = first.0.iter().map(|(question, _)| *question).collect();
    let over = |pairs: &[(&str, &Figures, &Figures)], workload: Option<&str>| -> Vec<Contrast> {
        let one = |question: &Question| contrast(*question, pairs, workload, margin);
        questions.iter().filter_map(one).collect()
    };
    let mut found = over(pairs, None);
    if pairs.len() > 1 {
        found.extend(pairs.iter().flat_map(|pair| over(&[*pair], Some(pair.0))));
    }
    found
}

/// One question of some workloads, where all of them have it.
fn contrast(
    question: Question,
    pairs: &[(&str, &Figures, &Figures)],
    workload: Option<&str>,
    margin: f64,
) -> Option<Contrast> {
    let (of, quantile) = question;
    let is_ratio = matches!(of, Judged::Response | Judged::Execution | Judged::CpuTime);
    let both: Option<Vec<(&Replicated, &Replicated)>> =
        pairs.iter().map(|(_, a, b)| Some((a.get(question)?, b.get(question)?))).collect();
    let both = both?;
    let changes: Vec<Replicated> = (both.iter())
        .map(|(a, b)| match is_ratio {
            true => Replicated::log_ratio(a, b),
            false => Replicated::difference(a, b),
        })
        .collect();
    let change = Replicated::mean_of(&changes.iter().collect::<Vec<_>>())?;
    let level = |side: fn(&(&Replicated, &Replicated)) -> f64| {
        let values: Vec<f64> = both.iter().map(side).collect();
        match is_ratio {
            true => stats::geometric_mean(&values).unwrap_or(f64::NAN),
            false => stats::mean(&values),
        }
    };
    let (subject, baseline) = (level(|(a, _)| a.value), level(|(_, b)| b.value));
    // Lateness is part of the response, and matters as much as it changes it.
    let response = || -> Vec<f64> {
        let baselines = pairs.iter().filter_map(|pair| pair.2.get((Judged::Response, quantile)));
        baselines.map(|figure| figure.value).collect()
    };
    let margin = match of {
        Judged::Response | Judged::Execution | Judged::CpuTime => margin,
        Judged::Lateness => margin * stats::mean(&response()),
        Judged::Missed => MISSED_MARGIN,
    };
    Some(Contrast {
        effect: Effect {
            workload: workload.map(str::to_owned),
            of,
            quantile,
            subject,
            baseline,
            ratio: None,
            difference: None,
            by_chance: None,
            verdict: VerdictWord::Undecided,
        },
        change,
        is_ratio,
        margin,
    })
}
