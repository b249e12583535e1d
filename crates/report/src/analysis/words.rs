//! Figures and names as they stand in sentences.

use crate::model::Estimate;

/// From this difference on a ratio is written as a factor, below it in percent.
const FACTOR_FROM: f64 = 0.25;

/// A ratio with its interval: `-4.1 % [-5.0, -3.3]` or `1.42x [1.38, 1.47]`.
pub(super) fn ratio(estimate: &Estimate) -> String {
    if (estimate.value - 1.0).abs() >= FACTOR_FROM {
        return factor(estimate);
    }
    let percent = |value: f64| signed((value - 1.0) * 100.0);
    let value = percent(estimate.value);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{value} % [{}, {}]", percent(low), percent(high)),
        _ => format!("{value} %"),
    }
}

/// A ratio as a factor with its interval: `1.00x [0.99, 1.01]`.
pub(super) fn factor(estimate: &Estimate) -> String {
    let value = plain_factor(estimate.value);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{value} [{}, {}]", digits(low), digits(high)),
        _ => value,
    }
}

/// A ratio as a factor: `1.42x`.
pub(super) fn plain_factor(value: f64) -> String {
    format!("{}x", digits(value))
}

/// Three significant digits for small factors, two decimals otherwise.
fn digits(value: f64) -> String {
    match value.abs() {
        below if below < 0.1 => format!("{value:.3}"),
        below if below < 10.0 => format!("{value:.2}"),
        below if below < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// One decimal with its sign; what rounds to zero has none.
fn signed(value: f64) -> String {
    let text = format!("{value:+.1}");
    match text.as_str() {
        "-0.0" | "+0.0" => "0.0".to_owned(),
        _ => text,
    }
}

/// A share as percent: `31 %`, `0.4 %`, `under 0.1 %`.
pub(super) fn share(value: f64) -> String {
    match value * 100.0 {
        percent if percent <= 0.0 => "0 %".to_owned(),
        percent if percent < 0.1 => "under 0.1 %".to_owned(),
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// A difference with its interval: `+1876 us [1502, 2250]`.
pub(super) fn microseconds(estimate: &Estimate) -> String {
    let value = |us: f64| match us.abs() {
        small if small < 0.05 => "0".to_owned(),
        few if few < 100.0 => format!("{us:.1}"),
        _ => format!("{us:.0}"),
    };
    let sign = if estimate.value >= 0.05 { "+" } else { "" };
    match estimate.interval() {
        Some((low, high)) => {
            format!("{sign}{} us [{}, {}]", value(estimate.value), value(low), value(high))
        }
        None => format!("{sign}{} us", value(estimate.value)),
    }
}

/// A difference of shares in percentage points: `+12.0 points [8.1, 15.9]`.
pub(super) fn points(estimate: &Estimate) -> String {
    let value = |share: f64| signed(100.0 * share);
    match estimate.interval() {
        Some((low, high)) => {
            format!("{} points [{}, {}]", value(estimate.value), value(low), value(high))
        }
        None => format!("{} points", value(estimate.value)),
    }
}

/// A latency in microseconds with three or four significant digits.
pub(super) fn latency(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.1}"),
        us => format!("{us:.0}"),
    }
}

/// A signed change in percent: `+4.2 %`.
pub(super) fn change(ratio: f64) -> String {
    format!("{} %", signed((ratio - 1.0) * 100.0))
}

/// `1 window`, `2 windows`.
pub(super) fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// `fifo:80` as `FIFO 80`, `other:0` as `OTHER`, `other:5` as `OTHER nice 5`.
pub(super) fn scheduling(applied: &str) -> String {
    match applied.split_once(':') {
        Some(("other" | "batch", "0")) | None => {
            applied.split(':').next().unwrap_or_default().to_uppercase()
        }
        Some((class @ ("other" | "batch"), nice)) => {
            format!("{} nice {nice}", class.to_uppercase())
        }
        Some((class, argument)) => format!("{} {argument}", class.to_uppercase()),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_read_like_the_sketches() {
        let estimate = |value, low, high| Estimate { value, low: Some(low), high: Some(high) };
        assert_eq!(ratio(&estimate(0.959, 0.95, 0.967)), "-4.1 % [-5.0, -3.3]");
        assert_eq!(ratio(&estimate(1.42, 1.38, 1.47)), "1.42x [1.38, 1.47]");
        assert_eq!(factor(&estimate(1.0, 0.99, 1.01)), "1.00x [0.99, 1.01]");
        assert_eq!(ratio(&Estimate { value: 1.0001, low: None, high: None }), "0.0 %");
    }

    #[test]
    fn names_and_shares() {
        assert_eq!(scheduling("fifo:80"), "FIFO 80");
        assert_eq!(scheduling("other:0"), "OTHER");
        assert_eq!(scheduling("other:5"), "OTHER nice 5");
        assert_eq!((share(0.31).as_str(), share(0.0042).as_str()), ("31 %", "0.4 %"));
        assert_eq!(share(1e-9), "under 0.1 %");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
