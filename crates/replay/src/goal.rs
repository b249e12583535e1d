//! What a search is to reach: `p99<5ms`.

use crate::outcome::Outcome;
use flyball_units::{Mismatch, goal};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The least energy lies close to the bound, where another stretch of the same load is above it: a
/// search aims this share below.
pub const MARGIN: f64 = 0.1;

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Median latency.
    P50,
    /// 90th percentile of the latency.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Longest latency.
    Max,
    /// Mean latency.
    Mean,
    /// Share of items that are late.
    Late,
}

/// A bound on a latency, in nanoseconds, or on the share of late items, in percent; under it, the
/// least energy is best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// What is bounded.
    pub measure: Measure,
    /// The bound, which is not to be reached.
    pub bound: f64,
}

impl Goal {
    /// What is bounded, in the bound's unit; infinite where so many items were not done that their
    /// latency would decide.
    pub fn of(&self, outcome: &Outcome) -> f64 {
        let latency = &outcome.latency;
        let left = outcome.left as f64 / (outcome.done + outcome.left).max(1) as f64;
        let tail = match self.measure {
            Measure::P50 => 0.5,
            Measure::P90 => 0.1,
            Measure::P99 | Measure::Mean | Measure::Late => 0.01,
            Measure::P999 | Measure::Max => 0.001,
        };
        if left > tail || outcome.done == 0 {
            return f64::INFINITY;
        }
        match self.measure {
            Measure::P50 => latency.p50_ns as f64,
            Measure::P90 => latency.p90_ns as f64,
            Measure::P99 => latency.p99_ns as f64,
            Measure::P999 => latency.p999_ns as f64,
            Measure::Max => latency.max_ns as f64,
            Measure::Mean => latency.mean_ns,
            Measure::Late => outcome.late_percent.unwrap_or(0.0),
        }
    }

    /// Whether it is met.
    pub fn is_met(&self, outcome: &Outcome) -> bool {
        self.of(outcome) < self.bound
    }

    /// The smaller the better: what stays [`MARGIN`] below the bound by its energy, in front of all that
    /// does not, by how far it is away.
    pub fn rank(&self, outcome: &Outcome) -> Rank {
        let missed = self.of(outcome) / (self.bound * (1.0 - MARGIN));
        Rank { missed: if missed < 1.0 { 0.0 } else { missed }, energy_mj: outcome.energy_mj }
    }
}

/// How good an outcome is; see [`Goal::rank`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Rank {
    /// How many times what is aimed at; 0 where that is met.
    pub missed: f64,
    /// Energy.
    pub energy_mj: f64,
}

impl FromStr for Goal {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Goal, Mismatch> {
        let (metric, statistic, bound) = match text.parse()? {
            goal::Goal::Late(bound) => return Ok(Goal { measure: Measure::Late, bound }),
            goal::Goal::Time { metric, statistic, bound } => (metric, statistic, bound.0 as f64),
        };
        if !matches!(metric, None | Some(goal::Metric::Response)) {
            return Err(Mismatch::text("a latency of items (response), such as p99<5ms", text));
        }
        let measure = match statistic {
            goal::Statistic::Percentile(50.0) => Measure::P50,
            goal::Statistic::Percentile(90.0) => Measure::P90,
            goal::Statistic::Percentile(99.0) => Measure::P99,
            goal::Statistic::Percentile(99.9) => Measure::P999,
            goal::Statistic::Max => Measure::Max,
            goal::Statistic::Mean => Measure::Mean,
            goal::Statistic::Percentile(_) => {
                return Err(Mismatch::text("median, p90, p99, p99.9, max, mean or late", text));
            }
        };
        Ok(Goal { measure, bound })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.measure {
            Measure::P50 => "p50",
            Measure::P90 => "p90",
            Measure::P99 => "p99",
            Measure::P999 => "p99.9",
            Measure::Max => "max",
            Measure::Mean => "mean",
            Measure::Late => return write!(f, "late < {} %", self.bound),
        };
        write!(f, "{name} < {} ms", self.bound / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read() {
        let goal: Goal = "p99<5ms".parse().unwrap();
        assert_eq!(goal, Goal { measure: Measure::P99, bound: 5e6 });
        assert_eq!(goal.to_string(), "p99 < 5 ms");
        let tail: Goal = "p99.9<5ms".parse().unwrap();
        assert_eq!((tail.measure, tail), (Measure::P999, "p999 < 5ms".parse().unwrap()));
        let late: Goal = "late < 1.5%".parse().unwrap();
        assert_eq!((late.bound, late.to_string().as_str()), (1.5, "late < 1.5 %"));
        for wrong in ["", "p99", "p98<5ms", "p99<5", "p99<0ms", "late<5ms", "p99<x"] {
            assert!(wrong.parse::<Goal>().is_err(), "{wrong}");
        }
    }
}
