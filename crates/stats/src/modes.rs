//! How many modes a cell has, where, and which share of the windows each holds.

mod dip;
mod dip_table;
mod spread;

pub use dip::{dip, dip_p_value};

use crate::StatsError;
use crate::cell::check_positive;
use crate::density::{Density, Valley};
use crate::quantile::median;
use serde::{Deserialize, Serialize};
use spread::spread_ties;

/// What counts as a mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeOptions {
    /// Level of the dip test.
    pub alpha: f64,
    /// A mode holds at least this share of the windows: a noise tail of 1 % is not a mode.
    pub min_share: f64,
    /// Medians of neighbouring modes differ at least by this factor minus 1.
    pub min_separation: f64,
    /// Between two modes the density falls to at most this fraction of the lower peak.
    pub max_valley: f64,
}

impl Default for ModeOptions {
    fn default() -> Self {
        ModeOptions { alpha: 0.01, min_share: 0.02, min_separation: 0.1, max_valley: 0.7 }
    }
}

/// The modes of a sample, ascending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// Name and citation of the test.
    pub test: String,
    /// Hartigan's dip of the whole sample.
    pub statistic: f64,
    /// Its p-value against unimodality.
    pub p_value: f64,
    /// At least one.
    pub modes: Vec<Mode>,
    /// Boundaries between neighbouring modes, ascending; one fewer than the modes.
    pub cuts: Vec<f64>,
    /// Density at each boundary over that of the lower of its two peaks, 0 to 1.
    pub valleys: Vec<f64>,
}

/// One mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Median of its windows.
    pub median: f64,
    /// Smallest of its windows.
    pub low: f64,
    /// Largest of its windows.
    pub high: f64,
    /// Its share of the windows, 0 to 1.
    pub share: f64,
    /// Its windows.
    pub count: usize,
}

/// Name and source of the test, as printed.
const TEST: &str = "Hartigan's dip (1985), applied recursively (Maurus and Plant 2016), on log \
                    latency";

impl Modes {
    /// Whether there is more than one.
    pub fn is_mixture(&self) -> bool {
        self.modes.len() > 1
    }

    /// The index of the mode to which a value belongs.
    pub fn assign(&self, value: f64) -> usize {
        self.cuts.partition_point(|&cut| cut <= value)
    }

    /// The same sample with at most `count` modes (at least one): neighbours are joined, those
    /// with the shallowest valley between them first. `sorted` is the sample that was given to
    /// [`find_modes`].
    pub fn coarsen(&self, sorted: &[f64], count: usize) -> Modes {
        let mut cuts: Vec<(f64, f64)> =
            self.cuts.iter().copied().zip(self.valleys.iter().copied()).collect();
        while cuts.len() + 1 > count.max(1) {
            remove_shallowest(&mut cuts);
        }
        describe(sorted, &cuts, self.statistic, self.p_value)
    }
}

/// Finds the modes of an ascending sample of positive values.
///
/// 1. Ties are spread over the clock's step, and the logarithm taken.
/// 2. The whole sample is tested with the dip test at `alpha`. Where it rejects, the sample is cut
///    at the most prominent valley of its density that leaves `min_share` of all windows on both
///    sides and falls to `max_valley` of the lower peak; both parts are treated alike.
/// 3. Neighbours whose medians are closer than `min_separation` are joined.
///
/// A sample from any unimodal distribution is therefore found to be a mixture in at most `alpha`
/// of all cases: the first test is the gate to all others. The density is smoothed by a quarter of
/// `min_separation`, since nothing closer is told apart.
///
/// # Errors
/// An empty sample, a value without a logarithm, or options outside their range.
pub fn find_modes(sorted: &[f64], options: &ModeOptions) -> Result<Modes, StatsError> {
    options.check()?;
    if sorted.is_empty() {
        return Err(StatsError::TooFew { what: "modes", expected: 1, found: 0 });
    }
    for (index, &value) in sorted.iter().enumerate() {
        check_positive("modes", index, value)?;
    }
    let logs: Vec<f64> = spread_ties(sorted).iter().map(|value| value.ln()).collect();
    let statistic = dip(&logs);
    let p_value = dip_p_value(statistic, logs.len());
    let mut cuts = Vec::new();
    if p_value <= options.alpha {
        let separation = options.min_separation.ln_1p();
        let density = Density::new(&logs, separation / SMOOTHING);
        let search = Search { density, options, total: logs.len() };
        search.split(&logs, &mut cuts);
        cuts.sort_unstable_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
        join_close(&logs, &mut cuts, separation);
    }
    let cuts: Vec<(f64, f64)> = cuts.into_iter().map(|(at, valley)| (at.exp(), valley)).collect();
    Ok(describe(sorted, &cuts, statistic, p_value))
}

