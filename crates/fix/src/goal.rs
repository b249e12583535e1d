//! What is to be reached: `p99<2ms`.

use flyball_stats::{Estimate, Statistic};
use flyball_units::goal::{self, Metric};
use flyball_units::{Mismatch, Nanos};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A statistic of the windows that has to stay below a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Of what.
    pub metric: Metric,
    /// The quantile, above 0 and below 1.
    pub quantile: f64,
    /// The time that it has to stay below.
    pub limit: Nanos,
}

/// How an estimate stands to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The whole interval lies below the limit.
    Met,
    /// The whole interval lies at or above it.
    Missed,
    /// The limit lies inside the interval: more windows would be needed.
    Open,
}

impl Goal {
    /// The statistic.
    pub fn statistic(&self) -> Statistic {
        Statistic::Quantile(self.quantile)
    }

    /// Where `estimate`, in nanoseconds, stands.
    pub fn judge(&self, estimate: &Estimate) -> Standing {
        let limit = self.limit.0 as f64;
        let met = estimate.high.is_some_and(|high| high < limit);
        match (met, estimate.low.is_some_and(|low| low >= limit)) {
            (true, _) => Standing::Met,
            (_, true) => Standing::Missed,
            _ => Standing::Open,
        }
    }

    /// Windows that a condition needs: ten beyond the quantile, and enough for any.
    pub fn windows(&self) -> u64 {
        let beyond = 1.0 - self.quantile;
        ((10.0 / beyond).ceil() as u64).max(200)
    }
}

impl FromStr for Goal {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Goal, Mismatch> {
        match text.parse()? {
            goal::Goal::Time { metric, statistic: goal::Statistic::Percentile(percent), bound } => {
                let quantile = percent / 100.0;
                Ok(Goal { metric: metric.unwrap_or_default(), quantile, limit: bound })
            }
            goal::Goal::Time { statistic: goal::Statistic::Max, .. } => {
                let hint = "a maximum has no interval, and grows with the time that you wait";
                Err(Mismatch::text("a quantile such as p99.9", text).hint(hint))
            }
            goal::Goal::Time { .. } | goal::Goal::Late(_) => {
                Err(Mismatch::text("a quantile of a time, such as p99<2ms", text))
            }
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.quantile * 100.0 * 1e6).round() / 1e6;
        write!(f, "{} p{percent} < {}", self.metric.name(), Milliseconds(self.limit.0 as f64))
    }
}

impl Serialize for Goal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Nanoseconds as a person reads them: milliseconds, three digits.
#[derive(Clone, Copy, Debug)]
pub struct Milliseconds(pub f64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ms", self.0 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read() {
        let goal: Goal = "p99<2ms".parse().unwrap();
        assert_eq!((goal.metric, goal.limit), (Metric::Response, Nanos::from_millis(2)));
        assert!((goal.quantile - 0.99).abs() < 1e-12);
        assert_eq!(goal.to_string(), "response p99 < 2.000 ms");
        assert_eq!(goal.windows(), 1_000);
        let goal: Goal = "lateness p99.9 < 150us".parse().unwrap();
        assert_eq!(goal.to_string(), "lateness p99.9 < 0.150 ms");
        assert_eq!("execution median<1ms".parse::<Goal>().unwrap().windows(), 200);
        for wrong in ["", "p99", "p99>2ms", "p100<2ms", "p0<1ms", "q99<2ms", "p99<2", "p99<0ms"] {
            assert!(wrong.parse::<Goal>().is_err(), "{wrong}");
        }
        assert!("a b p99<2ms".parse::<Goal>().is_err());
        assert!("max<2ms".parse::<Goal>().unwrap_err().line().contains("no interval"));
    }

    #[test]
    fn an_interval_around_the_limit_decides_nothing() {
        let goal: Goal = "p99<2ms".parse().unwrap();
        let estimate = |low: f64, high: f64| Estimate::between((low + high) / 2.0, low, high);
        assert_eq!(goal.judge(&estimate(1.0e6, 1.9e6)), Standing::Met);
        assert_eq!(goal.judge(&estimate(2.0e6, 3.0e6)), Standing::Missed);
        assert_eq!(goal.judge(&estimate(1.0e6, 2.0e6)), Standing::Open);
    }
}
