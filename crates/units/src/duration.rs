//! Durations as people write them: `"20ms"`, `"1.5 s"`, `"2min"`.

use crate::decimal::{Slip, Unit, scaled};
use crate::{Mismatch, Nanos};
use std::fmt;
use std::str::FromStr;

/// The units of people, in nanoseconds.
const UNITS: [Unit; 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Other names of these, which are read and not proposed.
const ALSO: [Unit; 4] =
    [("µs", 1_000), ("μs", 1_000), ("sec", 1_000_000_000), ("m", 60_000_000_000)];

/// A duration that stands with its unit in the text of a file; a bare number is an error, because its
/// reader would have to guess between seconds and milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub Nanos);

impl Duration {
    /// From whole milliseconds.
    pub const fn millis(ms: u64) -> Duration {
        Duration(Nanos::from_millis(ms))
    }

    /// Nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0.0
    }
}

impl FromStr for Nanos {
    type Err = Mismatch;

    /// Reads `"20ms"`, `"1.5 s"`, `"1min 30s"`.
    fn from_str(text: &str) -> Result<Nanos, Mismatch> {
        let all: Vec<Unit> = UNITS.into_iter().chain(ALSO).collect();
        parts(text)
            .try_fold(0, |sum: u64, part| sum.checked_add(scaled(part, &all)?).ok_or(Slip::Other))
            .map(Nanos)
            .map_err(|slip| match slip {
                Slip::Bare => {
                    let bare = text.trim();
                    let with =
                        format!("a duration with its unit, such as \"{bare}ms\" or \"{bare}s\"");
                    Mismatch::text(with, text)
                }
                slip => {
                    let such = "a duration with its unit, such as \"20ms\", \"500us\" or \"2min\"";
                    slip.of(text, &UNITS, such)
                }
            })
    }
}

/// `1min 30s` in its parts, each a number with its unit.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text.trim());
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let unit = text.find(|c: char| !is_number(c) && !c.is_whitespace());
        let next = unit.and_then(|unit| text.get(unit..)?.find(is_number).map(|at| unit + at));
        Some(match next {
            Some(next) => {
                let (part, more) = text.split_at(next);
                rest = Some(more);
                part
            }
            None => text,
        })
    })
}

/// The largest unit up to seconds that gives a whole number.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            ns if ns.is_multiple_of(1_000_000_000) => ("s", 1_000_000_000),
            ns if ns.is_multiple_of(1_000_000) => ("ms", 1_000_000),
            ns if ns.is_multiple_of(1_000) => ("us", 1_000),
            _ => ("ns", 1),
        };
        write!(f, "{}{unit}", self.0 / scale)
    }
}

impl FromStr for Duration {
    type Err = Mismatch;

    fn from_str(text: &str) -> Result<Duration, Mismatch> {
        text.parse().map(Duration)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

crate::as_text!(Duration);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Duration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ns|us|ms|s|min|m|h)\s*$",
            "description": "A duration with its unit, such as \"20ms\", \"1.5s\" or \"2min\"."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        for (text, ns) in [
            ("20ms", 20_000_000),
            ("1.5 s", 1_500_000_000),
            ("500us", 500_000),
            ("500 µs", 500_000),
            ("0.5us", 500),
            ("2min", 120_000_000_000),
            ("1min 30s", 90_000_000_000),
            ("1m30.5s", 90_500_000_000),
            ("2H", 7_200_000_000_000),
            ("250ns", 250),
            ("0s", 0),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(ns)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_what_was_expected() {
        for (text, expected, hint) in [
            ("20", "such as \"20ms\" or \"20s\", found \"20\"", ""),
            ("20mss", "found \"20mss\"", "did you mean `20ms`?"),
            (
                "20 apples",
                "a duration with its unit, such as \"20ms\"",
                "units: ns, us, ms, s, min, h",
            ),
            ("", "found \"\"", "units: "),
            ("ms", "found \"ms\"", "units: "),
            ("-5ms", "found \"-5ms\"", "units: "),
            ("1e999s", "found", "units: "),
            ("1.2.3s", "found", "units: "),
            ("1.ms", "found", "units: "),
            ("1min 30", "with its unit", ""),
            ("99999999999h", "found", "units: "),
        ] {
            let slip = text.parse::<Nanos>().unwrap_err();
            assert!(slip.to_string().contains(expected), "{text}: {slip}");
            let told = slip.hint.unwrap_or_default();
            assert!(told.starts_with(hint) && told.is_empty() == hint.is_empty(), "{text}: {told}");
        }
    }

    proptest! {
        #[test]
        fn printing_then_reading_is_identity(ns in any::<u64>(), zeros in 0u32..10) {
            let time = Nanos(ns / 10_u64.pow(zeros) * 10_u64.pow(zeros));
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<Nanos>();
        }

        #[test]
        fn near_durations_never_panic(text in "[0-9. msunhµ-]{0,24}") {
            let _ = text.parse::<Nanos>();
        }
    }
}
