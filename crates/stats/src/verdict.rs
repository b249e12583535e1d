//! From evidence to a verdict: effect, equivalent, undecided or confounded, with the reasons.
//!
//! | precedence | condition | verdict |
//! |---|---|---|
//! | 1 | any reason that confounds | `Confounded` |
//! | 2 | the whole interval inside the margin | `Equivalent` |
//! | 3 | the interval excludes 1 | `Effect` |
//! | 4 | otherwise | `Undecided` |
//!
//! Rules 2 and 3 need at least 3 repeats on each side, and where the sides are of different runs at
//! least 3 runs; with fewer the answer is `Undecided`: one run says nothing of how much runs differ.
//! With them, where the windows of each run ran is part of what differs between runs, and so of the
//! interval: `mixture` and `placement_unrecorded` only limit. With fewer, an unrecorded placement
//! alone does not confound either, since nothing is decided anyway; a mixture does.
//!
//! Where the order of the conditions was drawn at random within one run ([`Evidence::randomised`]),
//! the randomisation decides: the family of intervals takes the place of rules 2 and 3, and what lies
//! on the path from the condition to the latency (`mixture`, `placement`, `contention`, `drift`) is how
//! it acts, or falls on all conditions alike: it limits what may be said of the cause, and confounds
//! nothing. What still confounds is a condition that was not in force: a load that is not proven,
//! settings or a class that were not applied, a program that failed.
//!
//! A reason that only limits never changes what the interval says, but is printed beside it. What
//! is confounded is never called an effect, however small the interval. A difference whose
//! interval excludes 1 but lies inside the margin is `Equivalent`: real, and too small to matter
//! by the user's own measure.
//!
//! | reason | confounds | limits |
//! |---|---|---|
//! | `mixture` | several modes on a side whose placement is not recorded | several modes where it is recorded; from 3 separate runs a side on |
//! | `placement_unrecorded` | within one run: each side may have run on another kind of core | separate runs |
//! | `placement_differs` | shares differ by more than 10 points and nothing is stratified | stratified |
//! | `unproven_load` | a load was asked for and nothing recorded shows that it ran | |
//! | `load_missed` | a load was asked for, and what was recorded does not prove that it ran as asked | |
//! | `scheduling_class` | asked for, and another one applied | not read back; or the sides differ as asked |
//! | `not_applied` | settings were not applied, others on one side than on the other | the same on both |
//! | `command_failed` | the program failed in more than 1 % of a side's windows | in fewer |
//! | `contention` | see below | more than 2 % on a side |
//! | `load_outranked` | | more than 2 % of a side's windows, all of a real-time thread that was not preempted, on a CPU that carried the load |
//! | `drift` | at least as large as the difference, which the interval shows | smaller |
//! | `too_few_repeats` | | below 5; below 3 nothing is called an effect or equivalent |
//! | `runs_differ` | two runs that differ in program, input or machine | two runs: their order was not randomised |
//! | `frequency_unknown` | | always: the cause can't be called frequency |
//!
//! Contention confounds where the share of disturbed windows, or that of preempted ones, differs by
//! more than 10 points between the sides; and where the loads differ while more than 10 % of the
//! windows of both sides ran on a CPU or core that carried them: then every window is disturbed on
//! both sides, only not equally. A window of a real-time thread that was not preempted is none of
//! these, though its CPU carried load: the load got the CPU only while the thread slept. What it left
//! in the caches is named as a limit.

mod reasons;

use crate::{Drift, Estimate, equivalence};
use serde::{Deserialize, Serialize};

