//! One function per reason: what it looks at, when it confounds, and the sentence with its figures.

use super::{Evidence, Reason, ReasonKind, SideEvidence};
use crate::Estimate;

/// Shares of strata that differ by more (half the sum of differences) are another placement.
const PLACEMENT_DIFFERENCE: f64 = 0.10;
/// Shares of disturbed windows that differ by more explain a difference of latency.
const CONTENTION_DIFFERENCE: f64 = 0.10;
/// Shares of a CPU limit's periods with waiting tasks that differ by more explain a difference of latency.
const THROTTLED_DIFFERENCE: f64 = 0.10;
/// A share of disturbed windows worth a word.
const CONTENTION_NOTED: f64 = 0.02;
/// A share of windows whose program failed from which on the others are no fair sample either.
const FAILED_SHARE: f64 = 0.01;
/// Mean loads that differ by more percentage points are different loads.
const LOAD_DIFFERENCE: f64 = 1.0;
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
    reasons.extend(not_applied(sides));
    reasons.extend(command_failed(sides));
    reasons.extend(contention(sides));
    reasons.extend(throttled(sides));
    reasons.extend(outranked(sides));
    reasons.extend(sides.iter().filter_map(|side| drift(side, basis)));
    reasons.extend(too_few_repeats(sides));
    reasons.extend(runs_differ(evidence));
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
    // Also without a mixture: each side may have run on one kind of core, and on another one.
    let sentence = format!("the CPU of each window was not recorded for {}", names(&unknown));
    reason(ReasonKind::PlacementUnrecorded, true, sentence)
}

