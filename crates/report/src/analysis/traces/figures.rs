//! The figures of two sides, each with its change and the change's interval.

use std::collections::{BTreeMap, BTreeSet};

use flyball_stats::{self as stats, BootstrapOptions, Draws, Prepared, Statistic};

use super::units::{Unit, UnitKind, Units};
use crate::model::Estimate;
use crate::text;

/// Frequencies whose share is compared, per clock domain: those with most time.
const LEVELS: usize = 8;
/// Share of the time below which a frequency is not compared.
const SMALL: f64 = 0.01;
/// Tasks whose work items are compared.
const TASKS: usize = 6;

/// One figure; subject first.
#[derive(Debug)]
pub(super) struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub ratio: bool,
    pub values: [f64; 2],
    pub change: Estimate,
    pub resampled: [usize; 2],
}

/// Every figure that both sides have.
pub(super) fn all(
    sides: [&Units; 2],
    task: Option<&str>,
    options: &BootstrapOptions,
) -> Vec<Figure> {
    let mut out = Out { sides, options, figures: Vec::new() };
    for domain in out.common(|unit| unit.frequency.keys().cloned().collect()) {
        let mean = |unit: &Unit| mean_mhz(unit.frequency.get(&domain)?);
        out.ratio(&format!("mean frequency of {domain}"), "MHz", mean);
        for khz in out.levels(&domain) {
            let share = |unit: &Unit| {
                let levels = unit.frequency.get(&domain)?;
                let known: u64 = levels.values().sum();
                let at = levels.get(&khz).copied().unwrap_or_default();
                (known > 0).then(|| at as f64 / known as f64)
            };
            let mhz = text::number(khz as f64 / 1e3, 0);
            out.difference(&format!("{domain} at {mhz} MHz"), "", share);
        }
    }
    for (which, whose) in [(0, "all tasks"), (1, task.unwrap_or("the task"))] {
        let whose = text::plain(whose);
        for core in out.common(|unit| unit.cores[which].keys().cloned().collect()) {
            let share = |unit: &Unit| {
                let all: u64 = unit.cores[which].values().sum();
                let own = unit.cores[which].get(&core).copied().unwrap_or_default();
                (all > 0).then(|| own as f64 / all as f64)
            };
            out.difference(&format!("{whose} on {core}"), "", share);
        }
        let latencies = |unit: &Unit| unit.wakeups[which].clone();
        out.latency(&format!("wake-up latency of {whose}"), latencies);
    }
    for task in out.common(|unit| unit.items.keys().cloned().collect()).into_iter().take(TASKS) {
        let latencies = |unit: &Unit| unit.items.get(&task).cloned().unwrap_or_default();
        out.latency(&format!("item latency of {}", text::plain(&task)), latencies);
    }
    let ran = |unit: &Unit| !unit.cores[0].is_empty();
    if sides.iter().all(|side| side.units.iter().any(ran)) {
        let rate = |unit: &Unit| {
            (unit.length_ns > 0).then(|| unit.migrations as f64 * 1e9 / unit.length_ns as f64)
        };
        out.difference("migrations", "/s", rate);
    }
    out.figures
}

fn mean_mhz(levels: &BTreeMap<u64, u64>) -> Option<f64> {
    let known: u64 = levels.values().sum();
    let sum: f64 = levels.iter().map(|(&khz, &ns)| khz as f64 * ns as f64).sum();
    (known > 0 && sum > 0.0).then(|| sum / known as f64 / 1e3)
}

struct Out<'a> {
    sides: [&'a Units; 2],
    options: &'a BootstrapOptions,
    figures: Vec<Figure>,
}