/// What is known about one side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideEvidence {
    /// What the side is called: the condition's name.
    pub name: String,
    /// Repeats per kernel (the smallest number over the kernels).
    pub repeats: usize,
    /// Runs that the side rests on: where the sides are of different runs, each is one draw of what
    /// differs between runs of the same thing.
    pub runs: usize,
    /// Whether the CPU of every window was recorded.
    pub placement_recorded: bool,
    /// Share of windows per core type (or other stratum), by name; empty where not recorded.
    pub strata_shares: Vec<StratumShare>,
    /// Number of latency modes found in each kernel's cell.
    pub modes_per_kernel: Vec<usize>,
    /// The background load, where one was asked for.
    pub load: Option<LoadEvidence>,
    /// The scheduling class asked for, and what was applied.
    pub scheduling: Option<SchedulingEvidence>,
    /// Whether the delivered frequency of the windows is known.
    pub frequency_known: bool,
    /// Share (0 to 1) of windows that were preempted, or shared their CPU or SMT sibling with
    /// other work that may have taken it; none where not recorded.
    pub contention_share: Option<f64>,
    /// Share (0 to 1) of windows on a CPU that carried the background load, but of a real-time
    /// thread that was not preempted in them; none where not recorded.
    pub outranked_load_share: Option<f64>,
    /// Share (0 to 1) of windows that were preempted; none where not recorded.
    pub preempted_share: Option<f64>,
    /// Share (0 to 1) of windows on a CPU, or beside an SMT sibling, that carried the background
    /// load, without those of `outranked_load_share`; none where not recorded.
    pub beside_load_share: Option<f64>,
    /// The control group's CPU limit, where it made tasks wait.
    pub throttled: Option<ThrottledEvidence>,
    /// Share (0 to 1) of windows whose program failed; they are in no statistic.
    pub failed_share: f64,
    /// Settings that were asked for and not applied, one remark each.
    pub not_applied: Vec<String>,
    /// The largest trend found over the order of execution.
    pub drift: Option<Drift>,
}

/// A CPU limit that made tasks wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThrottledEvidence {
    /// The limit, as a person reads it.
    pub limit: String,
    /// Share (0 to 1) of its periods in which tasks had to wait.
    pub share: f64,
}

/// Share of one stratum in a side's windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StratumShare {
    /// The stratum's name, such as a core type.
    pub stratum: String,
    /// Its share of the windows, 0 to 1.
    pub share: f64,
}

/// A background load that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadEvidence {
    /// The profile as asked for, such as `heavy` or `stress-ng`.
    pub asked: String,
    /// Whether the achieved load was recorded at all.
    pub recorded: bool,
    /// Whether what was recorded is what was asked, within the generator's tolerance.
    pub achieved: bool,
    /// Mean percent per loaded CPU asked for, where known.
    pub asked_percent: Option<f64>,
    /// Mean percent per loaded CPU achieved, where recorded.
    pub achieved_percent: Option<f64>,
}

/// A scheduling class that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchedulingEvidence {
    /// The class asked for, such as `fifo`.
    pub asked: String,
    /// The class read back in the measuring thread; none where not recorded.
    pub applied: Option<String>,
}

/// All that a verdict rests on. Ratios are `a` over `b`: above 1, `a` is slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The side in the numerator.
    pub a: SideEvidence,
    /// The side in the denominator.
    pub b: SideEvidence,
    /// The ratio of all windows, whatever they are mixed from.
    pub pooled: Estimate,
    /// The ratio over common recorded strata, where placement was recorded.
    pub stratified: Option<Estimate>,
    /// Half width of what counts as equal, as a ratio minus 1: 0.02 means 0.98 to 1.02.
    pub margin: f64,
    /// Where the sides are from two runs: what is known to differ between these besides the
    /// condition, one remark each. None within one run.
    pub across_runs: Option<Vec<String>>,
    /// What the family of total effects says, where both sides are conditions of one run in an order
    /// that was drawn at random. Never `Confounded`.
    pub randomised: Option<Verdict>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A difference that nothing recorded explains away.
    Effect,
    /// Equal within the margin.
    Equivalent,
    /// The interval is too wide to say.
    Undecided,
    /// The difference may be something else.
    Confounded,
}

