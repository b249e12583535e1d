//! Like for like: ratios inside strata, recorded where possible, inferred otherwise.

use flyball_stats::{
    self as stats, Draws, KernelModes, LikeForLike, Prepared, StatePair, Statistic,
};

use super::cell::CellData;
use super::compare::draws;
use super::domains::{self, FixedDomain};
use super::source::AnalysisOptions;
use super::words;
use crate::model::{Estimate, FrequencySummary, Side, StratumRatio};

/// A domain is recognised where the ratio of a pair of modes is within this of the ratio of the
/// domain's frequencies: memory-bound work does not speed up in full proportion.
const DOMAIN_TOLERANCE: f64 = 0.08;

/// The two cells of one workload, the subject's first.
pub(super) type CellPair<'a> = (&'a CellData, &'a CellData);

/// Ratios inside strata over a set of workloads.
#[derive(Debug, Default)]
pub(super) struct Like {
    pub ratios: Vec<StratumRatio>,
    /// One ratio over all recorded strata, for the verdict.
    pub recorded: Option<Estimate>,
    /// The inferred states, where nothing was recorded.
    pub inferred: Option<LikeForLike>,
    /// The clock domain that each inferred state was recognised as.
    pub recognised: Vec<Option<Recognised>>,
}

/// A state that moves as a clock domain does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recognised {
    pub domain: String,
    pub subject_mhz: f64,
    pub baseline_mhz: f64,
}

