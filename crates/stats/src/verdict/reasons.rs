//! One function per reason: what it looks at, when it confounds, and the sentence with its figures.

use super::{Evidence, Reason, ReasonKind, SideEvidence};
use crate::Estimate;

/// Shares of strata that differ by more (half the sum of differences) are another placement.
const PLACEMENT_DIFFERENCE: f64 = 0.10;
/// Shares of disturbed windows that differ by more explain a difference of latency.
const CONTENTION_DIFFERENCE: f64 = 0.10;
/// A share of disturbed windows worth a word.
const CONTENTION_NOTED: f64 = 0.02;
/// Achieved over asked load below which the load as named did not run.
const LOAD_FLOOR: f64 = 0.5;
/// With fewer repeats the interval is a rough one.
const ENOUGH_REPEATS: usize = crate::bootstrap::ENOUGH_REPEATS;

/// All reasons that apply, in the order of the table.
pub(super) fn collect(evidence: &Evidence, basis: &Estimate) -> Vec<Reason> {
    let sides = [&evidence.a, &evidence.b];
    let mut reasons = Vec::new();
    reasons.extend(mixture(sides));
    reasons.extend(placement_unrecorded(sides));
    reasons.extend(placement_differs(sides, evidence.stratified.is_some()));
    for side in sides {
        reasons.extend(load(side));
        reasons.extend(scheduling(side));
    }
    reasons.extend(classes_differ(sides));
    reasons.extend(contention(sides));
    reasons.extend(sides.iter().filter_map(|side| drift(side, basis)));
    reasons.extend(too_few_repeats(sides));
    reasons.extend(frequency_unknown(sides));
    reasons
}

fn reason(kind: ReasonKind, confounds: bool, sentence: String) -> Option<Reason> {
    Some(Reason { kind, confounds, sentence })
}

fn mixed_kernels(side: &SideEvidence) -> usize {
    side.modes_per_kernel.iter().filter(|&&modes| modes > 1).count()
}

/// Whether the mixture could be split by what was recorded.
fn mixed_blindly(side: &SideEvidence) -> bool {
    mixed_kernels(side) > 0 && !side.placement_recorded
}

fn names(sides: &[&SideEvidence]) -> String {
    let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
    names.join(" and ")
}

fn mixture(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let mixed: Vec<&SideEvidence> = sides.into_iter().filter(|s| mixed_kernels(s) > 0).collect();
    if mixed.is_empty() {
        return None;
    }
    let figures: Vec<String> = mixed
        .iter()
        .map(|side| {
            let most = side.modes_per_kernel.iter().max().copied().unwrap_or(0);
            let (found, all) = (mixed_kernels(side), side.modes_per_kernel.len());
            format!("{} has up to {most} modes in {found} of {all} cells", side.name)
        })
        .collect();
    let blind = mixed.iter().any(|side| mixed_blindly(side));
    let figures = figures.join(", ");
    let sentence = format!("latency is a mixture: {figures}");
    reason(ReasonKind::Mixture, blind, sentence)
}

fn placement_unrecorded(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let unknown: Vec<&SideEvidence> =
        sides.into_iter().filter(|side| !side.placement_recorded).collect();
    if unknown.is_empty() {
        return None;
    }
    let confounds = sides.iter().any(|side| mixed_blindly(side));
    let sentence = format!("the CPU of each window was not recorded for {}", names(&unknown));
    reason(ReasonKind::PlacementUnrecorded, confounds, sentence)
}

/// Half the sum of absolute differences of shares: the windows that would have to move.
fn placement_differs(sides: [&SideEvidence; 2], stratified: bool) -> Option<Reason> {
    let [a, b] = sides;
    if a.strata_shares.is_empty() || b.strata_shares.is_empty() {
        return None;
    }
    let share = |side: &SideEvidence, name: &str| -> f64 {
        side.strata_shares.iter().filter(|s| s.stratum == name).map(|s| s.share).sum()
    };
    let mut strata: Vec<&str> = Vec::new();
    for entry in a.strata_shares.iter().chain(&b.strata_shares) {
        if !strata.contains(&entry.stratum.as_str()) {
            strata.push(&entry.stratum);
        }
    }
    let gap = |name: &str| (share(a, name) - share(b, name)).abs();
    let moved = strata.iter().map(|name| gap(name)).sum::<f64>() / 2.0;
    let widest = strata.iter().max_by(|x, y| gap(x).total_cmp(&gap(y)))?;
    // Not "moved <= difference": a NaN share must not pass for equal.
    if moved.is_finite() && moved <= PLACEMENT_DIFFERENCE {
        return None;
    }
    let sentence = format!(
        "placement differs: {:.0} % of {}'s windows and {:.0} % of {}'s ran on {widest}",
        100.0 * share(a, widest),
        a.name,
        100.0 * share(b, widest),
        b.name
    );
    reason(ReasonKind::PlacementDiffers, !stratified, sentence)
}

