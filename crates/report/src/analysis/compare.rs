//! Two conditions, compared: evidence, verdict, sentence.

use flyball_stats::{
    self as stats, Draws, Evidence, Judgement, Prepared, ReasonKind, SideEvidence, Statistic,
    TTest, Verdict, judge,
};
use rayon::prelude::*;

use super::cell::CellData;
use super::effects::{self, Found};
use super::like::{self, CellPair, Like};
use super::pairs::{Pair, PairSide};
use super::sentence::{self, Matter};
use super::source::Context;
use super::{across, evidence, reasons, speed};
use crate::model::{
    Comparison, Estimate, FrequencySummary, LoadSummary, Side, VerdictWord, Welch,
    WorkloadComparison,
};

/// A comparison, and the inferred states that it found.
#[derive(Debug)]
pub(super) struct Compared {
    pub comparison: Comparison,
    pub like: Like,
}

/// What all comparisons of a report look things up in.
struct Scene<'a> {
    contexts: &'a [Context<'a>],
    cells: &'a [CellData],
    frequencies: &'a [FrequencySummary],
    loads: &'a [LoadSummary],
}

/// The two sides of one comparison with their cells.
pub(super) struct Sides<'a> {
    pub subject: Side,
    pub baseline: Side,
    pub contexts: [&'a Context<'a>; 2],
    /// Per workload that both sides have.
    pub pairs: Vec<CellPair<'a>>,
}