/// What a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// Latency has more than one mode.
    Mixture,
    /// Nothing says where the windows ran.
    PlacementUnrecorded,
    /// The two sides ran on different cores.
    PlacementDiffers,
    /// Nothing says that the load ran.
    UnprovenLoad,
    /// What is recorded does not prove that the load ran as asked.
    LoadMissed,
    /// The scheduling class was not applied, or differs.
    SchedulingClass,
    /// Settings were not applied.
    NotApplied,
    /// The program that was timed failed.
    CommandFailed,
    /// Latency moves with the order of execution.
    Drift,
    /// Windows shared their CPU.
    Contention,
    /// The control group's CPU limit made tasks wait.
    Throttled,
    /// Windows of a real-time thread ran on a CPU that carried the load, which never took it.
    LoadOutranked,
    /// Too few repeats for a dependable interval.
    TooFewRepeats,
    /// The sides are from two runs.
    RunsDiffer,
    /// The delivered frequency is unknown.
    FrequencyUnknown,
}

impl ReasonKind {
    /// Whether it is a path on which a randomised condition may act, or something that the random
    /// order spreads over all conditions alike.
    fn is_mediator(self) -> bool {
        use ReasonKind::{
            Contention, Drift, Mixture, PlacementDiffers, PlacementUnrecorded, Throttled,
        };
        matches!(
            self,
            Mixture | PlacementUnrecorded | PlacementDiffers | Contention | Throttled | Drift
        )
    }
}

/// One reason, in words that contain the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// What it is about.
    pub kind: ReasonKind,
    /// Whether it makes the comparison confounded (or only limits it).
    pub confounds: bool,
    /// One sentence with the figures.
    pub sentence: String,
}

/// A verdict, its reasons, and the ratio that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// Reasons, those that confound first.
    pub reasons: Vec<Reason>,
    /// The ratio judged: the stratified one where there is one, else the pooled one.
    pub basis: Estimate,
    /// Which ratio that is.
    pub basis_kind: Basis,
}

/// Which ratio a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// All windows.
    Pooled,
    /// Like for like over recorded strata.
    Stratified,
}

/// Repeats, or runs, below which an interval rests on a standard error of one or two differences.
pub(crate) const LEAST_REPEATS: usize = 3;

/// Judges the evidence by the tables at the head of this module.
pub fn judge(evidence: &Evidence) -> Judgement {
    let (basis, basis_kind) = match evidence.stratified {
        Some(stratified) => (stratified, Basis::Stratified),
        None => (evidence.pooled, Basis::Pooled),
    };
    let mut reasons = reasons::collect(evidence, &basis);
    if evidence.randomised.is_some() {
        reasons.iter_mut().filter(|reason| reason.kind.is_mediator()).for_each(|reason| {
            reason.confounds = false;
        });
    }
    let runs = evidence.a.runs.min(evidence.b.runs);
    if evidence.across_runs.is_some() {
        across_runs(&mut reasons, runs >= LEAST_REPEATS);
    }
    // Stable: within both kinds the order of the table stays.
    reasons.sort_by_key(|reason| !reason.confounds);
    let enough = evidence.a.repeats.min(evidence.b.repeats) >= LEAST_REPEATS
        && (evidence.across_runs.is_none() || runs >= LEAST_REPEATS);
    let verdict = if reasons.iter().any(|reason| reason.confounds) {
        Verdict::Confounded
    } else if !enough {
        Verdict::Undecided
    } else {
        evidence.randomised.unwrap_or_else(|| by_interval(&basis, evidence.margin))
    };
    Judgement { verdict, reasons, basis, basis_kind }
}

/// Where each run placed its windows is drawn anew with each run. With enough runs the interval holds
/// what that does; with too few nothing is decided, and modes are still worth more words than that.
fn across_runs(reasons: &mut [Reason], enough: bool) {
    let mixed = |reason: &Reason| reason.kind == ReasonKind::Mixture && reason.confounds;
    if !enough && reasons.iter().any(mixed) {
        return;
    }
    for reason in reasons {
        if matches!(reason.kind, ReasonKind::Mixture | ReasonKind::PlacementUnrecorded) {
            reason.confounds = false;
        }
    }
}

/// What the interval alone says. A margin that is no margin makes nothing equivalent.
fn by_interval(ratio: &Estimate, margin: f64) -> Verdict {
    match equivalence(ratio, margin) {
        Ok(found) if found.equivalent => Verdict::Equivalent,
        _ if ratio.excludes(1.0) => Verdict::Effect,
        _ => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests;
