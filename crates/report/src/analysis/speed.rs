//! At equal speed: the ratio between windows that the core ran at the same delivered frequency.
//!
//! It answers what a frequency cannot have caused. It is shown beside the verdict and never decides it:
//! frequency is what most conditions act through, so a difference that disappears here is not
//! refuted but explained.

use flyball_stats::{self as stats, TaggedCell};

use super::cell::{CellData, Sample};
use super::compare::draws;
use super::delivered::Source;
use super::like::CellPair;
use super::source::AnalysisOptions;
use crate::model::StratumRatio;

/// Width of a step of frequency, as a ratio: windows of one step differ by at most this much, which
/// is less than any margin of use.
const STEP: f64 = 1.02;
/// Steps that a place may have: 1 MHz to far beyond any processor.
const STEPS: u32 = 1024;
/// Windows that each side needs in a step: a median of fewer is mostly chance.
const LEAST_WINDOWS: usize = 10;
/// Share of either side's windows that must be in common steps: a ratio of the few windows in which
/// two conditions happened to meet says little about them.
const LEAST_SHARE: f64 = 0.1;
/// The stratum of a window whose place or speed is unknown.
const UNKNOWN: u32 = u32::MAX;

/// What the stratum is called.
const NAME: &str = "equal delivered frequency";

/// Where and how fast the windows of a cell ran.
#[derive(Debug, Default)]
pub(super) struct Speeds {
    source: Option<Source>,
    /// Names of the places; empty where a place is a CPU's number.
    places: Vec<String>,
    /// Place and step of every window, by repeat.
    keys: Vec<Vec<u32>>,
}

/// The speeds of a cell: `place` gives a window's stratum, or its CPU where strata have no names.
pub(super) fn speeds<'a>(
    repeats: impl Iterator<Item = &'a [Sample]>,
    source: Option<Source>,
    places: &[String],
    place: impl Fn(&Sample) -> Option<u32>,
) -> Speeds {
    let key = |sample: &Sample| -> u32 {
        let found = place(sample).zip(sample.delivered).and_then(|(place, speed)| {
            let step = f64::from(speed).ln() / STEP.ln();
            let known = (0.0..f64::from(STEPS)).contains(&step);
            known.then(|| place.checked_mul(STEPS)?.checked_add(step as u32))?
        });
        found.unwrap_or(UNKNOWN)
    };
    let keys = repeats.map(|repeat| repeat.iter().map(key).collect()).collect();
    Speeds { source, places: places.to_vec(), keys }
}

/// The ratio at equal delivered frequency over these workloads; none where frequency was not
/// recorded, the sides met at too few windows, or all ran in one step (then there is nothing to
/// hold equal).
pub(super) fn ratio(pairs: &[CellPair<'_>], options: &AnalysisOptions) -> Option<StratumRatio> {
    if !pairs.iter().all(|(a, b)| comparable(a, b)) {
        return None;
    }
    let cells = || pairs.iter().flat_map(|(a, b)| [*a, *b]);
    let mut strata: Vec<u32> =
        cells().flat_map(|cell| cell.speeds.keys.iter().flatten()).copied().collect();
    strata.sort_unstable();
    strata.dedup();
    strata.retain(|key| *key != UNKNOWN);
    if strata.len() < 2 {
        return None;
    }
    let tagged: Option<Vec<TaggedCell>> = cells().map(|cell| tag(cell, &strata)).collect();
    let tagged = tagged?;
    let sides: Vec<(&TaggedCell, &TaggedCell)> =
        tagged.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect();
    let found = stats::common_ratio(
        &sides,
        strata.len(),
        LEAST_WINDOWS,
        draws(pairs),
        &options.bootstrap(),
    );
    let found = found.ok().flatten()?;
    let enough = found.left_out.iter().all(|left_out| 1.0 - left_out >= LEAST_SHARE);
    enough.then(|| StratumRatio {
        stratum: NAME.to_owned(),
        inferred: false,
        ratio: found.ratio,
        n_subject: found.windows[0] as u64,
        n_baseline: found.windows[1] as u64,
    })
}

/// Whether equal numbers mean equal speeds: the same kind of figure for the same kinds of places, and
/// percent of the best seen within one run only.
fn comparable(a: &CellData, b: &CellData) -> bool {
    let (one, other) = (&a.speeds, &b.speeds);
    one.source.is_some()
        && one.source == other.source
        && one.places == other.places
        && (one.source != Some(Source::Percent) || a.run == b.run)
}

fn tag(cell: &CellData, strata: &[u32]) -> Option<TaggedCell> {
    let beyond = u32::MAX;
    let index = |key: &u32| strata.binary_search(key).map_or(beyond, |at| at as u32);
    let tags = cell.speeds.keys.iter().map(|keys| keys.iter().map(index).collect()).collect();
    TaggedCell::new(cell.cell.clone(), tags).ok()
}