/// All comparisons, in the order of the pairs; a pair without a common workload is left out.
pub(super) fn compare_all(
    pairs: &[Pair],
    contexts: &[Context<'_>],
    cells: &[CellData],
    frequencies: &[FrequencySummary],
    loads: &[LoadSummary],
) -> Vec<Compared> {
    let scene = Scene { contexts, cells, frequencies, loads };
    let sides: Vec<Sides<'_>> = pairs.iter().filter_map(|pair| scene.sides(pair)).collect();
    let effects = effects::find(&sides);
    let both: Vec<_> = sides.into_iter().zip(effects).collect();
    both.into_par_iter().filter_map(|(sides, effects)| scene.compare(sides, effects)).collect()
}

impl Scene<'_> {
    fn compare(&self, sides: Sides<'_>, found: Option<Found>) -> Option<Compared> {
        let context = sides.contexts[0];
        let options = context.options;
        let like = like::compare(
            &sides.pairs,
            (&sides.subject, &sides.baseline),
            self.frequencies,
            options,
        );
        let prepared: Vec<(&Prepared, &Prepared)> =
            sides.pairs.iter().map(|(a, b)| (&a.prepared, &b.prepared)).collect();
        let (draws, bootstrap) = (draws(&sides.pairs), options.bootstrap());
        let pooled =
            stats::geometric_mean_ratio(&prepared, Statistic::Median, draws, &bootstrap).ok()?;
        let pooled = pooled.estimate;
        let decided = found.as_ref().map(|found| found.verdict);
        let judgement = self.judge(&sides, &sides.pairs, (pooled, &like), decided);
        let workloads: Vec<WorkloadComparison> = (sides.pairs.par_iter().enumerate())
            .filter_map(|(at, pair)| {
                let like = like.of_workload((at, *pair), options);
                self.workload(&sides, *pair, like, found.as_ref())
            })
            .collect();
        let verdict = word(&judgement);
        let equal_frequency = speed::ratio(&sides.pairs, options);
        let (mut total, cause) = found.map_or((Vec::new(), None), |f| (f.effects, f.cause));
        if judgement.verdict == Verdict::Confounded {
            total.iter_mut().for_each(|effect| effect.verdict = verdict);
        }
        // One figure, one interval: where the order was random, that of the total effect.
        let ratio = effects::ratio_of(&total, None, 0.5).unwrap_or(pooled);
        let matter = Matter {
            effects: &total,
            cause: cause.as_ref(),
            sides: &sides,
            judgement: &judgement,
            pooled,
            like: &like,
            equal_frequency: equal_frequency.as_ref(),
            workloads: &workloads,
            loads: self.loads,
        };
        let comparison = Comparison {
            title: title(&sides),
            verdict,
            sentence: sentence::write(&matter, verdict),
            reasons: reasons::write(&sides, &judgement, self.loads, self.frequencies),
            effects: total,
            cause,
            ratio,
            like_for_like: like.ratios.clone(),
            equal_frequency,
            margin: options.margin,
            workloads,
            subject: sides.subject,
            baseline: sides.baseline,
        };
        Some(Compared { comparison, like })
    }

    fn sides(&self, pair: &Pair) -> Option<Sides<'_>> {
        let of = |side: &PairSide| -> Vec<&CellData> {
            let named = |cell: &CellData| {
                side.workload.as_ref().is_none_or(|name| *name == cell.model.workload)
            };
            let inside = |cell: &&CellData| {
                cell.run == side.run && cell.model.condition == side.condition && named(cell)
            };
            self.cells.iter().filter(inside).collect()
        };
        let (subject, baseline) = (of(&pair.subject), of(&pair.baseline));
        let pairs: Vec<CellPair<'_>> = subject
            .into_iter()
            .filter_map(|a| {
                let alike = |b: &&&CellData| {
                    (pair.subject.workload.is_some() || b.model.workload == a.model.workload)
                        && b.model.measure == a.model.measure
                };
                let b = baseline.iter().find(alike)?;
                Some((a, *b))
            })
            .collect();
        let contexts =
            [self.contexts.get(pair.subject.run)?, self.contexts.get(pair.baseline.run)?];
        let side = |context: &Context<'_>, side: &PairSide| Side {
            run: context.name.clone(),
            condition: side.condition.clone(),
            workload: side.workload.clone(),
        };
        (!pairs.is_empty()).then(|| Sides {
            subject: side(contexts[0], &pair.subject),
            baseline: side(contexts[1], &pair.baseline),
            contexts,
            pairs,
        })
    }

    /// Judges some of the workloads by the evidence about exactly their cells; `randomised` is what
    /// their total effects say, where the order was random.
    fn judge(
        &self,
        sides: &Sides<'_>,
        pairs: &[CellPair<'_>],
        (pooled, like): (Estimate, &Like),
        randomised: Option<Verdict>,
    ) -> Judgement {
        let subject: Vec<&CellData> = pairs.iter().map(|pair| pair.0).collect();
        let baseline: Vec<&CellData> = pairs.iter().map(|pair| pair.1).collect();
        let across = across::differences(sides.contexts, pairs);
        let side = |at: usize, side: &Side, cells: &[&CellData]| -> SideEvidence {
            let known = evidence::side(sides.contexts[at], &side.condition, cells, self.loads);
            let name = side.label().to_owned();
            if across.is_some() && evidence::timeless(sides.contexts[at]) {
                // Files of benchmark programs: the order of the runs is that of their names, and it is
                // runs that decide, not the modes of their repetitions.
                return SideEvidence { name, drift: None, modes_per_kernel: Vec::new(), ..known };
            }
            SideEvidence { name, ..known }
        };
        judge(&Evidence {
            a: side(0, &sides.subject, &subject),
            b: side(1, &sides.baseline, &baseline),
            pooled,
            stratified: like.recorded,
            margin: sides.contexts[0].options.margin,
            across_runs: across.clone(),
            randomised,
        })
    }

    fn workload(
        &self,
        sides: &Sides<'_>,
        (a, b): CellPair<'_>,
        like: Like,
        found: Option<&Found>,
    ) -> Option<WorkloadComparison> {
        let bootstrap = sides.contexts[0].options.bootstrap();
        let draws = draws(&[(a, b)]);
        let ratio =
            |statistic| stats::ratio(&a.prepared, &b.prepared, statistic, draws, &bootstrap).ok();
        let ratio = |statistic| ratio(statistic).map(|found| found.estimate);
        let pooled = ratio(Statistic::Median)?;
        let decided = found.map(|found| found.of_workload(&a.model.workload));
        let of_effect = |quantile| {
            let effects = &found?.effects;
            let own = effects::ratio_of(effects, Some(&a.model.workload), quantile);
            // A comparison of one workload has its effects once.
            own.or_else(|| {
                effects::ratio_of(effects, None, quantile).filter(|_| sides.pairs.len() == 1)
            })
        };
        Some(WorkloadComparison {
            workload: a.model.workload.clone(),
            ratio: of_effect(0.5).unwrap_or(pooled),
            p99_ratio: of_effect(0.99).or_else(|| ratio(Statistic::Quantile(0.99)))?,
            verdict: word(&self.judge(sides, &[(a, b)], (pooled, &like), decided)),
            welch: stats::welch_windows(&a.cell, &b.cell).ok().and_then(welch),
            repeat_level: repeat_level(a, b).and_then(welch),
            like_for_like: like.ratios,
            equal_frequency: speed::ratio(&[(a, b)], sides.contexts[0].options),
        })
    }
}

