//! Why a verdict is what it is: the judgement's reasons in words, with the cells' figures.

use flyball_stats::{Judgement, Reason as Judged, ReasonKind};

use super::cell::CellData;
use super::compare::Sides;
use super::source::Context;
use super::{evidence, load, words};
use crate::model::{FrequencySummary, LoadSummary, Reason, Side};

/// Delivered and claimed frequency that differ by more than this are worth a remark.
const CLAIM_TOLERANCE: f64 = 0.05;

/// All reasons: those of the judgement in its order, then what only this room knows.
pub(super) fn write(
    sides: &Sides<'_>,
    judgement: &Judgement,
    loads: &[LoadSummary],
    frequencies: &[FrequencySummary],
) -> Vec<Reason> {
    let mut reasons: Vec<Reason> =
        judgement.reasons.iter().map(|judged| reason(sides, judged, loads)).collect();
    // Both sides' loads are told of in one text.
    reasons.dedup();
    let both = [(&sides.subject, 0), (&sides.baseline, 1)];
    reasons.extend(both.iter().filter_map(|(side, at)| claim(sides, side, *at, frequencies)));
    reasons
}

/// One reason in words: with the cells' figures where they say more than the judgement knows.
pub(super) fn text(sides: &Sides<'_>, judged: &Judged, loads: &[LoadSummary]) -> String {
    match judged.kind {
        ReasonKind::Mixture => mixture(sides),
        ReasonKind::PlacementUnrecorded => placement(sides),
        ReasonKind::UnprovenLoad | ReasonKind::LoadMissed => unproven(sides, loads),
        ReasonKind::Contention => contention(sides),
        _ => judged.sentence.clone(),
    }
}

fn reason(sides: &Sides<'_>, judged: &Judged, loads: &[LoadSummary]) -> Reason {
    let inferred = judged.kind == ReasonKind::Mixture
        && sides.pairs.iter().any(|(a, b)| a.strata.is_none() || b.strata.is_none());
    Reason { kind: name(judged.kind).to_owned(), text: text(sides, judged, loads), inferred }
}

/// Stable names, as `stats` serialises them.
pub(super) fn name(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::Mixture => "mixture",
        ReasonKind::PlacementUnrecorded => "placement_unrecorded",
        ReasonKind::PlacementDiffers => "placement_differs",
        ReasonKind::UnprovenLoad => "unproven_load",
        ReasonKind::LoadMissed => "load_missed",
        ReasonKind::SchedulingClass => "scheduling_class",
        ReasonKind::NotApplied => "not_applied",
        ReasonKind::CommandFailed => "command_failed",
        ReasonKind::RunsDiffer => "runs_differ",
        ReasonKind::Drift => "drift",
        ReasonKind::Contention => "contention",
        ReasonKind::Throttled => "throttled",
        ReasonKind::LoadOutranked => "load_outranked",
        ReasonKind::TooFewRepeats => "too_few_repeats",
        ReasonKind::FrequencyUnknown => "frequency_unknown",
    }
}

/// `2 modes in 4 of 4 cells of powersave, 3 to 5 modes in 2 of 4 cells of schedutil`.
fn mixture(sides: &Sides<'_>) -> String {
    let side = |name: &str, cells: Vec<&CellData>| format!("{} of {name}", modes_of(&cells));
    format!(
        "{}, {}",
        side(sides.baseline.label(), sides.pairs.iter().map(|pair| pair.1).collect()),
        side(sides.subject.label(), sides.pairs.iter().map(|pair| pair.0).collect())
    )
}

/// `2 to 5 modes in 6 of 8 cells`, both sides together.
pub(super) fn modes_of_both(sides: &Sides<'_>) -> String {
    modes_of(&sides.pairs.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<_>>())
}

fn modes_of(cells: &[&CellData]) -> String {
    let mixed: Vec<usize> = (cells.iter())
        .map(|cell| cell.model.modes.modes.len())
        .filter(|modes| *modes > 1)
        .collect();
    let modes = match (mixed.iter().min(), mixed.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("{most} modes"),
        (Some(least), Some(most)) => format!("{least} to {most} modes"),
        _ => return format!("one mode in each of {} cells", cells.len()),
    };
    format!("{modes} in {} of {} cells", mixed.len(), cells.len())
}

