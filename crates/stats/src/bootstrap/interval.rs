//! From replicates to an interval that holds what it promises with few repeats.

use super::BootstrapOptions;
use super::plan::ENOUGH_REPEATS;
use crate::quantile::quantile;
use crate::summary::mean;
use crate::{Estimate, Resampled};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// One independently resampled part of an estimate: a cell.
pub(super) struct Part {
    /// Logarithm of its contribution, per replicate.
    pub logs: Vec<f64>,
    /// Independent units: repeats, or the blocks of a single repeat.
    pub units: usize,
    /// Repeats.
    pub repeats: usize,
    /// What was resampled.
    pub scheme: String,
}

/// The interval of exp(sum of the parts' logarithms).
///
/// The plain percentile interval is too narrow with few repeats for two reasons: the bootstrap's
/// variance lacks the factor n / (n - 1), and it uses normal where Student quantiles belong. So
/// the tails are widened as Hesterberg's expanded percentile interval does ("What Teachers Should
/// Know About the Bootstrap", The American Statistician 69(4), 2015): tail = Phi(-t sqrt(n / (n -
/// 1))). Below 5 repeats a percentile can't leave the range of the repeats seen, so there the
/// interval is Student's t with the bootstrap standard error on the logarithm. Over several cells
/// the degrees of freedom are Welch and Satterthwaite's.
pub(super) fn interval(value: f64, parts: &[Part], options: &BootstrapOptions) -> Resampled {
    let fewest = parts.iter().map(|part| part.repeats).min().unwrap_or(0);
    let count = options.replicates as usize;
    let mut logs: Vec<f64> =
        (0..count).map(|i| parts.iter().map(|part| part.logs[i]).sum::<f64>()).collect();
    logs.retain(|log| log.is_finite());
    logs.sort_unstable_by(f64::total_cmp);
    let spread = Spread::new(parts);
    let tail = (1.0 - options.level) / 2.0;
    let t = spread.student(1.0 - tail);
    let (low, high, how) = if fewest < ENOUGH_REPEATS {
        let half = t * spread.standard_error;
        let log = value.ln();
        ((log - half).exp(), (log + half).exp(), "Student's t with the bootstrap standard error")
    } else {
        let widened = normal_cdf(-t * spread.inflation);
        let at = |p| quantile(&logs, p).exp();
        (at(widened), at(1.0 - widened), "expanded percentile interval")
    };
    // A single unit, or nothing resampled: the interval is unknown, not narrow.
    let known = parts.iter().all(|part| part.units > 1) && !logs.is_empty();
    let estimate = match known {
        // JSON has no infinity.
        true => Estimate::between(value, low.min(value), high.max(value).min(f64::MAX)),
        false => Estimate::bare(value),
    };
    Resampled {
        estimate,
        level: options.level,
        replicates: logs.len() as u32,
        method: format!("bootstrap over {}; {how}", schemes(parts)),
        reliable: known && fewest >= ENOUGH_REPEATS,
    }
}

/// The distinct schemes of the parts, in order of appearance.
fn schemes(parts: &[Part]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for part in parts {
        if !seen.contains(&part.scheme.as_str()) {
            seen.push(&part.scheme);
        }
    }
    const SHOWN: usize = 2;
    match seen.len() {
        0..=SHOWN => seen.join(" and "),
        more => format!("{} and {} other schemes", seen[..SHOWN].join(", "), more - SHOWN),
    }
}

/// Variances of the parts, combined.
struct Spread {
    /// Standard error of the logarithm, with n - 1 in place of n.
    standard_error: f64,
    /// sqrt(n / (n - 1)), averaged over the parts by their variance.
    inflation: f64,
    /// Welch and Satterthwaite's degrees of freedom.
    freedom: f64,
}

impl Spread {
    fn new(parts: &[Part]) -> Spread {
        let (mut plain, mut inflated, mut squares, mut freedom) = (0.0, 0.0, 0.0, 0.0);
        for part in parts {
            let units = part.units.max(2) as f64;
            let logs: Vec<f64> = part.logs.iter().copied().filter(|l| l.is_finite()).collect();
            let centre = mean(&logs);
            let variance =
                logs.iter().map(|l| (l - centre).powi(2)).sum::<f64>() / logs.len().max(1) as f64;
            let corrected = variance * units / (units - 1.0);
            plain += variance;
            inflated += corrected;
            squares += corrected * corrected / (units - 1.0);
            freedom += units - 1.0;
        }
        let varies = plain > 0.0 && squares > 0.0;
        Spread {
            standard_error: inflated.sqrt(),
            inflation: if varies { (inflated / plain).sqrt() } else { 1.0 },
            freedom: if varies { inflated * inflated / squares } else { freedom.max(1.0) },
        }
    }

    fn student(&self, p: f64) -> f64 {
        StudentsT::new(0.0, 1.0, self.freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
    }
}

fn normal_cdf(z: f64) -> f64 {
    Normal::new(0.0, 1.0).map_or(0.0, |normal| normal.cdf(z))
}
