//! Amounts of work as people write them: `"229.2ms@1700MHz"`, `"3Mcycles"`, `"2ms"`.

use crate::workload::Amount;
use flyball_units::{KiloHertz, Mismatch, Nanos, Unit, with_unit};

const CYCLES: [Unit; 4] =
    [("cycles", 1), ("kcycles", 1_000), ("Mcycles", 1_000_000), ("Gcycles", 1_000_000_000)];

/// An amount of work.
pub fn amount(text: &str) -> Result<Amount, Mismatch> {
    let such =
        "work such as \"2ms\" (at the machine's full speed), \"229.2ms@1700MHz\" or \"3Mcycles\"";
    if let Some((time, at)) = text.split_once('@') {
        return Ok(Amount::At(time.parse::<Nanos>()?, at.parse::<KiloHertz>()?));
    }
    match text.parse() {
        Ok(time) => Ok(Amount::AtFullSpeed(time)),
        Err(_) => with_unit(text, &CYCLES, such).map(Amount::Cycles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        let table_1 = Amount::At(Nanos(229_200_000), KiloHertz(1_700_000));
        assert_eq!(amount("229.2ms@1700MHz"), Ok(table_1));
        assert_eq!(amount("229.2 ms @ 1.7ghz"), Ok(table_1));
        assert_eq!(amount("3Mcycles"), Ok(Amount::Cycles(3_000_000)));
        assert_eq!(amount("2ms"), Ok(Amount::AtFullSpeed(Nanos(2_000_000))));
    }

    #[test]
    fn what_is_none() {
        for text in ["", "20", "ms", "-5ms", "1.2.3s", "1e3s", "99999999999h", "20 apples", "1.ms"]
        {
            assert!(amount(text).is_err(), "{text}");
        }
        let slip = amount("3Mcycle").unwrap_err();
        assert_eq!(slip.hint.as_deref(), Some("did you mean `3Mcycles`?"));
        let slip = amount("1ms@0MHz").unwrap_err();
        assert_eq!(slip.to_string(), "expected a frequency from 1 kHz to 100 GHz, found \"0MHz\"");
    }
}
