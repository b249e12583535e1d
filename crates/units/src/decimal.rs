//! Decimal numbers with a unit, exactly: no float is involved.

use crate::{Mismatch, nearest};

/// A unit's name, and how many of the smallest it is worth.
pub type Unit = (&'static str, u64);

/// Why a text is no number with a unit.
pub(crate) enum Slip {
    /// A number alone.
    Bare,
    /// The text with a unit that is known in the place of its own.
    Unit(String),
    /// Anything else.
    Other,
}

/// The number of the smallest units in `text`, such as 1,500,000 in `"1.5 ms"`; rounded to the nearest.
/// White space and the unit's case do not matter.
pub(crate) fn scaled(text: &str, units: &[Unit]) -> Result<u64, Slip> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let split = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.trim_start();
    if number.is_empty() {
        return Err(Slip::Other);
    }
    if unit.is_empty() {
        return Err(Slip::Bare);
    }
    let same = |name: &str| name.to_lowercase() == unit.to_lowercase();
    let Some(&(_, scale)) = units.iter().find(|(name, _)| same(name)) else {
        let near =
            nearest(unit, units.iter().map(|(name, _)| *name)).or_else(|| begun(unit, units));
        return Err(near.map_or(Slip::Other, |near| Slip::Unit(format!("{number}{near}"))));
    };
    product(number, scale).ok_or(Slip::Other)
}

/// The only unit with the first letter of `unit`, which is too short for slips: `gz` is GHz.
fn begun(unit: &str, units: &[Unit]) -> Option<&'static str> {
    let first = |text: &str| text.chars().next().map(|letter| letter.to_ascii_lowercase());
    let mut alike = units.iter().filter(|(name, _)| first(name) == first(unit));
    let (name, _) = alike.next()?;
    (alike.next().is_none() && unit.len() <= name.len()).then_some(*name)
}

/// A decimal number times a whole one, rounded to the nearest; none where it is not written in digits
/// or too large.
fn product(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    // As many digits as a u64 has: neither the products nor the power of ten overflow.
    let digits = |part: &str| -> Option<u128> {
        let plain =
            (1..=20).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse().ok()).flatten()
    };
    let scale = u128::from(scale);
    let (whole, part) = (digits(whole)? * scale, digits(fraction)? * scale);
    let denominator = 10_u128.pow(fraction.len() as u32);
    u64::try_from(whole + (part + denominator / 2) / denominator).ok()
}

/// A number with one of `units`, such as `"64MiB"`; `expected` says what it is and gives examples.
///
/// ```
/// let sizes = [("KiB", 1 << 10), ("MiB", 1 << 20)];
/// let read = |text| flyball_units::with_unit(text, &sizes, "a size such as \"64MiB\"");
/// assert_eq!(read("1.5 mib"), Ok(3 << 19));
/// assert!(read("64").is_err());
/// ```
///
/// # Errors
/// The text is no such number; the hint names the units, or the likely one.
pub fn with_unit(text: &str, units: &[Unit], expected: &str) -> Result<u64, Mismatch> {
    scaled(text, units).map_err(|slip| slip.of(text, units, expected))
}

impl Slip {
    /// As an error of a reader.
    pub(crate) fn of(self, text: &str, units: &[Unit], expected: &str) -> Mismatch {
        let slip = Mismatch::text(expected, text);
        match self {
            Slip::Unit(meant) => slip.hint(format!("did you mean `{meant}`?")),
            Slip::Bare | Slip::Other => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                slip.hint(format!("units: {}", names.join(", ")))
            }
        }
    }
}
