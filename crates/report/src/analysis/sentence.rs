//! The verdict's sentence for a person: the figure first, then what it is worth.

use flyball_stats::{self as stats, Basis, Judgement, ReasonKind};

use super::compare::Sides;
use super::like::Like;
use super::{cause, reasons, words};
use crate::model::{
    Cause, Effect, Estimate, Judged, LoadSummary, Measure, StratumRatio, VerdictWord,
    WorkloadComparison, headline, quantile_name,
};

/// What a sentence is made of.
pub(super) struct Matter<'a> {
    pub sides: &'a Sides<'a>,
    pub judgement: &'a Judgement,
    pub pooled: Estimate,
    pub like: &'a Like,
    pub equal_frequency: Option<&'a StratumRatio>,
    pub workloads: &'a [WorkloadComparison],
    pub loads: &'a [LoadSummary],
    /// Total effects, where the order was random.
    pub effects: &'a [Effect],
    pub cause: Option<&'a Cause>,
}

impl Matter<'_> {
    /// Runs of the side that rests on fewer.
    fn runs(&self) -> usize {
        self.sides.contexts.iter().map(|context| context.run.pooled.max(1)).min().unwrap_or(1)
    }
}

/// The sentence for a verdict.
pub(super) fn write(matter: &Matter<'_>, verdict: VerdictWord) -> String {
    let randomised = !matter.effects.is_empty();
    match verdict {
        VerdictWord::Effect | VerdictWord::Equivalent | VerdictWord::Undecided if randomised => {
            total(matter, verdict)
        }
        VerdictWord::Effect => effect(matter),
        VerdictWord::Equivalent => {
            let margin = words::share(matter.sides.contexts[0].options.margin);
            format!("equal within {margin}: {}{}", figure(matter), limits(matter))
        }
        VerdictWord::Undecided => {
            format!("{}: {}{}", figure(matter), undecided(matter), limits(matter))
        }
        VerdictWord::Confounded => confounded(matter),
        VerdictWord::Unproven => {
            let why = reasons::unproven(matter.sides, matter.loads);
            // No figure is an effect any more, but the cause is that of one.
            match caused(matter).or_else(|| headline(matter.effects)) {
                // The order was random: whatever ran, this is what it did.
                Some(first) => {
                    let cause = because(matter, first);
                    format!("{why}; what did run: {}{cause}", size(first))
                }
                None => {
                    format!("{why} (median execution, pooled: {})", words::factor(&matter.pooled))
                }
            }
        }
    }
}

