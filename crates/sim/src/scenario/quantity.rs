//! Quantities as people write them: `"20ms"`, `"1.7GHz"`, `"229.2ms@1700MHz"`, `"3Mcycles"`, `"0-3,6"`.

use crate::workload::Amount;
use flyball_units::{CpuId, KiloHertz, Nanos};

const TIMES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const FREQUENCIES: &[(&str, u64)] = &[("kHz", 1), ("MHz", 1_000), ("GHz", 1_000_000)];

const CYCLES: &[(&str, u64)] =
    &[("cycles", 1), ("kcycles", 1_000), ("Mcycles", 1_000_000), ("Gcycles", 1_000_000_000)];

/// A duration with its unit.
pub fn duration(text: &str) -> Result<Nanos, String> {
    scaled(text, TIMES).map(Nanos).ok_or_else(|| {
        format!(
            "expected a duration such as \"20ms\", \"500us\" or \"2min\", found \"{text}\" \
             (units: ns, us, ms, s, min, h)"
        )
    })
}

/// A frequency with its unit.
pub fn frequency(text: &str) -> Result<KiloHertz, String> {
    scaled(text, FREQUENCIES).map(KiloHertz).ok_or_else(|| {
        format!(
            "expected a frequency such as \"600MHz\" or \"2.064GHz\", found \"{text}\" \
             (units: kHz, MHz, GHz)"
        )
    })
}

/// An amount of work.
pub fn amount(text: &str) -> Result<Amount, String> {
    let parsed = match text.split_once('@') {
        Some((time, at)) => scaled(time, TIMES)
            .zip(scaled(at, FREQUENCIES))
            .map(|(time, khz)| Amount::At(Nanos(time), KiloHertz(khz))),
        None => scaled(text, CYCLES)
            .map(Amount::Cycles)
            .or_else(|| scaled(text, TIMES).map(|time| Amount::AtFullSpeed(Nanos(time)))),
    };
    if let Some(Amount::At(_, KiloHertz(0))) = parsed {
        return Err(format!("expected work at a frequency above 0, found \"{text}\""));
    }
    parsed.ok_or_else(|| {
        format!(
            "expected work such as \"2ms\" (at the machine's full speed), \"229.2ms@1700MHz\" or \
             \"3Mcycles\", found \"{text}\""
        )
    })
}

/// A list of CPUs, ascending: `0-3,6`.
pub fn cpus(text: &str) -> Result<Vec<CpuId>, String> {
    let wrong = || format!("expected CPUs such as \"0-3,6\", found \"{text}\"");
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().map_err(|_| wrong())?;
        let last: u32 = last.trim().parse().map_err(|_| wrong())?;
        if first > last || last > 4095 {
            return Err(wrong());
        }
        list.extend((first..=last).map(CpuId));
    }
    list.sort();
    list.dedup();
    Ok(list)
}

/// A decimal number times its unit, exact: no float is involved.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let scale = u128::from(units.iter().find(|(name, _)| *name == unit)?.1);
    let number = number.trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| -> Option<u128> {
        let plain =
            !part.is_empty() && part.len() <= 19 && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.parse().ok()).flatten()
    };
    let denominator = 10_u128.pow(u32::try_from(fraction.len()).ok().filter(|n| *n <= 19)?);
    let value = digits(whole)? * scale + digits(fraction)? * scale / denominator;
    u64::try_from(value).ok()
}

/// A duration as it is written: the largest unit that gives a whole number.
pub fn show_duration(time: Nanos) -> String {
    let fits = |(_, scale): &&(&str, u64)| time.0.is_multiple_of(*scale);
    let of_people = TIMES.get(..4).unwrap_or(TIMES);
    match of_people.iter().rev().find(fits) {
        Some((unit, scale)) if time.0 > 0 => format!("{}{unit}", time.0 / scale),
        _ => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        assert_eq!(duration("1.5 s"), Ok(Nanos(1_500_000_000)));
        assert_eq!(duration("0.5us"), Ok(Nanos(500)));
        assert_eq!(frequency("2.064GHz"), Ok(KiloHertz(2_064_000)));
        let table_1 = Amount::At(Nanos(229_200_000), KiloHertz(1_700_000));
        assert_eq!(amount("229.2ms@1700MHz"), Ok(table_1));
        assert_eq!(amount("3Mcycles"), Ok(Amount::Cycles(3_000_000)));
        assert_eq!(amount("2ms"), Ok(Amount::AtFullSpeed(Nanos(2_000_000))));
        assert_eq!(cpus("6,0-2"), Ok([0, 1, 2, 6].map(CpuId).to_vec()));
    }

    #[test]
    fn what_is_none() {
        for text in ["", "20", "ms", "-5ms", "1.2.3s", "1e3s", "99999999999h", "20 apples", "1.ms"]
        {
            assert!(duration(text).is_err(), "{text}");
            assert!(amount(text).is_err(), "{text}");
        }
        for text in ["", "a", "3-1", "1-", "0-99999", "1;2"] {
            assert!(cpus(text).is_err(), "{text}");
        }
        assert!(frequency("600mhz").is_err());
        let error = amount("1ms@0MHz").unwrap_err();
        assert!(error.contains("a frequency above 0, found \"1ms@0MHz\""), "{error}");
    }

    #[test]
    fn durations_print_as_they_read() {
        for text in ["20ms", "1s", "0s", "1500us", "7ns", "90s"] {
            assert_eq!(show_duration(duration(text).unwrap()), text);
        }
    }
}
