//! Claimed and delivered frequency per condition and clock domain.

use std::collections::BTreeMap;

use super::source::Context;
use crate::model::{FrequencySummary, LevelShare};

/// At most this many levels are listed; a domain with more has no levels worth the name.
const MAX_LEVELS: usize = 32;

/// What is known of one domain under one condition.
#[derive(Debug, Default)]
struct Tally {
    n: u64,
    claimed: u64,
    claimed_sum_khz: f64,
    levels: BTreeMap<u64, u64>,
    delivered: u64,
    delivered_sum_khz: f64,
    governors: BTreeMap<String, u64>,
    sources: BTreeMap<String, u64>,
}

/// One summary per condition and domain, in the order of first appearance.
pub(super) fn summarise(context: &Context<'_>) -> Vec<FrequencySummary> {
    let table = &context.run.tables.frequency;
    let mut index: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    let mut tallies: Vec<((Option<&str>, &str), Tally)> = Vec::new();
    for (row, domain) in table.domain.iter().enumerate() {
        let key = (table.condition.get(row), domain);
        let at = *index.entry(key).or_insert_with(|| {
            tallies.push((key, Tally::default()));
            tallies.len() - 1
        });
        let Some((_, tally)) = tallies.get_mut(at) else { continue };
        tally.n += 1;
        if let Some(khz) = table.claimed_khz.get(row) {
            tally.claimed += 1;
            tally.claimed_sum_khz += khz as f64;
            *tally.levels.entry(khz).or_default() += 1;
        }
        if let Some(khz) = table.delivered_khz.get(row) {
            tally.delivered += 1;
            tally.delivered_sum_khz += khz as f64;
        }
        count_name(&mut tally.governors, table.governor.get(row));
        count_name(&mut tally.sources, table.source.get(row));
    }
    tallies
        .into_iter()
        .map(|((condition, domain), tally)| {
            let levels = levels(&tally.levels, tally.claimed);
            let most_claimed = levels.iter().max_by(|a, b| a.share.total_cmp(&b.share)).cloned();
            FrequencySummary {
                run: context.name.clone(),
                condition: condition.map(str::to_owned),
                domain: domain.to_owned(),
                n: tally.n,
                claimed_mean_mhz: mean_mhz(tally.claimed_sum_khz, tally.claimed),
                levels,
                most_claimed,
                delivered_mean_mhz: mean_mhz(tally.delivered_sum_khz, tally.delivered),
                governor: most_frequent(tally.governors),
                source: most_frequent(tally.sources).unwrap_or_default(),
            }
        })
        .collect()
}

fn count_name(names: &mut BTreeMap<String, u64>, name: Option<&str>) {
    let Some(name) = name else { return };
    match names.get_mut(name) {
        Some(n) => *n += 1,
        None => {
            names.insert(name.to_owned(), 1);
        }
    }
}

fn mean_mhz(sum_khz: f64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum_khz / n as f64 / 1e3)
}

/// The most frequent levels, ascending.
fn levels(counts: &BTreeMap<u64, u64>, n: u64) -> Vec<LevelShare> {
    let mut by_count: Vec<(&u64, &u64)> = counts.iter().collect();
    by_count.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    by_count.truncate(MAX_LEVELS);
    by_count.sort();
    by_count
        .into_iter()
        .map(|(&khz, &count)| LevelShare { mhz: khz as f64 / 1e3, share: count as f64 / n as f64 })
        .collect()
}

fn most_frequent(names: BTreeMap<String, u64>) -> Option<String> {
    names.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::source::{AnalysisOptions, RunData, contexts};
    use flyball_run::FrequencySample;

    #[test]
    fn means_and_shares_per_domain() {
        let mut run = RunData::default();
        for khz in [600_000, 600_000, 600_000, 1_200_000] {
            run.tables.frequency.push(FrequencySample {
                domain: "policy0".into(),
                claimed_khz: Some(khz),
                governor: Some("schedutil".into()),
                ..FrequencySample::default()
            });
        }
        let (runs, options) = ([run], AnalysisOptions::default());
        let found = summarise(&contexts(&runs, &options)[0]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].claimed_mean_mhz, Some(750.0));
        assert_eq!(found[0].delivered_mean_mhz, None);
        assert_eq!(found[0].governor.as_deref(), Some("schedutil"));
        let shares: Vec<_> = found[0].levels.iter().map(|level| (level.mhz, level.share)).collect();
        assert_eq!(shares, [(600.0, 0.75), (1200.0, 0.25)]);
    }
}