/// What the randomised order decides: how much, because of what, and what is left open.
fn total(matter: &Matter<'_>, verdict: VerdictWord) -> String {
    let margin = words::share(matter.sides.contexts[0].options.margin);
    let all: Vec<&Effect> = matter.effects.iter().filter(|e| e.workload.is_none()).collect();
    let of = |word: VerdictWord| all.iter().copied().filter(move |effect| effect.verdict == word);
    let names = |word| {
        let names: Vec<String> = of(word).map(Effect::name).collect();
        words::list(&names)
    };
    match verdict {
        VerdictWord::Effect => {
            let Some(first) = headline(matter.effects) else { return String::new() };
            let others = (all.iter().copied())
                .filter(|other| !std::ptr::eq(*other, first))
                .filter(|other| other.of == first.of || other.of == Judged::CpuTime)
                .filter(|other| other.verdict == VerdictWord::Effect);
            let others: Vec<String> = others.map(size).collect();
            let also = match others.is_empty() {
                true => String::new(),
                false => format!("; also {}", words::list(&others)),
            };
            let cause = because(matter, first);
            let alone = workloads_alone(matter.effects, first);
            format!("{}{cause}{also}{alone}{}", size(first), limits(matter))
        }
        VerdictWord::Equivalent => {
            let median = headline(matter.effects).map(size).unwrap_or_default();
            format!(
                "equal within {margin}: {median}; so are the other {} figures{}",
                all.len().saturating_sub(1),
                limits(matter)
            )
        }
        _ => {
            let first = headline(matter.effects);
            let shows = |effect: &&Effect| {
                effect.ratio.is_some_and(|ratio| ratio.excludes(1.0))
                    || effect.difference.is_some_and(|by| by.excludes(0.0))
            };
            let chance = first.filter(shows).and_then(|effect| effect.by_chance);
            let wide = match all.iter().any(|e| e.change().is_some_and(|c| c.low.is_some())) {
                true if first.is_some_and(|e| e.verdict == VerdictWord::Undecided)
                    && chance.is_some() =>
                {
                    let share = words::share(chance.unwrap_or(1.0));
                    format!(
                        "chance shows as much in {share} of the orders that could have been drawn"
                    )
                }
                true => "the intervals are too wide to say".to_owned(),
                false => "there are no intervals to say more".to_owned(),
            };
            let figure = first.map(size).unwrap_or_default();
            // What is decided comes first.
            let (figure, rest) = match first.filter(|e| e.verdict == VerdictWord::Equivalent) {
                Some(first) => {
                    let others = of(VerdictWord::Equivalent).filter(|e| !std::ptr::eq(*e, first));
                    let equal: Vec<String> =
                        [figure].into_iter().chain(others.map(Effect::name)).collect();
                    let open = names(VerdictWord::Undecided);
                    (
                        format!("equal within {margin}: {}", words::list(&equal)),
                        format!("; {wide}: {open}"),
                    )
                }
                None => {
                    let equal = match of(VerdictWord::Equivalent).next() {
                        Some(_) => {
                            format!("; equal within {margin}: {}", names(VerdictWord::Equivalent))
                        }
                        None => String::new(),
                    };
                    (format!("{figure}: {wide}"), equal)
                }
            };
            format!("{figure}{rest}{}", limits(matter))
        }
    }
}

/// The cause of the first figure, which stands beside it since a narrow table cuts the end; that of another one with
/// its name.
fn because(matter: &Matter<'_>, first: &Effect) -> String {
    let Some(cause) = matter.cause else { return String::new() };
    match is_of(cause, first) {
        // The figure has its interval: that of the whole, drawn by itself, would be another one.
        true => cause::sentence(cause, &Estimate::bare(cause.total_us.value)),
        false => {
            let sentence = cause::sentence(cause, &cause.total_us);
            format!("; {} {}{sentence}", cause.of.name(), quantile_name(cause.quantile))
        }
    }
}

/// Whether a cause is that of an effect.
fn is_of(cause: &Cause, effect: &Effect) -> bool {
    (cause.of, Some(cause.quantile)) == (effect.of, effect.quantile)
}

/// The effect that the cause is of.
fn caused<'a>(matter: &Matter<'a>) -> Option<&'a Effect> {
    let cause = matter.cause?;
    matter.effects.iter().find(|effect| effect.workload.is_none() && is_of(cause, effect))
}

/// In how many workloads an effect shows by itself: `; shows in 2 of 4 workloads alone`.
fn workloads_alone(effects: &[Effect], first: &Effect) -> String {
    let up = |effect: &Effect| match (&effect.ratio, &effect.difference) {
        (Some(ratio), _) => ratio.value > 1.0,
        (None, difference) => difference.as_ref().is_some_and(|found| found.value > 0.0),
    };
    let of_each: Vec<&Effect> = (effects.iter())
        .filter(|effect| effect.workload.is_some())
        .filter(|effect| (effect.of, effect.quantile) == (first.of, first.quantile))
        .collect();
    let agrees =
        |effect: &&&Effect| effect.verdict == VerdictWord::Effect && up(effect) == up(first);
    match (of_each.iter().filter(agrees).count(), of_each.len()) {
        (_, all) if all < 2 => String::new(),
        (shows, all) if shows == all => format!("; shows in all {all} workloads alone"),
        (shows, all) => format!("; shows in {shows} of {all} workloads alone"),
    }
}