/// Paired where both were measured in the same blocks of one run, else Welch's.
fn repeat_level(a: &CellData, b: &CellData) -> Option<TTest> {
    match draws(&[(a, b)]) {
        Draws::Blocks => stats::paired_repeats(&a.cell, &b.cell).ok(),
        Draws::Independent => stats::welch_repeats(&a.cell, &b.cell).ok(),
    }
}

/// Whether all of these cells were measured in the same blocks of one run, one repeat per block.
pub(super) fn draws(pairs: &[CellPair<'_>]) -> Draws {
    let Some((first, _)) = pairs.first() else { return Draws::Independent };
    let distinct = first.blocks.windows(2).all(|pair| pair[0] != pair[1]);
    let alike = |cell: &CellData| cell.run == first.run && cell.blocks == first.blocks;
    match distinct && pairs.iter().all(|(a, b)| alike(a) && alike(b)) {
        true => Draws::Blocks,
        false => Draws::Independent,
    }
}

/// Without spread on either side (a model repeats itself exactly) the interval has no width, and a
/// statistic would say nothing but that a difference was divided by zero.
fn welch(test: TTest) -> Option<Welch> {
    let finite = test.t.is_finite() && test.df.is_finite() && test.p_value.is_finite();
    let spread = test.low < test.high;
    (finite && spread).then_some(Welch { t: test.t, df: test.df, p: test.p_value })
}

/// The verdict's word: a load that nothing proves is its own word, since then not the difference
/// is in doubt but the condition.
fn word(judgement: &Judgement) -> VerdictWord {
    let about_load =
        |kind: ReasonKind| matches!(kind, ReasonKind::UnprovenLoad | ReasonKind::LoadMissed);
    let unproven =
        judgement.reasons.iter().any(|reason| reason.confounds && about_load(reason.kind));
    match judgement.verdict {
        Verdict::Confounded if unproven => VerdictWord::Unproven,
        Verdict::Confounded => VerdictWord::Confounded,
        Verdict::Effect => VerdictWord::Effect,
        Verdict::Equivalent => VerdictWord::Equivalent,
        Verdict::Undecided => VerdictWord::Undecided,
    }
}

/// `heavy against idle`; across runs with the runs' names.
fn title(sides: &Sides<'_>) -> String {
    let (subject, baseline) = (&sides.subject, &sides.baseline);
    if let (Some(subject), Some(baseline)) = (&subject.workload, &baseline.workload) {
        return format!("{subject} against {baseline}");
    }
    match (subject.run == baseline.run, subject.condition == baseline.condition) {
        (true, _) => format!("{} against {}", subject.condition, baseline.condition),
        (false, true) => format!("{}: {} against {}", subject.condition, subject.run, baseline.run),
        (false, false) => format!(
            "{} ({}) against {} ({})",
            subject.condition, subject.run, baseline.condition, baseline.run
        ),
    }
}