/// Standard deviations of the density's kernel within the least separation of two modes.
const SMOOTHING: f64 = 4.0;

impl ModeOptions {
    fn check(&self) -> Result<(), StatsError> {
        let unit = |name, found: f64| {
            let expected = "above 0 and below 1";
            if found > 0.0 && found < 1.0 {
                Ok(())
            } else {
                Err(StatsError::OutOfRange { name, expected, found })
            }
        };
        unit("alpha", self.alpha)?;
        unit("min_share", self.min_share)?;
        unit("max_valley", self.max_valley)?;
        if self.min_separation >= 0.001 && self.min_separation <= 100.0 {
            return Ok(());
        }
        let (name, found) = ("min_separation", self.min_separation);
        Err(StatsError::OutOfRange { name, expected: "0.001 to 100", found })
    }
}

/// The recursion and what it needs to know.
struct Search<'a> {
    density: Density,
    options: &'a ModeOptions,
    total: usize,
}

impl Search<'_> {
    /// Cuts a part where its dip is significant; the caller has tested the whole.
    fn split(&self, logs: &[f64], cuts: &mut Vec<(f64, f64)>) {
        let Some((cut, valley)) = self.best_cut(logs) else { return };
        let at = logs.partition_point(|&log| log <= cut);
        cuts.push((cut, valley));
        for part in [&logs[..at], &logs[at..]] {
            if dip_p_value(dip(part), part.len()) <= self.options.alpha {
                self.split(part, cuts);
            }
        }
    }

    /// The most prominent valley that leaves enough on both sides, and its depth.
    fn best_cut(&self, logs: &[f64]) -> Option<(f64, f64)> {
        let (first, last) = (*logs.first()?, *logs.last()?);
        let least = (self.options.min_share * self.total as f64).ceil() as usize;
        let mut best: Option<Valley> = None;
        for valley in self.density.valleys(first, last) {
            let left = logs.partition_point(|&log| log <= valley.at);
            let enough = left >= least && logs.len() - left >= least;
            let better = best.is_none_or(|b| valley.prominence > b.prominence);
            if enough && better && valley.depth <= self.options.max_valley {
                best = Some(valley);
            }
        }
        best.map(|valley| (valley.at, valley.depth))
    }
}

/// Joins neighbours whose medians are closer than `separation`, the closest first.
fn join_close(logs: &[f64], cuts: &mut Vec<(f64, f64)>, separation: f64) {
    loop {
        let medians: Vec<f64> = parts(logs, cuts).map(median).collect();
        let closest = medians.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
        match closest.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((index, distance)) if distance < separation => cuts.remove(index),
            _ => return,
        };
    }
}

fn remove_shallowest(cuts: &mut Vec<(f64, f64)>) {
    let shallowest = cuts.iter().enumerate().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
    if let Some((index, _)) = shallowest {
        cuts.remove(index);
    }
}

/// The parts of an ascending sample between the cuts; a value at a cut belongs to its right.
fn parts<'a>(sorted: &'a [f64], cuts: &'a [(f64, f64)]) -> impl Iterator<Item = &'a [f64]> {
    let ends = cuts.iter().map(|&(cut, _)| sorted.partition_point(|&value| value < cut));
    let mut start = 0;
    ends.chain(std::iter::once(sorted.len())).map(move |end| {
        let part = &sorted[start..end];
        start = end;
        part
    })
}

/// The result for given cuts (each with the depth of its valley).
fn describe(sorted: &[f64], cuts: &[(f64, f64)], statistic: f64, p_value: f64) -> Modes {
    // A part can be empty only where another sample is handed to `coarsen`.
    let modes = parts(sorted, cuts).map(|part| Mode {
        median: median(part),
        low: part.first().copied().unwrap_or(f64::NAN),
        high: part.last().copied().unwrap_or(f64::NAN),
        share: part.len() as f64 / sorted.len() as f64,
        count: part.len(),
    });
    Modes {
        test: TEST.to_owned(),
        statistic,
        p_value,
        modes: modes.collect(),
        cuts: cuts.iter().map(|&(cut, _)| cut).collect(),
        valleys: cuts.iter().map(|&(_, valley)| valley).collect(),
    }
}

#[cfg(test)]
mod tests;
