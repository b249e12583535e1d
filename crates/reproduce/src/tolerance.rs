//! How close is close enough, and why.

use crate::printed::Printed;
use crate::quantity::Quantity;

/// How far ours may be from the published number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Equal to the last printed digit.
    Printed,
    /// Equal, digit by digit.
    Exact,
    /// So many percent of the published number.
    Percent(f64),
    /// So many of its own unit.
    Absolute(f64),
    /// The published number is a lower bound.
    AtLeast,
    /// The published number is an upper bound.
    AtMost,
    /// The published number lies in our 1 to 99 % range, or so many units from it.
    Range(f64),
    /// Ours stands beside the published number and decides nothing.
    Beside,
}

impl Tolerance {
    /// From the catalogue: `printed`, `exact`, `5 %`, `0.4`, `at least`, `at most`, `range`,
    /// `range + 1`, `beside`.
    pub(crate) fn parse(text: &str) -> Result<Tolerance, String> {
        let number = |text: &str| {
            text.trim().parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite())
        };
        let wrong = || {
            format!(
                "expected printed, exact, at least, at most, range, beside, `5 %` or `0.4`, found `{text}`"
            )
        };
        match text.trim() {
            "printed" => Ok(Tolerance::Printed),
            "exact" => Ok(Tolerance::Exact),
            "at least" => Ok(Tolerance::AtLeast),
            "at most" => Ok(Tolerance::AtMost),
            "range" => Ok(Tolerance::Range(0.0)),
            "beside" => Ok(Tolerance::Beside),
            other => {
                let parsed = match (other.strip_suffix('%'), other.strip_prefix("range +")) {
                    (Some(percent), _) => number(percent).map(Tolerance::Percent),
                    (None, Some(slack)) => number(slack).map(Tolerance::Range),
                    (None, None) => number(other).map(Tolerance::Absolute),
                };
                parsed.ok_or_else(wrong)
            }
        }
    }

    /// Whether the published number is a bound.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self, Tolerance::AtLeast | Tolerance::AtMost)
    }

    /// Whether the catalogue has to say why.
    pub(crate) fn needs_reason(&self) -> bool {
        match self {
            Tolerance::Percent(_) | Tolerance::Absolute(_) => true,
            Tolerance::Range(slack) => *slack > 0.0,
            _ => false,
        }
    }

    /// Whether ours agrees with the published number.
    pub(crate) fn holds(&self, published: &Printed, ours: &Quantity) -> bool {
        let (want, found) = (published.value, ours.value);
        // A value that lies on the rounding's border is both ways right; f64 noise must not decide.
        let noise = 1e-9 * want.abs().max(1.0);
        let near = |distance: f64| (found - want).abs() <= distance + noise;
        match self {
            Tolerance::Printed => near(published.half_place),
            Tolerance::Exact => near(0.0),
            Tolerance::Percent(percent) => near(want.abs() * percent / 100.0),
            Tolerance::Absolute(distance) => near(*distance),
            Tolerance::AtLeast => found >= want - noise,
            Tolerance::AtMost => found <= want + noise,
            Tolerance::Beside => false,
            Tolerance::Range(slack) => match ours.range {
                Some(range) => {
                    let slack = slack + published.half_place;
                    range.low - slack <= want && want <= range.high + slack
                }
                None => near(slack + published.half_place),
            },
        }
    }

    /// In words: "equal to the last printed digit", "within 5 %".
    pub(crate) fn words(&self, published: &Printed, unit: &str) -> String {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match self {
            Tolerance::Printed => "to the last printed digit".to_owned(),
            Tolerance::Exact => "exactly".to_owned(),
            Tolerance::Percent(percent) => format!("within {percent} %"),
            Tolerance::Absolute(distance) => format!("within {distance}{unit}"),
            Tolerance::AtLeast => format!("at least {}{unit}", published.text),
            Tolerance::AtMost => format!("at most {}{unit}", published.text),
            Tolerance::Beside => "beside it".to_owned(),
            Tolerance::Range(0.0) => "inside our 1 to 99 % range".to_owned(),
            Tolerance::Range(slack) => {
                format!("inside our 1 to 99 % range, or {slack}{unit} from it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(tolerance: &str, printed: &str, ours: f64) -> bool {
        let published = Printed::parse(printed).unwrap();
        Tolerance::parse(tolerance).unwrap().holds(&published, &Quantity::of(ours))
    }

    #[test]
    fn each_rule_has_two_sides() {
        assert!(holds("printed", "3.21", 3.2076) && !holds("printed", "3.21", 3.2041));
        assert!(holds("exact", "26", 26.0) && !holds("exact", "26", 26.01));
        assert!(holds("10 %", "150", 164.0) && !holds("10 %", "150", 166.0));
        assert!(holds("0.4", "10", 9.6) && !holds("0.4", "10", 9.5));
        assert!(holds("at least", "20", 23.25) && !holds("at least", "20", 19.9));
        assert!(holds("at most", "0.9", 0.892) && !holds("at most", "0.9", 0.91));
    }

    #[test]
    fn a_range_holds_the_published_number() {
        let ours = Quantity::distribution((0..=100).map(f64::from).collect()).unwrap();
        let range = |text: &str, slack: &str| {
            Tolerance::parse(slack).unwrap().holds(&Printed::parse(text).unwrap(), &ours)
        };
        assert!(range("1.0", "range") && !range("0.5", "range") && range("0.5", "range + 1"));
        assert!(!range("101", "range"));
    }

    #[test]
    fn an_unknown_tolerance_is_refused() {
        for text in ["", "close", "-1", "5%%", "range + x", "nan"] {
            assert!(Tolerance::parse(text).is_err(), "{text}");
        }
    }
}