/// `response p99 4.80x [4.10, 5.60]`, `lateness p99 +1876 us [1500, 2250]`.
fn size(effect: &Effect) -> String {
    let name = effect.name();
    match (&effect.ratio, &effect.difference, effect.of) {
        (Some(found), ..) => format!("{name} {}", words::ratio(found)),
        (_, Some(found), Judged::Missed) => format!("{name} {}", words::points(found)),
        (_, Some(found), _) => format!("{name} {}", words::microseconds(found)),
        _ => name,
    }
}

/// Why nothing is decided: runs that are too few to know what differs between runs; a single repeat
/// has no interval to be too wide.
fn undecided(matter: &Matter<'_>) -> String {
    let few = matter.judgement.reasons.iter().find(|reason| {
        reason.kind == ReasonKind::RunsDiffer && matter.runs() < stats::LEAST_BLOCKS
    });
    match (few, matter.judgement.basis.low) {
        (Some(reason), _) => reason.sentence.clone(),
        (None, Some(_)) => "the interval is too wide to say".to_owned(),
        (None, None) => "there is no interval to say more".to_owned(),
    }
}

/// The ratio that was judged: `-4.1 % [-5.0, -3.3] in median execution`.
fn figure(matter: &Matter<'_>) -> String {
    let ratio = words::ratio(&matter.judgement.basis);
    let what = what(matter);
    match matter.judgement.basis_kind {
        Basis::Pooled => format!("{ratio} in median {what}"),
        Basis::Stratified => format!("{ratio} in median {what}, like for like"),
    }
}