/// Half the sum of absolute differences of shares: the windows that would have to move.
fn placement_differs(sides: [&SideEvidence; 2], stratified: bool) -> Option<Reason> {
    let [a, b] = sides;
    if a.strata_shares.is_empty() || b.strata_shares.is_empty() {
        return None;
    }
    let share = |side: &SideEvidence, name: &str| -> f64 {
        let own = side.strata_shares.iter().filter(|s| s.stratum == name);
        // From 0, as the sum of nothing is -0.
        own.fold(0.0, |sum, s| sum + s.share)
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
    // However near the mean came: a load that is not proven may have been away in some trials.
    let figures = match (load.achieved_percent, load.asked_percent) {
        (Some(achieved), Some(wanted)) => {
            format!("{achieved:.0} % of a CPU in the mean, {wanted:.0} % asked")
        }
        (Some(achieved), None) => format!("{achieved:.0} % of a CPU in the mean"),
        _ => "less than asked".to_owned(),
    };
    let sentence = format!("{name}'s load ({asked}) is not shown to have run as asked: {figures}");
    reason(ReasonKind::LoadMissed, true, sentence)
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

/// Settings that were not applied: on both sides alike they limit what is claimed, on one side
/// they are another difference between the sides.
fn not_applied(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let sorted = sides.map(|side| {
        let mut remarks: Vec<&str> = side.not_applied.iter().map(String::as_str).collect();
        remarks.sort_unstable();
        remarks
    });
    let [a, b] = &sorted;
    if a.is_empty() && b.is_empty() {
        return None;
    }
    let sentence = if a == b {
        format!("not applied on either side: {}", a.join(", "))
    } else {
        let both = sides.into_iter().zip(&sorted).filter(|(_, remarks)| !remarks.is_empty());
        let figures: Vec<String> =
            both.map(|(side, remarks)| format!("{}: {}", side.name, remarks.join(", "))).collect();
        format!("settings were not applied under {}", figures.join("; under "))
    };
    reason(ReasonKind::NotApplied, a != b, sentence)
}

/// A program that fails is often faster than one that works.
fn command_failed(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let failed: Vec<&SideEvidence> = sides.into_iter().filter(|s| s.failed_share > 0.0).collect();
    if failed.is_empty() {
        return None;
    }
    let figures: Vec<String> = (failed.iter())
        .map(|side| format!("{:.1} % of {}'s windows", 100.0 * side.failed_share, side.name))
        .collect();
    let confounds = failed.iter().any(|side| side.failed_share > FAILED_SHARE);
    let sentence = format!("the program failed in {}", figures.join(" and "));
    reason(ReasonKind::CommandFailed, confounds, sentence)
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
    let apart = (shares[0] - shares[1]).abs() > CONTENTION_DIFFERENCE;
    let preempted = preempted_differently(sides);
    let verdict = if apart {
        ": this is contention, not frequency".to_owned()
    } else if let Some([a, b]) = preempted {
        format!(
            "; preempted in {:.0} % of {}'s and {:.0} % of {}'s: this is contention, not frequency",
            100.0 * a,
            sides[0].name,
            100.0 * b,
            sides[1].name
        )
    } else if beside_other_loads(sides) {
        "; the two loads they shared it with differ".to_owned()
    } else {
        String::new()
    };
    let confounds = !verdict.is_empty();
    let sentence = format!(
        "preempted, or sharing a core, in {:.0} % of {}'s windows and {other}{verdict}",
        100.0 * highest,
        sides[worse].name
    );
    reason(ReasonKind::Contention, confounds, sentence)
}

/// Time that tasks waited for the limit of their control group, whatever the frequency was.
fn throttled(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let shares = sides.map(|side| side.throttled.as_ref().map_or(0.0, |found| found.share));
    let [a, b] = sides;
    let limit = &a.throttled.as_ref().or(b.throttled.as_ref())?.limit;
    let confounds = (shares[0] - shares[1]).abs() > THROTTLED_DIFFERENCE;
    let sentence = format!(
        "tasks had to wait for {limit} in {:.0} % of its periods under {} and {:.0} % under {}{}",
        100.0 * shares[0],
        a.name,
        100.0 * shares[1],
        b.name,
        if confounds { ": this is the limit, not frequency" } else { "" }
    );
    reason(ReasonKind::Throttled, confounds, sentence)
}

/// A load on the CPU of a real-time thread that never lost it: no contention for time, and yet the
/// load's data stood in the caches when the thread woke.
fn outranked(sides: [&SideEvidence; 2]) -> Option<Reason> {
    let shares = sides.map(|side| side.outranked_load_share.unwrap_or(0.0));
    if shares[0].max(shares[1]) <= CONTENTION_NOTED {
        return None;
    }
    let worse = if shares[0] >= shares[1] { 0 } else { 1 };
    let sentence = format!(
        "the CPU carried the load in {:.0} % of {}'s windows and {:.0} % of {}'s, and never took it \
         from the real-time thread: caches that the load left cold are part of the difference",
        100.0 * shares[worse],
        sides[worse].name,
        100.0 * shares[1 - worse],
        sides[1 - worse].name
    );
    reason(ReasonKind::LoadOutranked, false, sentence)
}

/// The shares of preempted windows, where they are known and apart.
fn preempted_differently(sides: [&SideEvidence; 2]) -> Option<[f64; 2]> {
    let (a, b) = (sides[0].preempted_share?, sides[1].preempted_share?);
    ((a - b).abs() > CONTENTION_DIFFERENCE).then_some([a, b])
}

/// Whether both sides shared their CPUs or cores with a load, and not with the same one.
fn beside_other_loads(sides: [&SideEvidence; 2]) -> bool {
    let beside = |side: &&SideEvidence| {
        side.beside_load_share.is_some_and(|share| share > CONTENTION_DIFFERENCE)
    };
    sides.iter().all(beside) && loads_differ(sides)
}

fn loads_differ(sides: [&SideEvidence; 2]) -> bool {
    match (&sides[0].load, &sides[1].load) {
        (Some(a), Some(b)) => {
            let percents = a.asked_percent.zip(b.asked_percent);
            a.asked != b.asked || percents.is_some_and(|(a, b)| (a - b).abs() > LOAD_DIFFERENCE)
        }
        (a, b) => a.is_some() != b.is_some(),
    }
}

fn drift(side: &SideEvidence, basis: &Estimate) -> Option<Reason> {
    let drift = side.drift.as_ref().filter(|drift| drift.flagged)?;
    let shows = basis.excludes(1.0);
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

fn runs_differ(evidence: &Evidence) -> Option<Reason> {
    let differences = evidence.across_runs.as_ref()?;
    let runs = evidence.a.runs.min(evidence.b.runs);
    let sentence = if differences.is_empty() && runs < super::LEAST_REPEATS {
        let few = if runs <= 1 { "one run".to_owned() } else { format!("{runs} runs") };
        format!(
            "{few} a side does not decide: how much runs of the same thing differ is not known; {} \
             runs a side would tell, or both in turns in one experiment",
            super::LEAST_REPEATS
        )
    } else if differences.is_empty() {
        "separate runs: their order was not randomised between them".to_owned()
    } else {
        format!("the two runs differ in more than the condition: {}", differences.join(", "))
    };
    reason(ReasonKind::RunsDiffer, !differences.is_empty(), sentence)
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
