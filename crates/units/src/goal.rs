//! What is to be reached: `p99<2ms`, `lateness p99.9 < 150us`, `late<1%`.

use crate::{Mismatch, Nanos};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// What a goal looks like.
const SUCH: &str = "[response|execution|lateness] median, pNN, mean or max, < and a time, such as \
                    p99<2ms; or late<1%";

/// Which time of a window or of an item of work is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// End after scheduled release.
    #[default]
    Response,
    /// End after dispatch.
    Execution,
    /// Dispatch after scheduled release.
    Lateness,
}

/// Which statistic of these times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The value that this many percent lie at or below: above 0, below 100.
    Percentile(f64),
    /// The arithmetic mean.
    Mean,
    /// The longest.
    Max,
}

/// A bound that is to be kept, and not to be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// A statistic stays below a time.
    Time {
        /// Of which time; the usual one of whoever asks where absent.
        metric: Option<Metric>,
        /// The statistic.
        statistic: Statistic,
        /// The time, above 0.
        bound: Nanos,
    },
    /// The share of late items stays below this many percent, above 0.
    Late(f64),
}

impl Metric {
    /// Every one.
    pub const ALL: [Metric; 3] = [Metric::Response, Metric::Execution, Metric::Lateness];

    /// The word in a goal.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Response => "response",
            Metric::Execution => "execution",
            Metric::Lateness => "lateness",
        }
    }
}

impl FromStr for Metric {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Metric, Mismatch> {
        let word = text.trim();
        Metric::ALL.into_iter().find(|metric| metric.name() == word).ok_or_else(|| {
            let names = Metric::ALL.map(Metric::name);
            Mismatch::text(names.join(", "), word).near(word, names)
        })
    }
}

impl FromStr for Statistic {
    type Err = Mismatch;

    /// Reads `median`, `mean`, `max`, `p99`, `p99.9` and `p999`, which is the same.
    fn from_str(text: &str) -> Result<Statistic, Mismatch> {
        let word = text.trim();
        let percent = match word {
            "mean" => return Ok(Statistic::Mean),
            "max" => return Ok(Statistic::Max),
            "median" => Some(50.0),
            _ => word.strip_prefix('p').and_then(percent),
        };
        percent
            .filter(|percent| *percent > 0.0 && *percent < 100.0)
            .map(Statistic::Percentile)
            .ok_or_else(|| {
                Mismatch::text("median, mean, max or a percentile such as p99 or p99.9", word)
                    .near(word, ["median", "mean", "max"])
            })
    }
}

/// The number behind the `p`: `99`, `99.9`, or `999` for the latter.
fn percent(digits: &str) -> Option<f64> {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !plain(digits) {
        return None;
    }
    match digits.split_at_checked(2) {
        // Nothing but nines is written so: 100 is no percentile, and 950 a slip.
        Some(("99", rest)) if !rest.is_empty() && rest.bytes().all(|digit| digit == b'9') => {
            format!("99.{rest}").parse().ok()
        }
        _ => digits.parse().ok(),
    }
}

impl FromStr for Goal {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Goal, Mismatch> {
        let wrong = || Mismatch::text(SUCH, text);
        let (left, bound) = text.split_once('<').ok_or_else(wrong)?;
        let words: Vec<&str> = left.split_whitespace().collect();
        let (metric, statistic) = match words[..] {
            ["late"] => {
                let number = bound.trim().strip_suffix('%').map(|number| number.trim().parse());
                return match number {
                    Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => {
                        Ok(Goal::Late(percent))
                    }
                    _ => Err(Mismatch::text("a share such as late<1%", text)),
                };
            }
            [statistic] => (None, statistic.parse()?),
            [metric, statistic] => (Some(metric.parse()?), statistic.parse()?),
            _ => return Err(wrong()),
        };
        match bound.parse()? {
            Nanos::ZERO => Err(Mismatch::text("a time above 0", bound.trim())),
            bound => Ok(Goal::Time { metric, statistic, bound }),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Percentile(percent) => write!(f, "p{percent}"),
            Statistic::Mean => f.write_str("mean"),
            Statistic::Max => f.write_str("max"),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Time { metric: None, statistic, bound } => write!(f, "{statistic} < {bound}"),
            Goal::Time { metric: Some(metric), statistic, bound } => {
                write!(f, "{metric} {statistic} < {bound}")
            }
            Goal::Late(percent) => write!(f, "late < {percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn goals_are_read() {
        for (text, printed) in [
            ("p99<2ms", "p99 < 2ms"),
            ("lateness p99.9 < 150us", "lateness p99.9 < 150us"),
            ("p999<5ms", "p99.9 < 5ms"),
            ("execution  median<1ms", "execution p50 < 1ms"),
            ("max < 1min", "max < 60s"),
            ("mean<1.5 s", "mean < 1500ms"),
            ("late < 1.5 %", "late < 1.5%"),
        ] {
            assert_eq!(text.parse::<Goal>().map(|goal| goal.to_string()), Ok(printed.to_owned()));
        }
    }

    #[test]
    fn what_is_no_goal_is_refused_with_what_was_expected() {
        for (text, expected) in [
            ("", "such as p99<2ms; or late<1%, found \"\""),
            ("p99", "found \"p99\""),
            ("p99>2ms", "found \"p99>2ms\""),
            ("a b p99<2ms", "found \"a b p99<2ms\""),
            ("p100<2ms", "a percentile such as p99 or p99.9"),
            ("p950<2ms", "a percentile such as p99 or p99.9"),
            ("p0<1ms", "a percentile such as p99 or p99.9"),
            ("pinf<1ms", "a percentile such as p99 or p99.9"),
            ("q99<2ms", "a percentile such as p99 or p99.9"),
            ("medain<2ms", "did you mean `median`?"),
            ("latness p99<2ms", "did you mean `lateness`?"),
            ("p99<2", "a duration with its unit, such as \"2ms\""),
            ("p99<0ms", "expected a time above 0"),
            ("late<5ms", "a share such as late<1%"),
            ("late<0%", "a share such as late<1%"),
        ] {
            let slip = text.parse::<Goal>().unwrap_err();
            assert!(slip.line().contains(expected), "{text}: {}", slip.line());
        }
    }

    proptest! {
        #[test]
        fn printing_then_reading_is_identity(
            metric in proptest::option::of(0usize..3),
            thousandth in 1u32..100_000,
            which in 0u8..4,
            ns in 1u64..,
        ) {
            let percent = f64::from(thousandth) / 1e3;
            let time = |statistic| {
                let metric = metric.map(|at| Metric::ALL[at]);
                Goal::Time { metric, statistic, bound: Nanos(ns) }
            };
            let goal = match which {
                0 => time(Statistic::Percentile(percent)),
                1 => time(Statistic::Mean),
                2 => time(Statistic::Max),
                _ => Goal::Late(percent),
            };
            prop_assert_eq!(goal.to_string().parse(), Ok(goal));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<Goal>();
        }
    }
}
