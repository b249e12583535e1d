//! Durations as people write them in an experiment: `"20ms"`, `"1.5 s"`, `"2min"`.

use flyball_units::Nanos;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A duration with its unit in the text; a bare number is an error, because the field would then
/// have to guess between seconds and milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Nanos);

impl Span {
    /// From whole milliseconds.
    pub const fn millis(ms: u64) -> Span {
        Span(Nanos::from_millis(ms))
    }

    /// Nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0.0
    }

    /// Reads `"20ms"`; the error says what was expected.
    pub fn parse(text: &str) -> Result<Span, String> {
        let digits_only = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        if digits_only {
            return Err(format!(
                "expected a duration with its unit, such as \"{text}ms\" or \"{text}s\", found \"{text}\""
            ));
        }
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let parsed = match compact.split_once('.') {
            Some(_) => fraction(&compact),
            None => humantime::parse_duration(&compact)
                .ok()
                .and_then(|duration| u64::try_from(duration.as_nanos()).ok()),
        };
        parsed.map(|ns| Span(Nanos(ns))).ok_or_else(|| {
            format!(
                "expected a duration such as \"20ms\", \"500us\" or \"2min\", found \"{text}\" \
                 (units: ns, us, ms, s, min, h)"
            )
        })
    }
}

/// `1.5ms`: humantime takes whole numbers only.
fn fraction(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let value: f64 = text[..unit_at].parse().ok()?;
    let scale = match &text[unit_at..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" | "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    let ns = value * scale;
    (ns.is_finite() && (0.0..1.8e19).contains(&ns)).then_some(ns.round() as u64)
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = self.nanos();
        match ns {
            0 => write!(f, "0s"),
            _ if ns.is_multiple_of(1_000_000_000) => write!(f, "{}s", ns / 1_000_000_000),
            _ if ns.is_multiple_of(1_000_000) => write!(f, "{}ms", ns / 1_000_000),
            _ if ns.is_multiple_of(1_000) => write!(f, "{}us", ns / 1_000),
            _ => write!(f, "{ns}ns"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Span;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a duration with its unit, such as \"20ms\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                Span::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ns|us|ms|s|min|m|h)\s*$",
            "description": "A duration with its unit, such as \"20ms\", \"1.5s\" or \"2min\"."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, ns) in [
            ("20ms", 20_000_000),
            ("1.5 s", 1_500_000_000),
            ("500us", 500_000),
            ("2min", 120_000_000_000),
            ("250ns", 250),
        ] {
            assert_eq!(Span::parse(text).map(Span::nanos), Ok(ns), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_the_likely_units() {
        let message = Span::parse("20").unwrap_err();
        assert!(message.contains("\"20ms\"") && message.contains("\"20s\""), "{message}");
        for text in ["", "ms", "20 apples", "-5ms", "1e999s", "1.2.3s"] {
            assert!(Span::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn display_reads_back() {
        for ns in [0, 1, 1_000, 20_000_000, 1_500_000_000, 7_000_000_001] {
            let span = Span(Nanos(ns));
            assert_eq!(Span::parse(&span.to_string()), Ok(span));
        }
    }
}
