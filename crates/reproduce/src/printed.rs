//! A number as it is printed: its text, its value, and what the print leaves open.

use serde::Serialize;

/// A published number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Printed {
    /// As it stands in the source, without its unit.
    pub text: String,
    /// Its value.
    pub value: f64,
    /// Half a unit of the last printed place: what rounding may have moved.
    #[serde(skip)]
    pub half_place: f64,
}

impl Printed {
    /// Reads a number with an optional sign and decimals; None for anything else.
    pub fn parse(text: &str) -> Option<Printed> {
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return None; // "1e3", "inf": nobody prints numbers so
        }
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half_place = 0.5 * 10f64.powi(-i32::try_from(decimals).ok()?);
        Some(Printed { text: text.to_owned(), value, half_place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_is_what_rounding_moves() {
        let place = |text: &str| Printed::parse(text).unwrap().half_place;
        assert!((place("3.21") - 0.005).abs() < 1e-12);
        assert!((place("-48.6") - 0.05).abs() < 1e-12);
        assert_eq!(place("1205"), 0.5);
    }

    #[test]
    fn what_is_no_printed_number_is_refused() {
        for text in ["", "NaN", "inf", "1e3", "1_000", "12 us"] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }
}