/// Compares like for like: by stratum where every window's CPU was recorded, by inferred states
/// where it was not and the cells are mixtures.
pub(super) fn compare(
    pairs: &[CellPair<'_>],
    sides: (&Side, &Side),
    frequencies: &[FrequencySummary],
    options: &AnalysisOptions,
) -> Like {
    if pairs.iter().all(|(a, b)| a.strata.is_some() && b.strata.is_some()) {
        return by_stratum(pairs, options);
    }
    let recorded = |cell: &CellData| cell.model.placement.recorded;
    let mixed = |cell: &CellData| cell.model.modes.mixture;
    if pairs.iter().any(|(a, b)| (mixed(a) || mixed(b)) && !(recorded(a) && recorded(b))) {
        return by_state(pairs, sides, frequencies, options);
    }
    Like::default()
}

impl Like {
    /// The same for one workload, the `at`-th of the `pairs` that were compared.
    ///
    /// Inferred states are taken from the comparison of all workloads, since one workload alone
    /// does not show which modes belong together.
    pub fn of_workload(
        &self,
        (at, pair): (usize, CellPair<'_>),
        options: &AnalysisOptions,
    ) -> Like {
        let Some(inferred) = &self.inferred else {
            return match self.recorded {
                Some(_) => by_stratum(&[pair], options),
                None => Like::default(),
            };
        };
        let windows = |side: usize, mode: usize| -> u64 {
            let modes = &[pair.0, pair.1][side].modes;
            let found = modes.as_ref().and_then(|modes| modes.modes.get(mode));
            found.map_or(0, |mode| mode.count as u64)
        };
        let ratios = inferred.states.iter().zip(&self.ratios).filter_map(|(state, whole)| {
            let [subject, baseline] = *state.modes.get(at)?;
            Some(StratumRatio {
                ratio: *state.per_kernel.get(at)?,
                n_subject: windows(0, subject),
                n_baseline: windows(1, baseline),
                ..whole.clone()
            })
        });
        Like { ratios: ratios.collect(), ..Like::default() }
    }
}

/// One ratio per recorded stratum that all cells have, geometric mean over the workloads.
fn by_stratum(pairs: &[CellPair<'_>], options: &AnalysisOptions) -> Like {
    let mut names: Vec<&String> = pairs.iter().flat_map(|(a, _)| &a.stratum_names).collect();
    names.sort();
    names.dedup();
    if pairs
        .iter()
        .all(|(a, b)| single_stratum(a).is_some() && single_stratum(a) == single_stratum(b))
    {
        // All windows ran on one kind of core: pooled is like for like already.
        return Like::default();
    }
    let parts: Vec<(&String, Vec<(Part, Part)>)> = names
        .into_iter()
        .filter_map(|name| {
            let parts: Option<Vec<(Part, Part)>> =
                pairs.iter().map(|(a, b)| Some((part(a, name)?, part(b, name)?))).collect();
            Some((name, parts?))
        })
        .collect();
    // A part that lost whole repeats no longer matches block by block.
    let repeats = pairs.first().map_or(0, |(a, _)| a.blocks.len());
    let whole = |part: &Part| part.prepared.repeats() == repeats;
    let ratio = |parts: &[&(Part, Part)]| {
        let draws = match parts.iter().all(|(a, b)| whole(a) && whole(b)) {
            true => draws(pairs),
            false => Draws::Independent,
        };
        let prepared: Vec<_> = parts.iter().map(|(a, b)| (&a.prepared, &b.prepared)).collect();
        let options = options.bootstrap();
        let found = stats::geometric_mean_ratio(&prepared, Statistic::Median, draws, &options);
        found.ok().map(|found| found.estimate)
    };
    let ratios = parts.iter().filter_map(|(name, parts)| {
        let all: Vec<&(Part, Part)> = parts.iter().collect();
        Some(StratumRatio {
            stratum: (*name).clone(),
            inferred: false,
            ratio: ratio(&all)?,
            n_subject: parts.iter().map(|(a, _)| a.windows).sum(),
            n_baseline: parts.iter().map(|(_, b)| b.windows).sum(),
        })
    });
    let every: Vec<&(Part, Part)> = parts.iter().flat_map(|(_, parts)| parts).collect();
    Like { ratios: ratios.collect(), recorded: ratio(&every), ..Like::default() }
}

/// The name of the stratum that all windows of a cell are in.
fn single_stratum(cell: &CellData) -> Option<&String> {
    let mut tags = cell.strata.as_ref()?.iter().flatten();
    let first = tags.next()?;
    tags.all(|tag| tag == first).then(|| cell.stratum_names.get(*first as usize))?
}

/// The windows of a cell in one stratum.
struct Part {
    prepared: Prepared,
    windows: u64,
}

fn part(cell: &CellData, stratum: &str) -> Option<Part> {
    let wanted = cell.stratum_names.iter().position(|name| name == stratum)? as u32;
    let tags = cell.strata.as_ref()?;
    let inside = |repeat: usize, index: usize| {
        tags.get(repeat).and_then(|tags| tags.get(index)) == Some(&wanted)
    };
    if tags.iter().flatten().all(|&tag| tag == wanted) {
        let windows = cell.cell.windows() as u64;
        return Some(Part { prepared: cell.prepared.clone(), windows });
    }
    let kept = cell.cell.filter(|repeat, index, _| inside(repeat, index))?;
    Some(Part { windows: kept.windows() as u64, prepared: Prepared::new(&kept) })
}

/// Ratios over states that are inferred from the modes.
fn by_state(
    pairs: &[CellPair<'_>],
    (subject, baseline): (&Side, &Side),
    frequencies: &[FrequencySummary],
    options: &AnalysisOptions,
) -> Like {
    let kernels: Option<Vec<KernelModes<'_>>> = pairs
        .iter()
        .map(|(a, b)| {
            Some(KernelModes {
                kernel: &a.model.workload,
                a: &a.cell,
                b: &b.cell,
                a_modes: a.modes.as_ref()?,
                b_modes: b.modes.as_ref()?,
            })
        })
        .collect();
    let found = kernels
        .and_then(|known| stats::like_for_like_with_modes(&known, &options.bootstrap()).ok());
    let Some(found) = found else { return Like::default() };
    let fixed = |side: &Side| domains::fixed(frequencies, &side.run, &side.condition);
    let ratios: Vec<f64> = found.states.iter().map(|state| state.ratio.value).collect();
    let recognised = recognise(&ratios, &fixed(subject), &fixed(baseline));
    let windows = |state: &StatePair, side: usize| -> u64 {
        let of = |(pair, modes): (&CellPair<'_>, &[usize; 2])| {
            let found = [pair.0, pair.1][side].modes.as_ref()?.modes.get(modes[side])?;
            Some(found.count as u64)
        };
        pairs.iter().zip(&state.modes).filter_map(of).sum()
    };
    let ratios = found.states.iter().zip(&recognised).map(|(state, recognised)| StratumRatio {
        stratum: name_of(recognised.as_ref(), &state.medians),
        inferred: true,
        ratio: state.ratio,
        n_subject: windows(state, 0),
        n_baseline: windows(state, 1),
    });
    Like { ratios: ratios.collect(), recorded: None, recognised, inferred: Some(found) }
}

/// Recognises states by clock domains that stood still on both sides: a state's ratio of
/// latencies (subject over baseline) is the domain's ratio of frequencies (baseline over
/// subject). Only where each fits one of the other.
fn recognise(
    ratios: &[f64],
    subject: &[FixedDomain],
    baseline: &[FixedDomain],
) -> Vec<Option<Recognised>> {
    let both: Vec<Recognised> = subject
        .iter()
        .filter_map(|domain| {
            let other = baseline.iter().find(|other| other.domain == domain.domain)?;
            Some(Recognised {
                domain: domain.domain.clone(),
                subject_mhz: domain.mhz,
                baseline_mhz: other.mhz,
            })
        })
        .collect();
    let fits = |ratio: f64, domain: &Recognised| {
        (ratio / (domain.baseline_mhz / domain.subject_mhz)).ln().abs() <= DOMAIN_TOLERANCE
    };
    ratios
        .iter()
        .map(|&ratio| {
            let mut candidates = both.iter().filter(|domain| fits(ratio, domain));
            let only = candidates.next().filter(|_| candidates.next().is_none())?;
            let rivals = ratios.iter().filter(|&&rival| fits(rival, only)).count();
            (rivals == 1).then(|| only.clone())
        })
        .collect()
}

/// What an inferred state is called.
fn name_of(recognised: Option<&Recognised>, medians: &[[f64; 2]]) -> String {
    if let Some(found) = recognised {
        return format!(
            "{} ({:.0} against {:.0} MHz)",
            found.domain, found.subject_mhz, found.baseline_mhz
        );
    }
    match medians.first() {
        Some([a, b]) => format!("modes at {} and {} us", words::latency(*a), words::latency(*b)),
        None => "a pair of modes".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(name: &str, mhz: f64) -> FixedDomain {
        FixedDomain { domain: name.into(), mhz }
    }

    #[test]
    fn states_are_recognised_by_their_frequency_ratio() {
        let slow = [domain("policy0", 600.0), domain("policy4", 600.0)];
        let fast = [domain("policy0", 2064.0), domain("policy4", 3204.0)];
        let found = recognise(&[5.15, 3.40], &slow, &fast);
        let names: Vec<_> = found.iter().flatten().map(|found| found.domain.as_str()).collect();
        assert_eq!(names, ["policy4", "policy0"]);
        assert_eq!(recognise(&[2.0], &slow, &fast), [None]);
        // Both domains stood at the same two frequencies: which is which cannot be told.
        assert_eq!(recognise(&[1.0, 1.0], &slow, &slow), [None, None]);
    }
}
