//! One latency of one cell in numbers.

use flyball_stats::{self as stats, BootstrapOptions, Prepared, Statistic, Summary};

use super::histogram::histogram;
use crate::model::{Distribution, Estimate, Histogram};

/// Name of the percentile estimator that `stats` uses throughout.
const ESTIMATOR: &str = "Hyndman-Fan 7";

/// Distribution with intervals from the repeats.
pub(super) fn with_intervals(prepared: &Prepared, options: &BootstrapOptions) -> Distribution {
    let mut distribution = without_intervals(prepared.sorted());
    let interval = |statistic, value| {
        stats::estimate(prepared, statistic, options)
            .map_or(Estimate::bare(value), |found| found.estimate)
    };
    distribution.median_us = interval(Statistic::Median, distribution.median_us.value);
    distribution.p99_us = interval(Statistic::Quantile(0.99), distribution.p99_us.value);
    distribution
}

/// Distribution of an ascending sample without intervals; all zero for an empty one.
pub(super) fn without_intervals(sorted: &[f64]) -> Distribution {
    match Summary::of_sorted(sorted) {
        Ok(summary) => from_summary(&summary, histogram(sorted)),
        Err(_) => empty(),
    }
}

fn from_summary(summary: &Summary, histogram: Histogram) -> Distribution {
    Distribution {
        n: summary.n as u64,
        median_us: Estimate::bare(summary.median),
        mean_us: summary.mean,
        sd_us: summary.sd.unwrap_or(0.0),
        min_us: summary.min,
        p1_us: summary.p01,
        p5_us: summary.p05,
        p25_us: summary.p25,
        p75_us: summary.p75,
        p95_us: summary.p95,
        p99_us: Estimate::bare(summary.p99),
        p999_us: (summary.n >= 1000).then_some(summary.p999),
        max_us: summary.max,
        estimator: ESTIMATOR.to_owned(),
        histogram,
    }
}

fn empty() -> Distribution {
    Distribution {
        n: 0,
        median_us: Estimate::bare(0.0),
        mean_us: 0.0,
        sd_us: 0.0,
        min_us: 0.0,
        p1_us: 0.0,
        p5_us: 0.0,
        p25_us: 0.0,
        p75_us: 0.0,
        p95_us: 0.0,
        p99_us: Estimate::bare(0.0),
        p999_us: None,
        max_us: 0.0,
        estimator: ESTIMATOR.to_owned(),
        histogram: Histogram::default(),
    }
}
