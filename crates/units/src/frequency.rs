//! Frequencies as people write them: `"600MHz"`, `"1.2 GHz"`, `"min"`, `"max"`.

use crate::decimal::{Slip, Unit, scaled};
use crate::{KiloHertz, Mismatch};
use std::fmt;
use std::str::FromStr;

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

/// Units in kilohertz.
const UNITS: [Unit; 3] = [("kHz", 1), ("MHz", 1_000), ("GHz", 1_000_000)];

/// No clock runs faster; more is a typing error.
const MAX: KiloHertz = KiloHertz(100_000_000);

impl FromStr for KiloHertz {
    type Err = Mismatch;

    /// Reads `"600MHz"`, `"1.2 GHz"`, `"600000kHz"`.
    fn from_str(text: &str) -> Result<KiloHertz, Mismatch> {
        read(text, "a frequency such as \"600MHz\" or \"1.2GHz\"")
    }
}

impl FromStr for Frequency {
    type Err = Mismatch;

    /// Reads `"600MHz"`, `"1.2 GHz"`, `"600000kHz"`, `"min"` or `"max"`.
    fn from_str(text: &str) -> Result<Frequency, Mismatch> {
        let word = text.trim();
        if word.eq_ignore_ascii_case("min") {
            return Ok(Frequency::Min);
        }
        if word.eq_ignore_ascii_case("max") {
            return Ok(Frequency::Max);
        }
        read(text, "a frequency such as \"600MHz\" or \"1.2GHz\", or \"min\" or \"max\"")
            .map(Frequency::At)
            .map_err(|slip| slip.near(word, ["min", "max"]))
    }
}

fn read(text: &str, such: &str) -> Result<KiloHertz, Mismatch> {
    let khz = scaled(text, &UNITS).map(KiloHertz).map_err(|slip| match slip {
        Slip::Bare => {
            let bare = text.trim();
            let with = format!("a frequency with its unit, such as \"{bare}MHz\" or \"{bare}GHz\"");
            Mismatch::text(with, text)
        }
        slip => slip.of(text, &UNITS, such),
    })?;
    match (KiloHertz(1)..=MAX).contains(&khz) {
        true => Ok(khz),
        false => Err(Mismatch::text("a frequency from 1 kHz to 100 GHz", text)),
    }
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

crate::as_text!(Frequency);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Frequency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Frequency".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A frequency with its unit, such as \"600MHz\", or \"min\" or \"max\"."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write_and_prints_it_back() {
        for (text, frequency, printed) in [
            ("600MHz", Frequency::At(KiloHertz(600_000)), "600MHz"),
            ("600mhz", Frequency::At(KiloHertz(600_000)), "600MHz"),
            ("1.2 GHz", Frequency::At(KiloHertz(1_200_000)), "1200MHz"),
            ("600500khz", Frequency::At(KiloHertz(600_500)), "600500kHz"),
            (" Min", Frequency::Min, "min"),
            ("max", Frequency::Max, "max"),
        ] {
            assert_eq!(text.parse(), Ok(frequency), "{text}");
            assert_eq!(frequency.to_string(), printed);
        }
        assert_eq!("2.064GHz".parse(), Ok(KiloHertz(2_064_000)));
        assert!("max".parse::<KiloHertz>().is_err());
    }

    #[test]
    fn what_is_no_frequency_is_refused_with_what_was_expected() {
        for (text, expected, hint) in [
            ("600", "\"600MHz\"", ""),
            ("maxx", "found \"maxx\"", "did you mean `max`?"),
            ("600mgz", "found \"600mgz\"", "did you mean `600MHz`?"),
            ("2.4gz", "found \"2.4gz\"", "did you mean `2.4GHz`?"),
            ("600 apples", "found \"600 apples\"", "units: kHz, MHz, GHz"),
            ("", "expected a frequency", "units: "),
            ("0MHz", "from 1 kHz", ""),
            ("1e9GHz", "expected a frequency", "units: "),
            ("1000GHz", "from 1 kHz to 100 GHz", ""),
            ("-5MHz", "expected a frequency", "units: "),
        ] {
            let slip = text.parse::<Frequency>().unwrap_err();
            assert!(slip.to_string().contains(expected), "{text}: {slip}");
            let told = slip.hint.unwrap_or_default();
            assert!(told.starts_with(hint) && told.is_empty() == hint.is_empty(), "{text}: {told}");
        }
    }

    proptest! {
        #[test]
        fn printing_then_reading_is_identity(khz in 1u64..100_000_000, whole in any::<bool>()) {
            let khz = if whole { (khz / 1_000).max(1) * 1_000 } else { khz };
            for frequency in [Frequency::At(KiloHertz(khz)), Frequency::Min, Frequency::Max] {
                prop_assert_eq!(frequency.to_string().parse(), Ok(frequency));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,60}") {
            let _ = text.parse::<Frequency>();
        }
    }
}