fn placement(sides: &Sides<'_>) -> String {
    let unrecorded = |of: fn(&(&CellData, &CellData)) -> bool| sides.pairs.iter().any(of);
    let subject = unrecorded(|pair| !pair.0.model.placement.recorded);
    let baseline = unrecorded(|pair| !pair.1.model.placement.recorded);
    match (subject, baseline) {
        (true, false) => format!("the CPU was not recorded under {}", sides.subject.label()),
        (false, true) => format!("the CPU was not recorded under {}", sides.baseline.label()),
        _ => "the CPU was not recorded".to_owned(),
    }
}

/// What the run says of the load that nothing proves; the baseline's is named.
pub(super) fn unproven(sides: &Sides<'_>, loads: &[LoadSummary]) -> String {
    let why = |side: &Side| {
        load::of(loads, &side.run, &side.condition)
            .filter(|load| load::asks_for_load(&load.profile) && !load.proven)
            .map(|load| load.why.clone())
    };
    match (why(&sides.subject), why(&sides.baseline)) {
        (Some(subject), Some(baseline)) if subject == baseline => {
            format!("{subject}, on either side")
        }
        (Some(subject), Some(baseline)) => {
            format!("{subject}; {}: {baseline}", sides.baseline.label())
        }
        (Some(subject), None) => subject,
        (None, Some(baseline)) => format!("{}: {baseline}", sides.baseline.label()),
        (None, None) => "nothing in the data shows that the load ran".to_owned(),
    }
}

/// `preempted in 31 % of windows under heavy, 0 % under idle; ...`.
fn contention(sides: &Sides<'_>) -> String {
    let share = |at: usize, of: fn(&CellData) -> Option<f64>| {
        evidence::mean(sides.pairs.iter().map(|pair| of([pair.0, pair.1][at])))
    };
    let compare = |what: &str, of: fn(&CellData) -> Option<f64>| {
        let (subject, baseline) = (share(0, of)?, share(1, of)?);
        (subject > 0.0 || baseline > 0.0).then(|| {
            format!(
                "{what} in {} of windows under {}, {} under {}",
                words::share(subject),
                sides.subject.label(),
                words::share(baseline),
                sides.baseline.label()
            )
        })
    };
    let texts: Vec<String> = [
        compare("preempted", |cell| cell.contention.preempted),
        compare("on a CPU that carried the load", |cell| cell.contention.shared_cpu),
        compare("beside the load on the same core", |cell| cell.contention.shared_core),
    ]
    .into_iter()
    .flatten()
    .collect();
    match texts.is_empty() {
        true => "windows shared their CPU".to_owned(),
        false => texts.join("; "),
    }
}

/// A remark where a side's delivered frequency is not what the system claimed.
fn claim(
    sides: &Sides<'_>,
    side: &Side,
    at: usize,
    frequencies: &[FrequencySummary],
) -> Option<Reason> {
    let context = sides.contexts.get(at)?;
    let off = sides.pairs.iter().find_map(|pair| {
        let cell = [pair.0, pair.1][at];
        let delivered = cell.model.delivered.as_ref().filter(|found| found.source != "percent")?;
        let cpu = cell.model.placement.cpus.first()?.cpu;
        let claimed = claimed_mhz(context, side, cpu, frequencies)?;
        ((delivered.median / claimed).ln().abs() > CLAIM_TOLERANCE).then_some((
            delivered.median,
            claimed,
            cpu,
        ))
    });
    off.map(|(delivered, claimed, cpu)| Reason {
        kind: "frequency_differs_from_claim".to_owned(),
        text: format!(
            "under {} cpu{cpu} delivered {delivered:.0} MHz where {claimed:.0} MHz was claimed",
            side.condition
        ),
        inferred: false,
    })
}

/// Mean claimed frequency of a CPU's domain under a condition.
fn claimed_mhz(
    context: &Context<'_>,
    side: &Side,
    cpu: u32,
    frequencies: &[FrequencySummary],
) -> Option<f64> {
    let machine = context.run.manifest.machine.as_ref();
    let domain = machine.and_then(|machine| {
        machine.domains.iter().find(|domain| domain.cpus.contains(&cpu)).map(|found| &found.name)
    });
    let own = format!("cpu{cpu}");
    frequencies
        .iter()
        .filter(|entry| {
            entry.run == side.run && entry.condition.as_deref() == Some(side.condition.as_str())
        })
        .find(|entry| entry.domain == own || Some(&entry.domain) == domain)
        .and_then(|entry| entry.claimed_mean_mhz)
}
