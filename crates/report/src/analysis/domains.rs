//! Clock domains that stood still under a condition: what modes may be recognised by.

use crate::model::FrequencySummary;

/// A domain counts as fixed where one level holds at least this share of the samples.
const FIXED_SHARE: f64 = 0.99;

/// A clock domain that claimed one frequency throughout a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FixedDomain {
    pub domain: String,
    pub mhz: f64,
}

/// The fixed domains of a condition of a run.
pub(super) fn fixed(
    frequencies: &[FrequencySummary],
    run: &str,
    condition: &str,
) -> Vec<FixedDomain> {
    frequencies
        .iter()
        .filter(|entry| entry.run == run && entry.condition.as_deref() == Some(condition))
        .filter_map(|entry| {
            let level = entry.levels.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
            (level.share >= FIXED_SHARE)
                .then(|| FixedDomain { domain: entry.domain.clone(), mhz: level.mhz })
        })
        .collect()
}
