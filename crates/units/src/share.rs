//! Shares as people write them: `2%`.

use crate::Mismatch;
use std::str::FromStr;

/// A part of a whole, above 0 and below 1; written in percent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = Mismatch;

    /// Reads `2%`, `0.5 %` and `2`, which is percent, too.
    fn from_str(text: &str) -> Result<Share, Mismatch> {
        let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
        match number.parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(Share(percent / 100.0)),
            _ => Err(Mismatch::text("percent above 0 and below 100", text).hint("such as 2%")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_become_a_share() {
        assert_eq!("2%".parse(), Ok(Share(0.02)));
        assert_eq!(" 50 ".parse(), Ok(Share(0.5)));
        for odd in ["", "%", "0%", "100%", "-1", "NaN", "two"] {
            let slip = odd.parse::<Share>().unwrap_err();
            assert_eq!(
                slip.line(),
                format!("expected percent above 0 and below 100, found \"{odd}\"; such as 2%")
            );
        }
    }
}
