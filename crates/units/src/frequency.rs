//! Frequencies as people write them: `"600MHz"`, `"1.2 GHz"`, `"min"`, `"max"`.

use crate::{KiloHertz, nearest};
use std::fmt;

/// A frequency that is asked for: a number, or an end of what the hardware offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// The lowest of each clock domain.
    Min,
    /// The highest of each clock domain.
    Max,
    /// This one; where a domain has no such operating point, its lowest one at or above, and
    /// its nearest end where the figure lies outside the domain's range.
    At(KiloHertz),
}

/// Units by their lower-case name, in kilohertz.
const UNITS: [(&str, f64); 3] = [("khz", 1.0), ("mhz", 1e3), ("ghz", 1e6)];

/// No clock runs faster; more is a typing error.
const MAX_KHZ: f64 = 100e6;

impl Frequency {
    /// Reads `"600MHz"`, `"1.2 GHz"`, `"600000kHz"`, `"min"` or `"max"`.
    ///
    /// # Errors
    /// What was expected and found, in one sentence.
    pub fn parse(text: &str) -> Result<Frequency, String> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let lower = compact.to_ascii_lowercase();
        match lower.as_str() {
            "min" => return Ok(Frequency::Min),
            "max" => return Ok(Frequency::Max),
            _ => {}
        }
        let unit_at = lower.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(lower.len());
        let (number, unit) = lower.split_at(unit_at);
        let Some((_, khz)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(expected(text, &lower));
        };
        let value: f64 = number.parse().map_err(|_| expected(text, &lower))?;
        let khz = (value * khz).round();
        if !(1.0..=MAX_KHZ).contains(&khz) {
            return Err(format!("expected a frequency from 1 kHz to 100 GHz, found \"{text}\""));
        }
        Ok(Frequency::At(KiloHertz(khz as u64)))
    }
}

fn expected(text: &str, lower: &str) -> String {
    let bare = !lower.is_empty() && lower.chars().all(|c| c.is_ascii_digit() || c == '.');
    if bare {
        return format!(
            "expected a frequency with its unit, such as \"{text}MHz\" or \"{text}GHz\", \
             found \"{text}\""
        );
    }
    let near = nearest(lower, ["min", "max"])
        .map(|near| format!("; did you mean \"{near}\"?"))
        .unwrap_or_default();
    format!(
        "expected a frequency such as \"600MHz\" or \"1.2GHz\", or \"min\" or \"max\", found \
         \"{text}\"{near}"
    )
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frequency::Min => f.write_str("min"),
            Frequency::Max => f.write_str("max"),
            Frequency::At(khz) if khz.0.is_multiple_of(1_000) => write!(f, "{}MHz", khz.0 / 1_000),
            Frequency::At(khz) => write!(f, "{}kHz", khz.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write_and_prints_it_back() {
        for (text, frequency, printed) in [
            ("600MHz", Frequency::At(KiloHertz(600_000)), "600MHz"),
            ("1.2 GHz", Frequency::At(KiloHertz(1_200_000)), "1200MHz"),
            ("600500khz", Frequency::At(KiloHertz(600_500)), "600500kHz"),
            (" Min", Frequency::Min, "min"),
            ("max", Frequency::Max, "max"),
        ] {
            assert_eq!(Frequency::parse(text), Ok(frequency), "{text}");
            assert_eq!(frequency.to_string(), printed);
            assert_eq!(Frequency::parse(printed), Ok(frequency));
        }
    }

    #[test]
    fn what_is_no_frequency_is_refused_with_what_was_expected() {
        for (text, expected) in [
            ("600", "\"600MHz\""),
            ("maxx", "did you mean \"max\"?"),
            ("600 apples", "found \"600 apples\""),
            ("", "expected a frequency"),
            ("0MHz", "from 1 kHz"),
            ("1e9GHz", "expected a frequency"),
            ("-5MHz", "expected a frequency"),
        ] {
            let message = Frequency::parse(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