/// The latency that the figures are of.
fn what(matter: &Matter<'_>) -> &'static str {
    let of = |measure: Measure| matter.sides.pairs.iter().all(|(a, _)| a.model.measure == measure);
    match () {
        () if of(Measure::Execution) => "execution",
        () if of(Measure::WakeUp) => "wake-up latency",
        () => "latency",
    }
}

fn effect(matter: &Matter<'_>) -> String {
    format!("{}{}{}{}", figure(matter), agreement(matter), frequency(matter), limits(matter))
}

/// In how many workloads the difference shows on its own.
fn agreement(matter: &Matter<'_>) -> String {
    let slower = matter.judgement.basis.value > 1.0;
    let shows = |ratio: &Estimate| match (ratio.low, ratio.high) {
        (Some(low), _) if slower => low > 1.0,
        (_, Some(high)) => high < 1.0,
        _ => false,
    };
    let all = matter.workloads.len();
    let agreeing = matter.workloads.iter().filter(|workload| shows(&workload.ratio)).count();
    match agreeing {
        _ if all < 2 => String::new(),
        agreeing if agreeing == all => format!(", all {all} workloads"),
        agreeing => format!(", in {agreeing} of {all} workloads"),
    }
}

/// Whether the delivered frequency accounts for the difference: latency times frequency is work
/// in cycles, and the same work takes the same cycles.
fn frequency(matter: &Matter<'_>) -> String {
    let logs: Option<Vec<f64>> = (matter.sides.pairs.iter())
        .map(|(a, b)| {
            let (a, b) = (a.model.delivered.as_ref()?, b.model.delivered.as_ref()?);
            (a.source == b.source && a.median > 0.0 && b.median > 0.0)
                .then(|| (a.median / b.median).ln())
        })
        .collect();
    let Some(logs) = logs.filter(|logs| !logs.is_empty()) else { return String::new() };
    let speed = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let cycles = matter.judgement.basis.value * speed;
    let change = words::change(speed);
    let margin = matter.sides.contexts[0].options.margin;
    let remaining = cycles.ln().abs();
    let how_much = if remaining <= margin.ln_1p() {
        "accounts for it"
    } else if remaining < 0.5 * matter.judgement.basis.value.ln().abs() {
        "accounts for most of it"
    } else {
        "does not account for it"
    };
    let equal = matter.equal_frequency.map(|found| words::ratio(&found.ratio));
    let equal = equal.map(|ratio| format!("; at equal frequency {ratio}")).unwrap_or_default();
    format!("; the delivered frequency ({change}) {how_much}{equal}")
}

/// What only limits the verdict, in a few words.
fn limits(matter: &Matter<'_>) -> String {
    let repeats = (matter.sides.pairs.iter())
        .map(|(a, b)| a.cell.repeats().len().min(b.cell.repeats().len()))
        .min()
        .unwrap_or(0);
    let few =
        matter.judgement.reasons.iter().any(|reason| reason.kind == ReasonKind::TooFewRepeats);
    if few { format!(" ({} only)", words::count(repeats as u64, "repeat")) } else { String::new() }
}

fn confounded(matter: &Matter<'_>) -> String {
    let confounding: Vec<ReasonKind> = (matter.judgement.reasons.iter())
        .filter(|reason| reason.confounds)
        .map(|reason| reason.kind)
        .collect();
    if confounding.contains(&ReasonKind::Mixture) {
        return mixture(matter, &confounding);
    }
    let reasons: Vec<String> = (matter.judgement.reasons.iter())
        .filter(|reason| reason.confounds)
        .map(|reason| reasons::text(matter.sides, reason, matter.loads))
        .collect();
    let like = like_for_like(matter).map(|like| format!("; {like}")).unwrap_or_default();
    let ratio = words::ratio(&matter.pooled);
    format!("{ratio} in median {}, but {}{like}", what(matter), reasons.join("; "))
}

/// `pooled 1.42x; if the modes are core types, like for like 1.00x [0.99, 1.01]: 2 modes in 8 of
/// 8 cells, and the CPU was not recorded`. The figures come first: a narrow table cuts the end.
fn mixture(matter: &Matter<'_>, confounding: &[ReasonKind]) -> String {
    let pooled = words::plain_factor(matter.pooled.value);
    let figures = match like_for_like(matter) {
        Some(like) => format!("pooled {pooled}; {like}"),
        None => format!("pooled {pooled}, but no pair of modes can be compared like for like"),
    };
    let placement = if confounding.contains(&ReasonKind::PlacementUnrecorded) {
        ", and the CPU was not recorded"
    } else {
        ""
    };
    let modes = reasons::modes_of_both(matter.sides);
    format!("{figures}: {modes}{placement}{}", other_reasons(matter))
}

/// What else confounds, besides mixture and placement.
fn other_reasons(matter: &Matter<'_>) -> String {
    let known = [ReasonKind::Mixture, ReasonKind::PlacementUnrecorded];
    (matter.judgement.reasons.iter())
        .filter(|reason| reason.confounds && !known.contains(&reason.kind))
        .map(|reason| format!("; {}", reasons::text(matter.sides, reason, matter.loads)))
        .collect()
}

/// The ratios inside strata: `if the modes are core types, like for like 1.00x [0.99, 1.01]`.
fn like_for_like(matter: &Matter<'_>) -> Option<String> {
    let ratios = &matter.like.ratios;
    let one = |ratio: &StratumRatio| words::factor(&ratio.ratio);
    let short = |ratio: &StratumRatio| {
        let name = ratio.stratum.split(" (").next().unwrap_or_default().to_owned();
        format!("{} in {name}", one(ratio))
    };
    let text = match ratios.as_slice() {
        [] => return None,
        [only] => one(only),
        several => words::list(&several.iter().map(short).collect::<Vec<_>>()),
    };
    let inferred = ratios.iter().any(|ratio| ratio.inferred);
    let condition = if inferred { "if the modes are core types, " } else { "" };
    Some(format!("{condition}like for like {text}"))
}
