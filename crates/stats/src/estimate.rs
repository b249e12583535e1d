//! A value with what it may be off by: the one shape that every crate's figures have.

use serde::{Deserialize, Serialize};

/// Coverage of an interval where nothing else is said.
pub const LEVEL: f64 = 0.95;

/// A number with its interval, of 95 % where no other level is said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval; `None` where it cannot be estimated.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

impl Estimate {
    /// A value without an interval.
    pub fn bare(value: f64) -> Estimate {
        Estimate { value, low: None, high: None }
    }

    /// A value with both ends of its interval.
    pub fn between(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low: Some(low), high: Some(high) }
    }

    /// A value with half the width of an interval around it, where that is known.
    pub fn around(value: f64, half: Option<f64>) -> Estimate {
        half.map_or(Estimate::bare(value), |half| {
            Estimate::between(value, value - half, value + half)
        })
    }

    /// Both ends, where both are known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The same, moved by `by`.
    #[must_use]
    pub fn shifted(self, by: f64) -> Estimate {
        let Estimate { value, low, high } = self;
        Estimate { value: value + by, low: low.map(|v| v + by), high: high.map(|v| v + by) }
    }

    /// The same, its interval wider by `by` at each end.
    #[must_use]
    pub fn widened(self, by: f64) -> Estimate {
        let Estimate { value, low, high } = self;
        Estimate { value, low: low.map(|v| v - by), high: high.map(|v| v + by) }
    }

    /// Whether the interval is known and holds `value`.
    pub fn covers(&self, value: f64) -> bool {
        self.interval().is_some_and(|(low, high)| (low..=high).contains(&value))
    }

    /// Whether the interval lies above `value`, or below it.
    pub fn excludes(&self, value: f64) -> bool {
        self.low.is_some_and(|low| low > value) || self.high.is_some_and(|high| high < value)
    }

    /// Whether both intervals are known and share nothing.
    pub fn is_apart_from(&self, other: &Estimate) -> bool {
        let ends = self.interval().zip(other.interval());
        ends.is_some_and(|(a, b)| a.1 < b.0 || b.1 < a.0)
    }
}

/// An estimate by resampling, and how it came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resampled {
    /// The value, computed from all the data, and its interval; none where nothing could be
    /// resampled (a single window).
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The interval's nominal coverage.
    pub level: f64,
    /// Replicates that gave a value.
    pub replicates: u32,
    /// What was resampled, and why.
    pub method: String,
    /// False with fewer than 5 repeats on a side, or where nothing could be resampled.
    pub reliable: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_exclude_and_lie_apart() {
        let one = Estimate::between(2.0, 1.0, 3.0);
        assert!(one.covers(1.0) && !one.covers(3.5) && one.excludes(0.5) && one.excludes(4.0));
        assert!(one.is_apart_from(&one.shifted(2.5)) && !one.is_apart_from(&one.shifted(2.0)));
        let bare = Estimate::bare(2.0);
        assert!(!bare.covers(2.0) && !bare.excludes(9.0) && !bare.is_apart_from(&one));
        assert_eq!(Estimate::around(2.0, Some(1.0)), one);
        assert_eq!(Estimate::around(2.0, None), bare);
    }

    #[test]
    fn how_it_came_about_stands_beside_its_value() {
        let found = Resampled {
            estimate: Estimate::between(2.0, 1.0, 3.0),
            level: 0.95,
            replicates: 200,
            method: "m".to_owned(),
            reliable: true,
        };
        let text = serde_json::to_string(&found).unwrap();
        let want = r#"{"value":2.0,"low":1.0,"high":3.0,"level":0.95,"replicates":200,"method":"m","reliable":true}"#;
        assert_eq!(text, want);
        assert_eq!(serde_json::from_str::<Resampled>(&text).unwrap(), found);
    }
}