fn load(side: &SideEvidence) -> Option<Reason> {
    let load = side.load.as_ref()?;
    let (name, asked) = (&side.name, &load.asked);
    if !load.recorded {
        let sentence = format!("nothing recorded shows that {name}'s load ({asked}) ran");
        return reason(ReasonKind::UnprovenLoad, true, sentence);
    }
    if load.achieved {
        return None;
    }
    let (figures, ran) = match (load.achieved_percent, load.asked_percent) {
        (Some(achieved), Some(wanted)) => {
            let figures = format!("{achieved:.0} % of a CPU instead of {wanted:.0} %");
            (figures, achieved >= LOAD_FLOOR * wanted)
        }
        (Some(achieved), None) => (format!("{achieved:.0} % of a CPU"), false),
        _ => ("less than asked".to_owned(), false),
    };
    let sentence = format!("{name}'s load ({asked}) reached {figures}");
    reason(ReasonKind::LoadMissed, !ran, sentence)
}

fn scheduling(side: &SideEvidence) -> Option<Reason> {
    let scheduling = side.scheduling.as_ref()?;
    let (name, asked) = (&side.name, &scheduling.asked);
    match &scheduling.applied {
        None => {
            let sentence = format!("{name} asked for {asked} and nothing shows what was applied");
            reason(ReasonKind::SchedulingClass, false, sentence)
        }
        Some(applied) if applied != asked => {
            let sentence = format!("{name} asked for {asked} and ran as {applied}");
            reason(ReasonKind::SchedulingClass, true, sentence)
        }
        Some(_) => None,
    }
}

/// Both got what they asked for, and asked for different classes: part of what is compared.
fn classes_differ(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let classes = sides.map(|side| side.scheduling.as_ref());
    let [Some(a), Some(b)] = classes else { return None };
    if a.asked == b.asked {
        return None;
    }
    let sentence = format!(
        "{} ran as {} and {} as {}: the class is part of the difference",
        sides[0].name, a.asked, sides[1].name, b.asked
    );
    reason(ReasonKind::SchedulingClass, false, sentence)
}

fn contention(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let shares = sides.map(|side| side.contention_share.unwrap_or(0.0));
    let highest = shares[0].max(shares[1]);
    if highest <= CONTENTION_NOTED {
        return None;
    }
    let both = sides.iter().all(|side| side.contention_share.is_some());
    let worse = if shares[0] >= shares[1] { 0 } else { 1 };
    let other = if both {
        format!("{:.0} % of {}'s", 100.0 * shares[1 - worse], sides[1 - worse].name)
    } else {
        format!("an unknown share of {}'s", sides[1 - worse].name)
    };
    let confounds = (shares[0] - shares[1]).abs() > CONTENTION_DIFFERENCE;
    let verdict = if confounds { ": this is contention, not frequency" } else { "" };
    let sentence = format!(
        "preempted, or sharing a core, in {:.0} % of {}'s windows and {other}{verdict}",
        100.0 * highest,
        sides[worse].name
    );
    reason(ReasonKind::Contention, confounds, sentence)
}

fn drift(side: &SideEvidence, basis: &Estimate) -> Option<Reason> {
    let drift = side.drift.as_ref().filter(|drift| drift.flagged)?;
    let shows = basis.low > 1.0 || basis.high < 1.0;
    let confounds = shows && drift.total_change.ln_1p().abs() >= basis.value.ln().abs();
    let sentence = format!(
        "{} drifts by {:+.1} % from first to last (p = {:.2e})",
        side.name,
        100.0 * drift.total_change,
        drift.p_value
    );
    reason(ReasonKind::Drift, confounds, sentence)
}

fn too_few_repeats(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let [a, b] = sides;
    if a.repeats.min(b.repeats) >= ENOUGH_REPEATS {
        return None;
    }
    let sentence = format!(
        "{} has {} repeats and {} has {}: intervals need at least {ENOUGH_REPEATS} to be dependable",
        a.name, a.repeats, b.name, b.repeats
    );
    reason(ReasonKind::TooFewRepeats, false, sentence)
}

fn frequency_unknown(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let unknown: Vec<&SideEvidence> = sides.into_iter().filter(|s| !s.frequency_known).collect();
    if unknown.is_empty() {
        return None;
    }
    let sentence = format!(
        "the delivered frequency of {} is unknown: a difference can't be called one of frequency",
        names(&unknown)
    );
    reason(ReasonKind::FrequencyUnknown, false, sentence)
}