impl Out<'_> {
    /// Names that some unit of both sides has; of either side where a share can be zero.
    fn common(&self, names: impl Fn(&Unit) -> BTreeSet<String>) -> Vec<String> {
        let of =
            |side: &Units| -> BTreeSet<String> { side.units.iter().flat_map(&names).collect() };
        let [a, b] = self.sides.map(of);
        // A kind of core that one side never used is a share of zero there, if it ran at all.
        match a.is_empty() || b.is_empty() {
            true => Vec::new(),
            false => a.union(&b).cloned().collect(),
        }
    }

    /// The frequencies of a domain with most time on either side, ascending.
    fn levels(&self, domain: &str) -> Vec<u64> {
        let mut shares = BTreeMap::<u64, f64>::new();
        for side in self.sides {
            let levels =
                || side.units.iter().filter_map(|unit| unit.frequency.get(domain)).flatten();
            let known: u64 = levels().map(|(_, ns)| ns).sum();
            for (&khz, &ns) in levels() {
                *shares.entry(khz).or_default() += ns as f64 / known.max(1) as f64;
            }
        }
        let mut found: Vec<(u64, f64)> =
            shares.into_iter().filter(|(_, share)| *share >= SMALL).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut levels: Vec<u64> = found.into_iter().take(LEVELS).map(|(khz, _)| khz).collect();
        levels.sort_unstable();
        // One frequency alone says nothing that the mean does not.
        if levels.len() < 2 { Vec::new() } else { levels }
    }

    /// One value above zero per unit, compared as a ratio.
    fn ratio(&mut self, name: &str, unit: &'static str, of: impl Fn(&Unit) -> Option<f64>) {
        let values = self.values(&of);
        let cell = |values: &[f64]| {
            stats::Cell::new(values.iter().map(|&value| vec![value]).collect()).ok()
        };
        let [Some(a), Some(b)] = [cell(&values[0]), cell(&values[1])] else { return };
        self.push_ratio(name, unit, [a, b], Statistic::Mean, 1.0);
    }

    /// One value per unit that may be zero, compared by subtraction.
    fn difference(&mut self, name: &str, unit: &'static str, of: impl Fn(&Unit) -> Option<f64>) {
        let values = self.values(&of);
        let Ok(found) = stats::difference(&values[0], &values[1], self.options) else { return };
        self.figures.push(Figure {
            name: name.to_owned(),
            unit,
            ratio: false,
            values: [0, 1].map(|side| stats::mean(&values[side])),
            change: found.estimate,
            resampled: [values[0].len(), values[1].len()],
        });
    }

    /// Median and 99th percentile of latencies, in whole units.
    fn latency(&mut self, name: &str, of: impl Fn(&Unit) -> Vec<f64>) {
        let cells = self.sides.map(|side| {
            let units: Vec<Vec<f64>> =
                side.units.iter().map(&of).filter(|u| !u.is_empty()).collect();
            let middle = |unit: &Vec<f64>| stats::median_in_place(&mut unit.clone()).ln();
            let repeats = match side.kind {
                UnitKind::Recording | UnitKind::Repetition => units,
                UnitKind::Block => joined(units, middle, |mut a, b| {
                    a.extend(b);
                    a
                }),
            };
            stats::Cell::new(repeats).ok()
        });
        let [Some(a), Some(b)] = cells else { return };
        for (word, statistic) in [("median", Statistic::Median), ("p99", Statistic::Quantile(0.99))]
        {
            // With fewer than 100 on a side the percentile is the largest one.
            if word == "p99" && a.windows().min(b.windows()) < 100 {
                continue;
            }
            let cells = [a.clone(), b.clone()];
            self.push_ratio(&format!("{name} {word}"), "us", cells, statistic, 1e-3);
        }
    }

    fn push_ratio(
        &mut self,
        name: &str,
        unit: &'static str,
        cells: [stats::Cell; 2],
        statistic: Statistic,
        scale: f64,
    ) {
        let [a, b] = cells.each_ref().map(Prepared::new);
        let Ok(found) = stats::ratio(&a, &b, statistic, Draws::Independent, self.options) else {
            return;
        };
        let value = |cell: &Prepared| match statistic {
            Statistic::Mean => stats::mean(cell.sorted()) * scale,
            Statistic::Median => stats::median(cell.sorted()) * scale,
            Statistic::Quantile(p) => stats::quantile(cell.sorted(), p) * scale,
        };
        self.figures.push(Figure {
            name: name.to_owned(),
            unit,
            ratio: true,
            values: [value(&a), value(&b)],
            change: found.estimate,
            resampled: [a.repeats(), b.repeats()],
        });
    }

    /// The units' values; of blocks of time neighbours are joined until they are no longer alike.
    fn values(&self, of: &impl Fn(&Unit) -> Option<f64>) -> [Vec<f64>; 2] {
        self.sides.map(|side| {
            let values: Vec<f64> = side.units.iter().filter_map(of).collect();
            match side.kind {
                UnitKind::Recording | UnitKind::Repetition => values,
                UnitKind::Block => joined(values, |value| *value, |a, b| (a + b) / 2.0),
            }
        })
    }
}

/// Fewest blocks that are left by joining.
const FEWEST: usize = 6;

/// Blocks of time that resemble their neighbours are not independent: pairs are joined until the
/// correlation of neighbours is within what chance gives (2 / sqrt(n)), or 6 to 11 are left.
fn joined<T>(
    mut blocks: Vec<T>,
    value: impl Fn(&T) -> f64,
    mut join: impl FnMut(T, T) -> T,
) -> Vec<T> {
    while blocks.len() >= 2 * FEWEST {
        let series: Vec<f64> = blocks.iter().map(&value).collect();
        let alike = stats::autocorrelation(&series, 1).get(1).copied().unwrap_or(0.0);
        if alike <= 2.0 / (series.len() as f64).sqrt() {
            break;
        }
        let mut pairs = Vec::with_capacity(blocks.len() / 2);
        let mut rest = blocks.into_iter();
        while let Some(first) = rest.next() {
            match (rest.next(), pairs.pop()) {
                (Some(second), last) => {
                    pairs.extend(last);
                    pairs.push(join(first, second));
                }
                // An odd one goes to the last pair.
                (None, Some(last)) => pairs.push(join(last, first)),
                (None, None) => pairs.push(first),
            }
        }
        blocks = pairs;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_resemble_each_other_are_joined() {
        let add = |a: f64, b: f64| (a + b) / 2.0;
        let slow: Vec<f64> = (0..24).map(|i| f64::from(i / 6)).collect();
        assert_eq!(joined(slow, |v| *v, add).len(), 6);
        let quick: Vec<f64> = (0..24).map(|i| f64::from(i * 7 % 5)).collect();
        assert_eq!(joined(quick, |v| *v, add).len(), 24);
        let odd: Vec<f64> = (0..13).map(f64::from).collect();
        assert_eq!(joined(odd, |v| *v, add).len(), 6);
    }
}
